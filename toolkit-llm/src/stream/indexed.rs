//! The parts of a streamed message in APIs that give each part an index.

use super::assembly::Assembly;
use super::part::{PartKey, StreamedPart};
use super::parts::Parts;
use crate::call::arguments::is_blank;
use crate::json::fields::set_at;
use crate::response::FinishReason;
use serde_json::{Value, json};

/// The part to which a piece belongs.
#[derive(Debug)]
pub(crate) enum Receiver {
    Open(usize),
    /// The part has not begun.
    ///
    /// It has this index of the provider.
    New(Option<u64>),
    Ended,
}

impl Assembly {
    pub(crate) fn finish_reason(&self, field: &str) -> Option<FinishReason> {
        Some(FinishReason::parse(self.body.get(field)?.as_str()?))
    }
}

impl Parts {
    /// Returns the part with this provider's index, or the latest.
    pub(crate) fn at_index(&self, index: Option<u64>) -> Option<usize> {
        match index {
            Some(index) => self.known.by_index.get(&index).copied(),
            None => self.latest(),
        }
    }

    /// Begins a part with this provider's index, and announces calls.
    ///
    /// Returns its number.
    ///
    /// An earlier part with this index ends, unless it is the same call.
    pub(crate) fn begin_at(&mut self, index: Option<u64>, json: Value) -> usize {
        if let Some(number) = self.at_index(index)
            && self.is_begun_by(number, &json)
        {
            self.fill_arguments(number, &json);
            return number;
        }
        let known = index.and_then(|index| self.known.by_index.get(&index).copied());
        self.end_if_open(known);
        let new_index = index.unwrap_or(self.next);
        let number = self.begin(if known.is_some() { self.next } else { new_index }, json);
        self.learn(number, &PartKey { index: Some(new_index), ..PartKey::default() });
        self.announce(number);
        number
    }

    /// Returns whether the JSON begins an open call again.
    ///
    /// It has the same id, or the arguments of the open call are still to come and the name is the same.
    fn is_begun_by(&self, number: usize, json: &Value) -> bool {
        let part = &self[number];
        if part.is_done {
            return false;
        }
        let Some(call) = self.codec.part_call(json) else { return false };
        let known = self.codec.part_call(&part.json);
        let has_same_id = call.id.is_some() && known.is_some_and(|known| known.id == call.id);
        has_same_id || part.name == call.name && self.awaits_arguments(number)
    }

    fn fill_arguments(&mut self, number: usize, json: &Value) {
        let Some(call) = self.codec.part_call(json) else { return };
        let Some(input) = call.input else { return };
        if !call.is_blank() && self[number].text.trim().is_empty() {
            let path = self.codec.facts().call_fields[1];
            set_at(&mut self[number].json, path, input.clone());
        }
    }

    /// Returns the part to which a piece belongs.
    ///
    /// `is_call_piece` states whether the piece is one of arguments, and `is_call` whether a part is a call.
    pub(crate) fn receiver_at(
        &mut self,
        index: Option<u64>,
        is_call_piece: bool,
        is_call: fn(&Value) -> bool,
    ) -> Receiver {
        let known = self.at_index(index);
        if is_call_piece {
            let call = known.filter(|number| is_call(&self[*number].json));
            if let Some(number) = self.receiver(call) {
                return Receiver::Open(number);
            }
        } else if let Some(number) = known {
            if !self[number].is_done {
                return Receiver::Open(number);
            }
            // A piece after the end of its part is a mistake of the service.
            if index.is_some() {
                return Receiver::Ended;
            }
        }
        Receiver::New(if known.is_none() { index } else { None })
    }

    pub(crate) fn end_if_open(&mut self, number: Option<usize>) {
        if let Some(number) = number
            && !self[number].is_done
        {
            self.end(number);
        }
    }
}

impl StreamedPart {
    /// Writes the received arguments into the field at `path`.
    ///
    /// Arguments become an object, as without streaming. Incomplete arguments stay a string. Missing
    /// arguments of a call become an empty object.
    pub(crate) fn seal_arguments(&mut self, path: &[&str], is_call: bool) {
        let written = self.text.take();
        self.has_pieces = !written.trim().is_empty();
        let mut first = Some(&self.json);
        for name in path {
            first = first.and_then(|json| json.get(name));
        }
        match serde_json::from_str(&written) {
            Ok(arguments @ Value::Object(_)) => set_at(&mut self.json, path, arguments),
            _ if self.has_pieces => set_at(&mut self.json, path, written),
            _ if is_call && is_blank(first) => set_at(&mut self.json, path, json!({})),
            _ => {}
        }
    }
}
