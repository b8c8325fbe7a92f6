//! Events that wait until a check has passed.

use crate::agent::Run;
use crate::event::RunEvent;

/// The events of an answer that are not emitted before a check has passed.
#[derive(Default)]
pub(super) struct Held {
    events: Vec<RunEvent>,
}

impl Held {
    pub(super) fn push(&mut self, event: RunEvent) {
        self.events.push(event);
    }

    pub(super) fn emit(&mut self, run: &Run) {
        for event in self.events.drain(..) {
            run.emit(|| event);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.events.clear();
    }
}
