//! Streamed responses: each event is a response with the next parts.

use super::call::{beside, function, read, says_something};
use super::partial::PartialArgs;
use super::response::{failure, is_cut, no_content, reported_error};
use super::spelling::{Fields, get, key, list};
use crate::WireError;
use crate::call::{WireCall, is_blank};
use crate::ids::CallIds;
use crate::path::{element, field};
use crate::stream::decode::{StreamDecoder, StreamEvent};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use toolkit_core::call::CallId;

#[derive(Default)]
pub(super) struct Stream {
    /// What came beside the candidates; of each field the newest value.
    body: Fields,
    candidates: BTreeMap<u64, Candidate>,
    ids: Option<CallIds>,
    /// What an event brought before the fault that ended it.
    held: Vec<StreamEvent>,
}

#[derive(Default)]
struct Candidate {
    fields: Fields,
    content: Fields,
    slots: Vec<Slot>,
    has_calls: bool,
    open: Open,
    /// The last part, if it is a call without arguments. It may have been cut off, so it is held back until
    /// the model goes on or says why it stopped.
    held: Option<(usize, CallId)>,
}

enum Slot {
    Part(Value),
    Call(Box<OpenCall>),
}

/// A call whose arguments come in pieces, as Vertex AI sends them on demand: a first part with the name,
/// then parts with `partialArgs`, and an empty one at the end.
struct OpenCall {
    id: CallId,
    name: String,
    beside: Fields,
    args: PartialArgs,
}

/// Where in the list of parts the open calls are. Of those that were closed since, the places may
/// still be here.
#[derive(Default)]
struct Open {
    by_id: HashMap<String, usize>,
    by_name: HashMap<String, usize>,
    stack: Vec<usize>,
}

impl StreamDecoder for Stream {
    fn push(&mut self, event: &Value, events: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        let mut brought = std::mem::take(&mut self.held);
        let pushed = match event {
            Value::Array(bodies) => bodies.iter().try_for_each(|body| self.push_body(body, &mut brought)),
            body => self.push_body(body, &mut brought),
        };
        // The caller of a push that failed sees no events.
        if pushed.is_ok() {
            events.append(&mut brought);
        } else {
            self.held = brought;
        }
        pushed
    }

    fn is_complete(&self) -> bool {
        // A prompt that is refused has no candidate at all.
        self.body.contains_key("promptFeedback") && self.candidates.is_empty()
            || self.candidates.values().any(|candidate| get(&candidate.fields, "finishReason").is_some())
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Value {
        events.append(&mut self.held);
        let mut body = std::mem::take(&mut self.body);
        let candidates = std::mem::take(&mut self.candidates).into_values();
        let candidates: Vec<Value> = candidates.map(|candidate| candidate.finish(events)).collect();
        if !candidates.is_empty() {
            body.insert("candidates".to_owned(), candidates.into());
        }
        Value::Object(body)
    }
}

impl Stream {
    fn push_body(&mut self, body: &Value, events: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        let Some(fields) = body.as_object() else {
            return Err(WireError::new("", "a response or a list of responses"));
        };
        for (name, value) in fields.iter().filter(|(name, value)| *name != "candidates" && !value.is_null()) {
            self.body.insert(name.clone(), value.clone());
        }
        let mut fault = None;
        for (position, candidate) in list(fields, "candidates").iter().enumerate() {
            let Some(candidate) = candidate.as_object() else { continue };
            let index = get(candidate, "index").and_then(Value::as_u64).unwrap_or(position as u64);
            let pushed =
                self.candidates.entry(index).or_default().push(candidate, body, &mut self.ids, events);
            if let Err(error) = pushed {
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
}

/// What is wrong with a candidate of an event.
enum Fault {
    Parts,
    Stopped(String),
}

impl Candidate {
    fn push(
        &mut self,
        fields: &Fields,
        body: &Value,
        ids: &mut Option<CallIds>,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), Fault> {
        for (name, value) in fields.iter().filter(|(name, value)| *name != "content" && !value.is_null()) {
            self.fields.insert(name.clone(), value.clone());
        }
        if let Some(content) = get(fields, "content").and_then(Value::as_object) {
            for (name, value) in content.iter().filter(|(name, value)| *name != "parts" && !value.is_null()) {
                self.content.insert(name.clone(), value.clone());
            }
            match content.get("parts") {
                None | Some(Value::Null) => {}
                Some(Value::Array(parts)) => {
                    parts.iter().for_each(|part| self.push_part(part, body, ids, events));
                }
                Some(_) => return Err(Fault::Parts),
            }
        }
        if get(fields, "finishReason").is_none() {
            return Ok(());
        }
        self.release(is_cut(fields), events);
        match failure(fields, !self.slots.is_empty(), self.has_calls) {
            Some(reason) => Err(Fault::Stopped(reason)),
            None => Ok(()),
        }
    }

    fn push_part(
        &mut self,
        part: &Value,
        body: &Value,
        ids: &mut Option<CallIds>,
        events: &mut Vec<StreamEvent>,
    ) {
        if part.as_object().is_some_and(says_something) {
            self.release(false, events);
        }
        if let Some(call) = read(part, false) {
            return self.push_call(part, call, body, ids, events);
        }
        match part.get("text").and_then(Value::as_str) {
            Some(text) => self.push_text(part, text, events),
            None => self.slots.push(Slot::Part(part.clone())),
        }
    }

    /// Text goes on where text stands, but a part with a signature stays the part that it is.
    fn push_text(&mut self, part: &Value, text: &str, events: &mut Vec<StreamEvent>) {
        let thought = is_thought(part);
        if !text.is_empty() {
            let text = text.to_owned();
            events.push(if thought { StreamEvent::Reasoning(text) } else { StreamEvent::Text(text) });
        }
        if is_plain(part) {
            if let Some(Slot::Part(last)) = self.slots.last_mut()
                && is_plain(last)
                && is_thought(last) == thought
                && let Some(Value::String(before)) = last.get_mut("text")
            {
                before.push_str(text);
                return;
            }
            if text.is_empty() {
                return;
            }
        }
        self.slots.push(Slot::Part(part.clone()));
    }

    fn push_call(
        &mut self,
        part: &Value,
        call: WireCall<'_>,
        body: &Value,
        ids: &mut Option<CallIds>,
        events: &mut Vec<StreamEvent>,
    ) {
        self.has_calls = true;
        let fields = function(part).and_then(Value::as_object);
        let pieces = fields.map_or(&[][..], |fields| list(fields, "partialArgs"));
        let args = fields.and_then(|fields| get(fields, "args"));
        let goes_on =
            fields.and_then(|fields| get(fields, "willContinue")).is_some_and(|value| value == true);
        let is_whole = args.is_some() && pieces.is_empty() && !goes_on;
        let place = match self.open_place(&call, is_whole) {
            Some(place) => place,
            None => {
                let id = ids.get_or_insert_with(|| CallIds::new(body)).settle(call.id.as_deref());
                events.push(StreamEvent::CallStarted {
                    id: id.as_str().to_owned(),
                    name: call.name.to_owned(),
                });
                if pieces.is_empty() && !goes_on {
                    self.slots.push(Slot::Part(with_id(part, &id)));
                    if is_blank(args) {
                        self.held = Some((self.slots.len() - 1, id));
                    } else {
                        events.push(StreamEvent::Call(call.into_call(id)));
                    }
                    return;
                }
                self.open(&call, id)
            }
        };
        let Some(Slot::Call(open)) = self.slots.get_mut(place) else { return };
        open.beside.extend(beside(part));
        if let Some(args) = args {
            open.args.merge(args);
        }
        pieces.iter().for_each(|piece| open.args.add(piece));
        if !goes_on {
            self.close(place, true, events);
        }
    }

    /// Yields the call that was held back.
    fn release(&mut self, is_cut: bool, events: &mut Vec<StreamEvent>) {
        let Some((place, id)) = self.held.take() else { return };
        let Some(Slot::Part(part)) = self.slots.get_mut(place) else { return };
        if is_cut {
            set_args(part, "{");
        }
        events.extend(read(part, false).map(|call| StreamEvent::Call(call.into_call(id))));
    }

    /// The open call that a part goes on with: that of its id, or of its name, or else the last.
    fn open_place(&mut self, call: &WireCall<'_>, is_whole: bool) -> Option<usize> {
        while self.open.stack.last().is_some_and(|&place| !self.is_open(place)) {
            self.open.stack.pop();
        }
        let place = match (&call.id, call.name) {
            (Some(id), name) => match self.open.by_id.get(&**id) {
                None if name.is_empty() => self.open.stack.last(),
                found => found,
            },
            (None, "") => self.open.stack.last(),
            // Calls without ids come one after the other, so an open one of this name is meant.
            (None, name) if !is_whole => self.open.by_name.get(name),
            (None, _) => None,
        };
        place.copied().filter(|&place| self.is_open(place))
    }

    fn is_open(&self, place: usize) -> bool {
        matches!(self.slots.get(place), Some(Slot::Call(_)))
    }

    fn open(&mut self, call: &WireCall<'_>, id: CallId) -> usize {
        let place = self.slots.len();
        if let Some(given) = &call.id {
            self.open.by_id.insert(given.clone().into_owned(), place);
        }
        let name = call.name.to_owned();
        self.open.by_name.insert(name.clone(), place);
        self.open.stack.push(place);
        let call = OpenCall { id, name, beside: Fields::new(), args: PartialArgs::default() };
        self.slots.push(Slot::Call(Box::new(call)));
        place
    }

    fn close(&mut self, place: usize, complete: bool, events: &mut Vec<StreamEvent>) {
        let Some(slot) = self.slots.get_mut(place) else { return };
        let Slot::Call(open) = std::mem::replace(slot, Slot::Part(Value::Null)) else { return };
        let OpenCall { id, name, beside: mut part, args } = *open;
        let call = json!({"id": id.as_str(), "name": name, "args": args.finish(complete)});
        part.insert("functionCall".to_owned(), call);
        let part = Value::Object(part);
        events.extend(read(&part, false).map(|call| StreamEvent::Call(call.into_call(id))));
        *slot = Slot::Part(part);
    }

    fn finish(mut self, events: &mut Vec<StreamEvent>) -> Value {
        self.release(false, events);
        // A model that stopped of itself has said all, even if the mark at the end of a call is missing.
        let complete = get(&self.fields, "finishReason").is_some_and(|reason| reason == "STOP");
        for place in 0..self.slots.len() {
            if self.is_open(place) {
                self.close(place, complete, events);
            }
        }
        let parts = self.slots.into_iter().filter_map(|slot| match slot {
            Slot::Part(part) => Some(part),
            Slot::Call(_) => None,
        });
        let mut parts: Vec<Value> = parts.collect();
        // A call whose end was told has no arguments; it must not look as if it had been cut off.
        if is_cut(&self.fields)
            && let Some(last) = parts.last_mut()
            && function(last).is_some_and(|function| {
                is_blank(function.as_object().and_then(|function| get(function, "args")))
            })
        {
            set_args(last, "{}");
        }
        if !parts.is_empty() {
            self.content.entry("role").or_insert_with(|| "model".into());
            self.content.insert("parts".to_owned(), parts.into());
        }
        self.fields.insert("content".to_owned(), self.content.into());
        Value::Object(self.fields)
    }
}

fn is_thought(part: &Value) -> bool {
    part.get("thought").is_some_and(|thought| thought == true)
}

/// Whether a part is nothing but text.
fn is_plain(part: &Value) -> bool {
    let mut fields = part.as_object().into_iter().flatten();
    part.is_object() && fields.all(|(name, value)| name == "text" || name == "thought" || value.is_null())
}

fn set_args(part: &mut Value, text: &str) {
    let key = part.as_object().and_then(|fields| key(fields, "functionCall")).map(ToOwned::to_owned);
    if let Some(call) = key.and_then(|key| part.get_mut(key)).and_then(Value::as_object_mut) {
        call.insert("args".to_owned(), text.into());
    }
}

/// The part with the id in the call, so that the whole response gives the calls the same ids.
fn with_id(part: &Value, id: &CallId) -> Value {
    let mut part = part.clone();
    if let Some(fields) = part.as_object_mut()
        && let Some(key) = key(fields, "functionCall").map(ToOwned::to_owned)
    {
        let call = fields.entry(key).or_insert(Value::Null);
        match call {
            Value::Object(call) => {
                call.insert("id".to_owned(), id.as_str().into());
            }
            _ => *call = json!({"id": id.as_str()}),
        }
    }
    part
}
