//! Tracks the calls of a streamed response, for all codecs. A call begins, is announced once, waits if it may
//! have been cut off, and is returned once.
//!
//! The codecs decide to which part a piece of the stream belongs, and add the piece to this part.

use super::decode::StreamEvent;
use crate::call::WireCall;
use crate::ids::CallIds;
use serde_json::Value;
use std::borrow::Cow;
use std::ops::{Index, IndexMut};
use toolkit_core::call::ToolCall;

/// A part of a streamed message: a call, a text, or any other item with its own position.
pub(crate) trait StreamPart {
    /// Returns the position among the parts of the message.
    fn position(&self) -> u64;

    /// Returns the call of this part, once the call is complete.
    fn call(&self) -> Option<WireCall<'_>>;

    /// Returns whether no arguments have arrived so far.
    fn is_blank(&self) -> bool;

    /// Sets the final id of the call.
    fn set_id(&mut self, id: &str);

    /// Replaces blank arguments with `text`.
    fn set_arguments(&mut self, text: &str);

    /// Returns the name of the call.
    fn name(&self) -> &str {
        self.call().map(|call| call.name).unwrap_or_default()
    }

    /// Returns the provider's id of the call, if there is one.
    fn given_id(&self) -> Option<Cow<'_, str>> {
        self.call()?.id
    }

    /// Finishes the part, just before its call is returned.
    fn seal(&mut self) {}

    /// Returns the tool call of this part, with the final id.
    fn to_call(&self) -> Option<ToolCall> {
        let call = self.call()?;
        let id = call.id.as_deref()?.into();
        Some(call.into_call(id))
    }

    fn is_call(&self) -> bool {
        self.call().is_some()
    }

    /// Returns whether the part is a call without arguments so far.
    fn is_blank_call(&self) -> bool {
        self.is_blank() && self.is_call()
    }
}

/// The parts of one message, in the order of arrival.
#[derive(Debug)]
pub(crate) struct Assembler<P> {
    slots: Vec<Slot<P>>,
    ids: Option<CallIds>,
    /// The numbers of ended calls without arguments. A model that is cut off ends its call too, so these
    /// calls wait until another part or the finish reason arrives.
    held: Vec<usize>,
}

#[derive(Debug)]
struct Slot<P> {
    part: P,
    is_announced: bool,
    is_yielded: bool,
}

impl<P> Default for Assembler<P> {
    fn default() -> Self {
        Self { slots: Vec::new(), ids: None, held: Vec::new() }
    }
}

impl<P: StreamPart> Assembler<P> {
    /// Sets the seed of generated ids, unless it is already set.
    pub(crate) fn seed(&mut self, seed: impl FnOnce() -> Value) {
        self.ids.get_or_insert_with(|| CallIds::new(&seed()));
    }

    /// Adds a part and returns its number.
    pub(crate) fn begin(&mut self, part: P) -> usize {
        self.slots.push(Slot { part, is_announced: false, is_yielded: false });
        self.slots.len() - 1
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn get(&self, number: usize) -> Option<&P> {
        Some(&self.slots.get(number)?.part)
    }

    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut P> {
        Some(&mut self.slots.get_mut(number)?.part)
    }

    pub(crate) fn parts(&self) -> impl DoubleEndedIterator<Item = &P> {
        self.slots.iter().map(|slot| &slot.part)
    }

    /// Returns whether the call was already returned. Later pieces no longer change it.
    pub(crate) fn is_yielded(&self, number: usize) -> bool {
        self.slots.get(number).is_some_and(|slot| slot.is_yielded)
    }

    /// Announces a call with its final name and id.
    pub(crate) fn announce(&mut self, number: usize, events: &mut Vec<StreamEvent>) {
        let Some(slot) = self.slots.get_mut(number).filter(|slot| !slot.is_announced) else { return };
        slot.is_announced = true;
        let ids = self.ids.get_or_insert_with(|| CallIds::new(&Value::Null));
        let id = ids.settle(slot.part.given_id().as_deref());
        slot.part.set_id(id.as_str());
        let name = slot.part.name().to_owned();
        events.push(StreamEvent::CallStarted { id: id.into(), name });
    }

    /// Ends a call. A call without arguments waits unless another part follows it.
    pub(crate) fn end(&mut self, number: usize, events: &mut Vec<StreamEvent>) {
        match self.get(number).is_some_and(P::is_blank_call) && !self.is_yielded(number) {
            true => self.held.push(number),
            false => self.yield_call(number, events),
        }
        self.release_passed(events);
    }

    /// Returns a call through `events`, unless it was returned before.
    pub(crate) fn yield_call(&mut self, number: usize, events: &mut Vec<StreamEvent>) {
        if !self.slots.get(number).is_some_and(|slot| !slot.is_yielded && slot.part.is_call()) {
            return;
        }
        self.announce(number, events);
        if let Some(slot) = self.slots.get_mut(number) {
            slot.is_yielded = true;
            slot.part.seal();
            events.extend(slot.part.to_call().map(StreamEvent::Call));
        }
    }

    /// Adds each waiting call with a later part to `events`, because the model has continued after the call.
    pub(crate) fn release_passed(&mut self, events: &mut Vec<StreamEvent>) {
        let last = if self.held.is_empty() { return } else { self.last() };
        let (held, passed) =
            std::mem::take(&mut self.held).into_iter().partition(|number| Some(*number) == last);
        self.held = held;
        for number in passed {
            self.yield_call(number, events);
        }
    }

    /// Returns all waiting calls. If generation stopped early (`is_cut`), the last part is marked as cut off.
    pub(crate) fn release(&mut self, is_cut: bool, events: &mut Vec<StreamEvent>) {
        let last = self.last().filter(|_| is_cut);
        for number in std::mem::take(&mut self.held) {
            if Some(number) == last {
                self.cut(number);
            }
            self.yield_call(number, events);
        }
    }

    /// Marks a call without arguments as cut off. The call is then refused instead of being run without
    /// arguments.
    pub(crate) fn cut(&mut self, number: usize) {
        let slot = self.slots.get_mut(number).filter(|slot| !slot.is_yielded && slot.part.is_blank_call());
        if let Some(slot) = slot {
            slot.part.set_arguments("{");
        }
    }

    /// Returns the number of the last part by position.
    pub(crate) fn last(&self) -> Option<usize> {
        let slots = self.slots.iter().enumerate();
        slots.max_by_key(|(number, slot)| (slot.part.position(), *number)).map(|(number, _)| number)
    }

    /// Removes all parts except the parts accepted by `is_kept`, and sorts the remaining parts by position.
    /// The numbers of parts change.
    pub(crate) fn arrange(&mut self, is_kept: impl Fn(&P) -> bool) {
        self.held.clear();
        self.slots.retain(|slot| is_kept(&slot.part));
        self.slots.sort_by_key(|slot| slot.part.position());
    }

    /// Returns the parts, sorted by position. If generation stopped early (`is_cut`), blank arguments of the
    /// last call are written as `{}`, so that the call does not look cut off itself.
    pub(crate) fn into_parts(mut self, is_cut: bool) -> Vec<P> {
        let last = self.last().filter(|_| is_cut).and_then(|last| self.get_mut(last));
        if let Some(call) = last.filter(|part| part.is_blank_call()) {
            call.set_arguments("{}");
        }
        self.arrange(|_| true);
        self.slots.into_iter().map(|slot| slot.part).collect()
    }
}

impl<P> Index<usize> for Assembler<P> {
    type Output = P;

    fn index(&self, number: usize) -> &P {
        &self.slots[number].part
    }
}

impl<P> IndexMut<usize> for Assembler<P> {
    fn index_mut(&mut self, number: usize) -> &mut P {
        &mut self.slots[number].part
    }
}
