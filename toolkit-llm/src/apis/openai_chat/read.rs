//! Reads the messages of a response: calls, text and reasoning.

use super::{FACTS, OpenAiChat};
use crate::call::WireCall;
use crate::call::arguments::Arguments;
use crate::call::known_calls::is_same_object;
use crate::call::received::{DecodedPayload, MessagePart, ReceivedMessage};
use crate::codec::ResponseCodec;
use crate::json::error::{Report, check_role, failed};
use crate::json::fields::{Fields, element, field, only, optional, set, text};
use crate::json::{WireError, texts};
use crate::response::{FinishReason, Response, Usage, count};
use serde_json::{Value, json};
use std::borrow::Cow;
use toolkit_core::call::ProviderExtras;

pub(super) const TEXTS: [&str; 4] = ["content", "refusal", "reasoning_content", "reasoning"];

impl ResponseCodec for OpenAiChat {
    /// Finds the messages in a response body, a choice, a message, or a list of calls.
    fn read<'a>(&self, payload: &'a Value) -> Result<DecodedPayload<'a>, WireError> {
        let messages = match payload {
            Value::Array(calls) if calls.is_empty() => Vec::new(),
            // Damaged calls are accepted beside a valid call.
            Value::Array(calls) if calls.iter().any(is_call) => vec![of_calls(calls)],
            Value::Array(_) => return Err(WireError::new("[0]", "a call with `function`")),
            Value::Object(fields) if fields.contains_key("choices") => body(fields)?,
            Value::Object(fields) if is_message(fields) => vec![lone_message(fields)?],
            Value::Object(_) if is_call(payload) => vec![of_calls(std::slice::from_ref(payload))],
            Value::Object(choice) => match choice.get("message") {
                Some(Value::Object(fields)) => vec![message(fields, is_cut(payload), "message")?],
                _ => return Err(no_message(choice)),
            },
            _ => return Err(WireError::new("", "a response, a message or a call")),
        };
        Ok(DecodedPayload { payload, messages })
    }

    fn describe(&self, reading: &DecodedPayload<'_>, response: &mut Response) {
        if let Some(ReceivedMessage { fields: Some(fields), .. }) = reading.messages.first() {
            for (is_reasoning, text) in text_pieces(fields) {
                let target = if is_reasoning { &mut response.reasoning } else { &mut response.text };
                target.push_str(&text);
            }
            response.refusal = fields.get("refusal").map(texts::whole).unwrap_or_default().into_owned();
        }
        let choice = reading.payload.pointer("/choices/0").unwrap_or(reading.payload);
        response.finish = FinishReason::parse(text(choice, "finish_reason"));
        // In streams, Moonshot reports the counts in the last choice, and Groq in a field of its own.
        for place in ["/usage", "/choices/0/usage", "/x_groq/usage"] {
            let Some(counts) = reading.payload.pointer(place) else { continue };
            let usage = read_usage(counts);
            if !usage.is_empty() {
                response.usage = usage;
                break;
            }
        }
    }
}

fn read_usage(counts: &Value) -> Usage {
    let mut usage = Usage::read(&json!({"usage": counts}), &FACTS.usage);
    if usage.is_empty() {
        return usage;
    }
    let read_count = |name: &str| counts.get(name).and_then(count).unwrap_or_default();
    // DeepSeek and Moonshot report cached tokens in their own fields.
    let cached = read_count("prompt_cache_hit_tokens").max(read_count("cached_tokens"));
    usage.cached_input_tokens = usage.cached_input_tokens.max(cached);
    // Mistral counts the tokens of audio only in the total.
    if read_count("prompt_audio_seconds") > 0 {
        let input = read_count("total_tokens").saturating_sub(usage.output_tokens);
        usage.input_tokens = usage.input_tokens.max(input);
    }
    usage
}

/// Reads a response body.
///
/// Damaged messages are accepted beside a valid message.
fn body(fields: &Fields) -> Result<Vec<ReceivedMessage<'_>>, WireError> {
    let mut read = Vec::new();
    for (index, choice) in choices(fields).iter().enumerate() {
        let Some(Value::Object(own)) = choice.get("message") else { continue };
        let path = field(&element("choices", index), "message");
        read.push((own, message(own, is_cut(choice), &path)));
    }
    if read.is_empty() {
        return Err(no_message(fields));
    }
    let has_valid = read.iter().any(|(_, message)| message.is_ok());
    let mut messages = Vec::with_capacity(read.len());
    for (own, message) in read {
        messages.push(match message {
            Ok(message) => message,
            Err(error) if !has_valid => return Err(error),
            // A value that is not a list is one damaged call.
            Err(_) => {
                let calls = own.get("tool_calls").map(std::slice::from_ref).unwrap_or_default();
                ReceivedMessage { fields: Some(own), ..of_calls(calls) }
            }
        });
    }
    Ok(messages)
}

fn choices(fields: &Fields) -> &[Value] {
    fields.get("choices").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_message(fields: &Fields) -> bool {
    ["role", "content", "tool_calls", "function_call"].iter().any(|name| fields.contains_key(*name))
}

/// Parses a message outside of a choice.
///
/// Messages with other roles and of other APIs are refused.
fn lone_message(fields: &Fields) -> Result<ReceivedMessage<'_>, WireError> {
    if fields.get("type").is_some_and(|kind| kind == "message") {
        return Err(WireError::new("type", "no such field, which messages of other APIs have"));
    }
    check_role(fields, "assistant", "messages")?;
    message(fields, false, "")
}

fn of_calls(calls: &[Value]) -> ReceivedMessage<'_> {
    let message = ReceivedMessage::from_parts(calls, None, |json, is_cut| Some(read_call(json, is_cut)));
    ReceivedMessage { is_whole: false, ..message }
}

fn message<'a>(fields: &'a Fields, is_cut: bool, path: &str) -> Result<ReceivedMessage<'a>, WireError> {
    let list = optional(fields, path, "tool_calls", "a list of calls", Value::as_array)?;
    let calls = list.map_or(&[][..], Vec::as_slice);
    // `tool_calls` replaced `function_call` in November 2023. Some servers still write the older field, some
    // write a call in both.
    let legacy = legacy(fields).filter(|legacy| !has_call(calls, legacy));
    let count = calls.len() + usize::from(legacy.is_some());
    let mut parts = Vec::with_capacity(count);
    for json in calls.iter().chain(legacy) {
        let is_last = parts.len() + 1 == count;
        parts.push(MessagePart::Call(read_call(json, is_cut && is_last)));
    }
    Ok(ReceivedMessage { fields: Some(fields), parts, is_whole: true })
}

fn has_call(calls: &[Value], json: &Value) -> bool {
    let expected = read_call(json, false);
    for json in calls {
        let call = read_call(json, false);
        if call.name == expected.name && is_same_object(&text_of(&call), &text_of(&expected)) {
            return true;
        }
    }
    false
}

fn is_cut(choice: &Value) -> bool {
    FinishReason::parse(text(choice, "finish_reason")).is_cut()
}

fn no_message(fields: &Fields) -> WireError {
    failed("choices[0].message", "a message of the model", reported_error(fields))
}

/// Returns the error in a response body or, from OpenRouter, in one of its choices.
pub(super) fn reported_error(fields: &Fields) -> Option<Report> {
    let mut errors = choices(fields).iter().filter_map(|choice| choice.get("error"));
    let in_choice = errors.find(|error| !error.is_null());
    crate::json::error::reported_error(fields).or_else(|| in_choice.map(Report::read))
}

/// Returns the texts of a message or a delta, each with `true` for reasoning.
///
/// Servers use two fields for reasoning. If both are present, their equal text is returned once.
pub(super) fn text_pieces(message: &Fields) -> Vec<(bool, Cow<'_, str>)> {
    let mut pieces = pieces_of(message.get("reasoning_content"), true);
    if pieces.is_empty() {
        pieces = pieces_of(message.get("reasoning"), true);
    }
    if content_is_empty(message) {
        // A spoken answer has its text in the transcript.
        let transcript = message.get("audio").and_then(|audio| audio.get("transcript"));
        pieces.extend(pieces_of(transcript, false));
    } else {
        pieces.extend(pieces_of(message.get("content"), false));
    }
    pieces
}

fn pieces_of(value: Option<&Value>, is_reasoning: bool) -> Vec<(bool, Cow<'_, str>)> {
    match value {
        Some(value) => texts::pieces(value, is_reasoning),
        None => Vec::new(),
    }
}

pub(super) fn content_is_empty(fields: &Fields) -> bool {
    fields.get("content").is_none_or(|content| content.is_null() || content == "")
}

/// Returns whether a value has an object `function` or `custom`, or one of these types.
fn is_call(value: &Value) -> bool {
    let has = |name| value.get(name).is_some_and(Value::is_object);
    has("function") || has("custom") || matches!(text(value, "type"), "function" | "custom")
}

/// Returns the older `function_call` of a message.
///
/// Some servers write an empty one, which is ignored.
pub(super) fn legacy(message: &Fields) -> Option<&Value> {
    message.get("function_call").filter(|call| call.is_object() && !is_empty(&read_call(call, false)))
}

pub(super) fn is_empty(call: &WireCall<'_>) -> bool {
    call.id.is_none() && call.name.is_empty() && text_of(call).trim().is_empty()
}

pub(super) fn text_of<'a>(call: &WireCall<'a>) -> Cow<'a, str> {
    Arguments::from_value(call.input, false).into_text()
}

/// Reads a call, `{id, type, function: {name, arguments}}` or `{id, type, custom: {name, input}}`.
///
/// The older `function_call` has only `{name, arguments}`. A custom tool call that a stream cut off has the
/// `status` `incomplete`.
pub(super) fn read_call(json: &Value, is_cut: bool) -> WireCall<'_> {
    let (part, is_custom) = match (json.get("function"), json.get("custom")) {
        (Some(function @ Value::Object(_)), _) => (function, false),
        (_, Some(custom @ Value::Object(_))) => (custom, true),
        _ => (json, false),
    };
    let index = match json.get("index") {
        // Some servers write the index as a string.
        Some(Value::String(text)) => text.parse().ok(),
        Some(number) => number.as_u64().and_then(|index| usize::try_from(index).ok()),
        None => None,
    };
    let input = part.get(if is_custom { "input" } else { "arguments" });
    let is_incomplete = is_custom && text(json, "status") == "incomplete";
    let call = WireCall::new(json, json.get("id"), text(part, "name"), input, extras);
    WireCall { is_custom, is_cut: is_cut || is_incomplete, index, ..call }
}

/// Collects the fields that the server expects back, such as `extra_content` with Gemini's thought signature.
///
/// A custom call also gets the `type` `custom`.
fn extras(json: &Value, is_custom: bool) -> ProviderExtras {
    let mut extras = unknown_of(json);
    let kind = if is_custom { "custom" } else { "function" };
    if is_custom {
        set(&mut extras, "type", kind);
    }
    if let Some(part) = json.get(kind) {
        let unknown = unknown_of(part);
        if !unknown.is_empty() {
            set(&mut extras, kind, unknown);
        }
    }
    ProviderExtras::new(FACTS.name, extras)
}

fn unknown_of(json: &Value) -> Fields {
    match json.as_object() {
        Some(fields) => only(fields, |name, _| is_unknown(name)),
        None => Fields::new(),
    }
}

/// Returns whether the field `name` has no counterpart in [`ToolCall`](toolkit_core::call::ToolCall).
pub(super) fn is_unknown(name: &str) -> bool {
    const KNOWN: [&str; 8] = ["index", "id", "type", "function", "custom", "name", "arguments", "input"];
    !KNOWN.contains(&name)
}
