//! One content block of a message that comes in pieces.

use crate::anthropic::call::read;
use crate::call::{self, Fields, is_blank};
use crate::stream::decode::StreamEvent;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::mem;
use toolkit_core::call::{CallId, ToolCall};

/// One content block, as far as it has come.
pub(super) struct Block {
    json: Value,
    kind: Kind,
    /// What the pieces have brought of the one field that comes in pieces.
    written: String,
    is_open: bool,
    /// Where it belongs in the message.
    position: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    /// A call of ours.
    Call,
    /// A call that the service runs itself.
    HostedCall,
    /// A block that comes whole, or whose pieces each bring whole fields.
    Whole,
}

impl Block {
    /// `None` for what has no type and is no call.
    pub(super) fn new(mut fields: Fields) -> Option<Self> {
        if !fields.get("type").is_some_and(Value::is_string) {
            if !["id", "name", "input"].iter().any(|name| fields.contains_key(*name)) {
                return None;
            }
            fields.insert("type".to_owned(), "tool_use".into());
        }
        let kind = match fields.get("type").and_then(Value::as_str)? {
            "text" => Kind::Text,
            "thinking" => Kind::Thinking,
            "tool_use" => Kind::Call,
            kind if kind.ends_with("tool_use") => Kind::HostedCall,
            _ => Kind::Whole,
        };
        let begun = match kind {
            Kind::Text => fields.get_mut("text"),
            Kind::Thinking => fields.get_mut("thinking"),
            Kind::Call | Kind::HostedCall | Kind::Whole => None,
        };
        let written = match begun {
            Some(Value::String(text)) => mem::take(text),
            _ => String::new(),
        };
        Some(Self { json: fields.into(), kind, written, is_open: true, position: 0 })
    }

    /// The start of a block that is known only by a piece of it.
    pub(super) fn begun_by(delta: &Value) -> Option<Value> {
        match delta.get("type")?.as_str()? {
            "text_delta" | "citations_delta" => Some(json!({"type": "text"})),
            "thinking_delta" | "signature_delta" => Some(json!({"type": "thinking"})),
            "input_json_delta" => Some(json!({"type": "tool_use"})),
            _ => None,
        }
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    pub(super) fn place_at(&mut self, position: u64) {
        self.position = position;
    }

    /// Whether it is a call that has not ended, and the other one has its id: then that is not a second
    /// call, but the start of this one again.
    pub(super) fn is_begun_again_by(&self, other: &Self) -> bool {
        let id = |block: &Self| call::id(block.call()?.get("id")).map(Cow::into_owned);
        self.is_open && id(self).is_some_and(|own| Some(own) == id(other))
    }

    /// The block, if it is a call of ours.
    pub(super) fn call(&self) -> Option<&Value> {
        (self.kind == Kind::Call).then_some(&self.json)
    }

    pub(super) fn identify(&mut self, id: &CallId) {
        self.set("id", id.as_str().into());
    }

    /// What the start brought.
    pub(super) fn started(&self) -> Option<StreamEvent> {
        match self.kind {
            Kind::Call => {
                let id = call::id(self.json.get("id")).unwrap_or_default().into_owned();
                Some(StreamEvent::CallStarted { id, name: call::text(&self.json, "name").to_owned() })
            }
            _ => self.brought(&self.written),
        }
    }

    /// Takes a piece; those of other kinds of blocks, and of a block that has ended, mean nothing.
    pub(super) fn extend(&mut self, delta: &Value) -> Option<StreamEvent> {
        if !self.is_open {
            return None;
        }
        let piece = match (delta.get("type")?.as_str()?, self.kind) {
            ("text_delta", Kind::Text) => delta.get("text"),
            ("thinking_delta", Kind::Thinking) => delta.get("thinking"),
            ("input_json_delta", Kind::Call | Kind::HostedCall) => delta.get("partial_json"),
            ("citations_delta", Kind::Text) => {
                self.cite(delta.get("citation")?.clone());
                None
            }
            ("signature_delta", Kind::Thinking) => {
                self.set("signature", delta.get("signature")?.clone());
                None
            }
            (_, Kind::Whole) => {
                let fields = delta.as_object()?.iter().filter(|(name, _)| *name != "type");
                fields.for_each(|(name, value)| self.set(name, value.clone()));
                None
            }
            _ => None,
        };
        let piece = piece?.as_str()?;
        self.written.push_str(piece);
        self.brought(piece)
    }

    /// Ends the block. A call is given out the first time. `is_whole` says whether nothing of it is missing.
    pub(super) fn end(&mut self, is_whole: bool) -> Option<ToolCall> {
        if !mem::take(&mut self.is_open) {
            return None;
        }
        let written = mem::take(&mut self.written);
        match self.kind {
            Kind::Text => self.set("text", written.into()),
            Kind::Thinking => self.set("thinking", written.into()),
            Kind::Call | Kind::HostedCall => {
                let input = self.input(written, is_whole);
                self.set("input", input);
            }
            Kind::Whole => {}
        }
        let call = read(self.call()?, false);
        let id = call.id.as_deref().unwrap_or_default().into();
        Some(call.into_call(id))
    }

    /// Whether it is a call whose arguments are empty so far, which may be because the model was cut off.
    pub(super) fn is_blank_call(&self) -> bool {
        self.is_open
            && self.kind == Kind::Call
            && self.written.trim().is_empty()
            && is_blank(self.json.get("input"))
    }

    /// Says that a call has no arguments in a way that does not look as if it had been cut off before them.
    pub(super) fn insist(&mut self) {
        if self.kind == Kind::Call && self.json.get("input") == Some(&json!({})) {
            self.set("input", "{}".into());
        }
    }

    pub(super) fn into_json(self) -> Value {
        self.json
    }

    /// An object as the service would have sent it, or the text that the model left unfinished. No
    /// pieces, or empty ones, are those of an empty object, unless the start brought the whole, or the
    /// model was cut off before it wrote anything: to run the call then would be to run another.
    fn input(&self, written: String, is_whole: bool) -> Value {
        if written.trim().is_empty() {
            let is_cut = !is_whole && self.kind == Kind::Call;
            let nothing = || if is_cut { json!("{") } else { json!({}) };
            return self
                .json
                .get("input")
                .filter(|input| !is_blank(Some(input)))
                .cloned()
                .unwrap_or_else(nothing);
        }
        match serde_json::from_str(&written) {
            Ok(input @ Value::Object(_)) => input,
            _ => written.into(),
        }
    }

    fn brought(&self, piece: &str) -> Option<StreamEvent> {
        match self.kind {
            _ if piece.is_empty() => None,
            Kind::Text => Some(StreamEvent::Text(piece.to_owned())),
            Kind::Thinking => Some(StreamEvent::Reasoning(piece.to_owned())),
            _ => None,
        }
    }

    fn cite(&mut self, citation: Value) {
        match self.json.get_mut("citations") {
            Some(Value::Array(citations)) => citations.push(citation),
            _ => self.set("citations", json!([citation])),
        }
    }

    fn set(&mut self, field: &str, value: Value) {
        if let Some(fields) = self.json.as_object_mut() {
            fields.insert(field.to_owned(), value);
        }
    }
}
