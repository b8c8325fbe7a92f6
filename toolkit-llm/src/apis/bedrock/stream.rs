//! Streamed messages, whose content blocks are found by their index.
//!
//! Only some kinds of blocks have an event for their start.

use super::Bedrock;
use super::read::{is_call, read_call_block};
use crate::call::WireCall;
use crate::codec::StreamCodec;
use crate::json::error::{Report, event_fields};
use crate::json::fields::{append, push_text, set, set_at, text};
use crate::json::{WireError, texts};
use crate::stream::assembly::Assembly;
use crate::stream::indexed::Receiver;
use crate::stream::merge::overlay;
use crate::stream::part::{PartCodec, StreamedPart};
use crate::stream::parts::Parts;
use serde_json::{Value, json};

const EVENTS: [&str; 6] =
    ["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"];

const TEXT: &[&str] = &["text"];
const INPUT: &[&str] = &["toolUse", "input"];
const REASONING: &[&str] = &["reasoningContent", "reasoningText", "text"];
const REDACTED: &[&str] = &["reasoningContent", "redactedContent"];
const SIGNATURE: &[&str] = &["reasoningContent", "reasoningText", "signature"];

impl StreamCodec for Bedrock {
    /// Processes an event, whose type is its only field.
    fn push(&self, stream: &mut Assembly, event: &Value) -> Result<(), WireError> {
        let fields = event_fields(event, "error", "an event of the response")?;
        let mut members = fields.iter();
        let (Some((kind, data)), None) = (members.next(), members.next()) else {
            return Err(WireError::new("", "an event, an object with its type as the only field"));
        };
        let index = data.get("contentBlockIndex").and_then(Value::as_u64);
        match kind.as_str() {
            // A later message has a stop reason of its own.
            "messageStart" if data.is_object() => drop(stream.body.shift_remove("stopReason")),
            "contentBlockStart" => {
                if let Some(Value::Object(start)) = data.get("start")
                    && let Some((kind, block)) = start.iter().next()
                {
                    stream.parts().begin_at(index, json!({kind: block}));
                }
            }
            "contentBlockDelta" => {
                if let Some(Value::Object(delta)) = data.get("delta") {
                    for (kind, delta) in delta {
                        extend(stream.parts(), index, kind, delta);
                    }
                }
            }
            "contentBlockStop" => {
                let parts = stream.parts();
                parts.end_if_open(parts.at_index(index));
            }
            "messageStop" | "metadata" => {
                if let Value::Object(data) = data {
                    overlay(&mut stream.body, data, |_, _| true);
                }
            }
            kind if kind.ends_with("Exception") => {
                let report = Report { code: kind.to_owned(), ..Report::read(data) };
                return Err(report.into_error(kind, "an event of the response"));
            }
            // Unknown future events are ignored.
            _ if data.is_object() => {}
            _ => return Err(WireError::new(kind, "an event of the response")),
        }
        Ok(())
    }

    fn is_complete(&self, stream: &Assembly) -> bool {
        stream.finish_reason("stopReason").is_some()
    }

    fn finish(&self, stream: &mut Assembly) -> Value {
        let reason = stream.finish_reason("stopReason");
        let content = stream.end(reason);
        let mut body = std::mem::take(&mut stream.body);
        set(&mut body, "output", json!({"message": {"role": "assistant", "content": content}}));
        body.into()
    }

    fn is_chunk(&self, value: &Value) -> bool {
        EVENTS.iter().any(|kind| value.get(kind).is_some())
    }
}

impl PartCodec for Bedrock {
    fn part_call<'a>(&self, block: &'a Value) -> Option<WireCall<'a>> {
        read_call_block(block, false)
    }

    /// Writes the received arguments into a call, and a text with citations as `citationsContent`.
    fn seal(&self, block: &mut StreamedPart, _is_complete: bool) {
        if is_tool_use(&block.json) {
            block.seal_arguments(INPUT, is_call(&block.json));
        } else if let Some(citations) = block.json.get_mut("citations").map(Value::take) {
            let content = json!([{"text": text(&block.json, "text")}]);
            block.json = json!({"citationsContent": {"content": content, "citations": citations}});
        }
    }
}

/// Appends a delta of a kind to the block with the provider's index `index`.
///
/// A delta is ignored if the block has ended or has another kind.
fn extend(parts: &mut Parts, index: Option<u64>, kind: &str, delta: &Value) {
    let path = match kind {
        "text" | "citation" => TEXT,
        "reasoningContent" if delta.get("redactedContent").is_some() => REDACTED,
        "reasoningContent" => REASONING,
        _ => &[],
    };
    let name = path.first().copied().unwrap_or(kind);
    let number = match parts.receiver_at(index, kind == "toolUse", is_tool_use) {
        Receiver::Open(number) => number,
        Receiver::New(index) => {
            let mut block = json!({name: {}});
            set_at(&mut block, path, "");
            parts.begin_at(index, block)
        }
        Receiver::Ended => return,
    };
    let part = &mut parts[number];
    match kind {
        _ if part.json.get(name).is_none() => {}
        "citation" => append(&mut part.json, "citations", list_of(delta)),
        "toolResult" => {
            if let Some(result) = part.json.get_mut("toolResult") {
                append(result, "content", list_of(delta));
            }
        }
        "toolUse" => {
            part.append(&texts::of(delta, "input"));
            parts.say_arguments(number, false);
        }
        "reasoningContent" if path == REDACTED => {
            push_text(&mut part.json, path, &texts::of(delta, "redactedContent"));
        }
        "text" | "reasoningContent" => {
            if let Some(signature) = delta.get("signature") {
                set_at(&mut part.json, SIGNATURE, signature.clone());
            }
            let piece = if kind == "text" { texts::whole(delta) } else { texts::of(delta, "text") };
            push_text(&mut part.json, path, &piece);
            parts.say(kind != "text", &piece);
        }
        _ => {
            if let (Some(Value::Object(old)), Value::Object(new)) = (part.json.get_mut(kind), delta) {
                overlay(old, new, |_, _| true);
            }
        }
    }
}

fn is_tool_use(block: &Value) -> bool {
    block.get("toolUse").is_some()
}

/// Returns the elements of a list, or another value as the only element.
fn list_of(value: &Value) -> &[Value] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}
