//! A call received in pieces.

use crate::call::{self as shared, WireCall};
use crate::fields::{Fields, set};
use crate::openai_chat::call::{self, is_unknown};
use crate::stream::assembler::StreamPart;
use crate::stream::merge::overlay;
use crate::stream::scan::ObjectScanner;
use serde_json::Value;
use std::borrow::Cow;

/// A piece of a call: an element of a delta's `tool_calls`, or a delta's `function_call`.
pub(super) struct Piece<'a> {
    fields: Option<&'a Fields>,
    part: Option<&'a Fields>,
    is_custom: bool,
    pub(super) index: Option<u64>,
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Option<&'a str>,
    pub(super) text: Cow<'a, str>,
}

/// A call being received.
#[derive(Default)]
pub(super) struct Partial {
    /// The index among the calls of the response.
    index: u64,
    /// The announced id.
    id: Option<String>,
    /// The id given by the server.
    given: Option<String>,
    is_custom: bool,
    name: String,
    text: String,
    scan: ObjectScanner,
    /// The JSON of the call, set when the call was returned.
    whole: Value,
    /// Unknown fields of the call and of its function.
    rest: Fields,
    part_rest: Fields,
}

impl<'a> Piece<'a> {
    pub(super) fn of_call(value: &'a Value) -> Self {
        let object = |name| value.get(name).and_then(Value::as_object);
        let (fields, part, is_custom) = match (object("function"), object("custom")) {
            (None, None) => (None, value.as_object(), false),
            (None, custom) => (value.as_object(), custom, true),
            (function, _) => (value.as_object(), function, false),
        };
        let field = |name| part.and_then(|part| part.get(name));
        Self {
            fields,
            part,
            is_custom,
            index: index(value),
            id: shared::id(value.get("id")),
            name: field("name").and_then(Value::as_str).filter(|name| !name.is_empty()),
            text: shared::arguments(field(if is_custom { "input" } else { "arguments" }), false),
        }
    }

    /// Returns whether the call has neither a name nor arguments.
    pub(super) fn is_empty(&self) -> bool {
        self.id.is_none() && self.name.is_none() && self.text.trim().is_empty()
    }
}

/// Reads the index of a call. Some servers write it as a string.
fn index(value: &Value) -> Option<u64> {
    match value.get("index")? {
        Value::String(text) => text.parse().ok(),
        index => index.as_u64(),
    }
}

impl Partial {
    pub(super) fn at(index: u64) -> Self {
        Self { index, ..Self::default() }
    }

    pub(super) fn moved_to(self, index: u64) -> Self {
        Self { index, ..self }
    }

    pub(super) fn is_named(&self) -> bool {
        !self.name.is_empty()
    }

    pub(super) fn given(&self) -> Option<&str> {
        self.given.as_deref()
    }

    /// Returns whether the arguments have begun. The name is then complete.
    pub(super) fn has_arguments(&self) -> bool {
        !self.text.is_empty()
    }

    /// Returns whether the arguments are an incomplete object.
    pub(super) fn is_open(&self) -> bool {
        !self.is_custom && self.scan.is_open()
    }

    /// Returns whether the arguments are a complete object. The end of free text cannot be recognised.
    pub(super) fn is_complete(&self) -> bool {
        !self.is_custom && self.scan.is_complete()
    }

    pub(super) fn asks_the_same(&self, other: &Self) -> bool {
        self.name == other.name && self.text == other.text
    }

    /// Returns whether `piece` begins another call, although its index or position belongs to this one.
    ///
    /// Some servers send id and name once, and others in every piece. Some generate a new id for every piece,
    /// and some number all calls 0. Therefore a new id begins a new call if the piece also has a name, except
    /// in the middle of an object with the same name.
    pub(super) fn is_left_by(&self, piece: &Piece<'_>) -> bool {
        let has_new_id = piece.id.is_some() && self.given.is_some() && piece.id.as_deref() != self.given();
        match piece.name {
            Some(name) if has_new_id => !(self.is_open() && self.name == name),
            Some(_) if !self.is_named() || self.scan.is_blank() => false,
            Some(name) => {
                let has_more = !piece.text.trim().is_empty() && !self.is_said_again(piece);
                self.name != name || (self.is_complete() && has_more)
            }
            None => has_new_id && self.is_complete() && piece.text.trim_start().starts_with('{'),
        }
    }

    /// Returns whether the piece repeats this call, with the same id and the same arguments.
    fn is_said_again(&self, piece: &Piece<'_>) -> bool {
        piece.id.is_some() && piece.id.as_deref() == self.given() && piece.text.trim() == self.text.trim()
    }

    /// Adds a piece. The arguments of a call that was already returned no longer change.
    pub(super) fn add(&mut self, piece: &Piece<'_>, is_yielded: bool) {
        self.is_custom |= piece.is_custom;
        if let (None, Some(id)) = (&self.given, &piece.id) {
            self.given = Some(id.as_ref().to_owned());
        }
        if let Some(name) = piece.name {
            self.add_name(name);
        }
        let is_over = is_yielded || (self.is_complete() && self.is_said_again(piece));
        if !is_over {
            self.text.push_str(&piece.text);
            self.scan.push(&piece.text);
        }
        for (rest, fields) in [(&mut self.rest, piece.fields), (&mut self.part_rest, piece.part)] {
            fields.into_iter().for_each(|fields| overlay(rest, fields, |name, _| is_unknown(name)));
        }
    }

    /// Adds a piece of the name. Some servers send the name in pieces, others repeat it.
    fn add_name(&mut self, name: &str) {
        if self.name.is_empty() || (name.starts_with(&self.name) && !self.has_arguments()) {
            name.clone_into(&mut self.name);
        } else if self.name != name && !self.has_arguments() {
            self.name.push_str(name);
        }
    }

    /// Returns the call as in a response without streaming.
    pub(super) fn to_whole(&self) -> Value {
        let (kind, text) = if self.is_custom { ("custom", "input") } else { ("function", "arguments") };
        let mut part = self.part_rest.clone();
        set(&mut part, "name", self.name.as_str());
        set(&mut part, text, self.text.as_str());
        call::whole(self.rest.clone(), self.id.as_deref(), kind, part)
    }
}

impl StreamPart for Partial {
    fn position(&self) -> u64 {
        self.index
    }

    fn call(&self) -> Option<WireCall<'_>> {
        Some(call::read(&self.whole, false))
    }

    fn given_id(&self) -> Option<Cow<'_, str>> {
        self.given().map(Cow::Borrowed)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn set_id(&mut self, id: &str) {
        self.id = Some(id.to_owned());
    }

    fn is_blank(&self) -> bool {
        !self.is_custom && self.scan.is_blank()
    }

    fn set_arguments(&mut self, text: &str) {
        text.clone_into(&mut self.text);
    }

    fn seal(&mut self) {
        self.whole = self.to_whole();
    }
}
