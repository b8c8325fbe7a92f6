//! The messages of a model in a provider's JSON, and their calls that may run.

use super::WireCall;
use super::known_calls::KnownCalls;
use crate::json::fields::Fields;
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct DecodedPayload<'a> {
    pub(crate) payload: &'a Value,
    pub(crate) messages: Vec<ReceivedMessage<'a>>,
}

#[derive(Debug)]
pub(crate) struct ReceivedMessage<'a> {
    /// `None` if the payload consists of parts without a message.
    pub(crate) fields: Option<&'a Fields>,
    pub(crate) parts: Vec<MessagePart<'a>>,
    /// Whether the payload contains the complete message.
    pub(crate) is_whole: bool,
}

#[derive(Debug)]
pub(crate) enum MessagePart<'a> {
    Call(WireCall<'a>),
    Other(&'a Value),
}

impl<'a> DecodedPayload<'a> {
    pub(crate) fn other_parts(&self) -> impl Iterator<Item = &'a Value> {
        let parts = self.messages.first().map_or(&[][..], |message| &message.parts);
        parts.iter().filter_map(MessagePart::other)
    }
}

impl<'a> MessagePart<'a> {
    fn call(&self) -> Option<&WireCall<'a>> {
        match self {
            Self::Call(call) => Some(call),
            Self::Other(_) => None,
        }
    }

    fn other(&self) -> Option<&'a Value> {
        match self {
            Self::Call(_) => None,
            Self::Other(part) => Some(part),
        }
    }
}

impl<'a> ReceivedMessage<'a> {
    /// Creates a message from parts. `cut` is the index of the part at which generation stopped early.
    pub(crate) fn from_parts(
        list: &'a [Value],
        cut: Option<usize>,
        read: impl Fn(&'a Value, bool) -> Option<WireCall<'a>>,
    ) -> Self {
        let mut parts = Vec::with_capacity(list.len());
        for (at, part) in list.iter().enumerate() {
            parts.push(match read(part, Some(at) == cut) {
                Some(call) => MessagePart::Call(call),
                None => MessagePart::Other(part),
            });
        }
        Self { fields: None, parts, is_whole: true }
    }

    /// Creates a message from parts. If generation stopped early (`is_cut`), the last part is incomplete.
    pub(crate) fn from_list(
        list: &'a [Value],
        is_cut: bool,
        read: impl Fn(&'a Value, bool) -> Option<WireCall<'a>>,
    ) -> Self {
        let cut = if is_cut { list.len().checked_sub(1) } else { None };
        Self::from_parts(list, cut, read)
    }

    /// Removes the calls that must not be run.
    ///
    /// Arguments without a name and an id belong to the only call without arguments. If that cannot be
    /// decided, a call without arguments is read as incomplete. The same applies to the last part if the
    /// finish reason is unknown (`is_unclear`).
    pub(crate) fn settle(&mut self, is_unclear: bool) {
        let has_orphans = self.calls().any(WireCall::is_orphan) && !self.adopt();
        let last = self.parts.len().saturating_sub(1);
        for (at, part) in self.parts.iter_mut().enumerate() {
            let MessagePart::Call(call) = part else { continue };
            let misses_arguments = has_orphans && call.has_no_arguments();
            let misses_end = is_unclear && at == last && call.is_blank();
            if misses_arguments || misses_end {
                call.is_cut = true;
                call.input = None;
            }
        }
        self.remove_repeated();
    }

    /// Removes calls without a name, and repeated ones.
    ///
    /// A call without arguments repeats an earlier or later one with the same id and name, so it is compared
    /// last.
    fn remove_repeated(&mut self) {
        let mut known_calls = KnownCalls::default();
        for has_no_arguments in [false, true] {
            self.parts.retain(|part| match part {
                MessagePart::Call(call) if call.has_no_arguments() == has_no_arguments => {
                    !call.name.is_empty() && known_calls.add(call)
                }
                _ => true,
            });
        }
    }

    /// Gives arguments without a name and an id to the only call without arguments. Returns whether this was
    /// possible.
    fn adopt(&mut self) -> bool {
        let Some(orphan) = self.only_orphan() else { return false };
        if orphan.id.is_some() || orphan.is_custom || orphan.is_cut || orphan.input.is_none() {
            return false;
        }
        let input = orphan.input;
        let mut blank = None;
        for part in &mut self.parts {
            let MessagePart::Call(call) = part else { continue };
            if call.name.is_empty() || !call.has_no_arguments() {
                continue;
            }
            if blank.is_some() {
                return false;
            }
            blank = Some(call);
        }
        let Some(call) = blank else { return false };
        call.input = input;
        true
    }

    fn only_orphan(&self) -> Option<&WireCall<'a>> {
        let mut orphans = self.calls().filter(|call| call.is_orphan());
        let orphan = orphans.next()?;
        if orphans.next().is_some() { None } else { Some(orphan) }
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = &WireCall<'a>> {
        self.parts.iter().filter_map(MessagePart::call)
    }
}
