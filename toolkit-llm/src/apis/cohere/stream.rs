//! Streamed messages.
//!
//! Content parts and calls have separate indices.

use super::Cohere;
use crate::apis::chat_messages::{is_call, read_call};
use crate::call::WireCall;
use crate::codec::StreamCodec;
use crate::json::error::{Report, event_fields};
use crate::json::fields::{Fields, push_text, set, set_at, text};
use crate::json::{WireError, texts};
use crate::stream::assembly::Assembly;
use crate::stream::merge::overlay;
use crate::stream::part::{PartCodec, PartKey, StreamedPart};
use crate::stream::parts::Parts;
use serde_json::{Value, json};

/// The fields of a message that arrive in several events.
const GROWING: [&str; 4] = ["content", "tool_calls", "tool_plan", "citations"];

impl StreamCodec for Cohere {
    fn push(&self, stream: &mut Assembly, event: &Value) -> Result<(), WireError> {
        let fields = event_fields(event, "message", "more of the answer")?;
        // The event types of other APIs contain other separators.
        let kind = text(event, "type");
        if kind.is_empty() || kind.contains(['.', '_']) {
            return Err(WireError::new("type", "the type of an event of this API"));
        }
        let delta = event.get("delta").unwrap_or(&Value::Null);
        let message = delta.get("message").unwrap_or(&Value::Null);
        let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        let name = if kind.starts_with("tool-call") { "tool_calls" } else { "content" };
        let key = format!("{name}:{index}");
        match kind {
            "message-start" => {
                // A later message has a finish reason of its own.
                stream.body.shift_remove("finish_reason");
                overlay(&mut stream.body, fields, |name, _| name == "id");
                if let Value::Object(fields) = message {
                    overlay(&mut stream.message(0).fields, fields, |name, _| !GROWING.contains(&name));
                }
                add_plan(stream, &texts::of(message, "tool_plan"));
            }
            "tool-plan-delta" => add_plan(stream, &texts::of(message, "tool_plan")),
            "content-start" | "content-delta" | "tool-call-start" | "tool-call-delta" => {
                if let Some(piece) = one(message.get(name)) {
                    extend(stream.parts(), &key, name == "tool_calls", piece);
                }
            }
            "content-end" | "tool-call-end" => {
                let parts = stream.parts();
                // Parts come one after another. Some servers begin one without its index, and end it with it.
                let known = parts.known.by_item.get(&key).copied();
                parts.end_if_open(known.or_else(|| parts.latest()));
            }
            "citation-start" => {
                let citations = stream.message(0).fields.entry("citations").or_insert_with(|| json!([]));
                if let Value::Array(citations) = citations {
                    citations.extend(one(message.get("citations")).cloned());
                }
            }
            "message-end" => {
                overlay(&mut stream.body, fields, |name, value| name == "id" && !value.is_null());
                if let Value::Object(delta) = delta {
                    overlay(&mut stream.body, delta, |_, value| !value.is_null());
                }
                if let Some(error) = delta.get("error")
                    && !error.is_null()
                {
                    return Err(Report::read(error).into_error("message", "more of the answer"));
                }
            }
            // Debug information and unknown future events are ignored.
            _ => {}
        }
        Ok(())
    }

    fn is_complete(&self, stream: &Assembly) -> bool {
        stream.finish_reason("finish_reason").is_some()
    }

    fn finish(&self, stream: &mut Assembly) -> Value {
        let reason = stream.finish_reason("finish_reason");
        let (calls, content): (Vec<Value>, Vec<Value>) = stream.end(reason).into_iter().partition(is_call);
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

    fn is_chunk(&self, value: &Value) -> bool {
        matches!(text(value, "type"), "message-start" | "message-end" | "content-delta" | "tool-call-delta")
    }
}

impl PartCodec for Cohere {
    fn part_call<'a>(&self, part: &'a Value) -> Option<WireCall<'a>> {
        if is_call(part) { Some(read_call::<Self>(part, false)) } else { None }
    }

    fn seal(&self, part: &mut StreamedPart, _is_complete: bool) {
        if is_call(&part.json) {
            let written = part.text.take();
            part.has_pieces = !written.trim().is_empty();
            set_at(&mut part.json, &["function", "arguments"], written);
        }
    }

    /// Sets blank arguments of a complete call to `{}`.
    ///
    /// Otherwise, the last call before a text would look cut off.
    fn settle(&self, call: &mut Value) {
        if read_call::<Self>(call, false).is_blank() {
            set_at(call, &["function", "arguments"], "{}");
        }
    }
}

fn add_plan(stream: &mut Assembly, piece: &str) {
    if piece.is_empty() {
        return;
    }
    let message = stream.message(0);
    if let Value::String(plan) = message.fields.entry("tool_plan").or_insert_with(|| "".into()) {
        plan.push_str(piece);
    }
    message.parts.say(true, piece);
}

/// Returns an object, or the first element of a list.
fn one(part: Option<&Value>) -> Option<&Value> {
    match part {
        Some(Value::Array(parts)) => parts.first(),
        Some(Value::Object(_)) => part,
        _ => None,
    }
}

/// Adds a piece to the part `key`, or begins it.
fn extend(parts: &mut Parts, key: &str, is_call: bool, piece: &Value) {
    let mut known = parts.known.by_item.get(key).copied();
    if is_call {
        let call = read_call::<Cohere>(piece, false);
        known = if call.name.is_empty() {
            let begun = parts.latest().filter(|latest| !parts[*latest].name.is_empty());
            parts.receiver(known.or(begun))
        } else {
            // Some servers give all calls the same index.
            known.filter(|number| is_same_call(parts, *number, &call))
        };
    }
    let number = match known {
        Some(number) => number,
        None => begin(parts, key, is_call, piece),
    };
    let part = &mut parts[number];
    if part.is_done {
        return;
    }
    if is_call {
        part.append(&texts::of(piece.get("function").unwrap_or(&Value::Null), "arguments"));
        parts.announce(number);
        parts.say_arguments(number, false);
    } else {
        let field = content_field(&part.json);
        let text = texts::of(piece, field);
        push_text(&mut part.json, &[field], &text);
        parts.say(field == "thinking", &text);
    }
}

/// Returns whether a call continues the part with its index.
fn is_same_call(parts: &Parts, number: usize, call: &WireCall<'_>) -> bool {
    let part = &parts[number];
    let is_open = !part.is_done && !part.name.is_empty();
    if call.id.is_none() {
        return is_open;
    }
    let has_same_id = call.id == read_call::<Cohere>(&part.json, false).id;
    has_same_id || is_open && part.name == call.name && parts.awaits_arguments(number)
}

fn begin(parts: &mut Parts, key: &str, is_call: bool, piece: &Value) -> usize {
    let kind = if is_call { "function" } else { content_field(piece) };
    let mut json = piece.clone();
    if let Value::Object(fields) = &mut json {
        fields.entry("type").or_insert_with(|| kind.into());
        if is_call {
            fields.entry("function").or_insert_with(|| json!({}));
        } else {
            set(fields, kind, "");
        }
    }
    let number = parts.begin(parts.next, json);
    parts.learn(number, &PartKey { item: key, ..PartKey::default() });
    number
}

fn content_field(part: &Value) -> &'static str {
    if part.get("thinking").is_some() { "thinking" } else { "text" }
}
