//! The keys of calls in decisions.

use super::Conversation;
use crate::message::{Message, Messages};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use toolkit_core::CallId;

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

impl Conversation {
    /// Counts the calls before the messages. `outer` has counted those of the conversations around this one.
    pub(super) fn removed_calls_after(&self, mut outer: Keys) -> Keys {
        outer.add(&self.copied_calls);
        outer.add(&self.removed_calls);
        outer
    }

    /// Returns the calls that were removed from the conversation, and its messages, to count the calls of both.
    pub(crate) fn calls_so_far(&self) -> (Keys, &Messages) {
        (self.removed_calls_after(Keys::default()), &self.messages)
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
        let id = match id.contains(['~', '/']) {
            true => Cow::Owned(id.replace('~', "~0").replace('/', "~1")),
            false => Cow::Borrowed(id),
        };
        // An id with `#` always gets a number, because it may look like the key of another call.
        match count == 1 && !id.contains('#') {
            true => id.into_owned(),
            false => format!("{id}#{count}"),
        }
    }

    fn count(&mut self, id: &CallId) -> usize {
        let count = Arc::make_mut(self.counts.get_or_insert_default()).entry(id.clone()).or_default();
        *count += 1;
        *count
    }
}
