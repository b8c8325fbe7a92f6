//! The complete parts of a message: for each call while the message arrives, and all at the end.

use super::{CallOrder, KnownParts, Parts};
use crate::call::arguments::Arguments;
use crate::stream::part::{PartCodec, StreamedPart};
use serde_json::Value;
use toolkit_core::call::ToolCall;

impl Parts {
    /// Counts a part as complete.
    pub(super) fn add_complete(&mut self, number: usize) {
        if !std::mem::replace(&mut self.parts[number].returned.is_counted, true) {
            self.order.complete.push(number);
        }
    }

    /// Removes all parts except the parts accepted by `is_kept`, and sorts the remaining parts by position.
    /// The numbers of the parts change.
    pub(crate) fn arrange(&mut self, is_kept: impl Fn(&StreamedPart) -> bool) {
        self.known = KnownParts::default();
        for number in std::mem::take(&mut self.order).complete {
            self.parts[number].returned.is_counted = false;
        }
        self.parts.retain(is_kept);
        self.parts.sort_by_key(|part| part.position);
        let is_complete = |number: &usize| is_complete(self.codec, &self[*number]);
        let complete: Vec<usize> = (0..self.len()).filter(is_complete).collect();
        complete.into_iter().for_each(|number| self.add_complete(number));
    }

    /// Returns copies of the calls that became complete since the last call of this method, and of the complete parts
    /// before them.
    pub(crate) fn take_complete(&mut self) -> Self {
        let Self { parts, order: CallOrder { complete, .. }, .. } = self;
        let last = complete.iter().map(|number| &parts[*number]).filter(|part| part.is_yielded());
        let last = last.map(|part| part.position).max();
        let (new, later): (Vec<usize>, Vec<usize>) =
            complete.iter().partition(|number| Some(parts[**number].position) <= last);
        *complete = later;
        let parts = new.into_iter().map(|number| parts[number].clone()).collect();
        Self { parts, ..Self::new(self.codec, Value::Null, false) }
    }

    /// Removes all parts except the complete ones. The numbers of the parts change.
    pub(crate) fn keep_complete(&mut self) {
        let codec = self.codec;
        self.arrange(|part| is_complete(codec, part));
        self.open.clear();
    }

    /// Returns the JSON of the parts, sorted by position. If generation stopped early (`is_cut`) and the last
    /// part is a complete call, its arguments are written as text. Otherwise, the call would look cut off.
    pub(crate) fn take_json(&mut self, is_cut: bool) -> Vec<Value> {
        self.arrange(|part| !part.returned.is_dropped);
        if let Some(last) = self.latest().filter(|_| is_cut) {
            let call = self.codec.part_call(&self[last].json).filter(|call| !call.is_custom);
            let text = call.and_then(|call| match call.arguments() {
                _ if call.is_blank() => Some("{}".to_owned()),
                Arguments::Object(object) => Some(object.to_string()),
                Arguments::Text(_) => None,
            });
            if let Some(text) = text {
                self.set_arguments(last, &text);
            }
        }
        self.parts.iter_mut().map(|part| part.json.take()).collect()
    }

    /// Takes the calls that were returned by events, in the order of the parts.
    pub(crate) fn take_calls(&mut self) -> impl Iterator<Item = ToolCall> {
        self.parts.iter_mut().filter_map(|part| part.returned.call.take())
    }
}

/// Returns whether a part is a call that was returned, or another part that has ended.
fn is_complete(codec: &dyn PartCodec, part: &StreamedPart) -> bool {
    part.is_yielded() || part.is_done && codec.part_call(&part.json).is_none()
}
