//! Decodes streamed responses. Each event is a response with further parts.

mod arguments;
mod part;

use self::part::StreamedPart;
use super::Gemini;
use super::call::{function, read, says_something};
use super::response::{failure, is_cut, no_content, reported_error};
use super::spelling::{get, list};
use crate::WireError;
use crate::call::WireCall;
use crate::codec::StreamCodec;
use crate::fields::{Fields, element, field, is_true, object};
use crate::stream::assembler::{Assembler, StreamPart};
use crate::stream::decode::{StreamDecoder, StreamEvent};
use crate::stream::merge::overlay;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

impl StreamCodec for Gemini {
    fn stream(&self) -> Box<dyn StreamDecoder> {
        Box::<Stream>::default()
    }

    /// Merges the bodies of a streamed response. Without `alt=sse`, the service sends a stream as one list.
    fn join<'a>(&self, payload: &'a Value) -> Result<Cow<'a, Value>, WireError> {
        let Some(bodies) = payload.as_array().filter(|list| list.iter().any(is_body)) else {
            return Ok(Cow::Borrowed(payload));
        };
        let mut stream = Stream::default();
        let mut events = Vec::new();
        for body in bodies {
            stream.push(body, &mut events)?;
        }
        Ok(Cow::Owned(stream.finish(&mut events)))
    }
}

fn is_body(value: &Value) -> bool {
    let names = ["candidates", "promptFeedback", "usageMetadata", "error"];
    value.as_object().is_some_and(|body| names.iter().any(|name| get(body, name).is_some()))
}

#[derive(Default)]
pub(super) struct Stream {
    /// The fields beside the candidates, with their latest values.
    body: Fields,
    candidates: BTreeMap<u64, Candidate>,
}

#[derive(Default)]
struct Candidate {
    fields: Fields,
    content: Fields,
    parts: Assembler<StreamedPart>,
    has_calls: bool,
    /// The numbers of calls with incomplete arguments. On request, Vertex AI sends a part with the name, then
    /// parts with `partialArgs`, and an empty part at the end.
    open: Vec<usize>,
}

impl StreamDecoder for Stream {
    fn push(&mut self, body: &Value, events: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        let fields = object(body, "", "a response or a list of responses")?;
        overlay(&mut self.body, fields, says_else("candidates"));
        let mut fault = None;
        for (position, candidate) in list(fields, "candidates").iter().enumerate() {
            let Some(candidate) = candidate.as_object() else { continue };
            let index = get(candidate, "index").and_then(Value::as_u64).unwrap_or(position as u64);
            let known = self.candidates.entry(index).or_default();
            known.parts.seed(|| json!([index, body]));
            if let Err(error) = known.push(candidate, events) {
                let path = field(&element("candidates", position), "content");
                fault.get_or_insert_with(|| match error {
                    Fault::Parts => WireError::new(field(&path, "parts"), "a list of parts"),
                    Fault::Stopped(reason) => no_content(&path, Some(reason)),
                });
            }
        }
        let reported = reported_error(fields).map(|reason| no_content("candidates[0].content", Some(reason)));
        reported.or(fault).map_or(Ok(()), Err)
    }

    fn is_complete(&self) -> bool {
        // A response to a refused prompt has no candidates.
        self.body.contains_key("promptFeedback") && self.candidates.is_empty()
            || self.candidates.values().any(|candidate| get(&candidate.fields, "finishReason").is_some())
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Value {
        let mut body = std::mem::take(&mut self.body);
        let candidates = std::mem::take(&mut self.candidates).into_values();
        let candidates: Vec<Value> = candidates.map(|candidate| candidate.finish(events)).collect();
        if !candidates.is_empty() {
            body.insert("candidates".to_owned(), candidates.into());
        }
        Value::Object(body)
    }
}

/// A failed candidate in an event.
enum Fault {
    Parts,
    Stopped(String),
}

impl Candidate {
    fn push(&mut self, fields: &Fields, events: &mut Vec<StreamEvent>) -> Result<(), Fault> {
        overlay(&mut self.fields, fields, says_else("content"));
        if let Some(content) = get(fields, "content").and_then(Value::as_object) {
            overlay(&mut self.content, content, says_else("parts"));
            match content.get("parts") {
                None | Some(Value::Null) => {}
                Some(Value::Array(parts)) => parts.iter().for_each(|part| self.push_part(part, events)),
                Some(_) => return Err(Fault::Parts),
            }
        }
        if get(fields, "finishReason").is_none() {
            return Ok(());
        }
        self.parts.release(is_cut(fields), events);
        match failure(fields, self.parts.len() > 0, self.has_calls) {
            Some(reason) => Err(Fault::Stopped(reason)),
            None => Ok(()),
        }
    }

    fn push_part(&mut self, part: &Value, events: &mut Vec<StreamEvent>) {
        if let Some(call) = read(part, false) {
            return self.push_call(part, &call, events);
        }
        if let Some(text) = part.get("text").and_then(Value::as_str).filter(|text| !text.is_empty()) {
            let event = if is_true(part, "thought") { StreamEvent::Reasoning } else { StreamEvent::Text };
            events.push(event(text.to_owned()));
        }
        let last = self.parts.len().checked_sub(1).and_then(|last| self.parts.get_mut(last));
        let is_continued = last.is_some_and(|last| last.append(part));
        if !is_continued && part.as_object().is_some_and(says_something) {
            self.begin(part.clone(), events);
        }
    }

    fn begin(&mut self, part: Value, events: &mut Vec<StreamEvent>) -> usize {
        let number = self.parts.begin(StreamedPart::new(part, self.parts.len() as u64));
        self.parts.release_passed(events);
        number
    }

    fn push_call(&mut self, part: &Value, call: &WireCall<'_>, events: &mut Vec<StreamEvent>) {
        self.has_calls = true;
        let fields = function(part).and_then(Value::as_object);
        let pieces = fields.map_or(&[][..], |fields| list(fields, "partialArgs"));
        let args = fields.and_then(|fields| get(fields, "args"));
        let goes_on =
            fields.and_then(|fields| get(fields, "willContinue")).is_some_and(|value| value == true);
        let is_whole = args.is_some() && pieces.is_empty() && !goes_on;
        let number = match self.open_call(call, is_whole) {
            Some(number) => number,
            None => {
                let number = self.begin(part.clone(), events);
                self.parts.announce(number, events);
                if pieces.is_empty() && !goes_on {
                    return self.parts.end(number, events);
                }
                self.open.push(number);
                number
            }
        };
        if let Some(open) = self.parts.get_mut(number) {
            open.extend(part, args, pieces);
            if !goes_on {
                open.close(true);
                self.open.retain(|open| *open != number);
                self.parts.yield_call(number, events);
            }
        }
    }

    /// Returns the open call continued by `call`: the open call with the same id, or with the same name if
    /// there is no id.
    ///
    /// A `call` without a name may also continue the last open call. A complete call with a name but no id
    /// continues no other call.
    fn open_call(&self, call: &WireCall<'_>, is_whole: bool) -> Option<usize> {
        let open = |is_it: &dyn Fn(&WireCall<'_>) -> bool| {
            let mut calls =
                self.open.iter().rev().filter_map(|number| Some((*number, self.parts.get(*number)?)));
            Some(calls.find(|(_, part)| StreamPart::call(*part).is_some_and(|known| is_it(&known)))?.0)
        };
        match (&call.id, call.name) {
            (None, "") => open(&|_| true),
            (Some(id), name) => {
                open(&|known| known.id.as_ref() == Some(id)).or_else(|| open(&|_| name.is_empty()))
            }
            // Calls without ids arrive one after another, so this is the open call with the name.
            (None, name) if !is_whole => open(&|known| known.name == name),
            (None, _) => None,
        }
    }

    fn finish(mut self, events: &mut Vec<StreamEvent>) -> Value {
        self.parts.release(false, events);
        // A model that stopped by itself has finished its calls, even if the final part of a call is missing.
        let is_complete = get(&self.fields, "finishReason").is_some_and(|reason| reason == "STOP");
        for number in 0..self.parts.len() {
            if let Some(part) = self.parts.get_mut(number) {
                part.close(is_complete);
            }
            self.parts.yield_call(number, events);
        }
        let parts = self.parts.into_parts(is_cut(&self.fields));
        if !parts.is_empty() {
            let parts: Vec<Value> = parts.into_iter().map(StreamedPart::into_json).collect();
            self.content.entry("role").or_insert_with(|| "model".into());
            self.content.insert("parts".to_owned(), parts.into());
        }
        self.fields.insert("content".to_owned(), self.content.into());
        Value::Object(self.fields)
    }
}

/// Returns a filter for fields with a value other than `null`. The filter also removes the field `except`.
fn says_else(except: &str) -> impl Fn(&str, &Value) -> bool {
    move |name, value| name != except && !value.is_null()
}
