//! Saving of conversations. Each save appends the changes since the last save to the log of the conversation.

use super::sessions::{Sessions, SharedState};
use super::store::{StateScope, StoreError, encode};
use crate::conversation::{Conversation, Cursor, Position};
use crate::helpers::lock;
use std::any::Any;
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
        let cursor = conversation.saved.cursor.clone();
        let mut position = lock(&cursor.position);
        let store = self.store_id();
        if position.store.as_ref().is_none_or(|known| !known.ptr_eq(&store)) {
            let generation = position.generation + 1;
            *position = Position { store: Some(store), generation, ..Position::default() };
        }
        drop(position);
        let (user, id) = (conversation.user_id().to_owned(), conversation.id().to_owned());
        Journal { sessions: self.clone(), cursor, user, id, shared: conversation.lease.clone() }
    }

    /// Records that a conversation was loaded from a log with this version.
    pub(super) fn attach(&self, conversation: &mut Conversation, version: u64) {
        let values = conversation.session().store().snapshot();
        let store = Some(self.store_id());
        *lock(&conversation.saved.cursor.position) = Position { store, version, generation: 0, values };
        conversation.mark_saved(0);
    }

    fn store_id(&self) -> Weak<dyn Any + Send + Sync> {
        let inner: Arc<dyn Any + Send + Sync> = self.inner.clone();
        Arc::downgrade(&inner)
    }
}

impl Journal {
    /// Appends the changes of a conversation to the log. `node` is the path of keys from the outermost
    /// conversation to `conversation`.
    ///
    /// Within a Tokio runtime, an append that has begun finishes even if the returned future is dropped.
    pub(crate) async fn save(
        &self,
        node: &[String],
        conversation: &mut Conversation,
    ) -> Result<(), StoreError> {
        let shared = self.save_shared().await;
        // The conversation is saved even if saving the shared session values has failed.
        self.append(node, conversation).await.and(shared)
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

    async fn append(&self, node: &[String], conversation: &mut Conversation) -> Result<(), StoreError> {
        let turn = self.cursor.turnstile.clone().lock_owned().await;
        let position = lock(&self.cursor.position).clone();
        let values = conversation.session().store().snapshot();
        let changes = conversation.changes(&position, &values, node);
        // A new conversation is saved even without changes, so that it exists in the store.
        if changes.is_empty() && position.version > 0 {
            return Ok(());
        }
        let entry = encode(&self.id, &changes)?;
        conversation.mark_saved(position.generation);
        let journal = self.clone();
        let append = async move {
            let store = &*journal.sessions.inner.store;
            let unsaved = Unsaved(&journal.cursor);
            let version = store.append(&journal.user, &journal.id, position.version, &entry).await?;
            std::mem::forget(unsaved);
            let mut position = lock(&journal.cursor.position);
            position.version = version;
            position.values = values;
            drop(position);
            drop(turn);
            Ok(())
        };
        match Handle::try_current() {
            // In a task, because the append and the update of the cursor must both finish even if the run is
            // dropped.
            Ok(runtime) => {
                let lost = |_| Err(StoreError::new("the store of conversations has panicked"));
                runtime.spawn(append).await.unwrap_or_else(lost)
            }
            Err(_) => append.await,
        }
    }
}

/// A guard for a running append. If the append fails or panics, the guard is dropped, and the next save
/// writes everything again.
struct Unsaved<'a>(&'a Cursor);

impl Drop for Unsaved<'_> {
    fn drop(&mut self) {
        lock(&self.0.position).generation += 1;
    }
}
