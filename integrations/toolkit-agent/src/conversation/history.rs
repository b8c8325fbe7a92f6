//! The messages of a conversation, as its state keeps them.

use crate::message::REMOVED;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use toolkit_llm::{AssistantMessage, Message, Messages, UserMessage};

/// The messages, and what guardrails have done with them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct History {
    pub(super) messages: Messages,
    /// The time of each message, in seconds since 1970.
    pub(super) times: Vec<u64>,
    /// The index of the first message with text before a pause, whose answer no guardrail has seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unchecked: Option<usize>,
    /// The inputs that a guardrail has removed.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) blocked: BTreeSet<usize>,
    #[serde(skip_serializing_if = "Copied::is_empty")]
    pub(super) copied: Copied,
    #[serde(skip)]
    changed: Changed,
}

/// The first messages of a parallel agent's conversation, copied from the one around it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Copied {
    pub(super) count: usize,
    pub(super) removed: usize,
    /// The number of messages that the JSON leaves out, as the conversation around this one begins with
    /// them.
    pub(super) left_out: usize,
    /// The messages that guardrails have replaced, by their index before any removal.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) replaced: Vec<(usize, UserMessage)>,
}

impl Copied {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The index of the first message changed since it was last asked for. Not a part of the state.
#[derive(Debug, Clone, Default)]
struct Changed(Option<usize>);

impl PartialEq for Changed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl History {
    /// Returns the messages without unchecked text before a pause.
    pub(super) fn shown(&self) -> &[Message] {
        self.messages.get(..self.unchecked.unwrap_or(usize::MAX).min(self.len())).unwrap_or_default()
    }

    /// Returns the [shown](Self::shown) messages from the index `begin` on, shared if these are all.
    pub(super) fn shown_since(&self, begin: usize) -> Messages {
        match self.shown().get(begin..) {
            Some(since) if since.len() == self.len() => self.messages.clone(),
            since => since.unwrap_or_default().to_vec().into(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(super) fn add(&mut self, message: Message, at: u64) {
        self.messages.push(message);
        self.times.push(at);
    }

    /// Returns a copy for a parallel agent.
    pub(super) fn copy(&self) -> Self {
        Self {
            messages: self.messages.clone(),
            times: self.times.clone(),
            blocked: self.blocked.clone(),
            copied: Copied { count: self.len(), ..Copied::default() },
            ..Self::default()
        }
    }

    /// Returns the messages that are not copied, with their times.
    pub(super) fn own(&self) -> impl Iterator<Item = (&Message, u64)> {
        self.messages.iter().zip(self.times.iter().copied()).skip(self.copied.count)
    }

    /// Removes unchecked text before a pause. Returns whether there was any.
    pub(super) fn remove_paused(&mut self) -> bool {
        match self.unchecked.take() {
            Some(begin) => {
                self.remove(begin..self.len());
                true
            }
            None => false,
        }
    }

    fn remove(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.messages.replace(range.clone(), []);
            self.times.drain(range.clone());
            self.mark_changed(range.start);
        }
    }

    /// Removes the first `count` messages, which must exist.
    pub(super) fn remove_first(&mut self, count: usize) {
        self.remove(0..count);
        self.unchecked = self.unchecked.map(|unchecked| unchecked.saturating_sub(count));
        self.blocked = self.blocked.iter().filter_map(|index| index.checked_sub(count)).collect();
        let copied = count.min(self.copied.count);
        self.copied.count -= copied;
        self.copied.removed += copied;
    }

    /// Removes the messages from the index `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.remove(len..self.len().max(len));
        self.unchecked = self.unchecked.filter(|unchecked| *unchecked < len);
        self.blocked.retain(|index| *index < len);
    }

    pub(super) fn replace(&mut self, index: usize, message: UserMessage) {
        let Some(place) = self.messages.get_mut(index) else { return };
        if index < self.copied.count {
            self.copied.replaced.push((index + self.copied.removed, message.clone()));
        }
        *place = Message::User(message);
        self.mark_changed(index);
    }

    /// Removes the input at `index`. Models read a note in its place.
    pub(super) fn block(&mut self, index: usize) {
        self.blocked.insert(index);
        self.replace(index, REMOVED.into());
    }

    fn mark_changed(&mut self, index: usize) {
        self.changed.0 = Some(self.changed.0.map_or(index, |known| known.min(index)));
    }

    pub(super) fn take_changed(&mut self) -> Option<usize> {
        self.changed.0.take()
    }

    /// Removes and counts the messages with which `around` begins, too.
    pub(super) fn leave_out(&mut self, around: &Self) {
        let own = self.messages.iter().zip(&self.times);
        let both = own.zip(around.messages.iter().zip(&around.times));
        let count = both.take_while(|(own, other)| own == other).count();
        self.messages.replace(..count, []);
        self.times.drain(..count);
        self.copied.left_out = count;
    }

    /// Adds the messages that [`leave_out`](Self::leave_out) has removed.
    pub(super) fn complete(&mut self, around: &Self) {
        let count = std::mem::take(&mut self.copied.left_out);
        self.messages.replace(..0, around.messages.iter().take(count).cloned());
        self.times.splice(..0, around.times.iter().take(count).copied());
    }

    pub(super) fn latest_message(&self) -> Option<&AssistantMessage> {
        for message in self.messages.iter().rev() {
            if let Message::Assistant(message) = message {
                return Some(message);
            }
        }
        None
    }

    /// Returns the text of a model's latest message, or the arguments of its last call if it has no text.
    pub(super) fn last_answer(&self) -> &str {
        let Some(message) = self.latest_message() else { return "" };
        match message.calls.last() {
            Some(call) if message.text.is_empty() => call.arguments.as_str(),
            _ => &message.text,
        }
    }
}
