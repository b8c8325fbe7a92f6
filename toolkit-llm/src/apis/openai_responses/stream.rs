//! Assembles streamed responses item by item.
//!
//! The item of an event is found by ids and indices, never by the order of events, because items may be
//! interleaved. Some servers omit `item_id`, `output_index` or `call_id`, and some use a value for several
//! items. llama.cpp sends neither `output_index` nor `function_call_arguments.done`, and other servers give
//! an item a new id in each event.

mod find;
mod item;

use super::client::CallKind;
use super::read::{read_call, read_hosted};
use super::{CUSTOM, FUNCTION, OpenAiResponses};
use crate::call::WireCall;
use crate::codec::StreamCodec;
use crate::hosted::HostedPart;
use crate::json::error::{Report, reported_error};
use crate::json::fields::{Fields, kind, list, object, only, set, text};
use crate::json::{WireError, texts};
use crate::stream::assembly::Assembly;
use crate::stream::merge::overlay;
use crate::stream::part::{PartCodec, PartKey, StreamedPart};
use serde_json::Value;
use std::collections::HashSet;

impl StreamCodec for OpenAiResponses {
    fn push(&self, stream: &mut Assembly, event: &Value) -> Result<(), WireError> {
        let fields = object(event, "", "an event: an object with a `type`")?;
        let Some(kind) = kind(fields) else {
            return Err(match reported_error(fields) {
                Some(_) => fail(stream, fields),
                None => WireError::new("type", "the type of an event"),
            });
        };
        let name = kind.strip_prefix("response.").unwrap_or(kind);
        match name {
            // Events after the end are ignored.
            _ if stream.is_over && name != "error" => {}
            "created" | "queued" | "in_progress" => set_response(stream, fields),
            "completed" | "incomplete" => {
                end(stream, name, fields);
                close_all(stream);
            }
            "failed" => {
                end(stream, name, fields);
                let error = reported_error(&stream.body);
                return Err(no_response("response", error));
            }
            "error" => return Err(fail(stream, fields)),
            "output_item.added" | "output_item.done" => {
                let Some(item @ Value::Object(_)) = fields.get("item") else { return Ok(()) };
                let key = find::key_of_item(item, fields.get("output_index"));
                match name {
                    "output_item.added" => item::begin(stream.parts(), &key, item),
                    _ => item::end(stream.parts(), &key, item),
                }
            }
            _ => push_text(stream, name, event),
        }
        Ok(())
    }

    /// Some servers send no event that ends the response.
    fn done(&self, stream: &mut Assembly) {
        let Some(message) = stream.messages.get(&0) else { return };
        let is_done = !message.parts.is_empty() && message.parts.iter().all(|item| item.is_done);
        if is_done && !stream.is_over {
            set(&mut stream.body, "status", "completed");
            stream.is_over = true;
        }
    }

    fn is_complete(&self, stream: &Assembly) -> bool {
        stream.is_over
    }

    fn finish(&self, stream: &mut Assembly) -> Value {
        if !stream.is_over {
            set(&mut stream.body, "status", "incomplete");
        }
        close_all(stream);
        let output = stream.parts().take_json(false);
        let mut response = std::mem::take(&mut stream.body);
        response.entry("object").or_insert_with(|| "response".into());
        set(&mut response, "output", output);
        Value::Object(response)
    }
}

impl PartCodec for OpenAiResponses {
    fn part_call<'a>(&self, item: &'a Value) -> Option<WireCall<'a>> {
        read_call(item, false)
    }

    fn seal(&self, item: &mut StreamedPart, is_complete: bool) {
        item::close(item, if is_complete { "completed" } else { "incomplete" });
    }

    /// Sets blank arguments of a complete call to `{}`, as the service does.
    ///
    /// Otherwise, it would look cut off.
    fn settle(&self, call: &mut Value) {
        let Some(read) = read_call(call, false) else { return };
        if read.is_blank() && !read.is_cut && read.name == text(call, "name") {
            call["arguments"] = "{}".into();
        }
    }

    fn hosted(&self, item: &Value) -> Option<HostedPart> {
        read_hosted(item)
    }
}

/// Adds a piece (`….delta`) or the complete text (`….done`) to an item.
fn push_text(stream: &mut Assembly, name: &str, event: &Value) {
    let (name, is_whole) = match name.rsplit_once('.') {
        Some((name, "delta")) => (name, false),
        Some((name, "done")) => (name, true),
        _ => return,
    };
    let Some((kind, place)) = item::place(name, event) else { return };
    let field = if is_whole { place.text } else { "delta" };
    let piece = match event.get(field) {
        None | Some(Value::Null) => return,
        Some(text) => texts::whole(text),
    };
    let parts = stream.parts();
    let index = event.get("output_index").and_then(Value::as_u64);
    let key = PartKey { item: text(event, "item_id"), index, call: text(event, "call_id"), kind };
    let known = find::find(parts, &key, false);
    if known.is_none() && kind == FUNCTION && piece.is_empty() {
        return;
    }
    let is_arguments = kind == FUNCTION && !piece.is_empty();
    let receiver = match known {
        // Late arguments may belong to another call.
        Some(number) if is_arguments && parts[number].is_done && parts.is_blank(number) => None,
        known => known,
    };
    let adopted = if is_arguments && receiver.is_none() { parts.adopt() } else { None };
    let number = match adopted {
        Some(number) => number,
        None => find::known_or_new(parts, receiver, &key),
    };
    let written = parts[number].texts.entry(place).or_default();
    // Some servers end a text without repeating it.
    if is_whole && item::content(&(*piece).into()) < item::content(&written.as_str().into()) {
        return;
    }
    let is_new = !is_whole || written.is_empty();
    let is_other = is_whole && !piece.starts_with(written.as_str());
    if is_whole {
        written.clear();
    }
    written.push_str(&piece);
    parts[number].has_pieces |= is_whole && kind == CUSTOM;
    if is_other {
        parts.stop_arguments(number);
    } else {
        parts.say_arguments(number, false);
    }
    if is_new {
        item::say(parts, place.block, &piece);
    }
}

fn set_response(stream: &mut Assembly, event: &Fields) {
    if let Some(response) = event.get("response").and_then(Value::as_object) {
        overlay(&mut stream.body, response, |name, _| name != "output");
    }
}

fn fail(stream: &mut Assembly, event: &Fields) -> WireError {
    let error = match event.get("error") {
        None | Some(Value::Null) => only(event, |name, _| name != "type").into(),
        Some(error) => error.clone(),
    };
    set(&mut stream.body, "error", error);
    no_response("", reported_error(event))
}

fn no_response(path: &str, error: Option<Report>) -> WireError {
    error.unwrap_or_else(|| Report::new("it gave no reason")).into_error(path, "a response")
}

/// Applies the final response, whose items take precedence.
///
/// Items that some servers leave out of it are kept.
fn end(stream: &mut Assembly, status: &str, event: &Fields) {
    set_response(stream, event);
    let known = stream.body.get("status").and_then(Value::as_str);
    if !matches!(known, Some("completed" | "incomplete" | "failed" | "cancelled")) {
        set(&mut stream.body, "status", status);
    }
    stream.is_over = true;
    let output = event.get("response").map_or(&[][..], |response| list(response, "output"));
    let listed: HashSet<&str> = output.iter().map(|item| text(item, "call_id")).collect();
    let parts = stream.parts();
    for (position, item) in output.iter().enumerate() {
        if item.is_object() {
            let key = find::key_of_item(item, None);
            let known = find::find_listed(parts, &key, position, item, &listed);
            let number = find::known_or_new(parts, known, &key);
            parts[number].position = position as u64;
            parts[number].is_listed = true;
            item::complete(parts, number, item);
        }
    }
}

/// Ends all items, adds their calls to the events, and sorts the items.
///
/// The order is that of the final response, or else of the indices. If an index is missing, it is the order
/// of arrival.
fn close_all(stream: &mut Assembly) {
    let is_complete =
        stream.body.get("status").is_some_and(|status| status == "completed") && !stream.is_broken;
    let is_over = stream.is_over;
    let parts = stream.parts();
    let is_ordered = parts.iter().any(|item| item.is_listed);
    let is_indexed = parts.iter().all(|item| item.key.index.is_some());
    for number in 0..parts.len() {
        let item = &mut parts[number];
        if is_ordered && !item.is_listed {
            item.position = u64::MAX;
        } else if !is_ordered && !is_indexed {
            item.position = number as u64;
        }
    }
    // If the final response lists items, it has items known only from fragments under another id. These are
    // removed, except calls, whose fragments may belong to a listed call without arguments.
    parts.arrange(|item| !is_ordered || !item.json.is_null() || item.key.kind == FUNCTION);
    for number in 0..parts.len() {
        parts.seal(number, is_complete);
    }
    // Free text that ended before the connection broke is complete.
    if !is_complete
        && let Some(last) = parts.last()
        && (is_over || !is_open_text(&parts[last]))
    {
        parts.cut(last);
    }
    parts.close_all(false);
    parts.release(false);
    // The last item of an incomplete response counts as cut off, unless its status or text says otherwise.
    if !is_complete && let Some(number) = parts.last() {
        let last = &mut parts[number];
        match last.json.get("arguments") {
            _ if is_open_text(last) => last.set("status", "completed"),
            Some(object @ Value::Object(_))
                if is_function_call(&last.json) && text(&last.json, "status") != "incomplete" =>
            {
                last.set("arguments", object.to_string());
            }
            _ => {}
        }
    }
}

fn is_function_call(item: &Value) -> bool {
    item.as_object().and_then(CallKind::of_item).is_some_and(|kind| kind.call == FUNCTION)
}

fn is_open_text(item: &StreamedPart) -> bool {
    text(&item.json, "type") == CUSTOM && text(&item.json, "status") != "incomplete"
}
