//! The messages of a run that a page has.

use std::sync::Arc;
use toolkit_agent::runs::Cursor;

/// The ids of the messages of a run that a page has, each with the place after it.
#[derive(Debug, Clone, Default)]
pub(super) struct ShownMessages(Vec<(Cursor, Arc<str>)>);

impl ShownMessages {
    pub(super) fn add(&mut self, cursor: &Cursor, id: Arc<str>) {
        self.0.push((cursor.clone(), id));
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.0.iter().any(|(_, known)| **known == *id)
    }

    pub(super) fn forget(&mut self, id: &str) {
        self.0.retain(|(_, known)| **known != *id);
    }

    /// Forgets the messages after a place, or all.
    pub(super) fn go_back(&mut self, place: Option<&Cursor>) {
        match place {
            Some(place) => self.0.retain(|(at, _)| !at.is_after(place)),
            None => self.0.clear(),
        }
    }
}
