//! The parts of a streamed message in APIs that give each part an index.

use super::assembly::Assembly;
use super::part::{PartKey, StreamedPart};
use super::parts::Parts;
use crate::call::is_blank;
use crate::fields::set_at;
use crate::response::FinishReason;
use serde_json::{Value, json};

impl Assembly {
    /// Returns the finish reason in the body, if it has arrived.
    pub(crate) fn finish_reason(&self, field: &str) -> Option<FinishReason> {
        Some(FinishReason::parse(self.body.get(field)?.as_str()?))
    }
}

impl Parts {
    /// Returns the number of the part with the provider's index `index`. If `index` is `None`, returns the number of
    /// the latest part.
    pub(crate) fn at_index(&self, index: Option<u64>) -> Option<usize> {
        index.map_or_else(|| self.latest(), |index| self.by_index.get(&index).copied())
    }

    /// Begins a part with the provider's index `index`, and returns its number. An earlier part with this index ends. A
    /// call is announced.
    pub(crate) fn begin_at(&mut self, index: Option<u64>, json: Value) -> usize {
        let known = index.and_then(|index| self.by_index.get(&index).copied());
        self.end_if_open(known);
        let index = index.unwrap_or(self.next);
        let number = self.begin(if known.is_some() { self.next } else { index }, json);
        self.learn(number, &PartKey { index: Some(index), ..PartKey::default() });
        self.announce(number);
        number
    }

    /// Returns the number of the part to which a piece belongs. `is_call_piece` states whether the piece is one of
    /// arguments, and `is_call` whether a part is a call. If the part has not begun, `begin` begins it. Returns `None`
    /// if the part has ended.
    pub(crate) fn open_at(
        &mut self,
        index: Option<u64>,
        is_call_piece: bool,
        is_call: fn(&Value) -> bool,
        begin: impl FnOnce(&mut Self, Option<u64>) -> usize,
    ) -> Option<usize> {
        let known = self.at_index(index);
        let open = if is_call_piece {
            self.receiver(known.filter(|number| is_call(&self[*number].json)))
        } else {
            known.filter(|number| !self[*number].is_done)
        };
        // A piece after the end of its part is a mistake of the service.
        let has_ended = open.is_none() && !is_call_piece && known.is_some() && index.is_some();
        let new_index = index.filter(|_| known.is_none());
        (!has_ended).then(|| open.unwrap_or_else(|| begin(self, new_index)))
    }

    /// Ends a part, unless it has ended.
    pub(crate) fn end_if_open(&mut self, number: Option<usize>) {
        if let Some(number) = number.filter(|number| !self[*number].is_done) {
            self.end(number);
        }
    }
}

impl StreamedPart {
    /// Writes the received pieces of the arguments into the field at `path`. Arguments become an object, as in a
    /// response that was not streamed. Incomplete arguments stay a string, and missing arguments of a call become an
    /// empty object.
    pub(crate) fn seal_arguments(&mut self, path: &[&str], is_call: bool) {
        let written = std::mem::take(&mut self.text);
        self.has_pieces = !written.trim().is_empty();
        let first = path.iter().try_fold(&self.json, |json, name| json.get(name));
        match serde_json::from_str(&written) {
            Ok(arguments @ Value::Object(_)) => set_at(&mut self.json, path, arguments),
            _ if self.has_pieces => set_at(&mut self.json, path, written),
            _ if is_call && is_blank(first) => set_at(&mut self.json, path, json!({})),
            _ => {}
        }
    }
}
