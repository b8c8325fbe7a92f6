//! Streamed responses.
//!
//! Each line is a response with the next piece of the message.

use super::Ollama;
use crate::apis::chat_messages::read_call;
use crate::call::WireCall;
use crate::codec::StreamCodec;
use crate::json::error::event_fields;
use crate::json::fields::{list, object, set, set_at};
use crate::json::{WireError, texts};
use crate::response::FinishReason;
use crate::stream::assembly::Assembly;
use crate::stream::merge::{join, overlay};
use crate::stream::part::PartCodec;
use serde_json::Value;

impl StreamCodec for Ollama {
    fn push(&self, stream: &mut Assembly, event: &Value) -> Result<(), WireError> {
        let fields = event_fields(event, "message", "more of the answer")?;
        overlay(&mut stream.body, fields, |name, value| name != "message" && !value.is_null());
        let Some(piece) = fields.get("message") else {
            let is_end = fields.contains_key("done");
            return if is_end { Ok(()) } else { Err(WireError::new("message", "a piece of a message")) };
        };
        let message = stream.message(0);
        let piece = &*texts::settled(piece, &["content", "thinking"]);
        join(&mut message.fields, object(piece, "message", "an object")?, |name, _| name != "tool_calls");
        let parts = &mut message.parts;
        parts.say(true, &texts::of(piece, "thinking"));
        parts.say(false, &texts::of(piece, "content"));
        // Each call is complete, unless its arguments come without its name.
        for json in list(piece, "tool_calls") {
            let call = read_call::<Self>(json, false);
            let known = if call.name.is_empty() && !call.has_no_arguments() { parts.adopt() } else { None };
            let number = match known {
                Some(number) => number,
                None => parts.begin(parts.next, json.clone()),
            };
            parts.announce(number);
            if let (Some(_), Some(arguments)) = (known, call.input) {
                set_at(&mut parts[number].json, &["function", "arguments"], arguments.clone());
            }
            parts.close(number, false);
        }
        Ok(())
    }

    fn is_complete(&self, stream: &Assembly) -> bool {
        stream.body.get("done").is_some_and(|done| done == true)
    }

    fn finish(&self, stream: &mut Assembly) -> Value {
        let reason = stream.body.get("done_reason").and_then(Value::as_str).map(FinishReason::parse);
        let is_unclear = reason.is_some_and(|reason| reason.is_unknown());
        let is_cut = stream.is_broken || is_unclear || !self.is_complete(stream);
        let mut body = std::mem::take(&mut stream.body);
        let message = stream.message(0);
        message.parts.release(is_cut);
        let mut fields = std::mem::take(&mut message.fields);
        let calls = message.parts.take_json(false);
        if !calls.is_empty() {
            set(&mut fields, "tool_calls", calls);
        }
        if !fields.is_empty() {
            fields.entry("content").or_insert_with(|| "".into());
            set(&mut body, "message", fields);
        }
        body.into()
    }

    fn is_chunk(&self, value: &Value) -> bool {
        value.get("message").is_some() && value.get("done").is_some()
    }
}

impl PartCodec for Ollama {
    fn part_call<'a>(&self, part: &'a Value) -> Option<WireCall<'a>> {
        Some(read_call::<Self>(part, false))
    }
}
