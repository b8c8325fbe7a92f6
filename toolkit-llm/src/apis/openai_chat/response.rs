//! Reads the messages of a response: calls, text and reasoning.

use super::{FACTS, OpenAiChat, call};
use crate::WireError;
use crate::call::{Message, Part, Reading, WireCall};
use crate::codec::ResponseCodec;
use crate::error::{Report, check_role, failed};
use crate::fields::{Fields, element, field, optional, text};
use crate::response::{FinishReason, Response, Usage};
use crate::texts;
use serde_json::{Value, json};
use std::borrow::Cow;

impl ResponseCodec for OpenAiChat {
    /// Finds the messages in `payload`. The payload is a response body with choices, one choice, one message,
    /// or a list of calls.
    fn read<'a>(&self, payload: &'a Value) -> Result<Reading<'a>, WireError> {
        let messages = match payload {
            Value::Array(calls) => bare_calls(calls)?,
            Value::Object(fields) if fields.contains_key("choices") => body(fields)?,
            Value::Object(fields) if is_message(fields) => vec![lone_message(fields)?],
            Value::Object(_) if call::is_call(payload) => vec![of_calls(std::slice::from_ref(payload))],
            Value::Object(choice) => match choice.get("message") {
                Some(Value::Object(fields)) => vec![message(fields, is_cut(payload), "message")?],
                _ => return Err(no_message(choice)),
            },
            _ => return Err(WireError::new("", "a response, a message or a call")),
        };
        Ok(Reading { payload, messages })
    }

    fn describe(&self, reading: &Reading<'_>, response: &mut Response) {
        if let Some(fields) = reading.messages.first().and_then(|message| message.fields) {
            for (is_reasoning, text) in text_pieces(fields) {
                let target = if is_reasoning { &mut response.reasoning } else { &mut response.text };
                target.push_str(&text);
            }
            response.refusal = fields.get("refusal").map(texts::whole).unwrap_or_default().into_owned();
        }
        let choice = reading.payload.pointer("/choices/0").unwrap_or(reading.payload);
        response.finish = FinishReason::parse(text(choice, "finish_reason"));
        // In streams, Moonshot reports the counts in the last choice, and Groq in a field of its own.
        let places = ["/usage", "/choices/0/usage", "/x_groq/usage"];
        let counts = places.iter().filter_map(|at| reading.payload.pointer(at));
        let mut read = counts.map(|counts| (counts, Usage::read(&json!({"usage": counts}), &FACTS)));
        let Some((counts, usage)) = read.find(|(_, usage)| !usage.is_empty()) else { return };
        response.usage = usage;
        let count = |name: &str| counts.get(name).and_then(Value::as_u64).unwrap_or_default();
        // DeepSeek and Moonshot report cached tokens in their own fields.
        let cached = &mut response.usage.cached_input_tokens;
        *cached = (*cached).max(count("prompt_cache_hit_tokens")).max(count("cached_tokens"));
        // Mistral counts the tokens of audio only in the total.
        if count("prompt_audio_seconds") > 0 {
            let input = count("total_tokens").saturating_sub(usage.output_tokens);
            response.usage.input_tokens = input.max(usage.input_tokens);
        }
    }
}

fn bare_calls(calls: &[Value]) -> Result<Vec<Message<'_>>, WireError> {
    match calls {
        [] => Ok(Vec::new()),
        // If at least one value is a call, damaged calls beside it are accepted, too.
        calls if calls.iter().any(call::is_call) => Ok(vec![of_calls(calls)]),
        _ => Err(WireError::new("[0]", "a call with `function`")),
    }
}

/// Reads a response body. If at least one message is valid, damaged messages are accepted, too.
fn body(fields: &Fields) -> Result<Vec<Message<'_>>, WireError> {
    let choices = fields.get("choices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut messages = Vec::with_capacity(choices.len());
    let mut broken = None;
    let mut is_vouched_for = false;
    for (index, choice) in choices.iter().enumerate() {
        let Some(fields) = choice.get("message").and_then(Value::as_object) else { continue };
        let path = field(&element("choices", index), "message");
        match message(fields, is_cut(choice), &path) {
            Ok(message) => {
                is_vouched_for = true;
                messages.push(message);
            }
            Err(error) => {
                broken.get_or_insert(error);
                // A value that is not a list is read as one damaged call.
                let call = fields.get("tool_calls").map(std::slice::from_ref).unwrap_or_default();
                messages.push(Message { fields: Some(fields), ..of_calls(call) });
            }
        }
    }
    match broken {
        Some(error) if !is_vouched_for => Err(error),
        _ if messages.is_empty() => Err(no_message(fields)),
        _ => Ok(messages),
    }
}

fn is_message(fields: &Fields) -> bool {
    ["role", "content", "tool_calls", "function_call"].iter().any(|name| fields.contains_key(*name))
}

/// Parses a message that is not inside a choice. Messages with other roles and messages of other APIs look similar, and
/// are refused.
fn lone_message(fields: &Fields) -> Result<Message<'_>, WireError> {
    if fields.get("type").is_some_and(|kind| kind == "message") {
        return Err(WireError::new("type", "no such field, which messages of other APIs have"));
    }
    check_role(fields, "assistant", "messages")?;
    message(fields, false, "")
}

fn of_calls(calls: &[Value]) -> Message<'_> {
    Message {
        is_whole: false,
        ..Message::of_parts(calls, None, |json, is_cut| Some(call::read(json, is_cut)))
    }
}

fn message<'a>(fields: &'a Fields, is_cut: bool, path: &str) -> Result<Message<'a>, WireError> {
    let calls = optional(fields, path, "tool_calls", "a list of calls", Value::as_array)?;
    let calls = calls.map_or(&[][..], Vec::as_slice);
    // `tool_calls` replaced `function_call` in November 2023. Some servers still write the older field, and
    // some write the same call in both fields.
    let legacy = call::legacy(fields).filter(|legacy| {
        let legacy = call::read(legacy, false);
        !calls.iter().any(|json| asks_the_same(&call::read(json, false), &legacy))
    });
    let count = calls.len() + usize::from(legacy.is_some());
    let calls = calls.iter().chain(legacy).enumerate();
    let parts = calls.map(|(at, json)| Part::Call(call::read(json, is_cut && at + 1 == count))).collect();
    Ok(Message { fields: Some(fields), parts, is_whole: true })
}

fn asks_the_same(one: &WireCall<'_>, other: &WireCall<'_>) -> bool {
    one.name == other.name && one.arguments() == other.arguments()
}

fn is_cut(choice: &Value) -> bool {
    FinishReason::parse(text(choice, "finish_reason")).is_cut()
}

fn no_message(fields: &Fields) -> WireError {
    failed("choices[0].message", "a message of the model", reported_error(fields))
}

/// Returns the error reported in a response body or in one of its choices. Only OpenRouter reports errors in
/// a choice.
pub(super) fn reported_error(fields: &Fields) -> Option<Report> {
    let choices = || fields.get("choices").and_then(Value::as_array).into_iter().flatten();
    let in_choice = || choices().find_map(|choice| choice.get("error").filter(|error| !error.is_null()));
    crate::error::reported_error(fields).or_else(|| in_choice().map(Report::of))
}

/// The fields of a message that contain texts.
pub(super) const TEXTS: [&str; 4] = ["content", "refusal", "reasoning_content", "reasoning"];

/// Returns the texts of a message or a delta, each with `true` for reasoning.
///
/// Servers use two field names for reasoning. If a message has both fields, their text is the same and is returned
/// once.
pub(super) fn text_pieces(message: &Fields) -> Vec<(bool, Cow<'_, str>)> {
    let of = |name: &str, is_reasoning| {
        message.get(name).map(|value| texts::pieces(value, is_reasoning)).unwrap_or_default()
    };
    let mut pieces = of("reasoning_content", true);
    if pieces.is_empty() {
        pieces = of("reasoning", true);
    }
    if content_is_empty(message) {
        // A spoken answer has its text in the transcript.
        let transcript = message.get("audio").and_then(|audio| audio.get("transcript"));
        pieces.extend(transcript.map(|text| texts::pieces(text, false)).unwrap_or_default());
    } else {
        pieces.extend(of("content", false));
    }
    pieces
}

/// Returns whether a message or a delta has no text as content.
pub(super) fn content_is_empty(fields: &Fields) -> bool {
    fields.get("content").is_none_or(|content| content.is_null() || content == "")
}
