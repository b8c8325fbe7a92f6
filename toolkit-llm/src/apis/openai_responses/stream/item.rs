//! One item of a streamed response.

use super::find;
use crate::apis::openai_responses::read::read_call;
use crate::apis::openai_responses::{CUSTOM, FUNCTION, client};
use crate::call as shared;
use crate::json::fields::{self, Fields, kind, list, set};
use crate::json::texts;
use crate::stream::StreamEvent;
use crate::stream::merge::overlay;
use crate::stream::part::{PartKey, Place, StreamedPart};
use crate::stream::parts::Parts;
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;

/// Returns the type of the item and the place of the text that the event `name` changes.
pub(super) fn place(name: &str, event: &Value) -> Option<(&'static str, Place)> {
    let (item, field, block, text) = match name {
        "function_call_arguments" => (FUNCTION, "arguments", "", "arguments"),
        "custom_tool_call_input" => (CUSTOM, "input", "", "input"),
        "output_text" => ("message", "content", "output_text", "text"),
        "refusal" => ("message", "content", "refusal", "refusal"),
        "reasoning_text" | "reasoning" => ("reasoning", "content", "reasoning_text", "text"),
        "reasoning_summary_text" | "reasoning_summary" => ("reasoning", "summary", "summary_text", "text"),
        _ => return None,
    };
    let index_field = if field == "summary" { "summary_index" } else { "content_index" };
    let index = match event.get(index_field).and_then(Value::as_u64) {
        Some(index) if !block.is_empty() => index,
        _ => 0,
    };
    Some((item, Place { field, index, block, text }))
}

pub(super) fn say(parts: &mut Parts, block: &str, text: &str) {
    match block {
        "output_text" => parts.say(false, text),
        "refusal" => parts.add_text(StreamEvent::Refusal, text),
        "summary_text" | "reasoning_text" => parts.say(true, text),
        _ => {}
    }
}

pub(super) fn begin(parts: &mut Parts, key: &PartKey<&str>, item: &Value) {
    let known = find::find(parts, key, true);
    let number = find::known_or_new(parts, known, key);
    if parts[number].json.is_null() {
        set_item(&mut parts[number], item.clone());
    }
    // Before the item is complete, only a `call_id` is a final id.
    let part = &parts[number];
    let has_id = part.is_done || shared::id(part.json.get("call_id")).is_some();
    if has_id && !part.name.is_empty() {
        parts.announce(number);
    }
}

pub(super) fn end(parts: &mut Parts, key: &PartKey<&str>, item: &Value) {
    let placed = find::find(parts, key, false).or_else(|| find::find_open(parts, key, item));
    let known = placed.filter(|number| !is_another_call(&parts[*number], key, item));
    let number = find::known_or_new(parts, known, key);
    complete(parts, number, item);
}

/// Returns whether an item ends another call than the call in `part`.
///
/// A returned call is complete, so a different item with one of its ids is another call.
fn is_another_call(part: &StreamedPart, key: &PartKey<&str>, item: &Value) -> bool {
    let is_same_item = find::is_same_item(part, key) && !part.key.is_other_call(key);
    part.is_yielded() && !is_same_item && !find::may_be_same(part, item)
}

/// Replaces a streamed item by the final one, unless a different call was returned.
pub(super) fn complete(parts: &mut Parts, number: usize, item: &Value) {
    let part = &mut parts[number];
    let is_new = !part.is_done && part.texts.is_empty();
    let mut fields = part.json.as_object().cloned().unwrap_or_default();
    if let Value::Object(item) = item {
        overlay(&mut fields, item, |name, value| is_final(part, name, value));
    }
    if fields.get("status").is_some_and(|status| status == "in_progress") {
        set(&mut fields, "status", "completed");
    }
    fill(part, &mut fields, true);
    let whole = Value::Object(fields);
    if !part.is_yielded() || call_of(&part.json) == call_of(&whole) {
        set_item(part, whole);
    }
    part.is_done = true;
    if is_new {
        for block in list(item, "summary").iter().chain(list(item, "content")) {
            let kind = fields::text(block, "type");
            say(parts, kind, &texts::of(block, if kind == "refusal" { "refusal" } else { "text" }));
        }
    }
    parts.end(number);
}

/// Returns whether a field of the final item replaces the streamed one.
///
/// An announced id is kept, and so are arguments that the final item lacks.
fn is_final(part: &StreamedPart, name: &str, value: &Value) -> bool {
    match name {
        "call_id" => !part.is_announced() && shared::id(Some(value)).is_some(),
        "arguments" => content(value) >= part.json.get("arguments").map_or(0, content),
        _ => true,
    }
}

/// Ends an item whose end event did not arrive, with this `status`.
pub(super) fn close(part: &mut StreamedPart, status: &str) {
    let mut item = match part.json.take() {
        Value::Object(item) => item,
        _ => {
            let PartKey { kind, item, call, .. } = &part.key;
            let mut known = Fields::new();
            for (name, value) in [("type", kind), ("id", item), ("call_id", call)] {
                if !value.is_empty() {
                    set(&mut known, name, value.as_str());
                }
            }
            known
        }
    };
    fill(part, &mut item, false);
    let has_status = match kind(&item) {
        Some(FUNCTION | "message") => true,
        // Complete custom calls have no status.
        Some(CUSTOM) => status == "incomplete" && !part.has_pieces,
        _ => client::of_call(&item).is_some(),
    };
    if has_status {
        set(&mut item, "status", status);
    }
    set_item(part, item.into());
}

fn set_item(part: &mut StreamedPart, item: Value) {
    part.name = read_call(&item, false).map(|call| call.name.to_owned()).unwrap_or_default();
    part.json = item;
}

/// Fills empty fields of the item with the streamed fragments.
///
/// `is_final` states whether the service sent the item as complete. Its reasoning then stays unchanged.
fn fill(part: &StreamedPart, item: &mut Fields, is_final: bool) {
    let kind = kind(item).unwrap_or_default().to_owned();
    if kind == "message" {
        item.entry("role").or_insert_with(|| "assistant".into());
    }
    // Streamed reasoning may differ from the reasoning that the service expects back.
    if is_final && kind == "reasoning" {
        return;
    }
    for field in ["arguments", "input", "summary", "content"] {
        let mut values = Vec::new();
        for (place, text) in &part.texts {
            if place.field == field {
                values.push(block(*place, text));
            }
        }
        let streamed = values.iter().map(content).max().unwrap_or_default();
        if !values.is_empty() && item.get(field).is_none_or(|known| content(known) < streamed) {
            match values.as_slice() {
                [text @ Value::String(_)] => set(item, field, text.clone()),
                _ => set(item, field, values),
            }
        }
    }
}

/// Returns how much a field contains: nothing (0), an object without arguments (1), or more (2).
pub(super) fn content(field: &Value) -> u8 {
    match field {
        Value::Null => 0,
        Value::String(text) => match text.trim() {
            "" => 0,
            "{}" => 1,
            _ => 2,
        },
        Value::Array(list) if list.is_empty() => 0,
        _ => 2,
    }
}

/// Returns a block with the text, or the text itself if `place` has no block type.
fn block(place: Place, text: &str) -> Value {
    match place.block {
        "" => text.into(),
        "output_text" => json!({"type": place.block, "text": text, "annotations": []}),
        _ => json!({"type": place.block, place.text: text}),
    }
}

fn call_of(item: &Value) -> Option<ToolCall> {
    let call = read_call(item, false)?;
    let id = call.id.as_deref()?.into();
    Some(call.into_call(id))
}
