//! Streamed messages. Content blocks are found by their index. Only some kinds of blocks have an event for
//! their start.

use super::{Bedrock, call};
use crate::WireError;
use crate::call::{WireCall, is_blank};
use crate::codec::StreamCodec;
use crate::error::{Report, failed, reported_error};
use crate::fields::{Fields, object, set, set_at};
use crate::response::FinishReason;
use crate::stream::assembly::Assembly;
use crate::stream::merge::overlay;
use crate::stream::part::{Key, Part, PartCodec};
use crate::stream::parts::Parts;
use crate::texts;
use serde_json::{Value, json};

const EVENTS: [&str; 6] =
    ["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"];

const TEXT: &[&str] = &["text"];
const INPUT: &[&str] = &["toolUse", "input"];
const REASONING: &[&str] = &["reasoningContent", "reasoningText", "text"];
const REDACTED: &[&str] = &["reasoningContent", "redactedContent"];

impl StreamCodec for Bedrock {
    /// Processes an event. As in the service model, an event is an object with the event type as its only
    /// field.
    fn push(&self, stream: &mut Assembly, event: &Value) -> Result<(), WireError> {
        let fields = object(event, "", "an event of a stream")?;
        if let Some(error) = reported_error(fields) {
            return Err(failed("error", "an event of the response", Some(error)));
        }
        let mut members = fields.iter();
        let (Some((kind, data)), None) = (members.next(), members.next()) else {
            return Err(WireError::new("", "an event, an object with its type as the only field"));
        };
        let index = data.get("contentBlockIndex").and_then(Value::as_u64);
        match kind.as_str() {
            // A later message has a stop reason of its own.
            "messageStart" if data.is_object() => drop(stream.body.shift_remove("stopReason")),
            "contentBlockStart" => {
                if let Some(start) = data.get("start").and_then(started_part) {
                    begin(stream.parts(), index, start);
                }
            }
            "contentBlockDelta" => {
                if let Some(Value::Object(delta)) = data.get("delta") {
                    delta.iter().for_each(|(kind, delta)| extend(stream.parts(), index, kind, delta));
                }
            }
            "contentBlockStop" => {
                let parts = stream.parts();
                if let Some(number) = find(parts, index).filter(|number| !parts[*number].is_done) {
                    parts.end(number);
                }
            }
            "messageStop" | "metadata" => {
                if let Value::Object(data) = data {
                    overlay(&mut stream.body, data, |_, _| true);
                }
            }
            kind if kind.ends_with("Exception") => {
                let report = Report { code: kind.to_owned(), ..Report::of(data) };
                return Err(report.into_error(kind, "an event of the response"));
            }
            // Unknown future events are ignored.
            _ if data.is_object() => {}
            _ => return Err(WireError::new(kind, "an event of the response")),
        }
        Ok(())
    }

    fn is_complete(&self, stream: &Assembly) -> bool {
        finish_reason(stream).is_some()
    }

    fn finish(&self, stream: &mut Assembly) -> Value {
        let reason = finish_reason(stream);
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
        call::is_call(block).then(|| call::read(block, false))
    }

    /// Writes the received pieces into the block.
    ///
    /// Arguments become an object, as in a response that was not streamed. Incomplete arguments stay a
    /// string, and missing arguments become an empty object. A text with citations becomes a block of the
    /// kind `citationsContent`.
    fn seal(&self, block: &mut Part, _is_complete: bool) {
        let written = std::mem::take(&mut block.text);
        block.has_pieces = !written.trim().is_empty();
        match block.growing {
            "toolUse" if block.has_pieces => match serde_json::from_str(&written) {
                Ok(input @ Value::Object(_)) => set_at(&mut block.json, INPUT, input),
                _ => set_at(&mut block.json, INPUT, written),
            },
            "toolUse" if is_blank(block.json.pointer("/toolUse/input")) => {
                set_at(&mut block.json, INPUT, json!({}));
            }
            "text" => match block.json.get_mut("citations").map(Value::take) {
                Some(citations) => {
                    let content = json!([{"text": written}]);
                    block.json = json!({"citationsContent": {"content": content, "citations": citations}});
                }
                None => set_at(&mut block.json, TEXT, written),
            },
            "reasoning" => set_at(&mut block.json, REASONING, written),
            "redacted" => set_at(&mut block.json, REDACTED, written),
            _ => {}
        }
    }
}

/// Returns the content block in a start event, or `None` if the event names no kind of block.
fn started_part(start: &Value) -> Option<Value> {
    let (kind, fields) = start.as_object()?.iter().next()?;
    Some(json!({kind: fields}))
}

/// Returns the index in `parts` of the block with the provider's index `index`. If `index` is `None`, returns
/// the index of the latest block.
fn find(parts: &Parts, index: Option<u64>) -> Option<usize> {
    index.map_or_else(|| parts.latest(), |index| parts.by_index.get(&index).copied())
}

/// Begins a block and returns its index in `parts`.
fn begin(parts: &mut Parts, index: Option<u64>, block: Value) -> usize {
    let known = index.and_then(|index| parts.by_index.get(&index).copied());
    if let Some(number) = known.filter(|number| !parts[*number].is_done) {
        parts.end(number);
    }
    let index = index.unwrap_or(parts.next);
    let number = parts.begin(if known.is_some() { parts.next } else { index }, block);
    parts.learn(number, &Key { index: Some(index), ..Key::default() });
    let growing = match &parts[number].json {
        json if call::is_call(json) => "toolUse",
        json if json.get("text").is_some() => "text",
        json if json.pointer("/reasoningContent/redactedContent").is_some() => "redacted",
        json if json.get("reasoningContent").is_some() => "reasoning",
        _ => "",
    };
    parts[number].growing = growing;
    if growing == "toolUse" {
        parts.announce(number);
    }
    number
}

/// Appends a delta of the given kind to the block with the provider's index `index`. The delta is ignored if the block
/// has ended, or if the delta belongs to another kind of block.
fn extend(parts: &mut Parts, index: Option<u64>, kind: &str, delta: &Value) {
    let redacted = delta.get("redactedContent").and_then(Value::as_str);
    let (growing, piece) = match kind {
        "text" => ("text", texts::whole(delta)),
        "citation" => ("text", "".into()),
        "toolUse" => ("toolUse", texts::of(delta, "input")),
        "reasoningContent" => match redacted {
            Some(redacted) => ("redacted", redacted.into()),
            None => ("reasoning", texts::of(delta, "text")),
        },
        _ => ("", "".into()),
    };
    let known = find(parts, index);
    let open = match kind {
        "toolUse" => parts.receiver(known.filter(|number| parts[*number].json.get(kind).is_some())),
        _ => known.filter(|number| !parts[*number].is_done),
    };
    let number = match open {
        Some(number) => number,
        // The block has ended. A delta after the end of a block is a mistake of the service.
        None if known.is_some() && index.is_some() && kind != "toolUse" => return,
        None => {
            let index = index.filter(|_| known.is_none());
            let block = match growing {
                "text" => json!({"text": ""}),
                "redacted" => json!({"reasoningContent": {"redactedContent": ""}}),
                "reasoning" => json!({"reasoningContent": {"reasoningText": {"text": ""}}}),
                "toolUse" => json!({"toolUse": {}}),
                _ => json!({kind: {}}),
            };
            begin(parts, index, block)
        }
    };
    let part = &mut parts[number];
    match (kind, &mut part.json) {
        _ if part.growing != growing => {}
        ("citation", Value::Object(fields)) => push(fields, "citations", delta),
        ("toolResult", json) => {
            if let Some(Value::Object(result)) = json.get_mut("toolResult") {
                push(result, "content", delta);
            }
        }
        ("text" | "toolUse" | "reasoningContent", json) => {
            if let Some(signature) = delta.get("signature") {
                set_at(json, &["reasoningContent", "reasoningText", "signature"], signature.clone());
            }
            part.text.push_str(&piece);
            match growing {
                "toolUse" => parts.say_arguments(number, false),
                "text" | "reasoning" => parts.say(growing == "reasoning", &piece),
                _ => {}
            }
        }
        (_, json) => {
            if let (Some(Value::Object(old)), Value::Object(new)) = (json.get_mut(kind), delta) {
                overlay(old, new, |_, _| true);
            }
        }
    }
}

/// Appends a value to the list in the field `name`, creating the list if necessary. If `value` is a list, its
/// elements are appended.
fn push(fields: &mut Fields, name: &str, value: &Value) {
    let list = fields.entry(name).or_insert_with(|| json!([]));
    let more = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    if let Value::Array(list) = list {
        list.extend(more.iter().cloned());
    }
}

/// Returns the finish reason, if it has arrived.
fn finish_reason(stream: &Assembly) -> Option<FinishReason> {
    Some(FinishReason::parse(stream.body.get("stopReason")?.as_str()?))
}
