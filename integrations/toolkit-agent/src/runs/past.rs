//! What listeners hear of the saved entries.

use super::hub::Place;
use super::listener::Listener;
use super::{Cursor, RunUpdate};
use crate::conversation::{PastEvent, PastEvents};
use crate::session::sessions::Sessions;
use crate::session::{ConversationKey, StoreError};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// A log that was read to its end, and what is heard of it.
#[derive(Default)]
pub(super) struct Past {
    fold: PastEvents,
    events: Vec<PastEvent>,
}

impl Past {
    /// Reads the log of a conversation, which may not exist.
    pub(super) async fn load(sessions: &Sessions, key: ConversationKey<'_>) -> Result<Self, StoreError> {
        let mut past = Self::default();
        let Some(log) = sessions.store().load(key).await? else { return Ok(past) };
        for save in &log.entries {
            past.read(save, key.id)?;
        }
        Ok(past)
    }

    fn read(&mut self, save: &str, id: &str) -> Result<(), StoreError> {
        match self.fold.read(save) {
            Ok(events) => self.events.extend(events),
            Err(reason) => {
                let error = format_args!("conversation `{id}` cannot be read: {reason}");
                return Err(StoreError::new(error));
            }
        }
        Ok(())
    }

    pub(super) fn is_working(&self) -> bool {
        self.fold.is_working()
    }

    /// Returns what a listener hears that has heard `after`, of the first `until` entries. With `place`, that of a run that
    /// works here, what follows is heard live.
    pub(super) fn updates(&self, after: Option<&Cursor>, place: Option<&Place>) -> VecDeque<RunUpdate> {
        let mut updates = VecDeque::new();
        let mut from = 0;
        let mut heard = 0;
        match after {
            Some(cursor) if cursor.log != *self.fold.log() => {
                updates.push_back(RunUpdate::Reset { cursor: self.cursor(0) });
            }
            Some(cursor) => {
                from = cursor.entry;
                if cursor.attempt == 0 {
                    // It was heard of the log, and goes on there.
                    heard = cursor.piece;
                } else if cursor.piece > 0 && place.is_none_or(|place| !place.has(cursor)) {
                    updates.push_back(RunUpdate::Back { cursor: self.cursor(from) });
                }
            }
            None => {}
        }
        let until = place.map_or(u64::MAX, |place| place.entry);
        self.add(&mut updates, from, until);
        for _ in 0..heard {
            updates.pop_front();
        }
        updates
    }

    /// Returns the place after this number of entries.
    fn cursor(&self, entry: u64) -> Cursor {
        Cursor { log: self.fold.log().clone(), entry, attempt: 0, piece: 0 }
    }

    /// Adds the events after the first `from` entries, up to the first `until`.
    fn add(&self, updates: &mut VecDeque<RunUpdate>, from: u64, until: u64) {
        let mut piece = 0;
        for (index, PastEvent { entries, run, event }) in self.events.iter().enumerate() {
            if *entries <= from || *entries > until {
                continue;
            }
            let is_last = self.events.get(index + 1).is_none_or(|next| next.entries != *entries);
            piece = if is_last { 0 } else { piece + 1 };
            // Before the last event of an entry, the entry was not heard whole.
            let entry = if is_last { *entries } else { entries - 1 };
            let cursor = Cursor { piece, ..self.cursor(entry) };
            let event = Arc::new(event.clone());
            updates.push_back(RunUpdate::Event { cursor, run: run.clone(), event });
        }
    }
}

/// Returns what listeners hear first when another attempt begins at `place`, after they have heard `heard`.
pub(super) async fn missed(
    sessions: &Sessions,
    key: ConversationKey<'_>,
    heard: &Place,
    place: &Place,
) -> Result<VecDeque<RunUpdate>, StoreError> {
    let past = Past::load(sessions, key).await?;
    // What was heard after the entries is gone.
    let cursor =
        Cursor { log: heard.log.clone(), entry: heard.entry, attempt: heard.attempt, piece: u64::MAX };
    Ok(past.updates(Some(&cursor), Some(place)))
}

/// Returns the kept events of a run that works here, for a listener that has heard `after`.
pub(super) fn kept_after(
    after: Option<&Cursor>,
    place: &Place,
    mut kept: VecDeque<RunUpdate>,
) -> VecDeque<RunUpdate> {
    if let Some(cursor) = after.filter(|cursor| place.has(cursor)) {
        let heard = usize::try_from(cursor.piece).unwrap_or(usize::MAX).min(kept.len());
        kept.drain(..heard);
    }
    kept
}

/// Sends what another process saves, until its run has ended.
pub(super) async fn follow(
    sessions: Sessions,
    (user, id): (String, String),
    mut past: Past,
    listener: Listener,
    poll: Duration,
) {
    let key = ConversationKey { user: &user, id: &id };
    while past.is_working() {
        sleep(poll).await;
        let next = past.fold.entries();
        let log = match sessions.store().load_from(key, next).await {
            Ok(Some(log)) => log,
            Ok(None) => return,
            // A store that fails now is asked again.
            Err(_) => continue,
        };
        past.events.clear();
        for save in &log.entries {
            if past.fold.is_next(save) && past.read(save, key.id).is_err() {
                return;
            }
        }
        let mut updates = VecDeque::new();
        past.add(&mut updates, next, u64::MAX);
        for update in updates {
            let bytes = update.event().map_or(0, super::listener::size_of);
            if !listener.send(update, bytes) {
                return;
            }
        }
    }
}
