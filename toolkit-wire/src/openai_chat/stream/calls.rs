//! The calls of one choice, and which of them a piece belongs to.

use super::call::{Partial, Piece};
use crate::call::Fields;
use crate::ids::CallIds;
use crate::stream::decode::StreamEvent;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The calls of one choice so far.
#[derive(Default)]
pub(super) struct Calls {
    calls: Vec<Ordered>,
    by_index: HashMap<u64, usize>,
    by_id: HashMap<String, usize>,
    /// The call that the last piece belonged to.
    last: Option<usize>,
    highest_index: u64,
    /// The `function_call` that `tool_calls` replaced. Some servers write both for the same call, so it
    /// counts only when all is there.
    legacy: Option<Partial>,
}

/// A call, and the index that it comes at in the whole response.
#[derive(Default)]
struct Ordered {
    index: u64,
    is_announced: bool,
    call: Partial,
}

/// Ids for calls that come without one.
#[derive(Default)]
pub(super) struct Ids {
    /// What tells this response from others.
    response: Option<Value>,
    ids: Option<CallIds>,
}

impl Ids {
    /// Takes note of the first chunk.
    pub(super) fn begin(&mut self, chunk: &Fields) {
        self.response.get_or_insert_with(|| json!([chunk.get("id"), chunk.get("created")]));
    }

    /// Gives the call its id: the server's, or one that no other call has.
    fn settle(&mut self, call: &mut Partial) {
        if call.id.is_some() {
            return;
        }
        let seed = || CallIds::new(&json!([self.response, call.to_whole()]));
        let id = self.ids.get_or_insert_with(seed).settle(call.given());
        call.id = Some(id.into());
    }
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.legacy.is_none()
    }

    /// Takes a piece of a call.
    pub(super) fn piece(&mut self, value: &Value, ids: &mut Ids, events: &mut Vec<StreamEvent>) {
        let piece = Piece::of_call(value);
        let known = self.find(&piece).filter(|at| !self.calls[*at].call.is_left_by(&piece));
        if known.is_none() && piece.is_empty() {
            return;
        }
        let at = known.unwrap_or_else(|| self.begin(&piece));
        self.add(at, &piece, ids, events);
    }

    /// Takes a call that came whole.
    pub(super) fn whole(&mut self, value: &Value, ids: &mut Ids, events: &mut Vec<StreamEvent>) {
        let piece = Piece::of_call(value);
        let at = self.begin(&piece);
        self.add(at, &piece, ids, events);
    }

    pub(super) fn legacy_piece(&mut self, value: &Value) {
        let piece = Piece::of_legacy(value);
        if !piece.is_empty() {
            self.legacy.get_or_insert_default().add(&piece);
        }
    }

    fn add(&mut self, at: usize, piece: &Piece<'_>, ids: &mut Ids, events: &mut Vec<StreamEvent>) {
        // The model has left the call before, so nothing more can come that belongs to its arguments.
        if let Some(last) = self.last.replace(at).filter(|last| *last != at)
            && self.calls[last].call.is_complete()
        {
            self.calls[last].yield_once(ids, events);
        }
        let call = &mut self.calls[at];
        call.call.add(piece);
        if let Some(id) = call.call.given() {
            self.by_id.entry(id.to_owned()).or_insert(at);
        }
        if call.call.has_arguments() {
            call.announce(ids, events);
        }
    }

    /// The call that a piece continues, if it continues one: that with its index, else that with its
    /// id, else the last one.
    fn find(&self, piece: &Piece<'_>) -> Option<usize> {
        if let Some(index) = piece.index {
            return self.by_index.get(&index).copied();
        }
        let by_id = piece.id.as_deref().and_then(|id| self.by_id.get(id).copied());
        let continues_last = |at: &usize| {
            let last = &self.calls[*at].call;
            match (piece.name, &piece.id) {
                (None, None) => true,
                (None, Some(_)) => last.is_open(),
                (Some(name), None) => !last.is_named() || (last.is_open() && last.name() == name),
                (Some(_), Some(_)) => false,
            }
        };
        by_id.or_else(|| self.last.filter(continues_last))
    }

    fn begin(&mut self, piece: &Piece<'_>) -> usize {
        let at = self.calls.len();
        let unseen = piece.index.filter(|index| !self.by_index.contains_key(index));
        if let Some(index) = piece.index {
            self.by_index.insert(index, at);
        }
        if let Some(id) = &piece.id {
            self.by_id.insert(id.as_ref().to_owned(), at);
        }
        let index = unseen.unwrap_or(self.highest_index);
        self.highest_index = self.highest_index.max(index);
        self.calls.push(Ordered { index, ..Ordered::default() });
        at
    }

    /// The model was stopped: what it wrote last is not all that it wanted to write, and neither is what
    /// stands last in the whole message.
    pub(super) fn cut(&mut self) {
        let hindmost = self.calls.iter().enumerate().max_by_key(|(_, call)| call.index).map(|(at, _)| at);
        for at in [self.last, hindmost].into_iter().flatten() {
            if let Some(call) = self.calls.get_mut(at) {
                call.call.cut();
            }
        }
        if let Some(legacy) = &mut self.legacy {
            legacy.cut();
        }
    }

    /// Yields what is not yielded yet; unless `all`, not the calls in whose arguments the model stopped.
    pub(super) fn close(&mut self, all: bool, ids: &mut Ids, events: &mut Vec<StreamEvent>) {
        if let Some(legacy) = self.legacy.take()
            && !self.calls.iter().any(|known| known.call.asks_the_same(&legacy))
        {
            self.calls.push(Ordered { index: self.highest_index, is_announced: false, call: legacy });
        }
        for call in self.calls.iter_mut().filter(|known| all || !known.call.is_open()) {
            call.yield_once(ids, events);
        }
    }

    /// The calls as they stand in a whole message.
    pub(super) fn into_whole(mut self) -> Vec<Value> {
        self.calls.sort_by_key(|call| call.index);
        self.calls.iter().map(|call| call.call.to_whole()).collect()
    }
}

impl Ordered {
    /// Says that the call has begun, which takes an id and a name that will not change.
    fn announce(&mut self, ids: &mut Ids, events: &mut Vec<StreamEvent>) {
        if self.is_announced || !self.call.is_named() {
            return;
        }
        self.is_announced = true;
        ids.settle(&mut self.call);
        let id = self.call.id.clone().unwrap_or_default();
        events.push(StreamEvent::CallStarted { id, name: self.call.name().to_owned() });
    }

    fn yield_once(&mut self, ids: &mut Ids, events: &mut Vec<StreamEvent>) {
        if self.call.is_yielded {
            return;
        }
        self.announce(ids, events);
        ids.settle(&mut self.call);
        self.call.is_yielded = true;
        events.push(StreamEvent::Call(self.call.to_call()));
    }
}
