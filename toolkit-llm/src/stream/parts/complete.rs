//! The complete parts of a message, for each call and at the end.

use super::{CallOrder, KnownParts, Parts};
use crate::call::arguments::Arguments;
use crate::stream::part::{PartCodec, StreamedPart};
use serde_json::Value;
use toolkit_core::call::ToolCall;

impl Parts {
    pub(super) fn add_complete(&mut self, number: usize) {
        if !std::mem::replace(&mut self.parts[number].returned.is_counted, true) {
            self.order.complete.push(number);
        }
    }

    /// Removes all parts except those accepted by `is_kept`, and sorts the rest by position.
    ///
    /// The numbers of the parts change.
    pub(crate) fn arrange(&mut self, is_kept: impl Fn(&StreamedPart) -> bool) {
        self.known = KnownParts::default();
        for number in std::mem::take(&mut self.order).complete {
            self.parts[number].returned.is_counted = false;
        }
        self.parts.retain(is_kept);
        self.parts.sort_by_key(|part| part.position);
        for number in 0..self.len() {
            if is_complete(self.codec, &self[number]) {
                self.add_complete(number);
            }
        }
    }

    /// Returns copies of the calls completed since the previous copy, and of the complete parts before them.
    pub(crate) fn take_complete(&mut self) -> Self {
        let Self { parts, order: CallOrder { complete, .. }, .. } = self;
        let calls = complete.iter().filter(|number| parts[**number].is_yielded());
        let last_call = calls.map(|number| parts[*number].position).max();
        let mut new = Vec::new();
        for number in std::mem::take(complete) {
            let part = &parts[number];
            if Some(part.position) <= last_call {
                new.push(part.clone());
            } else {
                complete.push(number);
            }
        }
        Self { parts: new, ..Self::new(self.codec, Value::Null, false) }
    }

    /// Removes all parts except the complete ones.
    ///
    /// The numbers of the parts change.
    pub(crate) fn keep_complete(&mut self) {
        let codec = self.codec;
        self.arrange(|part| is_complete(codec, part));
        self.open.clear();
    }

    /// Returns the JSON of the parts, sorted by position.
    ///
    /// If generation stopped early (`is_cut`), the arguments of a complete call at the end are written as
    /// text. Otherwise, it would look cut off.
    pub(crate) fn take_json(&mut self, is_cut: bool) -> Vec<Value> {
        self.arrange(|part| !part.returned.is_dropped);
        if is_cut
            && let Some(last) = self.latest()
            && let Some(text) = self.object_as_text(last)
        {
            self.set_arguments(last, &text);
        }
        self.parts.iter_mut().map(|part| part.json.take()).collect()
    }

    fn object_as_text(&self, number: usize) -> Option<String> {
        let call = self.codec.part_call(&self[number].json)?;
        match call.arguments() {
            _ if call.is_custom => None,
            _ if call.is_blank() => Some("{}".to_owned()),
            Arguments::Object(object) => Some(object.to_string()),
            Arguments::Text(_) => None,
        }
    }

    /// Takes the returned calls, in the order of the parts.
    pub(crate) fn take_calls(&mut self) -> impl Iterator<Item = ToolCall> {
        self.parts.iter_mut().filter_map(|part| part.returned.call.take())
    }
}

/// Returns whether a part is a returned call, or another ended part.
fn is_complete(codec: &dyn PartCodec, part: &StreamedPart) -> bool {
    part.is_yielded() || part.is_done && codec.part_call(&part.json).is_none()
}
