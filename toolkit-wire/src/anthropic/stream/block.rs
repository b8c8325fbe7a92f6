//! One content block of a streamed message.

use crate::anthropic::call::read;
use crate::call::{WireCall, is_blank};
use crate::fields::{Fields, text};
use crate::stream::assembler::StreamPart;
use crate::stream::decode::StreamEvent;
use serde_json::{Value, json};
use std::mem;

/// A content block being received.
#[derive(Debug)]
pub(super) struct Block {
    json: Value,
    kind: Kind,
    /// The pieces of the growing field, joined.
    written: String,
    is_open: bool,
    position: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    Call,
    /// A call of a tool run by the service itself.
    HostedCall,
    /// A block without a growing field. Its fields arrive complete.
    Whole,
}

impl Block {
    /// Creates a block. Returns `None` for a value without a type, unless it is a call.
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

    pub(super) fn at(self, position: u64) -> Self {
        Self { position, ..self }
    }

    /// Reconstructs the start of a block from its first delta.
    pub(super) fn begun_by(delta: &Value) -> Option<Value> {
        match text(delta, "type") {
            "text_delta" | "citations_delta" => Some(json!({"type": "text"})),
            "thinking_delta" | "signature_delta" => Some(json!({"type": "thinking"})),
            "input_json_delta" => Some(json!({"type": "tool_use"})),
            _ => None,
        }
    }

    /// Returns whether `other` is a repeated start of this open call, with the same id.
    pub(super) fn is_begun_again_by(&self, other: &Self) -> bool {
        self.is_open && self.given_id().is_some_and(|id| Some(id) == other.given_id())
    }

    /// Appends a delta. Deltas for other kinds of blocks and for ended blocks are ignored.
    pub(super) fn extend(&mut self, delta: &Value) -> Option<StreamEvent> {
        if !self.is_open {
            return None;
        }
        let piece = match (text(delta, "type"), self.kind) {
            ("text_delta", Kind::Text) => text(delta, "text"),
            ("thinking_delta", Kind::Thinking) => text(delta, "thinking"),
            ("input_json_delta", Kind::Call | Kind::HostedCall) => text(delta, "partial_json"),
            ("citations_delta", Kind::Text) => {
                let citation = delta.get("citation")?.clone();
                match self.json.get_mut("citations") {
                    Some(Value::Array(citations)) => citations.push(citation),
                    _ => self.set("citations", json!([citation])),
                }
                return None;
            }
            ("signature_delta", Kind::Thinking) => {
                self.set("signature", delta.get("signature")?.clone());
                return None;
            }
            (_, Kind::Whole) => {
                let fields = delta.as_object()?.iter().filter(|(name, _)| *name != "type");
                fields.for_each(|(name, value)| self.set(name, value.clone()));
                return None;
            }
            _ => return None,
        };
        self.written.push_str(piece);
        self.event(piece)
    }

    /// Returns the event for the text in the start of the block.
    pub(super) fn begun(&self) -> Option<StreamEvent> {
        self.event(&self.written)
    }

    fn event(&self, piece: &str) -> Option<StreamEvent> {
        match self.kind {
            Kind::Text if !piece.is_empty() => Some(StreamEvent::Text(piece.to_owned())),
            Kind::Thinking if !piece.is_empty() => Some(StreamEvent::Reasoning(piece.to_owned())),
            _ => None,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Ends the block and writes the joined pieces into its growing field. Returns whether there were any.
    pub(super) fn end(&mut self) -> bool {
        self.is_open = false;
        let written = mem::take(&mut self.written);
        let has_pieces = !written.trim().is_empty();
        match self.kind {
            Kind::Text => self.set("text", written.into()),
            Kind::Thinking => self.set("thinking", written.into()),
            // Blank pieces become an empty object, unless the start of the block contained the arguments.
            Kind::Call | Kind::HostedCall if !has_pieces => {
                if is_blank(self.json.get("input")) {
                    self.set("input", json!({}));
                }
            }
            // The arguments become an object, as in a response that was not streamed. Incomplete arguments
            // stay a string.
            Kind::Call | Kind::HostedCall => match serde_json::from_str(&written) {
                Ok(input @ Value::Object(_)) => self.set("input", input),
                _ => self.set("input", written.into()),
            },
            Kind::Whole => {}
        }
        has_pieces
    }

    pub(super) fn into_json(self) -> Value {
        self.json
    }

    fn set(&mut self, field: &str, value: Value) {
        if let Some(fields) = self.json.as_object_mut() {
            fields.insert(field.to_owned(), value);
        }
    }
}

impl StreamPart for Block {
    fn position(&self) -> u64 {
        self.position
    }

    fn call(&self) -> Option<WireCall<'_>> {
        (self.kind == Kind::Call).then(|| read(&self.json, false))
    }

    fn is_blank(&self) -> bool {
        self.written.trim().is_empty() && is_blank(self.json.get("input"))
    }

    fn set_id(&mut self, id: &str) {
        self.set("id", id.into());
    }

    fn set_arguments(&mut self, text: &str) {
        self.set("input", text.into());
    }
}
