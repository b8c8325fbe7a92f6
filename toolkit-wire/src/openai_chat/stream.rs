//! Assembles streamed responses chunk by chunk.

mod call;
mod calls;

use super::OpenAiChat;
use super::response::{reported_error, text_pieces};
use crate::WireError;
use crate::codec::StreamCodec;
use crate::error::failed;
use crate::fields::{Fields, element, field, object, only, set, text};
use crate::response::FinishReason;
use crate::stream::decode::{StreamDecoder, StreamEvent};
use crate::stream::merge::{join, overlay};
use calls::Calls;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A streamed response being received.
#[derive(Default)]
pub(super) struct Stream {
    /// The fields beside the choices, such as id, model and usage.
    envelope: Fields,
    choices: BTreeMap<u64, Choice>,
    /// Whether the server announced the end.
    is_over: bool,
}

/// One choice. There is almost always only one.
struct Choice {
    fields: Fields,
    message: Fields,
    calls: Calls,
}

impl StreamCodec for OpenAiChat {
    fn stream(&self) -> Box<dyn StreamDecoder> {
        Box::<Stream>::default()
    }
}

impl StreamDecoder for Stream {
    fn push(&mut self, event: &Value, events: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        match event {
            // The line that ends the stream is not JSON, but some clients pass it on.
            Value::String(text) if text.trim() == "[DONE]" => {
                self.done();
                Ok(())
            }
            chunk => self.chunk(chunk, events),
        }
    }

    fn done(&mut self) {
        self.is_over = true;
    }

    fn is_complete(&self) -> bool {
        self.is_over || (!self.choices.is_empty() && self.choices.values().all(Choice::is_finished))
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Value {
        let mut response = std::mem::take(&mut self.envelope);
        let choices = std::mem::take(&mut self.choices);
        let choices = choices.into_iter().map(|(index, mut choice)| {
            if !self.is_over && !choice.is_finished() {
                choice.calls.cut();
            }
            choice.calls.close(true, events);
            choice.into_whole(index)
        });
        let choices: Vec<Value> = choices.collect();
        set(&mut response, "object", "chat.completion");
        set(&mut response, "choices", choices);
        Value::Object(response)
    }
}

impl Stream {
    fn chunk(&mut self, chunk: &Value, events: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        let fields = object(chunk, "", "a chunk of a stream")?;
        if let Some(error) = reported_error(fields) {
            return Err(failed("choices", "more of the answer", Some(&error)));
        }
        if is_of_another_api(fields) {
            return Err(WireError::new("choices", "a chunk of this API, not an event of another one"));
        }
        // `obfuscation` is random text that hides the length of the content.
        overlay(&mut self.envelope, fields, |name, _| !matches!(name, "choices" | "obfuscation"));
        match fields.get("choices") {
            // Usage arrives in a chunk without choices, and so do the content filter results of some
            // services.
            None | Some(Value::Null) => Ok(()),
            Some(Value::Array(choices)) => {
                choices.iter().enumerate().try_for_each(|(at, choice)| self.choice(choice, at, events))
            }
            Some(_) => Err(WireError::new("choices", "a list of choices")),
        }
    }

    fn choice(
        &mut self,
        choice_json: &Value,
        at: usize,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), WireError> {
        let path = element("choices", at);
        let fields = object(choice_json, &path, "a choice")?;
        let index = fields.get("index").and_then(Value::as_u64).unwrap_or(at as u64);
        let is_first = self.choices.keys().next().is_none_or(|first| index <= *first);
        let seed = || json!([self.envelope.get("id"), self.envelope.get("created"), index]);
        let choice = self.choices.entry(index).or_insert_with(|| Choice::new(seed()));
        let said = if let Some(delta) = fields.get("delta").filter(|delta| !delta.is_null()) {
            choice.delta(delta, &field(&path, "delta"), events)?
        } else {
            choice.whole(fields.get("message").unwrap_or(&Value::Null), events)
        };
        // Events do not name their choice, so only the texts of the first choice are returned.
        events.extend(said.into_iter().filter(|_| is_first));
        choice.fields(fields);
        let reason = text(choice_json, "finish_reason");
        if FinishReason::parse(reason).is_cut() {
            choice.calls.cut();
        }
        if !reason.is_empty() {
            choice.calls.close(false, events);
        }
        Ok(())
    }
}

impl Choice {
    fn new(seed: Value) -> Self {
        Self { fields: Fields::new(), message: Fields::new(), calls: Calls::new(seed) }
    }

    /// Returns whether the finish reason of the choice has arrived.
    fn is_finished(&self) -> bool {
        self.fields.contains_key("finish_reason")
    }

    /// Appends a delta to the message and returns its texts.
    fn delta(
        &mut self,
        delta: &Value,
        path: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<Vec<StreamEvent>, WireError> {
        let delta = object(delta, path, "an object")?;
        join(&mut self.message, delta, is_no_call);
        match delta.get("tool_calls") {
            None | Some(Value::Null) => {}
            Some(Value::Array(pieces)) => {
                pieces.iter().for_each(|piece| self.calls.piece(piece, events));
            }
            Some(piece @ Value::Object(_)) => self.calls.piece(piece, events),
            Some(_) => return Err(WireError::new(field(path, "tool_calls"), "a list of calls")),
        }
        if let Some(piece) = delta.get("function_call") {
            self.calls.legacy_piece(piece);
        }
        Ok(said(delta))
    }

    /// Reads a complete message, sent by a server without real streaming. After deltas, a complete message is
    /// ignored, because it only repeats them.
    fn whole(&mut self, message: &Value, events: &mut Vec<StreamEvent>) -> Vec<StreamEvent> {
        let Value::Object(message) = message else { return Vec::new() };
        if !self.message.is_empty() || !self.calls.is_empty() {
            return Vec::new();
        }
        self.message = only(message, is_no_call);
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.calls.whole(call, events);
        }
        if let Some(call) = message.get("function_call") {
            self.calls.legacy_piece(call);
        }
        said(message)
    }

    /// Records the fields beside the message.
    fn fields(&mut self, fields: &Fields) {
        let is_kept = |name: &str, value: &Value| match name {
            "index" | "delta" | "message" | "logprobs" => false,
            "finish_reason" => value.as_str().is_some_and(|reason| !reason.is_empty()),
            _ => true,
        };
        overlay(&mut self.fields, fields, is_kept);
        join(&mut self.fields, fields, |name, _| name == "logprobs");
    }

    /// Returns the choice as in a response without streaming.
    fn into_whole(self, index: u64) -> Value {
        let mut message =
            Fields::from_iter([("role".to_owned(), "assistant".into()), ("content".to_owned(), Value::Null)]);
        message.extend(self.message);
        let calls = self.calls.into_whole();
        if !calls.is_empty() {
            set(&mut message, "tool_calls", calls);
        }
        let mut choice = Fields::new();
        set(&mut choice, "index", index);
        set(&mut choice, "message", message);
        set(&mut choice, "finish_reason", Value::Null);
        choice.extend(self.fields);
        Value::Object(choice)
    }
}

fn is_no_call(name: &str, _value: &Value) -> bool {
    !matches!(name, "tool_calls" | "function_call")
}

fn said(message: &Fields) -> Vec<StreamEvent> {
    let event = |(is_reasoning, text): (bool, &str)| match is_reasoning {
        true => StreamEvent::Reasoning(text.to_owned()),
        false => StreamEvent::Text(text.to_owned()),
    };
    text_pieces(message).into_iter().map(event).collect()
}

/// Returns whether a chunk is an event of another API. Ignoring such a chunk would hide a mistake of the
/// caller.
fn is_of_another_api(fields: &Fields) -> bool {
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    !fields.contains_key("choices")
        && (fields.contains_key("candidates")
            || ["response.", "message_", "content_block_"].iter().any(|start| kind.starts_with(start)))
}
