//! Assembles streamed responses item by item.
//!
//! Events belong to items by the ids and indices in the events, never by their order. Items may be
//! interleaved, and servers omit or repeat each of `item_id`, `output_index` and `call_id`. llama.cpp sends
//! neither `output_index` nor `function_call_arguments.done`, and other servers give an item a new id in each
//! event.

mod slot;

use super::OpenAiResponses;
use super::call::kind;
use crate::WireError;
use crate::codec::StreamCodec;
use crate::error::{failed, reported_error};
use crate::fields::{Fields, object, only, set};
use crate::stream::assembler::Assembler;
use crate::stream::decode::{StreamDecoder, StreamEvent};
use serde_json::{Value, json};
use slot::{Key, Part, Slot};
use std::collections::HashMap;

#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The latest response object, without its output.
    response: Fields,
    /// Whether the provider announced the end.
    is_over: bool,
    slots: Assembler<Slot>,
    by_item: HashMap<String, usize>,
    by_index: HashMap<u64, usize>,
    by_call: HashMap<String, usize>,
}

/// The state of the item to which an event belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sought {
    /// The item is new.
    Begun,
    /// The item already exists, and continues or ends.
    Known,
}

impl StreamCodec for OpenAiResponses {
    fn stream(&self) -> Box<dyn StreamDecoder> {
        Box::<Stream>::default()
    }
}

impl StreamDecoder for Stream {
    fn push(&mut self, event: &Value, events: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        let fields = object(event, "", "an event: an object with a `type`")?;
        let Some(kind) = kind(fields) else {
            return Err(match reported_error(fields) {
                Some(error) => self.fail(Some(error)),
                None => WireError::new("type", "the type of an event"),
            });
        };
        self.slots.seed(|| event.clone());
        let name = kind.strip_prefix("response.").unwrap_or(kind);
        match name {
            // Events after the end are ignored.
            _ if self.is_over && name != "error" => {}
            "created" | "queued" | "in_progress" => self.set_response(fields),
            "completed" | "incomplete" => {
                self.end(name, fields, events);
                self.close_all(events);
            }
            "failed" => {
                self.end(name, fields, events);
                let error = reported_error(&self.response);
                return Err(no_response("response", error.as_deref()));
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
        self.slots.release_passed(events);
        Ok(())
    }

    fn is_complete(&self) -> bool {
        // Some servers do not send the event that ends the response.
        self.is_over || (self.slots.len() > 0 && self.slots.parts().all(Slot::is_done))
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Value {
        if !self.is_over {
            let status = if self.is_complete() { "completed" } else { "incomplete" };
            set(&mut self.response, "status", status);
        }
        self.close_all(events);
        let mut response = std::mem::take(&mut self.response);
        response.entry("object").or_insert_with(|| "response".into());
        let slots = std::mem::take(&mut self.slots).into_parts(false);
        let output: Vec<Value> = slots.into_iter().map(Slot::into_item).collect();
        set(&mut response, "output", output);
        Value::Object(response)
    }
}

impl Stream {
    /// Adds text, reasoning or arguments to an item, as a piece (`….delta`) or complete (`….done`).
    fn push_part(&mut self, name: &str, event: &Fields, events: &mut Vec<StreamEvent>) {
        let (name, is_whole) = match name.rsplit_once('.') {
            Some((name, "delta")) => (name, false),
            Some((name, "done")) => (name, true),
            _ => return,
        };
        let Some(part) = Part::of(name, event) else { return };
        let field = if is_whole { part.text } else { "delta" };
        let Some(text) = event.get(field).and_then(Value::as_str) else { return };
        let index = self.slot_of(Key::of_event(event, part), Sought::Known);
        let slot = &mut self.slots[index];
        let is_new = !is_whole || slot.set(part, text);
        if !is_whole {
            slot.append(part, text);
        }
        events.extend(part.event(text).filter(|_| is_new));
    }

    fn set_response(&mut self, event: &Fields) {
        if let Some(response) = event.get("response").and_then(Value::as_object) {
            self.response = only(response, |name, _| name != "output");
        }
    }

    /// Records an error reported by the service for the response.
    fn fail(&mut self, error: Option<String>) -> WireError {
        let failure = no_response("", error.as_deref());
        set(&mut self.response, "error", json!({"message": error.unwrap_or_default()}));
        failure
    }

    /// Applies the final response. Its items take precedence over items received earlier.
    ///
    /// Some servers leave out some or all items of the final response. The items received earlier are then
    /// kept.
    fn end(&mut self, status: &str, event: &Fields, events: &mut Vec<StreamEvent>) {
        self.set_response(event);
        let told = self.response.get("status").and_then(Value::as_str);
        if !matches!(told, Some("completed" | "incomplete" | "failed" | "cancelled")) {
            set(&mut self.response, "status", status);
        }
        self.is_over = true;
        let output = event.get("response").and_then(|response| response.get("output"));
        let items = output.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (position, item) in items.iter().enumerate() {
            let Some(item) = item.as_object() else { continue };
            let index = self.slot_at(Key::of_item(item, None), position);
            self.slots[index].position = position as u64;
            self.slots[index].is_listed = true;
            self.complete(index, item, events);
        }
    }

    fn add_item(&mut self, event: &Fields, events: &mut Vec<StreamEvent>) {
        let Some(item) = event.get("item").and_then(Value::as_object) else { return };
        let index = self.slot_of(Key::of_item(item, event.get("output_index")), Sought::Begun);
        self.slots[index].begin(item);
        if self.slots[index].can_be_announced() {
            self.slots.announce(index, events);
        }
    }

    fn end_item(&mut self, key: Key, item: &Fields, events: &mut Vec<StreamEvent>) {
        let mut index = self.find(&key, Sought::Known).or_else(|| self.last_open(&key, Sought::Known));
        // A call that was already returned is complete. A different item with the same `call_id` is another
        // call.
        index =
            index.filter(|&index| !self.slots.is_yielded(index) || !self.slots[index].is_another(&key, item));
        let index = index.unwrap_or_else(|| self.open());
        self.learn(index, key);
        self.complete(index, item, events);
    }

    fn complete(&mut self, index: usize, item: &Fields, events: &mut Vec<StreamEvent>) {
        let is_yielded = self.slots.is_yielded(index);
        events.extend(self.slots[index].texts(item));
        self.slots[index].complete(item, is_yielded);
        self.slots.end(index, events);
    }

    /// Returns the slot for a key, creating it if necessary.
    fn slot_of(&mut self, key: Key, sought: Sought) -> usize {
        let index = self.find(&key, sought).or_else(|| self.last_open(&key, sought));
        let index = index.unwrap_or_else(|| self.open());
        self.learn(index, key);
        index
    }

    /// Returns the slot for the item at `position` in the final response, creating it if necessary.
    ///
    /// The slot is found by the ids of the item, or else by `position`. Slots already matched with another
    /// item of the final response are skipped.
    fn slot_at(&mut self, key: Key, position: usize) -> usize {
        let is_same_call =
            |index: &usize| self.slots.get(*index).is_some_and(|slot| slot.key.is_same_call(&key));
        let fits = |index: &usize| {
            let slot = self.slots.get(*index);
            slot.is_some_and(|slot| !slot.is_listed && !slot.key.contradicts(&key))
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
        // Two calls may have the same `call_id`. A new item with another item id is another call.
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

    /// Returns the last slot for an event without ids, if the item in this slot is still open.
    fn last_open(&self, key: &Key, sought: Sought) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        let slot = &self.slots[last];
        let fits = sought == Sought::Known && key.is_empty() && !slot.is_done() && !slot.key.contradicts(key);
        fits.then_some(last)
    }

    fn open(&mut self) -> usize {
        self.slots.begin(Slot::at(self.slots.len()))
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
        let slot = &mut self.slots[index];
        slot.key.learn(key);
        if let Some(output_index) = slot.key.index.filter(|_| !slot.is_listed) {
            slot.position = output_index;
        }
    }

    /// Ends all items, adds their calls to `events`, and sorts the items.
    ///
    /// The items have the order of the final response. If it lists no items, they have the order of their
    /// indices, or the order of arrival if an index is missing.
    fn close_all(&mut self, events: &mut Vec<StreamEvent>) {
        let is_ordered = self.slots.parts().any(|slot| slot.is_listed);
        let is_indexed = self.slots.parts().all(|slot| slot.key.index.is_some());
        for index in 0..self.slots.len() {
            match &mut self.slots[index] {
                slot if slot.is_listed => {}
                slot if is_ordered => slot.position = u64::MAX,
                slot if !is_indexed => slot.position = index as u64,
                _ => {}
            }
        }
        // Items known only from fragments are in the final response under another id.
        self.slots.arrange(|slot| !is_ordered || slot.is_known());
        let is_status = |status: &str| self.response.get("status").is_some_and(|known| known == status);
        let (is_complete, is_cut) = (is_status("completed"), is_status("incomplete"));
        let last = self.slots.len().checked_sub(1).filter(|_| is_cut);
        for index in 0..self.slots.len() {
            if Some(index) == last {
                self.slots.cut(index);
            }
            self.slots[index].close(if is_complete { "completed" } else { "incomplete" });
            self.slots.yield_call(index, events);
        }
        for map in [&mut self.by_item, &mut self.by_call] {
            map.clear();
        }
        self.by_index.clear();
    }
}

fn no_response(path: &str, error: Option<&str>) -> WireError {
    failed(path, "a response", Some(error.unwrap_or("it gave no reason")))
}
