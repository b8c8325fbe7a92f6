//! The parts of one streamed message. A call begins, is announced once, waits if it may have been cut off, and
//! is returned once.
//!
//! The codecs decide to which part a piece of the stream belongs, and add the piece to this part.

use super::StreamEvent;
use super::part::{Key, Part};
use crate::call::WireCall;
use crate::codec::Codec;
use crate::fields::set_at;
use crate::hosted::{self, HostedPart};
use crate::ids::CallIds;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::ops::{Index, IndexMut};
use toolkit_core::call::ToolCall;

#[derive(Debug)]
pub(crate) struct Parts {
    codec: &'static dyn Codec,
    /// A value that differs between responses, for generated ids.
    seed: Value,
    ids: CallIds,
    parts: Vec<Part>,
    /// The position after the last part.
    pub(crate) next: u64,
    /// The latest part with each id or index.
    pub(crate) by_item: HashMap<String, usize>,
    pub(crate) by_index: HashMap<u64, usize>,
    pub(crate) by_call: HashMap<String, usize>,
    /// The part of the last piece, in APIs with calls that may lack both an index and an id.
    pub(crate) current: Option<usize>,
    /// The calls with incomplete arguments, in APIs with most calls complete from the start.
    pub(crate) open: Vec<usize>,
    /// The ended calls that may be cut off: those without arguments or with free text. A model that is cut off
    /// ends its call too, so these calls wait until another part or the finish reason arrives.
    held: Vec<usize>,
    /// The events to return.
    pub(crate) events: Vec<StreamEvent>,
}

impl Parts {
    pub(super) fn new(codec: &'static dyn Codec, seed: Value) -> Self {
        Self {
            codec,
            seed,
            ids: CallIds::default(),
            parts: Vec::new(),
            next: 0,
            by_item: HashMap::new(),
            by_index: HashMap::new(),
            by_call: HashMap::new(),
            current: None,
            open: Vec::new(),
            held: Vec::new(),
            events: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(crate) fn get(&self, number: usize) -> Option<&Part> {
        self.parts.get(number)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter()
    }

    /// Returns the number of the part that began last.
    pub(crate) fn latest(&self) -> Option<usize> {
        self.parts.len().checked_sub(1)
    }

    /// Returns the number of the last part by position.
    pub(crate) fn last(&self) -> Option<usize> {
        let parts = self.parts.iter().enumerate();
        parts.max_by_key(|(number, part)| (part.position, *number)).map(|(number, _)| number)
    }

    /// Adds a part and returns its number.
    pub(crate) fn begin(&mut self, position: u64, json: Value) -> usize {
        self.parts.push(Part { position, json, ..Part::default() });
        self.next = self.next.max(position.saturating_add(1));
        let number = self.parts.len() - 1;
        let call = self.codec.part_call(&self[number].json);
        let name = call.map(|call| call.name.to_owned());
        self[number].name = name.unwrap_or_default();
        self.release_passed();
        number
    }

    /// Records that a part has the fields of `key`. Earlier fields of the part take precedence.
    pub(crate) fn learn(&mut self, number: usize, key: &Key<&str>) {
        let Self { parts, by_item, by_index, by_call, .. } = self;
        let known = &mut parts[number].key;
        for (by_id, id) in [(by_item, key.item), (by_call, key.call)] {
            if !id.is_empty() && by_id.get(id) != Some(&number) {
                by_id.insert(id.to_owned(), number);
            }
        }
        if let Some(index) = key.index {
            by_index.insert(index, number);
        }
        known.index = known.index.or(key.index);
        let ids = [(&mut known.item, key.item), (&mut known.call, key.call), (&mut known.kind, key.kind)];
        for (known, new) in ids {
            if known.is_empty() {
                new.clone_into(known);
            }
        }
    }

    /// Adds an event for a piece of text, unless the piece is empty.
    pub(crate) fn say(&mut self, is_reasoning: bool, text: &str) {
        if !text.is_empty() {
            let event = if is_reasoning { StreamEvent::Reasoning } else { StreamEvent::Text };
            self.events.push(event(text.to_owned()));
        }
    }

    /// Announces a call with its final name and id.
    pub(crate) fn announce(&mut self, number: usize) {
        let Self { codec, seed, ids, parts, events, .. } = self;
        let part = &mut parts[number];
        if part.is_announced {
            return;
        }
        let Some(call) = codec.part_call(&part.json) else { return };
        let given = call.id;
        part.is_announced = true;
        let id = ids.settle(given.as_deref(), || json!([seed, part.name, part.json]));
        if given.is_none() {
            set_at(&mut part.json, codec.facts().call_fields[0], id.as_str());
        }
        events.push(StreamEvent::CallStarted { id: id.into(), name: part.name.clone() });
    }

    /// Ends a part. A call that may be cut off waits unless another part follows it.
    pub(crate) fn end(&mut self, number: usize) {
        self.seal(number, true);
        self.show_hosted(number);
        match self.may_be_cut(number) && !self[number].is_yielded() {
            true => self.held.push(number),
            false => self.yield_call(number),
        }
        self.release_passed();
    }

    /// Adds the event for a complete part of a hosted tool: a call, or a call with its output.
    pub(crate) fn show_hosted(&mut self, number: usize) {
        let part = &self.parts[number];
        let Some(found) = self.codec.hosted(&part.json).filter(|_| !part.is_announced) else { return };
        let call = match found {
            HostedPart::Call(call) => call,
            HostedPart::Output(output) => {
                let known = self.parts.iter().map(|known| &known.json);
                let mut calls = hosted::calls(self.codec, known);
                let answered = calls.iter().rposition(|call| call.output == output.output);
                answered.map_or(output, |at| calls.swap_remove(at))
            }
        };
        self.parts[number].is_announced = true;
        self.events.push(StreamEvent::Hosted(call));
    }

    /// Returns a call through the events, unless it was returned before.
    pub(crate) fn yield_call(&mut self, number: usize) {
        self.seal(number, true);
        if self[number].is_yielded() || self.codec.part_call(&self[number].json).is_none() {
            return;
        }
        self.announce(number);
        let part = &mut self.parts[number];
        self.codec.settle(&mut part.json);
        let call = self.codec.part_call(&part.json).and_then(|call| {
            let id = call.id.as_deref()?.into();
            Some(call.into_call(id))
        });
        part.call.clone_from(&call);
        self.events.extend(call.map(StreamEvent::Call));
    }

    /// Adds each waiting call with a later part to the events, because the model has continued after the call.
    pub(crate) fn release_passed(&mut self) {
        let last = if self.held.is_empty() { return } else { self.last() };
        let (held, passed) =
            std::mem::take(&mut self.held).into_iter().partition(|number| Some(*number) == last);
        self.held = held;
        for number in passed {
            self.yield_call(number);
        }
    }

    /// Returns all waiting calls. If generation stopped early (`is_cut`), the last part is marked as cut off.
    pub(crate) fn release(&mut self, is_cut: bool) {
        let last = self.last().filter(|_| is_cut);
        for number in std::mem::take(&mut self.held) {
            if Some(number) == last {
                self.cut(number);
            }
            self.yield_call(number);
        }
    }

    /// Ends a part and returns its call. If the part is still open and generation stopped early (`is_cut`),
    /// the call is marked as cut off.
    pub(crate) fn close(&mut self, number: usize, is_cut: bool) {
        if self.seal(number, !is_cut) && is_cut {
            self.cut(number);
        }
        self.yield_call(number);
    }

    /// Ends all parts and returns their calls.
    pub(crate) fn close_all(&mut self, is_cut: bool) {
        (0..self.len()).for_each(|number| self.close(number, is_cut));
    }

    /// Completes the JSON of a part. Returns whether the part was open.
    pub(crate) fn seal(&mut self, number: usize, is_complete: bool) -> bool {
        let Self { codec, parts, .. } = self;
        let part = &mut parts[number];
        let is_open = !std::mem::replace(&mut part.is_done, true);
        if is_open {
            codec.seal(part, is_complete);
        }
        is_open
    }

    /// Marks a call without arguments, or with free text, as cut off. The call is then refused.
    pub(crate) fn cut(&mut self, number: usize) {
        if !self.may_be_cut(number) || self[number].is_yielded() {
            return;
        }
        match self.codec.part_call(&self[number].json).is_some_and(|call| call.is_custom) {
            true => self[number].set("status", "incomplete"),
            false => self.set_arguments(number, "{"),
        }
    }

    /// Returns whether the part is a call that looks the same whether it is complete or cut off: without
    /// arguments, or with free text.
    fn may_be_cut(&self, number: usize) -> bool {
        let part = &self[number];
        let may_be_cut = |call: WireCall<'_>| call.is_custom || call.is_blank();
        !part.has_pieces && self.codec.part_call(&part.json).is_some_and(may_be_cut)
    }

    fn set_arguments(&mut self, number: usize, text: &str) {
        set_at(&mut self.parts[number].json, self.codec.facts().call_fields[1], text);
    }

    /// Removes all parts except the parts accepted by `is_kept`, and sorts the remaining parts by position.
    /// The numbers of parts change.
    pub(crate) fn arrange(&mut self, is_kept: impl Fn(&Part) -> bool) {
        self.held.clear();
        self.by_item.clear();
        self.by_index.clear();
        self.by_call.clear();
        self.parts.retain(is_kept);
        self.parts.sort_by_key(|part| part.position);
    }

    /// Returns the JSON of the parts, sorted by position. If generation stopped early (`is_cut`), blank
    /// arguments of the last call are written as `{}`, so that the call does not look cut off itself.
    pub(crate) fn take_json(&mut self, is_cut: bool) -> Vec<Value> {
        self.arrange(|_| true);
        if let Some(last) = self.latest().filter(|_| is_cut) {
            let call = self.codec.part_call(&self[last].json);
            if call.is_some_and(|call| call.is_blank()) {
                self.set_arguments(last, "{}");
            }
        }
        self.parts.iter_mut().map(|part| part.json.take()).collect()
    }

    /// Returns the calls that were returned, in the order of the parts.
    pub(crate) fn take_calls(&mut self) -> impl Iterator<Item = ToolCall> {
        self.parts.iter_mut().filter_map(|part| part.call.take())
    }
}

impl Index<usize> for Parts {
    type Output = Part;

    fn index(&self, number: usize) -> &Part {
        &self.parts[number]
    }
}

impl IndexMut<usize> for Parts {
    fn index_mut(&mut self, number: usize) -> &mut Part {
        &mut self.parts[number]
    }
}
