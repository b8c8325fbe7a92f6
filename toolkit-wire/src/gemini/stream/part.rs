//! One part of a streamed content.

use super::arguments::PartialArgs;
use crate::call::{WireCall, is_blank};
use crate::fields::{is_true, set, text};
use crate::gemini::call::{beside, function, read};
use crate::gemini::spelling::{get, key};
use crate::stream::assembler::StreamPart;
use serde_json::{Value, json};
use std::borrow::Cow;

/// A part being received.
pub(super) struct StreamedPart {
    json: Value,
    position: u64,
    /// The incomplete arguments of an open call.
    args: Option<Box<PartialArgs>>,
}

impl StreamedPart {
    pub(super) fn new(json: Value, position: u64) -> Self {
        Self { json, position, args: None }
    }

    /// Appends the text of a part of the same kind. Returns whether this was possible. A part with a
    /// signature is never merged with another part.
    pub(super) fn append(&mut self, part: &Value) -> bool {
        let is_same_kind = is_true(part, "thought") == is_true(&self.json, "thought");
        if !is_plain(part) || !is_plain(&self.json) || !is_same_kind {
            return false;
        }
        match self.json.get_mut("text") {
            Some(Value::String(known)) => {
                known.push_str(text(part, "text"));
                true
            }
            _ => false,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.args.is_some()
    }

    /// Opens a call, or adds a piece to its arguments.
    pub(super) fn extend(&mut self, part: &Value, args: Option<&Value>, pieces: &[Value]) {
        if let Some(fields) = self.json.as_object_mut() {
            fields.extend(beside(part));
        }
        let known = self.args.get_or_insert_default();
        if let Some(args) = args {
            known.merge(args);
        }
        pieces.iter().for_each(|piece| known.add(piece));
    }

    /// Closes an open call. If `is_complete` is `false`, the arguments were cut off.
    pub(super) fn close(&mut self, is_complete: bool) {
        let Some(args) = self.args.take() else { return };
        let call = self.call().map(|call| (call.id.map(Cow::into_owned), call.name.to_owned()));
        let (id, name) = call.unwrap_or_default();
        let mut part = beside(&self.json);
        let call = json!({"id": id, "name": name, "args": args.finish(is_complete)});
        set(&mut part, "functionCall", call);
        self.json = part.into();
    }

    pub(super) fn into_json(self) -> Value {
        self.json
    }

    fn set(&mut self, field: &str, value: Value) {
        let Some(part) = self.json.as_object_mut() else { return };
        let Some(key) = key(part, "functionCall").map(ToOwned::to_owned) else { return };
        match part.get_mut(&key) {
            Some(Value::Object(function)) => drop(function.insert(field.to_owned(), value)),
            _ => drop(part.insert(key, json!({field: value}))),
        }
    }
}

impl StreamPart for StreamedPart {
    fn position(&self) -> u64 {
        self.position
    }

    fn call(&self) -> Option<WireCall<'_>> {
        read(&self.json, false)
    }

    fn is_blank(&self) -> bool {
        let function = function(&self.json).and_then(Value::as_object);
        !self.is_open() && is_blank(function.and_then(|function| get(function, "args")))
    }

    fn set_id(&mut self, id: &str) {
        self.set("id", id.into());
    }

    fn set_arguments(&mut self, text: &str) {
        self.set("args", text.into());
    }
}

/// Returns whether a part contains nothing but text.
fn is_plain(part: &Value) -> bool {
    let mut fields = part.as_object().into_iter().flatten();
    part.is_object() && fields.all(|(name, value)| name == "text" || name == "thought" || value.is_null())
}
