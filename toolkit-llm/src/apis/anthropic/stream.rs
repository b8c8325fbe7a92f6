//! Streamed messages, whose content blocks are found by their index.
//!
//! Several blocks may be open at a time: llama.cpp begins all blocks before it ends the first.

use super::Anthropic;
use super::read::{hosted, read_call};
use crate::call::WireCall;
use crate::codec::StreamCodec;
use crate::hosted::HostedPart;
use crate::json::error::event_fields;
use crate::json::fields::{Fields, append, list, push_text, set, set_at, text};
use crate::json::{WireError, texts};
use crate::stream::assembly::Assembly;
use crate::stream::indexed::Receiver;
use crate::stream::merge::overlay;
use crate::stream::part::{PartCodec, StreamedPart};
use crate::stream::parts::Parts;
use serde_json::{Value, json};
use std::slice;

const REASON: &str = "stop_reason";

impl StreamCodec for Anthropic {
    fn push(&self, stream: &mut Assembly, event: &Value) -> Result<(), WireError> {
        let fields = event_fields(event, "error", "an event of the response")?;
        let index = event.get("index").and_then(Value::as_u64);
        match fields.get("type").and_then(Value::as_str) {
            Some("message_start") => start(stream, event.get("message")),
            // A server without streaming sends the complete message.
            Some("message") => start(stream, Some(event)),
            Some("content_block_start") => {
                if let Some(block) = event.get("content_block").and_then(typed) {
                    begin(stream.parts(), index, block);
                }
            }
            Some("content_block_delta") => {
                if let Some(delta) = event.get("delta") {
                    extend(stream.parts(), index, delta);
                }
            }
            Some("content_block_stop") => {
                let parts = stream.parts();
                parts.end_if_open(parts.at_index(index));
            }
            Some("message_delta") => {
                overlay(&mut stream.body, fields, |name, _| !matches!(name, "type" | "delta"));
                if let Some(Value::Object(delta)) = event.get("delta") {
                    overlay(&mut stream.body, delta, |_, _| true);
                }
            }
            Some("message_stop") => {
                let is_cut = stream.finish_reason(REASON).is_some_and(|reason| reason.may_be_cut());
                stream.parts().close_all(is_cut);
            }
            // Events of OpenAI's Responses API. If they were ignored, their calls would be lost.
            Some(kind) if kind.starts_with("response.") => {
                return Err(WireError::new("type", "the type of an event of this API"));
            }
            // `ping` and unknown future events are ignored.
            Some(_) => {}
            None => return Err(WireError::new("type", "the type of an event")),
        }
        Ok(())
    }

    fn is_complete(&self, stream: &Assembly) -> bool {
        stream.finish_reason(REASON).is_some()
    }

    fn finish(&self, stream: &mut Assembly) -> Value {
        let reason = stream.finish_reason(REASON);
        let content = stream.end(reason);
        let mut message = Fields::new();
        set(&mut message, "type", "message");
        set(&mut message, "role", "assistant");
        message.append(&mut stream.body);
        set(&mut message, "content", content);
        message.into()
    }
}

impl PartCodec for Anthropic {
    fn part_call<'a>(&self, block: &'a Value) -> Option<WireCall<'a>> {
        if text(block, "type") == "tool_use" { Some(read_call(block, false)) } else { None }
    }

    fn seal(&self, block: &mut StreamedPart, _is_complete: bool) {
        if is_any_call(&block.json) {
            block.seal_arguments(&["input"], true);
        }
    }

    fn hosted(&self, block: &Value) -> Option<HostedPart> {
        hosted(block)
    }
}

fn start(stream: &mut Assembly, message: Option<&Value>) {
    let Some(message @ Value::Object(fields)) = message else { return };
    // A later message has a stop reason of its own.
    stream.body.shift_remove(REASON);
    overlay(&mut stream.body, fields, |name, _| name != "content");
    let parts = stream.parts();
    for block in list(message, "content").iter().filter_map(typed) {
        let number = begin(parts, None, block);
        parts.end_if_open(Some(number));
    }
}

fn begin(parts: &mut Parts, index: Option<u64>, mut block: Value) -> usize {
    let kind = text(&block, "type").to_owned();
    let first = texts::of(&block, &kind).into_owned();
    let is_text = matches!(kind.as_str(), "text" | "thinking");
    if is_text {
        set_at(&mut block, &[&kind], first.as_str());
    }
    let number = parts.begin_at(index, block);
    if is_text {
        parts.say(kind == "thinking", &first);
    }
    number
}

/// Returns the block with a type.
///
/// A block without a type must be a call.
fn typed(block: &Value) -> Option<Value> {
    let mut fields = block.as_object()?.clone();
    if !fields.get("type").is_some_and(Value::is_string) {
        if !["id", "name", "input"].iter().any(|name| fields.contains_key(*name)) {
            return None;
        }
        set(&mut fields, "type", "tool_use");
    }
    Some(fields.into())
}

fn is_any_call(block: &Value) -> bool {
    text(block, "type").ends_with("tool_use")
}

/// Appends a delta to the block with this provider's index.
///
/// A delta is ignored if the block has ended or has another type.
fn extend(parts: &mut Parts, index: Option<u64>, delta: &Value) {
    let kind = text(delta, "type");
    let (block, field) = match kind {
        "text_delta" => ("text", "text"),
        "thinking_delta" => ("thinking", "thinking"),
        "input_json_delta" => ("tool_use", "partial_json"),
        "citations_delta" => ("text", "citation"),
        "signature_delta" => ("thinking", "signature"),
        _ => ("", ""),
    };
    if block.is_empty() && parts.at_index(index).is_none_or(|number| parts[number].is_done) {
        return;
    }
    let number = match parts.receiver_at(index, block == "tool_use", is_any_call) {
        Receiver::Open(number) => number,
        // The event that begins the block may be missing.
        Receiver::New(index) => begin(parts, index, json!({"type": block})),
        Receiver::Ended => return,
    };
    let part = &mut parts[number];
    let own = if is_any_call(&part.json) { "tool_use" } else { text(&part.json, "type") };
    match (own, kind) {
        ("text", "text_delta") | ("thinking", "thinking_delta") => {
            let piece = texts::of(delta, field);
            push_text(&mut part.json, &[field], &piece);
            parts.say(field == "thinking", &piece);
        }
        ("tool_use", "input_json_delta") => {
            part.append(&texts::of(delta, field));
            parts.say_arguments(number, false);
        }
        ("text", "citations_delta") => {
            append(&mut part.json, "citations", delta.get(field).map_or(&[], slice::from_ref));
        }
        ("thinking", "signature_delta") => part.set(field, delta.get(field).cloned()),
        ("text" | "thinking" | "tool_use", _) => {}
        _ => {
            for (name, value) in delta.as_object().into_iter().flatten() {
                if name != "type" {
                    part.set(name, value.clone());
                }
            }
        }
    }
}
