//! One part of a streamed content.

use super::arguments::PartialArgs;
use crate::call::{self, is_blank};
use crate::gemini::call::{beside, function, read};
use crate::gemini::spelling::{get, key};
use crate::stream::assembler::StreamPart;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use toolkit_core::call::ToolCall;

/// A part, as far as it has come.
pub(super) struct StreamedPart {
    json: Value,
    position: u64,
    /// The arguments of an open call, which come in pieces.
    args: Option<Box<PartialArgs>>,
}

impl StreamedPart {
    pub(super) fn new(json: Value, position: u64) -> Self {
        Self { json, position, args: None }
    }

    /// Continues a text with a part of the same kind; returns whether it did. A part with a signature stays the
    /// part that it is.
    pub(super) fn append(&mut self, part: &Value) -> bool {
        let is_thought = |part: &Value| part.get("thought").is_some_and(|thought| thought == true);
        if !is_plain(part) || !is_plain(&self.json) || is_thought(part) != is_thought(&self.json) {
            return false;
        }
        match self.json.get_mut("text") {
            Some(Value::String(text)) => {
                text.push_str(call::text(part, "text"));
                true
            }
            _ => false,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.args.is_some()
    }

    /// Takes a piece of an open call, or opens it.
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

    /// Closes an open call. Unless `is_complete`, it was cut off.
    pub(super) fn close(&mut self, is_complete: bool) {
        let Some(args) = self.args.take() else { return };
        let (id, name) = (self.given_id().map(Cow::into_owned), self.name().to_owned());
        let mut part = beside(&self.json);
        part.insert(
            "functionCall".to_owned(),
            json!({"id": id, "name": name, "args": args.finish(is_complete)}),
        );
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
            _ => drop(part.insert(key, Value::Object(Map::from_iter([(field.to_owned(), value)])))),
        }
    }

    fn field(&self, name: &str) -> Option<&Value> {
        get(function(&self.json)?.as_object()?, name)
    }
}

impl StreamPart for StreamedPart {
    fn position(&self) -> u64 {
        self.position
    }

    fn given_id(&self) -> Option<Cow<'_, str>> {
        call::id(self.field("id"))
    }

    fn name(&self) -> &str {
        self.field("name").and_then(Value::as_str).unwrap_or_default()
    }

    fn set_id(&mut self, id: &str) {
        self.set("id", id.into());
    }

    fn is_call(&self) -> bool {
        function(&self.json).is_some()
    }

    fn is_blank_call(&self) -> bool {
        self.is_call() && !self.is_open() && is_blank(self.field("args"))
    }

    fn set_arguments(&mut self, text: &str) {
        self.set("args", text.into());
    }

    fn to_call(&self) -> Option<ToolCall> {
        let call = read(&self.json, false)?;
        let id = call.id.as_deref()?.into();
        Some(call.into_call(id))
    }
}

/// Returns whether a part is nothing but text.
fn is_plain(part: &Value) -> bool {
    let mut fields = part.as_object().into_iter().flatten();
    part.is_object() && fields.all(|(name, value)| name == "text" || name == "thought" || value.is_null())
}
