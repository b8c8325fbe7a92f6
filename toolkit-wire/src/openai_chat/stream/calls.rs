//! The calls of one choice. Assigns pieces to calls.

use super::call::{Partial, Piece};
use crate::stream::assembler::{Assembler, StreamPart};
use crate::stream::decode::StreamEvent;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The calls of one choice received so far.
#[derive(Default)]
pub(super) struct Calls {
    /// A value unique to this choice of this response, for generated ids.
    seed: Value,
    calls: Assembler<Partial>,
    by_index: HashMap<u64, usize>,
    by_id: HashMap<String, usize>,
    /// The call of the last piece.
    last: Option<usize>,
    highest_index: u64,
    /// The older `function_call`. Some servers send it together with `tool_calls` for the same call, so it is
    /// used only at the end, unless another call has the same name and arguments.
    legacy: Option<Partial>,
}

impl Calls {
    pub(super) fn new(seed: Value) -> Self {
        Self { seed, ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.len() == 0 && self.legacy.is_none()
    }

    /// Adds a piece of a call.
    pub(super) fn piece(&mut self, value: &Value, events: &mut Vec<StreamEvent>) {
        let piece = Piece::of_call(value);
        let is_left = |number: &usize| self.calls.get(*number).is_none_or(|call| call.is_left_by(&piece));
        let known = self.find(&piece).filter(|number| !is_left(number));
        if known.is_none() && piece.is_empty() {
            return;
        }
        let number = known.unwrap_or_else(|| self.begin(value, &piece));
        self.add(number, &piece, events);
    }

    /// Adds a complete call.
    pub(super) fn whole(&mut self, value: &Value, events: &mut Vec<StreamEvent>) {
        let piece = Piece::of_call(value);
        let number = self.begin(value, &piece);
        self.add(number, &piece, events);
    }

    /// Adds a piece of the older `function_call`. This field has neither an index nor an id.
    pub(super) fn legacy_piece(&mut self, value: &Value) {
        let call = json!({"function": value});
        let piece = Piece::of_call(&call);
        if !piece.is_empty() {
            self.legacy.get_or_insert_default().add(&piece, false);
        }
    }

    fn add(&mut self, number: usize, piece: &Piece<'_>, events: &mut Vec<StreamEvent>) {
        // Once the model continues with another call, no further arguments arrive for the earlier one.
        if let Some(last) = self.last.replace(number).filter(|last| *last != number)
            && self.calls.get(last).is_some_and(Partial::is_complete)
        {
            self.calls.yield_call(last, events);
        }
        let is_yielded = self.calls.is_yielded(number);
        let Some(call) = self.calls.get_mut(number) else { return };
        call.add(piece, is_yielded);
        if let Some(id) = call.given() {
            self.by_id.entry(id.to_owned()).or_insert(number);
        }
        if call.has_arguments() && call.is_named() {
            self.calls.announce(number, events);
        }
    }

    /// Returns the call continued by `piece`.
    ///
    /// If the piece has an index, this is the call with the same index. Otherwise, it is the call with the
    /// same id, or the last call if the piece may continue it.
    fn find(&self, piece: &Piece<'_>) -> Option<usize> {
        if let Some(index) = piece.index {
            return self.by_index.get(&index).copied();
        }
        let by_id = piece.id.as_deref().and_then(|id| self.by_id.get(id).copied());
        let continues_last = |number: &usize| {
            let Some(last) = self.calls.get(*number) else { return false };
            match (piece.name, &piece.id) {
                (None, None) => true,
                (None, Some(_)) => last.is_open(),
                (Some(name), None) => !last.is_named() || (last.is_open() && last.name() == name),
                (Some(_), Some(_)) => false,
            }
        };
        by_id.or_else(|| self.last.filter(continues_last))
    }

    fn begin(&mut self, value: &Value, piece: &Piece<'_>) -> usize {
        let number = self.calls.len();
        let unseen = piece.index.filter(|index| !self.by_index.contains_key(index));
        if let Some(index) = piece.index {
            self.by_index.insert(index, number);
        }
        if let Some(id) = &piece.id {
            self.by_id.insert(id.as_ref().to_owned(), number);
        }
        let index = unseen.unwrap_or(self.highest_index);
        self.highest_index = self.highest_index.max(index);
        self.calls.seed(|| json!([self.seed, value]));
        self.calls.begin(Partial::at(index))
    }

    /// Marks the incomplete calls as cut off, because generation stopped early. These are the call written
    /// last and the call with the last index.
    pub(super) fn cut(&mut self) {
        for number in [self.last, self.calls.last()].into_iter().flatten() {
            self.calls.cut(number);
        }
        if let Some(legacy) = self.legacy.as_mut().filter(|legacy| legacy.is_blank_call()) {
            legacy.set_arguments("{");
        }
    }

    /// Returns the remaining calls through `events`. Unless `all` is set, calls with incomplete arguments are
    /// left out.
    pub(super) fn close(&mut self, all: bool, events: &mut Vec<StreamEvent>) {
        if let Some(legacy) = self.legacy.take()
            && !self.calls.parts().any(|known| known.asks_the_same(&legacy))
        {
            self.calls.seed(|| json!([self.seed, legacy.to_whole()]));
            self.calls.begin(legacy.moved_to(self.highest_index));
        }
        for number in 0..self.calls.len() {
            if all || !self.calls.get(number).is_some_and(Partial::is_open) {
                self.calls.yield_call(number, events);
            }
        }
    }

    /// Returns the calls as in a response without streaming.
    pub(super) fn into_whole(self) -> Vec<Value> {
        self.calls.into_parts(false).iter().map(Partial::to_whole).collect()
    }
}
