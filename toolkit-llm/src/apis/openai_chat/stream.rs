//! Assembles streamed responses chunk by chunk.

mod piece;

use super::OpenAiChat;
use super::read::{TEXTS, content_is_empty, legacy, read_call, reported_error, text_pieces};
use crate::apis::openai::nested_call;
use crate::call::WireCall;
use crate::codec::StreamCodec;
use crate::json::error::failed;
use crate::json::fields::{Fields, element, field, object, set, text};
use crate::json::{WireError, texts};
use crate::response::FinishReason;
use crate::stream::StreamEvent;
use crate::stream::assembly::{Assembly, StreamedMessage};
use crate::stream::merge::{join, overlay};
use crate::stream::part::{PartCodec, StreamedPart};
use serde_json::Value;

impl StreamCodec for OpenAiChat {
    fn push(&self, stream: &mut Assembly, chunk: &Value) -> Result<(), WireError> {
        // The line that ends the stream is not JSON. Some clients pass it on as a string.
        if chunk.as_str().is_some_and(|text| text.trim() == "[DONE]") {
            self.done(stream);
            return Ok(());
        }
        let fields = object(chunk, "", "a chunk of a stream")?;
        if let Some(error) = reported_error(fields) {
            return Err(failed("choices", "more of the answer", Some(error)));
        }
        if is_of_another_api(fields) {
            return Err(WireError::new("choices", "a chunk of this API, not an event of another one"));
        }
        // `obfuscation` is random text that hides the length of the content.
        overlay(&mut stream.body, fields, |name, _| !matches!(name, "choices" | "obfuscation"));
        match fields.get("choices") {
            // Token usage and, on some services, the results of content filters arrive in a chunk without
            // choices.
            None | Some(Value::Null) => Ok(()),
            Some(Value::Array(choices)) => {
                for (at, choice) in choices.iter().enumerate() {
                    push_choice(stream, choice, at)?;
                }
                Ok(())
            }
            Some(_) => Err(WireError::new("choices", "a list of choices")),
        }
    }

    fn done(&self, stream: &mut Assembly) {
        stream.is_over = true;
    }

    fn is_complete(&self, stream: &Assembly) -> bool {
        stream.is_over || (!stream.messages.is_empty() && stream.messages.values().all(is_finished))
    }

    fn finish(&self, stream: &mut Assembly) -> Value {
        let mut response = std::mem::take(&mut stream.body);
        let is_over = stream.is_over;
        let is_broken = stream.is_broken;
        let mut choices = Vec::with_capacity(stream.messages.len());
        for (index, message) in &mut stream.messages {
            let is_cut = match message.around.get("finish_reason").and_then(Value::as_str) {
                Some(reason) => FinishReason::parse(reason).may_be_cut(),
                None => !is_over,
            };
            // Complete calls first: a call that was broken off and sent again is known by the complete one.
            for all in [false, true] {
                close(message, is_cut || is_broken, all);
            }
            message.parts.release(false);
            choices.push(finish_choice(*index, message));
        }
        set(&mut response, "object", "chat.completion");
        set(&mut response, "choices", choices);
        Value::Object(response)
    }
}

impl PartCodec for OpenAiChat {
    fn part_call<'a>(&self, part: &'a Value) -> Option<WireCall<'a>> {
        Some(read_call(part, false))
    }

    fn seal(&self, call: &mut StreamedPart, _is_complete: bool) {
        let (kind, text) = if call.is_custom { ("custom", "input") } else { ("function", "arguments") };
        let Value::Object(mut fields) = call.json.take() else { return };
        fields.entry("id").or_insert(Value::Null);
        set(&mut fields, "type", kind);
        let members = [("name", call.name.as_str().into()), (text, (*call.text).into())];
        call.json = nested_call(fields, kind, members);
    }
}

fn push_choice(stream: &mut Assembly, json: &Value, at: usize) -> Result<(), WireError> {
    let path = element("choices", at);
    let fields = object(json, &path, "a choice")?;
    let index = fields.get("index").and_then(Value::as_u64).unwrap_or(at as u64);
    // Events do not name their choice, so only texts of the first choice are returned.
    let is_first = stream.messages.keys().next().is_none_or(|first| index <= *first);
    let message = stream.message(index);
    let delta = fields.get("delta").filter(|delta| !delta.is_null());
    // Servers without real streaming send a complete message. After deltas, it only repeats them.
    let is_new = message.fields.is_empty() && message.parts.is_empty();
    let piece = match delta {
        None if is_new => fields.get("message").filter(|whole| whole.is_object()),
        delta => delta,
    };
    if let Some(piece) = piece {
        let piece_path = field(&path, if delta.is_some() { "delta" } else { "message" });
        let settled = texts::settled(piece, &TEXTS);
        let received = object(&settled, &piece_path, "an object")?;
        // A transcript is the text only if there is no content.
        let is_spoken = content_is_empty(&message.fields);
        push_message(message, received, &piece_path, delta.is_none())?;
        if is_first {
            for (is_reasoning, text) in text_pieces(received) {
                if is_spoken || is_reasoning || !content_is_empty(received) {
                    message.parts.say(is_reasoning, &text);
                }
            }
            let refusal = received.get("refusal").and_then(Value::as_str).unwrap_or_default();
            message.parts.add_text(StreamEvent::Refusal, refusal);
        }
    }
    overlay(&mut message.around, fields, is_kept);
    join(&mut message.around, fields, |name, _| name == "logprobs");
    let reason = text(json, "finish_reason");
    if !reason.is_empty() {
        close(message, FinishReason::parse(reason).may_be_cut(), false);
    }
    Ok(())
}

/// Returns whether a choice's field keeps its last value.
fn is_kept(name: &str, value: &Value) -> bool {
    match name {
        "index" | "delta" | "message" | "logprobs" => false,
        "finish_reason" => value.as_str().is_some_and(|reason| !reason.is_empty()),
        _ => true,
    }
}

/// Adds a delta, or a complete message (`is_whole`), to the message.
fn push_message(
    message: &mut StreamedMessage,
    delta: &Fields,
    path: &str,
    is_whole: bool,
) -> Result<(), WireError> {
    join(&mut message.fields, delta, |name, _| name != "tool_calls");
    match delta.get("tool_calls") {
        None | Some(Value::Null) => {}
        Some(Value::Array(pieces)) => {
            for json in pieces {
                piece::push(&mut message.parts, json, is_whole);
            }
        }
        Some(json @ Value::Object(_)) => piece::push(&mut message.parts, json, is_whole),
        Some(_) => return Err(WireError::new(field(path, "tool_calls"), "a list of calls")),
    }
    Ok(())
}

/// Ends the calls of a message and adds them to the events.
///
/// If `all` is `false`, calls with incomplete or no arguments stay open. If generation stopped early
/// (`is_cut`), the calls with the latest piece and the last index may be incomplete.
fn close(message: &mut StreamedMessage, is_cut: bool, all: bool) {
    let parts = &mut message.parts;
    let last = [parts.known.current, parts.last()];
    let count = parts.len();
    // Some servers send the older `function_call` beside `tool_calls` for the same call.
    let legacy = legacy(&message.fields).cloned();
    message.fields.shift_remove("function_call");
    if let Some(legacy) = legacy
        && !parts.iter().any(|known| piece::is_same(known, &read_call(&legacy, false)))
    {
        piece::push(parts, &legacy, true);
    }
    for number in 0..parts.len() {
        if all || !(parts[number].is_open() || parts.is_blank(number)) {
            let is_last = last.contains(&Some(number)) || number >= count;
            parts.close(number, is_cut && is_last);
        }
    }
}

fn is_finished(message: &StreamedMessage) -> bool {
    message.around.contains_key("finish_reason")
}

/// Returns the JSON of the choice, as without streaming.
fn finish_choice(index: u64, message: &mut StreamedMessage) -> Value {
    let mut fields =
        Fields::from_iter([("role".to_owned(), "assistant".into()), ("content".to_owned(), Value::Null)]);
    fields.extend(std::mem::take(&mut message.fields));
    let calls = message.parts.take_json(false);
    if !calls.is_empty() {
        set(&mut fields, "tool_calls", calls);
    }
    let mut choice = Fields::new();
    set(&mut choice, "index", index);
    set(&mut choice, "message", fields);
    set(&mut choice, "finish_reason", Value::Null);
    choice.extend(std::mem::take(&mut message.around));
    Value::Object(choice)
}

/// Returns whether a chunk is an event of another API, a mistake of the caller.
fn is_of_another_api(fields: &Fields) -> bool {
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    !fields.contains_key("choices")
        && (fields.contains_key("candidates")
            || ["response.", "message_", "content_block_"].iter().any(|start| kind.starts_with(start)))
}
