//! Saving of conversations: the entries that are not saved yet are appended to the log.

use super::sessions::{Lease, Sessions, SharedState, lease};
use super::store::{ConversationKey, StateScope, StoreError};
use crate::conversation::{Conversation, Log};
use crate::helpers::{BoxFuture, guarded, lock};
use crate::output::Spent;
use std::any::Any;
use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::Poll;
use tokio::runtime::Handle;
use toolkit_core::Session;

/// Saves one conversation into its log. The agents of a run share the journal, and save nested conversations
/// into the log of the outermost conversation.
#[derive(Clone)]
pub(crate) struct Journal {
    sessions: Sessions,
    pub(crate) log: Arc<Log>,
    user: String,
    id: String,
    /// The session values with the prefix `user:`, shared with other conversations. `None` if the
    /// conversation was not opened from sessions. No shared session values are saved then.
    shared: Option<Arc<SharedState>>,
}

impl Sessions {
    /// Returns the sessions to which a conversation belongs.
    pub(crate) fn from_conversation(conversation: &Conversation) -> Option<Self> {
        Some(lease(conversation)?.sessions.clone())
    }

    /// Returns a journal that saves a conversation into the store of these sessions. It belongs to them from now on.
    pub(crate) fn journal(&self, conversation: &mut Conversation) -> Journal {
        let shared = match lease(conversation) {
            Some(lease) if Arc::ptr_eq(&lease.sessions.inner, &self.inner) => lease.user.clone(),
            _ => {
                conversation.lease = Some(Arc::new(Lease { sessions: self.clone(), user: None }));
                None
            }
        };
        let log = conversation.log_in(&self.store_id());
        let user = conversation.user_id().to_owned();
        let id = conversation.id().to_owned();
        Journal { sessions: self.clone(), log, user, id, shared }
    }

    pub(super) fn store_id(&self) -> Weak<dyn Any + Send + Sync> {
        let inner: Arc<dyn Any + Send + Sync> = self.inner.clone();
        Arc::downgrade(&inner)
    }
}

impl Journal {
    /// Saves the changed session values of the user and the application, and appends the entries that are not saved yet
    /// to the log. `spent` is what the run has spent. Within a Tokio runtime, a save that has begun finishes even if the
    /// future is dropped.
    pub(crate) async fn save(
        &self,
        session: Session,
        spent: impl FnOnce() -> Spent,
    ) -> Result<(), StoreError> {
        let turn = self.log.turnstile.clone().lock_owned().await;
        let (unsaved, version) = {
            let mut position = lock(&self.log.position);
            let values = session.store().snapshot();
            // Counted under the lock, so that the amounts in the log never shrink.
            (self.taken(position.take(values, spent())), position.version)
        };
        // Made before anything waits, so that no entry is lost with this future.
        let unsaved = unsaved.map(|entries| Unsaved { log: self.log.clone(), entries });
        if matches!(&unsaved, Ok(unsaved) if unsaved.entries.is_empty()) && self.shared.is_none() {
            return Ok(());
        }
        let journal = self.clone();
        let save = async move {
            let shared = journal.save_shared().await;
            // Save the conversation even if saving the shared session values has failed.
            let mut unsaved = unsaved?;
            if !unsaved.entries.is_empty() {
                let store = &*journal.sessions.inner.store;
                let key = ConversationKey { user: &journal.user, id: &journal.id };
                let version = store.append(key, version, &unsaved.entries).await?;
                lock(&journal.log.position).version = version;
                unsaved.entries.clear();
            }
            drop(unsaved);
            drop(turn);
            shared
        };
        match Handle::try_current() {
            Ok(runtime) => finish(Box::pin(save), &runtime).await,
            Err(_) => save.await,
        }
    }

    fn taken(&self, entries: Result<String, String>) -> Result<String, StoreError> {
        let id = &self.id;
        entries.map_err(|reason| {
            StoreError::new(format_args!("conversation `{id}` cannot be saved: it {reason}"))
        })
    }

    /// Replaces all entries of the log by the conversation as it is.
    pub(super) async fn rewrite(&self, conversation: &Conversation) -> Result<(), StoreError> {
        let _turn = self.log.turnstile.clone().lock_owned().await;
        let mut rewritten = conversation.snapshot(&self.sessions.store_id());
        let spent = conversation.spent();
        let entries = self.taken(rewritten.take(conversation.session().store().snapshot(), spent))?;
        let version = lock(&self.log.position).version;
        let store = &*self.sessions.inner.store;
        rewritten.version =
            store.replace(ConversationKey { user: &self.user, id: &self.id }, version, &entries).await?;
        *lock(&self.log.position) = rewritten;
        Ok(())
    }

    async fn save_shared(&self) -> Result<(), StoreError> {
        let Some(user) = &self.shared else { return Ok(()) };
        let store = &*self.sessions.inner.store;
        let app = self.sessions.inner.app.save(store, StateScope::App).await;
        app.and(user.save(store, StateScope::User(&self.user)).await)
    }
}

/// Finishes a save that has begun even if this future is dropped: the store and the state of this program must both change.
/// The save is polled once in place. If the store is not ready then, a task goes on.
async fn finish(
    mut save: BoxFuture<'static, Result<(), StoreError>>,
    runtime: &Handle,
) -> Result<(), StoreError> {
    let lost = || StoreError::new("the store of conversations has panicked");
    let first = poll_fn(|cx| Poll::Ready(guarded(|| save.as_mut().poll(cx)))).await;
    match first {
        Ok(Poll::Ready(saved)) => saved,
        Ok(Poll::Pending) => runtime.spawn(save).await.unwrap_or_else(|_| Err(lost())),
        Err(_) => Err(lost()),
    }
}

/// The entries of a running save. If the save fails, panics or is dropped, they wait for the next one.
struct Unsaved {
    log: Arc<Log>,
    entries: String,
}

impl Drop for Unsaved {
    fn drop(&mut self) {
        lock(&self.log.position).restore(std::mem::take(&mut self.entries));
    }
}
