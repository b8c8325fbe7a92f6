//! Streamed messages. Content blocks are found by their index. Several blocks may be open at a time, because
//! llama.cpp begins all blocks before it ends the first block.

use super::Anthropic;
use super::read::{hosted, read_call};
use crate::WireError;
use crate::call::{WireCall, is_blank};
use crate::codec::StreamCodec;
use crate::error::{failed, reported_error};
use crate::fields::{Fields, object, set, text};
use crate::hosted::HostedPart;
use crate::response::FinishReason;
use crate::stream::assembly::Assembly;
use crate::stream::merge::overlay;
use crate::stream::part::{PartCodec, PartKey, StreamedPart};
use crate::stream::parts::Parts;
use crate::texts;
use serde_json::{Value, json};

impl StreamCodec for Anthropic {
    fn push(&self, stream: &mut Assembly, event: &Value) -> Result<(), WireError> {
        let fields = object(event, "", "an event of a stream")?;
        if let Some(error) = reported_error(fields) {
            return Err(failed("error", "an event of the response", Some(error)));
        }
        let index = event.get("index").and_then(Value::as_u64);
        match fields.get("type").and_then(Value::as_str) {
            Some("message_start") => start(stream, event.get("message")),
            // A server without streaming sends the complete message.
            Some("message") => start(stream, Some(event)),
            Some("content_block_start") => drop(begin(stream.parts(), index, event.get("content_block"))),
            Some("content_block_delta") => extend(stream.parts(), index, event.get("delta")),
            Some("content_block_stop") => {
                let number = find(stream.parts(), index);
                end(stream.parts(), number);
            }
            Some("message_delta") => {
                overlay(&mut stream.body, fields, |name, _| !matches!(name, "type" | "delta"));
                if let Some(Value::Object(delta)) = event.get("delta") {
                    overlay(&mut stream.body, delta, |_, _| true);
                }
            }
            Some("message_stop") => {
                let is_cut = finish_reason(stream).is_some_and(|reason| reason.may_be_cut());
                stream.parts().close_all(is_cut);
            }
            // These are events of OpenAI's Responses API. If they were ignored, their calls would be lost.
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
        finish_reason(stream).is_some()
    }

    fn finish(&self, stream: &mut Assembly) -> Value {
        let reason = finish_reason(stream);
        let content = stream.end(reason);
        let first = [("type", "message"), ("role", "assistant")];
        let mut message = Fields::from_iter(first.map(|(name, value)| (name.to_owned(), value.into())));
        message.append(&mut stream.body);
        set(&mut message, "content", content);
        message.into()
    }
}

impl PartCodec for Anthropic {
    fn part_call<'a>(&self, block: &'a Value) -> Option<WireCall<'a>> {
        call_of(block)
    }

    /// Writes the received pieces of a block into the field that arrives in pieces.
    ///
    /// Arguments become an object, as in a response that was not streamed. Incomplete arguments stay a
    /// string. Blank pieces become an empty object, unless the start of the block contained the arguments.
    fn seal(&self, block: &mut StreamedPart, _is_complete: bool) {
        let field = block.growing;
        let written = std::mem::take(&mut block.text);
        block.has_pieces = !written.trim().is_empty();
        match field {
            "input" if block.has_pieces => match serde_json::from_str(&written) {
                Ok(input @ Value::Object(_)) => block.set(field, input),
                _ => block.set(field, written),
            },
            "input" if is_blank(block.json.get(field)) => block.set(field, json!({})),
            "text" | "thinking" => block.set(field, written),
            _ => {}
        }
    }

    fn hosted(&self, block: &Value) -> Option<HostedPart> {
        hosted(block)
    }
}

fn call_of(block: &Value) -> Option<WireCall<'_>> {
    (text(block, "type") == "tool_use").then(|| read_call(block, false))
}

fn start(stream: &mut Assembly, message: Option<&Value>) {
    let Some(Value::Object(fields)) = message else { return };
    // A later message has a stop reason of its own.
    stream.body.shift_remove("stop_reason");
    overlay(&mut stream.body, fields, |name, _| name != "content");
    let parts = stream.parts();
    for block in fields.get("content").and_then(Value::as_array).into_iter().flatten() {
        let number = begin(parts, None, Some(block));
        end(parts, number);
    }
}

/// Returns the index in `parts` of the block with the provider's index `index`. If `index` is `None`, returns
/// the index of the latest block.
fn find(parts: &Parts, index: Option<u64>) -> Option<usize> {
    index.map_or_else(|| parts.latest(), |index| parts.by_index.get(&index).copied())
}

/// Begins a block. Returns its index in `parts`, or `None` if the event contains no block.
fn begin(parts: &mut Parts, index: Option<u64>, block: Option<&Value>) -> Option<usize> {
    let block = typed(block?)?;
    let id = call_of(&block).and_then(|call| call.id).unwrap_or_default().into_owned();
    let known = index.and_then(|index| parts.by_index.get(&index).copied());
    if let Some(number) = known {
        if !parts[number].is_done && !id.is_empty() && parts[number].key.call == id {
            return Some(number);
        }
        end(parts, known);
    }
    let index = index.unwrap_or(parts.next);
    let number = parts.begin(if known.is_some() { parts.next } else { index }, block);
    parts.learn(number, &PartKey { index: Some(index), call: &id, ..PartKey::default() });
    let part = &mut parts[number];
    part.growing = growing(text(&part.json, "type"));
    match part.growing {
        "input" => parts.announce(number),
        "" => {}
        field => {
            let first = texts::of(&part.json, field).into_owned();
            parts.say(field == "thinking", &first);
            parts[number].text = first;
        }
    }
    Some(number)
}

/// Returns the block, with a type added if it has none. A block without a type must be a call.
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

/// Returns the name of the field that arrives in pieces in blocks of the type `kind`. Returns an empty string if all
/// fields arrive complete.
fn growing(kind: &str) -> &'static str {
    match kind {
        "text" => "text",
        "thinking" => "thinking",
        kind if kind.ends_with("tool_use") => "input",
        _ => "",
    }
}

/// Appends a delta to the block with the provider's index `index`. The delta is ignored if the block has ended, or if
/// the delta belongs to another type of block.
fn extend(parts: &mut Parts, index: Option<u64>, delta: Option<&Value>) {
    let Some(delta) = delta else { return };
    let (block, field, piece) = match text(delta, "type") {
        "text_delta" => ("text", "text", texts::of(delta, "text")),
        "thinking_delta" => ("thinking", "thinking", texts::of(delta, "thinking")),
        "input_json_delta" => ("tool_use", "input", texts::of(delta, "partial_json")),
        "citations_delta" => ("text", "citations", "".into()),
        "signature_delta" => ("thinking", "signature", "".into()),
        _ => ("", "", "".into()),
    };
    let mut number = find(parts, index);
    if field == "input" {
        number = parts.receiver(number.filter(|number| parts[*number].growing == field));
    }
    let lost_start = || (!block.is_empty()).then(|| json!({"type": block}));
    // The event that begins the block is missing.
    let index = index.filter(|index| !parts.by_index.contains_key(index));
    let number = number.or_else(|| begin(parts, index, lost_start().as_ref()));
    let Some(part) = number.map(|number| &mut parts[number]).filter(|part| !part.is_done) else { return };
    match (part.growing, field) {
        ("", _) | ("thinking", "signature") => {
            let fields = delta.as_object().into_iter().flatten().filter(|(name, _)| *name != "type");
            fields.for_each(|(name, value)| part.set(name, value.clone()));
        }
        (growing, field) if growing == field => {
            part.text.push_str(&piece);
            match number.filter(|_| field == "input") {
                Some(number) => parts.say_arguments(number, false),
                None => parts.say(field == "thinking", &piece),
            }
        }
        ("text", "citations") => {
            let Some(citation) = delta.get("citation").cloned() else { return };
            match part.json.get_mut(field) {
                Some(Value::Array(citations)) => citations.push(citation),
                _ => part.set(field, json!([citation])),
            }
        }
        _ => {}
    }
}

fn end(parts: &mut Parts, number: Option<usize>) {
    if let Some(number) = number.filter(|number| !parts[*number].is_done) {
        parts.end(number);
    }
}

/// Returns the finish reason, if it has arrived.
fn finish_reason(stream: &Assembly) -> Option<FinishReason> {
    Some(FinishReason::parse(stream.body.get("stop_reason")?.as_str()?))
}
