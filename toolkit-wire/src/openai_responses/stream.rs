//! A streamed response, put together item by item.
//!
//! Events are told apart by what they say they belong to, never by their order: items interleave, and
//! servers leave out or repeat every one of `item_id`, `output_index` and `call_id` (llama.cpp has no
//! `output_index` and no `function_call_arguments.done`, others give an item a new id in each event).

mod slot;

use super::call::{self, kind};
use crate::WireError;
use crate::call::Fields;
use crate::error::reported_error;
use crate::ids::CallIds;
use crate::stream::decode::{StreamDecoder, StreamEvent};
use serde_json::{Value, json};
use slot::{Key, Part, Slot};
use std::collections::HashMap;
use toolkit_core::call::ToolCall;

#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The response as last told, its output aside.
    response: Fields,
    /// Whether the provider has said that the response is over.
    is_over: bool,
    /// The items in the order in which they were first heard of.
    slots: Vec<Slot>,
    by_item: HashMap<String, usize>,
    by_index: HashMap<u64, usize>,
    by_call: HashMap<String, usize>,
    ids: Option<CallIds>,
    /// A call without arguments that ended last. It may have been cut off, so it is held back until the
    /// model goes on or the response ends.
    held: Option<usize>,
    /// The slot that no other follows.
    hindmost: usize,
}

/// What is being looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sought {
    /// An item that begins.
    Begun,
    /// An item that goes on or ends.
    Known,
}

impl StreamDecoder for Stream {
    fn push(&mut self, event: &Value, events: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        match event {
            Value::Array(list) => list.iter().try_for_each(|event| self.push_one(event, events)),
            _ => self.push_one(event, events),
        }
    }

    fn is_complete(&self) -> bool {
        // Some servers leave out the event that ends the response.
        self.is_over || (!self.slots.is_empty() && self.slots.iter().all(Slot::is_done))
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Value {
        if !self.is_over {
            let status = if self.is_complete() { "completed" } else { "incomplete" };
            self.response.insert("status".to_owned(), status.into());
        }
        self.close_all(events);
        let mut response = std::mem::take(&mut self.response);
        response.entry("object").or_insert_with(|| "response".into());
        let output: Vec<Value> = self.slots.drain(..).map(Slot::into_item).collect();
        response.insert("output".to_owned(), output.into());
        Value::Object(response)
    }
}

impl Stream {
    fn push_one(&mut self, event: &Value, events: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        let Some(fields) = event.as_object() else {
            return Err(WireError::new("", "an event: an object with a `type`"));
        };
        let Some(kind) = kind(fields) else {
            return Err(match reported_error(fields) {
                Some(error) => self.fail(Some(error)),
                None => WireError::new("type", "the type of an event"),
            });
        };
        self.ids.get_or_insert_with(|| CallIds::new(event));
        let name = kind.strip_prefix("response.").unwrap_or(kind);
        match name {
            // What comes after the end adds nothing to what it told.
            _ if self.is_over && name != "error" => {}
            "created" | "queued" | "in_progress" => self.set_response(fields),
            "completed" | "incomplete" => {
                self.end(name, fields, events);
                self.close_all(events);
            }
            "failed" => {
                self.end(name, fields, events);
                let error = reported_error(&self.response);
                return Err(failed("response", error.as_deref()));
            }
            "error" => return Err(self.fail(reported_error(fields))),
            "output_item.added" => self.add_item(fields, events),
            "output_item.done" => {
                if let Some(item) = fields.get("item").and_then(Value::as_object) {
                    let key = Key::of_item(item, fields.get("output_index"));
                    self.end_item(key, item, events);
                }
            }
            _ => self.push_part(name, fields, events),
        }
        if let Some(held) = self.held.take_if(|held| *held != self.hindmost) {
            self.tell(held, events);
        }
        Ok(())
    }

    /// Text, reasoning and arguments, in pieces (`….delta`) or whole (`….done`).
    fn push_part(&mut self, name: &str, event: &Fields, events: &mut Vec<StreamEvent>) {
        let Some((name, is_whole)) = (match name.rsplit_once('.') {
            Some((name, "delta")) => Some((name, false)),
            Some((name, "done")) => Some((name, true)),
            _ => None,
        }) else {
            return;
        };
        let number = |name: &str| event.get(name).and_then(Value::as_u64).unwrap_or_default();
        let (part, whole) = match name {
            "function_call_arguments" => (Part::Arguments, "arguments"),
            "custom_tool_call_input" => (Part::Input, "input"),
            "output_text" => (Part::Text(number("content_index")), "text"),
            "refusal" => (Part::Refusal(number("content_index")), "refusal"),
            "reasoning_text" | "reasoning" => (Part::Reasoning(number("content_index")), "text"),
            "reasoning_summary_text" | "reasoning_summary" => {
                (Part::Summary(number("summary_index")), "text")
            }
            _ => return,
        };
        let Some(text) = event.get(if is_whole { whole } else { "delta" }).and_then(Value::as_str) else {
            return;
        };
        let index = self.slot_of(Key::of_event(event, part), Sought::Known);
        let slot = &mut self.slots[index];
        let is_new = !is_whole || slot.set(part, text);
        if !is_whole {
            slot.append(part, text);
        }
        if is_new && !text.is_empty() {
            match part {
                Part::Arguments | Part::Input => {}
                Part::Text(_) | Part::Refusal(_) => events.push(StreamEvent::Text(text.to_owned())),
                Part::Reasoning(_) | Part::Summary(_) => events.push(StreamEvent::Reasoning(text.to_owned())),
            }
        }
    }

    fn set_response(&mut self, event: &Fields) {
        if let Some(response) = event.get("response").and_then(Value::as_object) {
            self.response = response.clone();
            self.response.shift_remove("output");
        }
    }

    /// Remembers an error that the service reported, so that the response tells it, too.
    fn fail(&mut self, error: Option<String>) -> WireError {
        let failure = failed("", error.as_deref());
        self.response.insert("error".to_owned(), json!({"message": error.unwrap_or_default()}));
        failure
    }

    /// The response that the last event carries is the authority on its items. Some servers leave items
    /// out of it, or all of them; what was told before stays.
    fn end(&mut self, status: &str, event: &Fields, events: &mut Vec<StreamEvent>) {
        self.set_response(event);
        let told = self.response.get("status").and_then(Value::as_str);
        if !matches!(told, Some("completed" | "incomplete" | "failed" | "cancelled")) {
            self.response.insert("status".to_owned(), status.into());
        }
        self.is_over = true;
        let output = event.get("response").and_then(|response| response.get("output"));
        let items = output.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (position, item) in items.iter().enumerate() {
            let Some(item) = item.as_object() else { continue };
            let index = self.slot_at(Key::of_item(item, None), position);
            self.slots[index].position = Some(position);
            self.complete(index, item, events);
        }
    }

    fn add_item(&mut self, event: &Fields, events: &mut Vec<StreamEvent>) {
        let Some(item) = event.get("item").and_then(Value::as_object) else { return };
        let index = self.slot_of(Key::of_item(item, event.get("output_index")), Sought::Begun);
        self.slots[index].begin(item);
        self.announce(index, events);
    }

    fn end_item(&mut self, key: Key, item: &Fields, events: &mut Vec<StreamEvent>) {
        let mut index = self.find(&key, Sought::Known).or_else(|| self.last_open(&key, Sought::Known));
        // What was told is over: under the same `call_id` alone, something else is another call.
        index = index.filter(|&index| !self.slots[index].told_another(&key, item));
        let index = index.unwrap_or_else(|| self.open());
        self.learn(index, key);
        self.complete(index, item, events);
    }

    fn complete(&mut self, index: usize, item: &Fields, events: &mut Vec<StreamEvent>) {
        events.extend(self.slots[index].unheard(item));
        self.slots[index].complete(item);
        if self.slots[index].is_blank_call() && index == self.hindmost {
            self.held = Some(index);
        } else {
            self.tell(index, events);
        }
    }

    /// Says that a call has begun, as soon as its name and its final id are known.
    fn announce(&mut self, index: usize, events: &mut Vec<StreamEvent>) {
        let slot = &mut self.slots[index];
        if let Some((id, name)) = slot.announcement() {
            self.settle_id(Some(&id));
            events.push(StreamEvent::CallStarted { id, name });
        }
    }

    /// Yields a call that is complete.
    fn tell(&mut self, index: usize, events: &mut Vec<StreamEvent>) {
        if self.slots[index].needs_id() {
            let id = self.settle_id(None);
            self.slots[index].set_id(&id);
        }
        self.announce(index, events);
        if let Some(call) = self.slots[index].tell() {
            self.settle_id(Some(call.id.as_str()));
            events.push(StreamEvent::Call(call));
        }
    }

    fn settle_id(&mut self, given: Option<&str>) -> String {
        self.ids.get_or_insert_with(|| CallIds::new(&Value::Null)).settle(given).into()
    }

    /// The slot of what is known by `key`; a new one if it was not heard of.
    fn slot_of(&mut self, key: Key, sought: Sought) -> usize {
        let index = self.find(&key, sought).or_else(|| self.last_open(&key, sought));
        let index = index.unwrap_or_else(|| self.open());
        self.learn(index, key);
        index
    }

    /// The slot of an item that stands at `position` in the last response, where none is told twice.
    /// What is not known by an id is looked for at that place.
    fn slot_at(&mut self, key: Key, position: usize) -> usize {
        let is_same_call =
            |index: &usize| self.slots.get(*index).is_some_and(|slot| slot.key.is_same_call(&key));
        let fits = |index: &usize| {
            let slot = self.slots.get(*index);
            slot.is_some_and(|slot| slot.position.is_none() && !slot.key.contradicts(&key))
        };
        let stated = self.by_index.get(&(position as u64)).copied();
        let at_place = [stated, Some(position)];
        let same_call = at_place.into_iter().flatten().find(is_same_call);
        let by_item = key.item.as_ref().and_then(|id| self.by_item.get(id)).copied();
        let by_call = key.call.as_ref().and_then(|id| self.by_call.get(id)).copied();
        let found = [same_call, by_item, by_call].into_iter().chain(at_place).flatten().find(fits);
        let index = found.unwrap_or_else(|| self.open());
        self.learn(index, key);
        index
    }

    fn find(&self, key: &Key, sought: Sought) -> Option<usize> {
        let is_begun = sought == Sought::Begun;
        let by_item = key.item.as_ref().and_then(|id| self.by_item.get(id));
        let by_index = key.index.and_then(|index| self.by_index.get(&index));
        let by_call = key.call.as_ref().and_then(|id| self.by_call.get(id));
        let by_item = by_item.filter(|&&index| {
            let known = &self.slots[index].key;
            known.is_same_call(key) || !known.is_elsewhere(key)
        });
        // Two calls may have one id: an item of another id that begins is another call.
        let by_call = by_call.filter(|&&index| {
            let known = &self.slots[index].key;
            !(known.is_elsewhere(key) || is_begun && known.is_other_item(key))
        });
        let mut found = [by_item, by_index, by_call].into_iter().flatten().copied();
        found.find(|&index| {
            let slot = &self.slots[index];
            !(slot.key.contradicts(key) || is_begun && slot.is_done())
        })
    }

    /// For what says nothing about where it belongs: the last item, if it is still open.
    fn last_open(&self, key: &Key, sought: Sought) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        let slot = &self.slots[last];
        let fits = sought == Sought::Known && key.is_empty() && !slot.is_done() && !slot.key.contradicts(key);
        fits.then_some(last)
    }

    fn open(&mut self) -> usize {
        self.slots.push(Slot::default());
        self.slots.len() - 1
    }

    fn learn(&mut self, index: usize, key: Key) {
        if let Some(id) = &key.item {
            self.by_item.insert(id.clone(), index);
        }
        if let Some(output_index) = key.index {
            self.by_index.insert(output_index, index);
        }
        if let Some(id) = &key.call {
            self.by_call.insert(id.clone(), index);
        }
        self.slots[index].key.learn(key);
        let place = |slot: usize| self.slots.get(slot).and_then(|slot| slot.key.index);
        let follows = match (place(index), place(self.hindmost)) {
            (Some(own), Some(other)) => own > other,
            _ => index > self.hindmost,
        };
        if follows {
            self.hindmost = index;
        }
    }

    /// Ends all items, tells their calls, and brings them into order: that of the last response, else
    /// that of the stated indices, else that of arrival.
    fn close_all(&mut self, events: &mut Vec<StreamEvent>) {
        let is_ordered = self.slots.iter().any(|slot| slot.position.is_some());
        // An item that only fragments tell of stands in the last response under another id.
        self.slots.retain(|slot| !is_ordered || slot.is_known());
        if is_ordered {
            self.slots.sort_by_key(|slot| slot.position.unwrap_or(usize::MAX));
        } else if self.slots.iter().all(|slot| slot.key.index.is_some()) {
            self.slots.sort_by_key(|slot| slot.key.index);
        }
        let is_complete = self.response.get("status").is_some_and(|status| status == "completed");
        self.held = None;
        if self.response.get("status").is_some_and(|status| status == "incomplete")
            && let Some(last) = self.slots.last_mut()
        {
            last.cut();
        }
        for index in 0..self.slots.len() {
            self.slots[index].close(if is_complete { "completed" } else { "incomplete" });
            self.tell(index, events);
        }
        for map in [&mut self.by_item, &mut self.by_call] {
            map.clear();
        }
        self.by_index.clear();
    }
}

fn failed(path: &str, error: Option<&str>) -> WireError {
    let error = error.unwrap_or("it gave no reason");
    WireError::new(path, format!("a response (the service reported an error: {error})"))
}

/// The call that an item is, with the id that it has.
fn call_of(item: &Value) -> Option<ToolCall> {
    let call = call::read(item, false)?;
    let id = call.id.as_deref()?.into();
    Some(call.into_call(id))
}
