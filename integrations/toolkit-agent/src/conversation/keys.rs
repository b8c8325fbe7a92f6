//! The keys of calls in decisions.

use super::Conversation;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Arc;
use toolkit_core::CallId;
use toolkit_llm::{Message, Messages};

/// Returns the keys of the calls of a conversation, in their order. The key of a call is its id, followed by a number
/// if earlier calls have the same id. `~` and `/` in an id become `~0` and `~1`, as in JSON pointers.
///
/// Clones are cheap. In JSON, the numbers of calls by their id.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "BTreeMap<CallId, usize>", into = "BTreeMap<CallId, usize>")]
pub(crate) struct Keys {
    /// The number of calls so far, by their id. `None` if there are none.
    counts: Option<Arc<BTreeMap<CallId, usize>>>,
}

impl From<BTreeMap<CallId, usize>> for Keys {
    fn from(counts: BTreeMap<CallId, usize>) -> Self {
        Self { counts: (!counts.is_empty()).then(|| Arc::new(counts)) }
    }
}

impl From<Keys> for BTreeMap<CallId, usize> {
    fn from(keys: Keys) -> Self {
        keys.counts.map(Arc::unwrap_or_clone).unwrap_or_default()
    }
}

/// The counts of the calls in the first messages of a conversation, and of calls removed before them.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) messages: usize,
    pub(crate) keys: Keys,
}

impl Counts {
    /// Counts the calls of the messages that are not yet counted.
    pub(crate) fn extend(&mut self, messages: &[Message]) {
        self.keys = take(&mut self.keys).after(messages.get(self.messages..).unwrap_or_default());
        self.messages = messages.len();
    }
}

impl Conversation {
    /// Counts the calls before the messages. `outer` has counted those of the conversations around this one.
    pub(super) fn removed_calls_after(&self, mut outer: Keys) -> Keys {
        outer.add(&self.copied_calls);
        outer.add(&self.removed_calls);
        outer
    }

    /// Returns the calls that were removed from the conversation, and its messages, to count the calls of both.
    pub(super) fn calls_so_far(&self) -> (Keys, &Messages) {
        (self.removed_calls_after(Keys::default()), &self.messages)
    }

    /// Takes the counts of the calls so far, which may lack the calls of the latest messages.
    pub(crate) fn take_counts(&mut self) -> Counts {
        let known = self.views.counts.take();
        known.unwrap_or_else(|| Counts { messages: 0, keys: self.removed_calls_after(Keys::default()) })
    }

    /// Stores the counts of the calls so far, for the next turns.
    pub(crate) fn keep_counts(&mut self, counts: Counts) {
        self.views.counts = Some(counts).filter(|counts| counts.messages <= self.messages.len());
    }
}

impl Keys {
    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_none()
    }

    /// Adds the counts of `other`.
    pub(super) fn add(&mut self, other: &Self) {
        let Some(counts) = &other.counts else { return };
        match &mut self.counts {
            None => self.counts = Some(counts.clone()),
            Some(own) => {
                let own = Arc::make_mut(own);
                counts.iter().for_each(|(id, count)| *own.entry(id.clone()).or_default() += count);
            }
        }
    }

    /// Counts the calls of `messages`.
    pub(crate) fn after(mut self, messages: &[Message]) -> Self {
        for message in messages {
            let Message::Assistant(message) = message else { continue };
            for call in &message.calls {
                self.count(&call.id);
            }
        }
        self
    }

    /// Returns the key of the next call, which has this id.
    pub(crate) fn next(&mut self, id: &CallId) -> String {
        let count = self.count(id);
        let id = id.as_str();
        // Otherwise, the id may look like the path to a call of an agent called as a tool.
        let id = if id.contains(['~', '/']) {
            Cow::Owned(id.replace('~', "~0").replace('/', "~1"))
        } else {
            Cow::Borrowed(id)
        };
        // An id with `#` always gets a number, because it may look like the key of another call.
        if count == 1 && !id.contains('#') { id.into_owned() } else { format!("{id}#{count}") }
    }

    /// Undoes [`next`](Self::next) for a call with this id.
    pub(crate) fn undo(&mut self, id: &CallId) {
        let Some(counts) = self.counts.as_mut().map(Arc::make_mut) else { return };
        match counts.get_mut(id) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(counts.remove(id)),
        }
    }

    fn count(&mut self, id: &CallId) -> usize {
        let count = Arc::make_mut(self.counts.get_or_insert_default()).entry(id.clone()).or_default();
        *count += 1;
        *count
    }
}
