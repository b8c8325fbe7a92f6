//! Streamed messages. Content parts and calls have separate indices.

use super::{Cohere, call};
use crate::WireError;
use crate::call::WireCall;
use crate::codec::StreamCodec;
use crate::error::{Report, failed, reported_error};
use crate::fields::{Fields, object, set, set_at, text};
use crate::response::FinishReason;
use crate::stream::assembly::Assembly;
use crate::stream::merge::overlay;
use crate::stream::part::{Key, Part, PartCodec};
use crate::stream::parts::Parts;
use crate::texts;
use serde_json::{Value, json};

/// The fields of a message whose content is spread over several events.
const GROWING: [&str; 4] = ["content", "tool_calls", "tool_plan", "citations"];

impl StreamCodec for Cohere {
    fn push(&self, stream: &mut Assembly, event: &Value) -> Result<(), WireError> {
        let fields = object(event, "", "an event of a stream")?;
        if let Some(error) = reported_error(fields) {
            return Err(failed("message", "more of the answer", Some(error)));
        }
        let delta = event.get("delta").unwrap_or(&Value::Null);
        let message = delta.get("message").unwrap_or(&Value::Null);
        let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        let [content, call] = ["content", "tool_calls"].map(|kind| format!("{kind}:{index}"));
        match fields.get("type").and_then(Value::as_str) {
            Some("message-start") => {
                // A later message has a finish reason of its own.
                stream.body.shift_remove("finish_reason");
                overlay(&mut stream.body, fields, |name, _| name == "id");
                if let Value::Object(fields) = message {
                    overlay(&mut stream.message(0).fields, fields, |name, _| !GROWING.contains(&name));
                }
                plan(stream, &texts::of(message, "tool_plan"));
            }
            Some("tool-plan-delta") => plan(stream, &texts::of(message, "tool_plan")),
            Some("content-start" | "content-delta") => {
                extend(stream.parts(), &content, one(message.get("content")));
            }
            Some("tool-call-start" | "tool-call-delta") => {
                extend(stream.parts(), &call, one(message.get("tool_calls")));
            }
            Some("content-end") => end(stream.parts(), &content),
            Some("tool-call-end") => end(stream.parts(), &call),
            Some("citation-start") => {
                let citations = stream.message(0).fields.entry("citations").or_insert_with(|| json!([]));
                if let (Value::Array(citations), Some(citation)) = (citations, one(message.get("citations")))
                {
                    citations.push(citation.clone());
                }
            }
            Some("message-end") => {
                overlay(&mut stream.body, fields, |name, value| name == "id" && !value.is_null());
                if let Value::Object(delta) = delta {
                    overlay(&mut stream.body, delta, |_, value| !value.is_null());
                }
                if let Some(error) = delta.get("error").filter(|error| !error.is_null()) {
                    return Err(failed("message", "more of the answer", Some(Report::of(error))));
                }
            }
            // Debug information and unknown future events are ignored. The event types of other APIs contain
            // other separators.
            Some(kind) if !kind.contains(['.', '_']) => {}
            _ => return Err(WireError::new("type", "the type of an event of this API")),
        }
        Ok(())
    }

    fn is_complete(&self, stream: &Assembly) -> bool {
        finish_reason(stream).is_some()
    }

    fn finish(&self, stream: &mut Assembly) -> Value {
        let reason = finish_reason(stream);
        let (calls, content): (Vec<Value>, Vec<Value>) =
            stream.end(reason).into_iter().partition(call::is_call);
        let mut fields = Fields::from_iter([("role".to_owned(), json!("assistant"))]);
        fields.extend(std::mem::take(&mut stream.message(0).fields));
        for (name, list) in [("tool_calls", calls), ("content", content)] {
            if !list.is_empty() {
                set(&mut fields, name, list);
            }
        }
        let mut body = std::mem::take(&mut stream.body);
        set(&mut body, "message", fields);
        body.into()
    }

    /// Returns whether a value is an event of a stream. A program may pass a stored stream as a list of its events.
    fn is_chunk(&self, value: &Value) -> bool {
        matches!(text(value, "type"), "message-start" | "message-end" | "content-delta" | "tool-call-delta")
    }
}

impl PartCodec for Cohere {
    fn part_call<'a>(&self, part: &'a Value) -> Option<WireCall<'a>> {
        call::is_call(part).then(|| call::read(part, false))
    }

    fn seal(&self, part: &mut Part, _is_complete: bool) {
        let written = std::mem::take(&mut part.text);
        match part.growing {
            "arguments" => {
                part.has_pieces = !written.trim().is_empty();
                set_at(&mut part.json, &["function", "arguments"], written);
            }
            "" => {}
            field => part.set(field, written),
        }
    }

    /// Sets blank arguments of a complete call to `{}`. Otherwise, the last call before a text would look cut off.
    fn settle(&self, call: &mut Value) {
        if call::read(call, false).is_blank() {
            set_at(call, &["function", "arguments"], "{}");
        }
    }
}

fn plan(stream: &mut Assembly, piece: &str) {
    if piece.is_empty() {
        return;
    }
    let message = stream.message(0);
    let plan = message.fields.entry("tool_plan").or_insert_with(|| "".into());
    if let Value::String(plan) = plan {
        plan.push_str(piece);
    }
    message.parts.say(true, piece);
}

/// Returns the only part of an event: an object, or the first element of a list.
fn one(part: Option<&Value>) -> Option<&Value> {
    match part {
        Some(Value::Array(parts)) => parts.first(),
        part => part.filter(|part| part.is_object()),
    }
}

/// Adds a piece to the part with the key `key`. The first piece begins the part.
fn extend(parts: &mut Parts, key: &str, piece: Option<&Value>) {
    let Some(piece) = piece else { return };
    let mut known = parts.by_item.get(key).copied();
    if key.starts_with("tool_calls") {
        let call = call::read(piece, false);
        let id = |number: usize| call::read(&parts[number].json, false).id;
        // Some servers give all calls the same index.
        let is_same = |number: &usize| match &call.id {
            Some(_) => call.id == id(*number),
            None => !parts[*number].is_done && !parts[*number].name.is_empty(),
        };
        known = match call.name {
            "" => parts.receiver(known),
            _ => known.filter(is_same),
        };
    }
    let number = known.unwrap_or_else(|| begin(parts, key, piece));
    let part = &mut parts[number];
    if part.is_done {
        return;
    }
    let from =
        if part.growing == "arguments" { piece.get("function").unwrap_or(&Value::Null) } else { piece };
    let said = texts::of(from, part.growing);
    part.text.push_str(&said);
    match part.growing {
        "arguments" => {
            parts.announce(number);
            parts.say_arguments(number, false);
        }
        growing => parts.say(growing == "thinking", &said),
    }
}

fn begin(parts: &mut Parts, key: &str, piece: &Value) -> usize {
    let growing = if key.starts_with("tool_calls") {
        "arguments"
    } else if piece.get("thinking").is_some() {
        "thinking"
    } else {
        "text"
    };
    let mut json = piece.clone();
    let kind = if growing == "arguments" { "function" } else { growing };
    if let Value::Object(fields) = &mut json {
        fields.entry("type").or_insert_with(|| kind.into());
        if growing == "arguments" {
            fields.entry("function").or_insert_with(|| json!({}));
        }
    }
    let number = parts.begin(parts.next, json);
    parts.learn(number, &Key { item: key, ..Key::default() });
    parts[number].growing = growing;
    number
}

fn end(parts: &mut Parts, key: &str) {
    if let Some(number) = parts.by_item.get(key).copied().filter(|number| !parts[*number].is_done) {
        parts.end(number);
    }
}

/// Returns the finish reason, if it has arrived.
fn finish_reason(stream: &Assembly) -> Option<FinishReason> {
    Some(FinishReason::parse(stream.body.get("finish_reason")?.as_str().unwrap_or_default()))
}
