//! Where the events of a conversation's runs go: to its listeners, and kept until they are saved.

use super::listener::{Listener, RunUpdates, size_of};
use super::{Cursor, RunUpdate};
use crate::event::RunEvent;
use crate::helpers::lock;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

#[derive(Default)]
pub(super) struct Hub {
    state: Mutex<HubState>,
    has_begun: Notify,
}

#[derive(Default)]
struct HubState {
    /// `None` until the conversation is loaded.
    place: Option<Place>,
    /// The events after the saved entries of `place`.
    kept: Vec<Arc<RunEvent>>,
    listeners: Vec<Listener>,
}

/// The attempt at a run, and the number of saved entries whose events all were heard.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) log: Arc<str>,
    /// The id of the run.
    pub(super) run: Arc<str>,
    pub(super) attempt: u32,
    pub(super) entry: u64,
}

impl Place {
    /// Returns whether a listener with this cursor has heard events of the attempt after its saved entries.
    pub(super) fn has(&self, cursor: &Cursor) -> bool {
        let is_attempt = cursor.piece == 0 || cursor.attempt == self.attempt;
        cursor.log == self.log && cursor.entry == self.entry && is_attempt
    }

    fn cursor(&self, piece: usize) -> Cursor {
        let Self { log, attempt, entry, .. } = self.clone();
        Cursor { log, entry, attempt, piece: piece as u64 }
    }

    fn update(&self, piece: usize, event: Arc<RunEvent>) -> RunUpdate {
        RunUpdate::Event { cursor: self.cursor(piece), run: self.run.clone(), event }
    }
}

impl HubState {
    fn send(&mut self, update: &RunUpdate, bytes: usize) {
        self.listeners.retain(|listener| listener.send(update.clone(), bytes));
    }

    /// Sends an event, unless the conversation is not loaded yet.
    fn send_event(&mut self, piece: usize, event: Arc<RunEvent>) {
        let Some(place) = &self.place else { return };
        if self.listeners.is_empty() {
            return;
        }
        let bytes = size_of(&event);
        let update = place.update(piece, event);
        self.send(&update, bytes);
    }
}

impl Hub {
    /// Returns the place so far, if listeners have heard more than it.
    pub(super) fn unsaved_place(&self, now: &Place) -> Option<Place> {
        let state = lock(&self.state);
        let known = state.place.as_ref()?;
        let is_same = known.log == now.log && known.entry == now.entry && state.kept.is_empty();
        (!is_same && !state.listeners.is_empty()).then(|| known.clone())
    }

    /// Begins an attempt after the saved entries. Listeners hear `missed` first.
    pub(super) fn begin(&self, place: Place, missed: &VecDeque<RunUpdate>) {
        let mut state = lock(&self.state);
        state.place = Some(place);
        state.kept.clear();
        for update in missed {
            state.send(update, 0);
        }
        self.has_begun.notify_waiters();
    }

    pub(super) fn hear(&self, event: RunEvent) {
        let mut state = lock(&self.state);
        let event = Arc::new(event);
        state.kept.push(event.clone());
        let pieces = state.kept.len();
        state.send_event(pieces, event);
    }

    /// Notes the run that the next events are of.
    pub(super) fn set_run(&self, run: Arc<str>) {
        if let Some(place) = &mut lock(&self.state).place {
            place.run = run;
        }
    }

    /// Notes that all events so far are those of this number of saved entries.
    pub(super) fn saved(&self, entry: u64) {
        let mut state = lock(&self.state);
        state.kept.clear();
        if let Some(place) = &mut state.place {
            place.entry = entry;
        }
    }

    /// Ends a run with its last event. All entries are saved.
    pub(super) fn end(&self, entry: u64, event: RunEvent) {
        let mut state = lock(&self.state);
        state.kept.clear();
        if let Some(place) = &mut state.place {
            place.entry = entry;
        }
        state.send_event(0, Arc::new(event));
    }

    /// Adds a listener. Returns the place that it begins after, with the events since then.
    pub(super) async fn listen(&self) -> (RunUpdates, Place, VecDeque<RunUpdate>) {
        loop {
            // Created before the look, so that a begin after it wakes this.
            let has_begun = self.has_begun.notified();
            if let Some(listening) = lock(&self.state).listen() {
                return listening;
            }
            has_begun.await;
        }
    }
}

impl HubState {
    fn listen(&mut self) -> Option<(RunUpdates, Place, VecDeque<RunUpdate>)> {
        let place = self.place.clone()?;
        let mut kept = VecDeque::with_capacity(self.kept.len());
        for (index, event) in self.kept.iter().enumerate() {
            kept.push_back(place.update(index + 1, event.clone()));
        }
        let (listener, updates) = Listener::new();
        self.listeners.push(listener);
        Some((updates, place, kept))
    }
}
