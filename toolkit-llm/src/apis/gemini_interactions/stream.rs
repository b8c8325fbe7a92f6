//! Streamed interactions.
//!
//! Steps are found by their index.

use super::GeminiInteractions;
use super::read::{is_call, read_call_step};
use crate::call::WireCall;
use crate::codec::StreamCodec;
use crate::json::error::event_fields;
use crate::json::fields::{append, list, push_text, set, text};
use crate::json::{WireError, texts};
use crate::response::FinishReason;
use crate::stream::assembly::Assembly;
use crate::stream::indexed::Receiver;
use crate::stream::merge::overlay;
use crate::stream::part::{PartCodec, StreamedPart};
use crate::stream::parts::Parts;
use serde_json::{Value, json};

/// The fields of a status update that the response gets.
const UPDATED: [&str; 3] = ["status", "usage", "continuation_token"];

impl StreamCodec for GeminiInteractions {
    fn push(&self, stream: &mut Assembly, event: &Value) -> Result<(), WireError> {
        let fields = event_fields(event, "error", "an event of the interaction")?;
        let index = event.get("index").and_then(Value::as_u64);
        match fields.get("event_type").and_then(Value::as_str) {
            Some("interaction.created" | "interaction.completed") => {
                let is_end = text(event, "event_type") == "interaction.completed";
                if !is_end {
                    // A later interaction has a status of its own.
                    stream.body.shift_remove("status");
                }
                // Some servers write the fields of the interaction beside the event type.
                let interaction = event.get("interaction").unwrap_or(event);
                if let Value::Object(fields) = interaction {
                    overlay(&mut stream.body, fields, is_of_interaction);
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
                overlay(&mut stream.body, fields, |name, value| UPDATED.contains(&name) && !value.is_null());
            }
            Some("step.start") => {
                if let Some(step @ Value::Object(_)) = event.get("step") {
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
                parts.end_if_open(parts.at_index(index));
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

    fn is_chunk(&self, value: &Value) -> bool {
        value.get("event_type").is_some()
    }
}

impl PartCodec for GeminiInteractions {
    fn part_call<'a>(&self, step: &'a Value) -> Option<WireCall<'a>> {
        read_call_step(step, false)
    }

    fn seal(&self, step: &mut StreamedPart, _is_complete: bool) {
        if is_any_call(&step.json) {
            step.seal_arguments(&["arguments"], is_call(&step.json));
        }
    }
}

/// Returns whether a field belongs to the interaction, not the event.
fn is_of_interaction(name: &str, value: &Value) -> bool {
    !matches!(name, "steps" | "event_type" | "event_id") && !value.is_null()
}

fn is_any_call(step: &Value) -> bool {
    text(step, "type").ends_with("_call")
}

fn begin(parts: &mut Parts, index: Option<u64>, step: &Value) -> usize {
    let number = parts.begin_at(index, step.clone());
    match text(step, "type") {
        "model_output" => parts.say(false, &texts::of(step, "content")),
        "thought" => parts.say(true, &texts::of(step, "summary")),
        _ => {}
    }
    number
}

/// Adds a delta to the step with the provider's index `index`, or begins the step with it.
///
/// A delta is ignored if the step has ended or has another type.
fn extend(parts: &mut Parts, index: Option<u64>, delta: &Value) {
    let kind = text(delta, "type");
    let step = match kind {
        "text" | "text_annotation_delta" | "image" | "audio" | "video" | "document" => "model_output",
        "thought_summary" | "thought_signature" => "thought",
        "arguments_delta" => "function_call",
        kind => kind,
    };
    let number = match parts.receiver_at(index, step == "function_call", is_any_call) {
        Receiver::Open(number) => number,
        Receiver::New(index) => begin(parts, index, &json!({"type": step})),
        Receiver::Ended => return,
    };
    let part = &mut parts[number];
    let is_hosted = step.ends_with("_call") && is_any_call(&part.json);
    if text(&part.json, "type") != step && !is_hosted {
        return;
    }
    let summary = delta.get("content").unwrap_or(&Value::Null);
    match kind {
        "text" => join(&mut part.json, "content", delta),
        "thought_summary" => join(&mut part.json, "summary", summary),
        "thought_signature" => part.set("signature", delta.get("signature").cloned()),
        "arguments_delta" => part.append(text(delta, "arguments")),
        "text_annotation_delta" => {
            if let Some(block) = last(&mut part.json, "content") {
                append(block, "annotations", list(delta, "annotations"));
            }
        }
        "image" | "audio" | "video" | "document" => {
            append(&mut part.json, "content", std::slice::from_ref(delta));
        }
        _ => {
            if let (Value::Object(fields), Value::Object(delta)) = (&mut part.json, delta) {
                overlay(fields, delta, |name, _| name != "type");
            }
        }
    }
    parts.say_arguments(number, false);
    match step {
        "model_output" => parts.say(false, &texts::of(delta, "text")),
        "thought" => parts.say(true, &texts::of(summary, "text")),
        _ => {}
    }
}

/// Appends a block to the list in the field `name`, joining adjacent texts.
fn join(step: &mut Value, name: &str, block: &Value) {
    let block = &*texts::settled(block, &["text"]);
    if text(block, "type") == "text"
        && let Some(last) = last(step, name)
        && text(last, "type") == "text"
    {
        push_text(last, &["text"], text(block, "text"));
    } else if block.is_object() {
        append(step, name, std::slice::from_ref(block));
    }
}

fn last<'a>(step: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    step.get_mut(name)?.as_array_mut()?.last_mut()
}

/// Returns the finish reason, if the interaction has ended.
fn finish_reason(stream: &Assembly) -> Option<FinishReason> {
    let status = stream.body.get("status")?.as_str()?;
    if matches!(status, "in_progress" | "queued") { None } else { Some(FinishReason::parse(status)) }
}
