//! Streamed interactions. Steps are found by their index.

use super::{GeminiInteractions, call};
use crate::WireError;
use crate::call::{WireCall, is_blank};
use crate::codec::StreamCodec;
use crate::error::{failed, reported_error};
use crate::fields::{list, object, set, text};
use crate::response::FinishReason;
use crate::stream::assembly::Assembly;
use crate::stream::merge::overlay;
use crate::stream::part::{Key, Part, PartCodec};
use crate::stream::parts::Parts;
use crate::texts;
use serde_json::{Value, json};

impl StreamCodec for GeminiInteractions {
    fn push(&self, stream: &mut Assembly, event: &Value) -> Result<(), WireError> {
        let fields = object(event, "", "an event of a stream")?;
        if let Some(error) = reported_error(fields) {
            return Err(failed("error", "an event of the interaction", Some(error)));
        }
        let index = event.get("index").and_then(Value::as_u64);
        match fields.get("event_type").and_then(Value::as_str) {
            Some("interaction.created" | "interaction.completed") => {
                let is_end = text(event, "event_type") == "interaction.completed";
                if !is_end {
                    // A later interaction has a status of its own.
                    stream.body.shift_remove("status");
                }
                // Some servers write the fields of the interaction beside the type of the event.
                let interaction = event.get("interaction").unwrap_or(event);
                if let Value::Object(fields) = interaction {
                    overlay(&mut stream.body, fields, |name, value| {
                        !matches!(name, "steps" | "event_type" | "event_id") && !value.is_null()
                    });
                }
                if is_end && finish_reason(stream).is_none() {
                    set(&mut stream.body, "status", "completed");
                }
                // A server without streaming sends the complete steps.
                if stream.parts().is_empty() {
                    for step in list(interaction, "steps") {
                        let number = begin(stream.parts(), None, step);
                        stream.parts().end(number);
                    }
                }
            }
            Some("interaction.status_update") => {
                overlay(&mut stream.body, fields, |name, value| {
                    matches!(name, "status" | "usage" | "continuation_token") && !value.is_null()
                });
            }
            Some("step.start") => {
                if let Some(step) = event.get("step").filter(|step| step.is_object()) {
                    begin(stream.parts(), index, step);
                }
            }
            Some("step.delta") => {
                if let Some(delta) = event.get("delta") {
                    extend(stream.parts(), index, delta);
                }
            }
            Some("step.stop") => {
                let parts = stream.parts();
                if let Some(number) = find(parts, index).filter(|number| !parts[*number].is_done) {
                    parts.end(number);
                }
            }
            // Unknown future events are ignored.
            Some(_) => {}
            None => return Err(WireError::new("event_type", "the type of an event")),
        }
        Ok(())
    }

    fn is_complete(&self, stream: &Assembly) -> bool {
        finish_reason(stream).is_some()
    }

    fn finish(&self, stream: &mut Assembly) -> Value {
        let reason = finish_reason(stream);
        let steps = stream.end(reason);
        let mut body = std::mem::take(&mut stream.body);
        set(&mut body, "steps", steps);
        body.into()
    }

    /// Returns whether a value is an event of a stream. A program may pass a stored stream as a list of its events.
    fn is_chunk(&self, value: &Value) -> bool {
        value.get("event_type").is_some()
    }
}

impl PartCodec for GeminiInteractions {
    fn part_call<'a>(&self, step: &'a Value) -> Option<WireCall<'a>> {
        call::is_call(step).then(|| call::read(step, false))
    }

    /// Writes the received pieces of the arguments into the step. Arguments become an object, as in a
    /// response that was not streamed. Incomplete arguments stay a string, and missing arguments become an
    /// empty object.
    fn seal(&self, step: &mut Part, _is_complete: bool) {
        let written = std::mem::take(&mut step.text);
        step.has_pieces = !written.trim().is_empty();
        if !text(&step.json, "type").ends_with("_call") {
            return;
        }
        match serde_json::from_str(&written) {
            Ok(arguments @ Value::Object(_)) => step.set("arguments", arguments),
            _ if step.has_pieces => step.set("arguments", written),
            _ if call::is_call(&step.json) && is_blank(step.json.get("arguments")) => {
                step.set("arguments", json!({}));
            }
            _ => {}
        }
    }
}

/// Returns the index in `parts` of the step with the provider's index `index`. If `index` is `None`, returns
/// the index of the latest step.
fn find(parts: &Parts, index: Option<u64>) -> Option<usize> {
    index.map_or_else(|| parts.latest(), |index| parts.by_index.get(&index).copied())
}

/// Begins a step and returns its index in `parts`.
fn begin(parts: &mut Parts, index: Option<u64>, step: &Value) -> usize {
    let known = index.and_then(|index| parts.by_index.get(&index).copied());
    if let Some(number) = known.filter(|number| !parts[*number].is_done) {
        parts.end(number);
    }
    let index = index.unwrap_or(parts.next);
    let number = parts.begin(if known.is_some() { parts.next } else { index }, step.clone());
    parts.learn(number, &Key { index: Some(index), ..Key::default() });
    match text(step, "type") {
        "model_output" => parts.say(false, &texts::of(step, "content")),
        "thought" => parts.say(true, &texts::of(step, "summary")),
        _ => {}
    }
    if call::is_call(step) {
        parts.announce(number);
    }
    number
}

/// Adds a delta to the step with the provider's index `index`. If this step has not begun, the delta begins the step.
/// The delta is ignored if the step has ended, or if the delta belongs to another type of step.
fn extend(parts: &mut Parts, index: Option<u64>, delta: &Value) {
    let (step, is_thought) = match text(delta, "type") {
        "text" | "text_annotation_delta" | "image" | "audio" | "video" | "document" => {
            ("model_output", false)
        }
        "thought_summary" | "thought_signature" => ("thought", true),
        "arguments_delta" => ("function_call", false),
        kind => (kind, false),
    };
    let known = find(parts, index);
    let is_call = step == "function_call";
    let open = if is_call {
        parts.receiver(known.filter(|number| text(&parts[*number].json, "type").ends_with("_call")))
    } else {
        known.filter(|number| !parts[*number].is_done)
    };
    let is_known = index.is_some_and(|index| parts.by_index.contains_key(&index));
    let number = match open {
        Some(number) => number,
        None if is_known && !is_call => return,
        None => begin(parts, index.filter(|_| !is_known), &json!({"type": step})),
    };
    let part = &mut parts[number];
    let is_hosted = step.ends_with("_call") && text(&part.json, "type").ends_with("_call");
    if text(&part.json, "type") != step && !is_hosted {
        return;
    }
    match text(delta, "type") {
        "text" => join(&mut part.json, "content", delta),
        "thought_summary" => join(&mut part.json, "summary", delta.get("content").unwrap_or(&Value::Null)),
        "thought_signature" => part.set("signature", delta.get("signature").cloned()),
        "arguments_delta" => part.append(text(delta, "arguments")),
        "text_annotation_delta" => {
            if let Some(block) = last(&mut part.json, "content") {
                push(block, "annotations", list(delta, "annotations"));
            }
        }
        "image" | "audio" | "video" | "document" => {
            push(&mut part.json, "content", std::slice::from_ref(delta));
        }
        _ => {
            if let (Value::Object(fields), Value::Object(delta)) = (&mut part.json, delta) {
                overlay(fields, delta, |name, _| name != "type");
            }
        }
    }
    parts.say_arguments(number, false);
    let piece = if is_thought { delta.get("content").unwrap_or(&Value::Null) } else { delta };
    if matches!(step, "model_output" | "thought") {
        parts.say(is_thought, &texts::of(piece, "text"));
    }
}

/// Appends a block to the list in the field `name`. If the block and the last block of the list are texts,
/// they are joined.
fn join(step: &mut Value, name: &str, block: &Value) {
    let block = &*texts::settled(block, &["text"]);
    let is_text = text(block, "type") == "text";
    let open = last(step, name).filter(|last| is_text && text(last, "type") == "text");
    match open.and_then(|last| last.get_mut("text")) {
        Some(Value::String(known)) => known.push_str(text(block, "text")),
        _ if block.is_object() => push(step, name, std::slice::from_ref(block)),
        _ => {}
    }
}

fn last<'a>(step: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    step.get_mut(name)?.as_array_mut()?.last_mut()
}

/// Appends values to the list in the field `name`, creating the list if necessary.
fn push(value: &mut Value, name: &str, more: &[Value]) {
    let Some(fields) = value.as_object_mut() else { return };
    match fields.entry(name).or_insert(Value::Null) {
        Value::Array(list) => list.extend(more.iter().cloned()),
        field => *field = more.to_vec().into(),
    }
}

/// Returns the finish reason, if the interaction has ended.
fn finish_reason(stream: &Assembly) -> Option<FinishReason> {
    let status = stream.body.get("status")?.as_str()?;
    (!matches!(status, "in_progress" | "queued")).then(|| FinishReason::parse(status))
}
