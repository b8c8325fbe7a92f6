//! The keys of calls in decisions.

use crate::message::Message;
use std::borrow::Cow;
use std::collections::HashMap;
use toolkit_core::CallId;

/// Returns the keys of the calls of a conversation, in their order. The key of a call is its id, followed by a number
/// if earlier calls have the same id. `~` and `/` in an id become `~0` and `~1`, as in JSON pointers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys {
    /// The number of calls so far, by their id.
    counts: HashMap<CallId, usize>,
}

impl Keys {
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
        let count = self.counts.entry(id.clone()).or_default();
        *count += 1;
        *count
    }
}
