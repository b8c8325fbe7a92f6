//! Decodes streamed responses, whose events are responses with further parts.
//!
//! On request, Vertex AI sends a call in pieces: a part with the name, then parts with `partialArgs`, and an
//! empty part at the end.

use super::Gemini;
use super::read::{
    beside, block, failure, finish, function, goes_on, hosted, member, no_content, read_call, reported_error,
    says_something,
};
use super::spelling::{get, list};
use crate::call::WireCall;
use crate::codec::StreamCodec;
use crate::hosted::HostedPart;
use crate::json::fields::{Fields, camel, element, field, is_true, object, set, text};
use crate::json::{WireError, texts};
use crate::response::FinishReason;
use crate::stream::assembly::{Assembly, StreamedMessage};
use crate::stream::merge::overlay;
use crate::stream::part::{PartCodec, PartKey, StreamedPart};
use crate::stream::parts::Parts;
use serde_json::{Value, json};
use std::borrow::Cow;

impl StreamCodec for Gemini {
    fn push(&self, stream: &mut Assembly, body: &Value) -> Result<(), WireError> {
        let fields = object(body, "", "a response or a list of responses")?;
        overlay(&mut stream.body, fields, says_else("candidates"));
        let mut result = Ok(());
        for (position, candidate) in list(fields, "candidates").iter().enumerate() {
            let Some(candidate) = candidate.as_object() else { continue };
            let index = get(candidate, "index").and_then(Value::as_u64).unwrap_or(position as u64);
            result = result.and(push_candidate(stream.message(index), candidate, position));
        }
        match reported_error(fields) {
            Some(reason) => Err(no_content("candidates[0].content", Some(reason))),
            None => result,
        }
    }

    fn is_complete(&self, stream: &Assembly) -> bool {
        // After a block, the service sends no finish reason. Without a block, the feedback has only ratings.
        block(&stream.body).is_some()
            || stream.messages.values().any(|message| get(&message.around, "finishReason").is_some())
    }

    fn finish(&self, stream: &mut Assembly) -> Value {
        let mut body = std::mem::take(&mut stream.body);
        let is_broken = stream.is_broken;
        let mut candidates = Vec::with_capacity(stream.messages.len());
        for message in stream.messages.values_mut() {
            candidates.push(finish_candidate(message, is_broken));
        }
        if !candidates.is_empty() {
            set(&mut body, "candidates", candidates);
        }
        body.into()
    }

    /// Returns whether a value is an event of a stream.
    ///
    /// Without `alt=sse`, the service sends a list of events.
    fn is_chunk(&self, value: &Value) -> bool {
        let names = ["candidates", "promptFeedback", "usageMetadata", "error"];
        names.iter().any(|name| member(value, name).is_some())
    }
}

impl PartCodec for Gemini {
    fn part_call<'a>(&self, part: &'a Value) -> Option<WireCall<'a>> {
        read_call(part, false)
    }

    fn seal(&self, part: &mut StreamedPart, is_complete: bool) {
        let Some(paths) = part.paths.take() else { return };
        part.has_pieces = true;
        let id = read_call(&part.json, false).and_then(|call| call.id.map(Cow::into_owned));
        let mut fields = beside(&part.json);
        let call = json!({"id": id, "name": part.name, "args": paths.finish(is_complete)});
        set(&mut fields, "functionCall", call);
        part.json = fields.into();
    }

    fn hosted(&self, part: &Value) -> Option<HostedPart> {
        hosted(part)
    }
}

/// Adds the candidate at the position `at` of an event to its message.
fn push_candidate(message: &mut StreamedMessage, candidate: &Fields, at: usize) -> Result<(), WireError> {
    overlay(&mut message.around, candidate, says_else("content"));
    let parts = &mut message.parts;
    if let Some(content) = get(candidate, "content").and_then(Value::as_object) {
        overlay(&mut message.fields, content, says_else("parts"));
        match content.get("parts") {
            None | Some(Value::Null) => {}
            Some(Value::Array(list)) => {
                for part in list {
                    push_part(parts, part);
                }
            }
            Some(_) => return Err(WireError::new(field(&content_path(at), "parts"), "a list of parts")),
        }
    }
    if get(candidate, "finishReason").is_none() {
        return Ok(());
    }
    let has_calls = parts.iter().any(|part| function(&part.json).is_some());
    match failure(candidate, !parts.is_empty(), has_calls) {
        Some(reason) => Err(no_content(&content_path(at), Some(reason))),
        None => Ok(()),
    }
}

fn content_path(position: usize) -> String {
    field(&element("candidates", position), "content")
}

fn push_part(parts: &mut Parts, part: &Value) {
    if let Some(call) = read_call(part, false) {
        return push_call(parts, &call);
    }
    let part = &*texts::settled(part, &["text"]);
    parts.say(is_true(part, "thought"), &texts::of(part, "text"));
    if let Some(latest) = parts.latest()
        && append(&mut parts[latest].json, part)
    {
        return;
    }
    if part.as_object().is_some_and(says_something) {
        let number = parts.begin(parts.next, part.clone());
        parts.show_hosted(number);
    }
}

/// Appends the text of a part to a part of the same kind, unless one is signed.
///
/// Returns whether it was appended.
fn append(latest: &mut Value, part: &Value) -> bool {
    let is_same_kind = is_true(part, "thought") == is_true(latest, "thought");
    if !is_plain(part) || !is_plain(latest) || !is_same_kind {
        return false;
    }
    let Some(Value::String(known)) = latest.get_mut("text") else { return false };
    known.push_str(text(part, "text"));
    true
}

/// Returns whether a part contains only text, of the answer or of a thought.
fn is_plain(part: &Value) -> bool {
    let Some(fields) = part.as_object() else { return false };
    fields.iter().all(|(name, value)| name == "text" || name == "thought" || value.is_null())
}

fn push_call(parts: &mut Parts, call: &WireCall<'_>) {
    let function = function(call.json);
    let fields = function.and_then(Value::as_object);
    let pieces = fields.map_or(&[][..], |fields| list(fields, "partialArgs"));
    let is_continued = function.is_some_and(goes_on);
    let is_whole = call.input.is_some() && pieces.is_empty() && !is_continued;
    let number = match open_call(parts, call, is_whole).or_else(|| owner(parts, call, !pieces.is_empty())) {
        Some(number) => number,
        None => {
            let mut part = beside(call.json);
            set(&mut part, "functionCall", function.cloned());
            let number = parts.begin(parts.next, part.into());
            let id = call.id.as_deref().unwrap_or_default();
            parts.learn(number, &PartKey { call: id, ..PartKey::default() });
            parts.announce(number);
            if pieces.is_empty() && !is_continued {
                return parts.end(number);
            }
            parts.open.push(number);
            number
        }
    };
    let part = &mut parts[number];
    if let Some(fields) = part.json.as_object_mut() {
        fields.extend(beside(call.json));
    }
    let known = part.paths.get_or_insert_default();
    if let Some(args) = call.input {
        known.merge(args);
    }
    for piece in pieces {
        let path = member(piece, "jsonPath").and_then(Value::as_str);
        known.add(path, value(piece), goes_on(piece));
    }
    if !is_continued {
        parts.open.retain(|open| *open != number);
        parts.end(number);
    }
}

/// Returns the ended call that owns the arguments of `call`.
///
/// It has no arguments yet, and has the same id or is the only such call.
fn owner(parts: &mut Parts, call: &WireCall<'_>, has_pieces: bool) -> Option<usize> {
    if !has_pieces && call.has_no_arguments() {
        return None;
    }
    let id = call.id.as_deref().unwrap_or_default();
    if let Some(number) = parts.known.by_call.get(id).copied()
        && parts.is_blank(number)
        && (call.name.is_empty() || parts[number].name == call.name)
    {
        parts.reopen(number);
        return Some(number);
    }
    if call.name.is_empty() { parts.adopt() } else { None }
}

/// Returns the index of the unfinished call that `call` continues: with its id or, without one, its name.
///
/// A `call` without a name may also continue the last unfinished call. A complete call with a name but no id
/// continues none.
fn open_call(parts: &Parts, call: &WireCall<'_>, is_whole: bool) -> Option<usize> {
    if is_whole && call.id.is_none() && !call.name.is_empty() {
        return None;
    }
    let mut last = None;
    for number in parts.open.iter().rev().copied() {
        let Some(part) = parts.get(number) else { continue };
        let is_same = match &call.id {
            Some(_) => read_call(&part.json, false).is_some_and(|known| known.id == call.id),
            // Calls without ids arrive one after another, so only one with this name is open.
            None => call.name.is_empty() || part.name == call.name,
        };
        if is_same {
            return Some(number);
        }
        last = last.or(Some(number));
    }
    if call.name.is_empty() { last } else { None }
}

/// Returns the argument value of a piece, as in `stringValue`.
///
/// Outside of `nullValue`, `null` counts as missing.
fn value(piece: &Value) -> Option<Value> {
    for (key, value) in piece.as_object()? {
        let name = camel(key);
        if name == "nullValue" {
            return Some(Value::Null);
        }
        if name.ends_with("Value") && !value.is_null() {
            return Some(value.clone());
        }
    }
    None
}

fn finish_candidate(message: &mut StreamedMessage, is_broken: bool) -> Value {
    let mut candidate = std::mem::take(&mut message.around);
    let mut content = std::mem::take(&mut message.fields);
    // After a finish reason, calls are held back only if the candidate was cut.
    let has_reason = !is_broken && get(&candidate, "finishReason").is_some();
    let reason = if has_reason { Some(finish(&candidate)) } else { None };
    let is_cut = reason.as_ref().is_none_or(FinishReason::may_be_cut);
    // If the model stopped by itself, its calls are finished, even without the final part of a call.
    message.parts.close_all(reason.as_ref() != Some(&FinishReason::Stop));
    message.parts.release(is_cut);
    let parts = message.parts.take_json(has_reason && is_cut);
    if !parts.is_empty() {
        content.entry("role").or_insert_with(|| "model".into());
        set(&mut content, "parts", parts);
    }
    set(&mut candidate, "content", content);
    candidate.into()
}

fn says_else(except: &str) -> impl Fn(&str, &Value) -> bool {
    move |name, value| name != except && !value.is_null()
}
