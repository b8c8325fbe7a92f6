//! The parts of one streamed message.
//!
//! Every call begins, is announced once, is held back while it may be cut off, and is returned once. The
//! codec finds the part of each piece. Methods identify a part by its index in `Parts`, its `number`, which
//! differs from the position and from the provider's index.

mod complete;
mod release;

use super::event::StreamEvent;
use super::part::{PartCodec, PartKey, StreamedPart};
use crate::call::ids::CallIds;
use crate::call::known_calls::KnownCalls;
use crate::hosted::HostedCalls;
use crate::json::fields::set_at;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::ops::{Deref, DerefMut};

#[derive(Debug, Clone)]
pub(crate) struct Parts {
    pub(super) codec: &'static dyn PartCodec,
    /// A value that differs between responses, to generate ids.
    seed: Value,
    ids: CallIds,
    parts: Vec<StreamedPart>,
    /// The position for the next part, after the last part.
    pub(crate) next: u64,
    pub(crate) known: KnownParts,
    /// The calls with incomplete arguments, in APIs in which few calls have them.
    pub(crate) open: Vec<usize>,
    order: CallOrder,
    known_calls: KnownCalls,
    /// The calls of hosted tools, with their received outputs.
    hosted: HostedCalls,
    /// The events to return to the caller of the accumulator.
    pub(crate) events: Vec<StreamEvent>,
    has_argument_events: bool,
}

/// The numbers of the parts by what identifies them.
#[derive(Debug, Default, Clone)]
pub(crate) struct KnownParts {
    /// The latest part with each item id.
    ///
    /// `by_index` and `by_call` are the same for indices and call ids.
    pub(crate) by_item: HashMap<String, usize>,
    pub(crate) by_index: HashMap<u64, usize>,
    pub(crate) by_call: HashMap<String, usize>,
    /// The part of the last piece, in APIs whose calls may have neither an index nor an id.
    pub(crate) current: Option<usize>,
}

/// The numbers of the parts that are not returned yet.
#[derive(Debug, Default, Clone)]
struct CallOrder {
    /// The ended calls with free text or no arguments, which may be cut off unnoticed.
    held: Vec<usize>,
    /// The complete calls that wait for an earlier one, in APIs that find the call of a result by its
    /// position.
    waiting: BTreeSet<usize>,
    /// The number of first parts for which no call waits.
    settled: usize,
    /// The call that received the last arguments without an owner.
    adopter: Option<usize>,
    /// The complete parts that [`Parts::take_complete`] has not returned.
    complete: Vec<usize>,
}

impl Parts {
    pub(super) fn new(codec: &'static dyn PartCodec, seed: Value, has_argument_events: bool) -> Self {
        Self {
            codec,
            seed,
            ids: CallIds::default(),
            parts: Vec::new(),
            next: 0,
            known: KnownParts::default(),
            open: Vec::new(),
            order: CallOrder::default(),
            known_calls: KnownCalls::default(),
            hosted: HostedCalls::default(),
            events: Vec::new(),
            has_argument_events,
        }
    }

    pub(crate) fn latest(&self) -> Option<usize> {
        self.parts.len().checked_sub(1)
    }

    /// Returns the part of the response with the highest position.
    pub(crate) fn last(&self) -> Option<usize> {
        let mut last = None;
        for (number, part) in self.parts.iter().enumerate() {
            if !part.returned.is_dropped && !self.is_nameless(part) {
                last = last.max(Some((part.position, number)));
            }
        }
        last.map(|(_, number)| number)
    }

    /// Adds a part and returns its number.
    pub(crate) fn begin(&mut self, position: u64, json: Value) -> usize {
        self.parts.push(StreamedPart { position, json, ..StreamedPart::default() });
        self.next = self.next.max(position.saturating_add(1));
        let number = self.parts.len() - 1;
        let part = &mut self.parts[number];
        if let Some(call) = self.codec.part_call(&part.json) {
            part.name = call.name.to_owned();
        }
        number
    }

    /// Adds fields that a part lacks to its key.
    pub(crate) fn learn(&mut self, number: usize, key: &PartKey<&str>) {
        let KnownParts { by_item, by_index, by_call, .. } = &mut self.known;
        let known = &mut self.parts[number].key;
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

    pub(crate) fn say(&mut self, is_reasoning: bool, text: &str) {
        self.add_text(if is_reasoning { StreamEvent::Reasoning } else { StreamEvent::Text }, text);
    }

    pub(crate) fn add_text(&mut self, event: fn(String) -> StreamEvent, text: &str) {
        if !text.is_empty() {
            self.events.push(event(text.to_owned()));
        }
    }

    /// Adds an event with new arguments of an announced call.
    ///
    /// An empty object waits until the call ends (`is_end`), because some servers send it before the
    /// arguments.
    pub(crate) fn say_arguments(&mut self, number: usize, is_end: bool) {
        let part = &mut self.parts[number];
        if !self.has_argument_events || part.is_yielded() {
            return;
        }
        let Some(id) = &part.returned.id else { return };
        let text = part.arguments();
        let piece = text.get(part.returned.shown..).unwrap_or_default();
        if !piece.is_empty() && (is_end || text.trim() != "{}") {
            self.events.push(StreamEvent::Arguments { id: id.clone(), piece: piece.to_owned() });
            part.returned.shown = text.len();
        }
    }

    /// Stops the events with arguments of a call whose returned arguments were replaced.
    pub(crate) fn stop_arguments(&mut self, number: usize) {
        self.parts[number].returned.shown = usize::MAX;
    }

    /// Adds the event for the start of a call, with its final name and id.
    ///
    /// Does nothing without a name or the second time. A call with the id of an earlier call may be the same
    /// call, so it is announced when it has ended.
    pub(crate) fn announce(&mut self, number: usize) {
        let Self { codec, seed, ids, parts, events, .. } = self;
        let part = &mut parts[number];
        if part.returned.is_announced || part.name.is_empty() {
            return;
        }
        let Some(call) = codec.part_call(&part.json) else { return };
        let given = call.id;
        if !part.is_done && given.as_deref().is_some_and(|id| ids.contains(id)) {
            return;
        }
        part.returned.is_announced = true;
        let id = ids.settle(given.as_deref(), || json!([seed, part.name, part.json]));
        if given.is_none() {
            set_at(&mut part.json, codec.facts().call_fields[0], id.as_str());
        }
        part.returned.id = Some(id.clone());
        events.push(StreamEvent::CallStarted { id, name: part.name.clone() });
        self.say_arguments(number, false);
    }

    /// Ends a part.
    ///
    /// If the part is a call, the call is returned or held back.
    pub(crate) fn end(&mut self, number: usize) {
        self.seal(number, true);
        self.show_hosted(number);
        self.hold_or_yield(number);
    }

    /// Adds the event for a complete part of a hosted tool: its call with any output.
    pub(crate) fn show_hosted(&mut self, number: usize) {
        let part = &self.parts[number];
        if part.returned.is_announced {
            return;
        }
        let Some(found) = self.codec.hosted(&part.json) else { return };
        let call = self.hosted.add(found).clone();
        self.parts[number].returned.is_announced = true;
        self.events.push(StreamEvent::Hosted(call));
    }

    /// Ends a part, and returns its call.
    ///
    /// A call that is still open is cut off if generation stopped early (`is_cut`).
    pub(crate) fn close(&mut self, number: usize, is_cut: bool) {
        if self.seal(number, !is_cut) && is_cut {
            self.cut(number);
        }
        self.hold_or_yield(number);
    }

    pub(crate) fn close_all(&mut self, is_cut: bool) {
        for number in 0..self.len() {
            self.close(number, is_cut);
        }
    }

    /// Completes the JSON of a part, unless it is done.
    ///
    /// Returns whether the part was open before.
    pub(crate) fn seal(&mut self, number: usize, is_complete: bool) -> bool {
        self.say_arguments(number, true);
        let Self { codec, parts, .. } = self;
        let part = &mut parts[number];
        let is_open = !std::mem::replace(&mut part.is_done, true);
        if is_open {
            codec.seal(part, is_complete);
        }
        is_open
    }

    /// Marks a call without arguments or with free text as cut off.
    ///
    /// The call is then refused.
    pub(crate) fn cut(&mut self, number: usize) {
        if !self.may_be_cut(number) || self[number].is_yielded() {
            return;
        }
        if self.codec.part_call(&self[number].json).is_some_and(|call| call.is_custom) {
            self[number].set("status", "incomplete");
        } else {
            self.set_arguments(number, "{");
        }
    }

    /// Returns whether a call may be cut off unnoticed.
    ///
    /// It has no arguments or free text. Services that stream arguments as an object send it complete.
    fn may_be_cut(&self, number: usize) -> bool {
        let part = &self[number];
        if part.has_pieces {
            return false;
        }
        self.codec.part_call(&part.json).is_some_and(|call| call.is_custom || call.is_blank())
    }

    /// Returns whether a part is a call that has a name, but no arguments so far.
    pub(crate) fn is_blank(&self, number: usize) -> bool {
        let part = &self[number];
        !part.name.is_empty()
            && !part.is_custom
            && !part.is_yielded()
            && part.paths.is_none()
            && matches!(part.arguments().trim(), "" | "{}")
            && self.codec.part_call(&part.json).is_some_and(|call| call.has_no_arguments())
    }

    /// Returns whether a call has no arguments so far, or the beginning of an object.
    pub(crate) fn awaits_arguments(&self, number: usize) -> bool {
        let part = &self[number];
        let is_announced = part.arguments().trim().is_empty() && self.is_blank(number);
        is_announced || part.is_open() && !part.name.is_empty()
    }

    /// Returns the call for arguments that name no open call, and opens it again.
    ///
    /// It is the only call without arguments, or the call that received the last such arguments. Returns
    /// `None` if this cannot be decided.
    pub(crate) fn adopt(&mut self) -> Option<usize> {
        let number = match self.order.adopter {
            Some(number) if !self[number].is_yielded() && self.is_latest_call(number) => number,
            _ => self.only_blank()?,
        };
        self.reopen(number);
        self.order.adopter = Some(number);
        Some(number)
    }

    fn is_latest_call(&self, number: usize) -> bool {
        self[number + 1..].iter().all(|part| part.name.is_empty())
    }

    fn only_blank(&self) -> Option<usize> {
        let mut blank = (0..self.len()).filter(|number| self.is_blank(*number));
        let first = blank.next();
        if blank.next().is_none() { first } else { None }
    }

    /// Opens a held call again, because further arguments have arrived.
    pub(crate) fn reopen(&mut self, number: usize) {
        self.order.held.retain(|held| *held != number);
        self[number].is_done = false;
    }

    /// Returns the open call `known`, or else the call found by [`adopt`](Self::adopt).
    pub(crate) fn receiver(&mut self, known: Option<usize>) -> Option<usize> {
        match known {
            Some(number) if !self[number].is_done => known,
            _ => self.adopt(),
        }
    }

    fn is_nameless(&self, part: &StreamedPart) -> bool {
        part.name.is_empty() && self.codec.part_call(&part.json).is_some_and(|call| call.name.is_empty())
    }

    fn set_arguments(&mut self, number: usize, text: &str) {
        set_at(&mut self.parts[number].json, self.codec.facts().call_fields[1], text);
    }
}

impl Deref for Parts {
    type Target = [StreamedPart];

    fn deref(&self) -> &[StreamedPart] {
        &self.parts
    }
}

impl DerefMut for Parts {
    fn deref_mut(&mut self) -> &mut [StreamedPart] {
        &mut self.parts
    }
}
