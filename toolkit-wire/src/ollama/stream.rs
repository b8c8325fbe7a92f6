//! Streamed responses: each line is a response with the next piece of the message.

use super::{Ollama, call};
use crate::WireError;
use crate::call::WireCall;
use crate::codec::StreamCodec;
use crate::error::{failed, reported_error};
use crate::fields::{Fields, list, object, set, text};
use crate::stream::assembler::{Assembler, StreamPart};
use crate::stream::decode::{StreamDecoder, StreamEvent};
use crate::stream::merge::{join, overlay};
use serde_json::Value;
use std::borrow::Cow;

impl StreamCodec for Ollama {
    fn stream(&self) -> Box<dyn StreamDecoder> {
        Box::<Stream>::default()
    }

    /// Merges the JSON lines of a streamed response into one response body.
    fn join<'a>(&self, payload: &'a Value) -> Result<Cow<'a, Value>, WireError> {
        let is_body = |value: &Value| value.get("message").is_some() && value.get("done").is_some();
        let Some(bodies) = payload.as_array().filter(|list| list.iter().any(is_body)) else {
            return Ok(Cow::Borrowed(payload));
        };
        let mut stream = Stream::default();
        let mut events = Vec::new();
        bodies.iter().try_for_each(|body| stream.push(body, &mut events))?;
        Ok(Cow::Owned(stream.finish(&mut events)))
    }
}

#[derive(Default)]
struct Stream {
    /// The fields beside the message, each with its newest value.
    body: Fields,
    message: Fields,
    calls: Assembler<Call>,
}

/// A call; the server writes it whole.
struct Call {
    json: Value,
    position: u64,
}

impl StreamDecoder for Stream {
    fn push(&mut self, event: &Value, events: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        let fields = object(event, "", "a chunk of a stream")?;
        if let Some(error) = reported_error(fields) {
            return Err(failed("message", "more of the answer", Some(&error)));
        }
        overlay(&mut self.body, fields, |name, value| name != "message" && !value.is_null());
        let Some(message) = fields.get("message") else {
            let is_end = fields.contains_key("done");
            return if is_end { Ok(()) } else { Err(WireError::new("message", "a piece of a message")) };
        };
        let piece = object(message, "message", "an object")?;
        join(&mut self.message, piece, |name, _| name != "tool_calls");
        for (name, event) in
            [("thinking", StreamEvent::Reasoning as fn(String) -> _), ("content", StreamEvent::Text)]
        {
            let said = Some(text(message, name)).filter(|said| !said.is_empty());
            events.extend(said.map(|said| event(said.to_owned())));
        }
        for json in list(message, "tool_calls") {
            self.calls.seed(|| event.clone());
            let call = Call { json: json.clone(), position: self.calls.len() as u64 };
            let number = self.calls.begin(call);
            self.calls.yield_call(number, events);
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.body.get("done").is_some_and(|done| done == true)
    }

    fn finish(&mut self, _events: &mut Vec<StreamEvent>) -> Value {
        let mut body = std::mem::take(&mut self.body);
        let mut message = std::mem::take(&mut self.message);
        let calls = std::mem::take(&mut self.calls).into_parts(false).into_iter().map(|call| call.json);
        let calls: Vec<Value> = calls.collect();
        if !calls.is_empty() {
            set(&mut message, "tool_calls", calls);
        }
        if !message.is_empty() {
            message.entry("content").or_insert_with(|| "".into());
            set(&mut body, "message", message);
        }
        body.into()
    }
}

impl StreamPart for Call {
    fn position(&self) -> u64 {
        self.position
    }

    fn call(&self) -> Option<WireCall<'_>> {
        Some(call::read(&self.json))
    }

    fn is_blank(&self) -> bool {
        false
    }

    fn set_id(&mut self, id: &str) {
        if let Some(call) = self.json.as_object_mut() {
            set(call, "id", id);
        }
    }

    fn set_arguments(&mut self, _text: &str) {}
}
