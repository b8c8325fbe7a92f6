//! Saving of conversations. Each save appends the changes since the last save to the log of the conversation.

use super::sessions::{Sessions, SharedState};
use super::store::{StateScope, StoreError, encode};
use crate::conversation::{Conversation, Cursor, Position};
use crate::helpers::lock;
use crate::output::Spent;
use std::any::Any;
use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use tokio::runtime::Handle;

/// Saves one conversation into its log. The agents of a run share the journal, and save nested conversations
/// into the log of the outermost conversation.
#[derive(Clone)]
pub(crate) struct Journal {
    sessions: Sessions,
    pub(crate) cursor: Arc<Cursor>,
    user: String,
    id: String,
    /// The session values with the prefix `user:`, shared with other conversations. `None` if the
    /// conversation was not opened from sessions. No shared session values are saved then.
    shared: Option<Arc<dyn Any + Send + Sync>>,
}

impl Sessions {
    /// Returns a journal that saves a conversation into the store of these sessions.
    pub(crate) fn journal(&self, conversation: &Conversation) -> Journal {
        let cursor = conversation.saved.cursor().clone();
        let mut position = lock(&cursor.position);
        let store = self.store_id();
        if position.store.as_ref().is_none_or(|known| !known.ptr_eq(&store)) {
            let generation = position.generation + 1;
            *position = Position { store: Some(store), generation, ..Position::default() };
        }
        drop(position);
        let user = conversation.user_id().to_owned();
        let id = conversation.id().to_owned();
        Journal { sessions: self.clone(), cursor, user, id, shared: conversation.lease.clone() }
    }

    /// Records that a conversation was loaded from a log with this version.
    pub(super) fn attach(&self, conversation: &mut Conversation, version: u64) {
        let values = conversation.session().store().snapshot();
        let store = Some(self.store_id());
        *lock(&conversation.saved.cursor().position) =
            Position { store, version, values, ..Position::default() };
        conversation.mark_saved(0);
    }

    fn store_id(&self) -> Weak<dyn Any + Send + Sync> {
        let inner: Arc<dyn Any + Send + Sync> = self.inner.clone();
        Arc::downgrade(&inner)
    }
}

impl Journal {
    /// Saves the changed session values of the user and the application, and appends the changes of a conversation to
    /// the log. `node` is the path of keys from the outermost conversation to this one, and `spent` is what the run has
    /// spent. Within a Tokio runtime, a save that has begun finishes even if the future is dropped.
    pub(crate) async fn save(
        &self,
        node: &[String],
        conversation: &mut Conversation,
        spent: impl Fn() -> Option<Spent>,
    ) -> Result<(), StoreError> {
        let turn = self.cursor.turnstile.clone().lock_owned().await;
        let position = lock(&self.cursor.position).clone();
        if !position.has_around(node) {
            return Err(StoreError::new("an earlier save of the run has failed"));
        }
        let values = conversation.session().store().snapshot();
        // Counted here, because other agents of the run may have spent more while this save waited for its turn.
        let spent = spent();
        if let Some(spent) = spent.filter(|_| node.is_empty()) {
            conversation.set_spent(spent);
        }
        let changes = conversation.changes(&position, &values, node, spent);
        // Save a new conversation even without changes, so that it exists in the store.
        let has_changes = !changes.is_empty() || position.version == 0;
        if !has_changes {
            lock(&self.cursor.position).set_written(node);
        }
        if !has_changes && self.shared.is_none() {
            return Ok(());
        }
        let entry = has_changes.then(|| encode(&self.id, &changes)).transpose();
        if matches!(entry, Ok(Some(_))) {
            conversation.mark_saved(position.generation);
        }
        let journal = self.clone();
        let node = node.to_vec();
        let save = async move {
            let unsaved = matches!(entry, Ok(Some(_))).then(|| Unsaved(&journal.cursor));
            let shared = journal.save_shared().await;
            // Save the conversation even if saving the shared session values has failed.
            if let Some(entry) = entry? {
                let store = &*journal.sessions.inner.store;
                let version = store.append(&journal.user, &journal.id, position.version, &entry).await?;
                let mut position = lock(&journal.cursor.position);
                position.version = version;
                position.values = values;
                position.set_written(&node);
            }
            std::mem::forget(unsaved);
            drop(turn);
            shared
        };
        match Handle::try_current() {
            // Use a task, because the store and the state of this program must both change even if the run is dropped.
            Ok(runtime) => {
                let lost = |_| Err(StoreError::new("the store of conversations has panicked"));
                runtime.spawn(save).await.unwrap_or_else(lost)
            }
            Err(_) => save.await,
        }
    }

    async fn save_shared(&self) -> Result<(), StoreError> {
        let shared = self.shared.as_deref();
        let Some(user) = shared.and_then(|shared| shared.downcast_ref::<SharedState>()) else {
            return Ok(());
        };
        let store = &*self.sessions.inner.store;
        let app = self.sessions.inner.app.save(store, StateScope::App).await;
        app.and(user.save(store, StateScope::User(&self.user)).await)
    }
}

/// A guard for a running append. If the append fails or panics, the guard is dropped, and the next save
/// writes everything again.
struct Unsaved<'a>(&'a Cursor);

impl Drop for Unsaved<'_> {
    fn drop(&mut self) {
        let mut position = lock(&self.0.position);
        position.generation += 1;
        position.rewritten = Some(BTreeSet::new());
    }
}
