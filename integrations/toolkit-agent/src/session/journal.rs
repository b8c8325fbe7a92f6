//! Saving of conversations: unsaved entries are appended to the log.

use super::sessions::{Lease, Sessions, SharedState, lease};
use super::store::{ConversationKey, Save, StateScope};
use super::store_error::StoreError;
use crate::conversation::{Conversation, Log, Unsaved};
use crate::helpers::{BoxFuture, guarded, lock};
use crate::output::Spent;
use crate::status::Summary;
use std::any::Any;
use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::Poll;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use toolkit_core::context::SessionMap;

/// Saves a conversation into its log. The agents of a run share it, and nested conversations go into the
/// same log.
pub(crate) struct Journal {
    sessions: Sessions,
    pub(crate) log: Arc<Log>,
    user: String,
    id: String,
    /// The shared session values with the prefix `user:`, which are saved only for a conversation that
    /// sessions have opened.
    shared: Option<Arc<SharedState>>,
}

impl Sessions {
    pub(crate) fn from_conversation(conversation: &Conversation) -> Option<Self> {
        Some(lease(conversation)?.sessions.clone())
    }

    /// Returns a journal that saves a conversation, which now belongs to these sessions.
    pub(crate) fn journal(&self, conversation: &mut Conversation) -> Arc<Journal> {
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
        Arc::new(Journal { sessions: self.clone(), log, user, id, shared })
    }

    pub(super) fn store_id(&self) -> Weak<dyn Any + Send + Sync> {
        let inner: Arc<dyn Any + Send + Sync> = self.inner.clone();
        Arc::downgrade(&inner)
    }
}

impl Journal {
    /// Begins to save the changed session values of the user and the application, and the unsaved entries
    /// with the conversation's own `values`, its `summary`, and what the attempt has `spent`.
    ///
    /// The save is polled once in place, and most stores are ready then. Otherwise, a task of the Tokio
    /// runtime continues it.
    pub(crate) async fn save(
        self: &Arc<Self>,
        values: SessionMap,
        summary: Option<Arc<Summary>>,
        spent: impl FnOnce() -> Spent + Send + 'static,
    ) -> RunningSave {
        let mut save: BoxFuture<'static, _> = Box::pin(self.clone().append(values, summary, spent));
        match poll_fn(|cx| Poll::Ready(guarded(|| save.as_mut().poll(cx)))).await {
            Ok(Poll::Ready(saved)) => RunningSave::Ended(saved),
            Ok(Poll::Pending) => match Handle::try_current() {
                Ok(runtime) => RunningSave::Running(runtime.spawn(save)),
                Err(_) => RunningSave::Waiting(save),
            },
            Err(_) => RunningSave::Ended(Err(has_panicked())),
        }
    }

    async fn append(
        self: Arc<Self>,
        values: SessionMap,
        summary: Option<Arc<Summary>>,
        spent: impl FnOnce() -> Spent,
    ) -> Result<(), StoreError> {
        let _turn = self.log.turnstile.lock().await;
        let (unsaved, version) = {
            let mut position = lock(&self.log.position);
            if let Some(summary) = summary {
                position.summary = summary;
            }
            // Counted under the lock, so that the amounts in the log never shrink.
            (self.written(position.take(values.snapshot(), spent())), position.version)
        };
        // Made before anything waits, so that no entry is lost with this future.
        let unsaved = unsaved.map(|unsaved| Restored { log: &self.log, unsaved });
        // Save the conversation even after shared values could not be saved.
        let shared = self.save_shared().await;
        let mut unsaved = unsaved?;
        if !unsaved.unsaved.entries.is_empty() {
            let save = unsaved.unsaved.save(version);
            let version = self.sessions.inner.store.append(self.key(), save).await?;
            lock(&self.log.position).version = version;
            unsaved.unsaved.entries.clear();
        }
        shared
    }

    fn key(&self) -> ConversationKey<'_> {
        ConversationKey { user: &self.user, id: &self.id }
    }

    fn written(&self, unsaved: Result<Unsaved, String>) -> Result<Unsaved, StoreError> {
        let id = &self.id;
        unsaved.map_err(|reason| {
            StoreError::new(format_args!("conversation `{id}` cannot be saved: it {reason}"))
        })
    }

    /// Replaces all entries of the log by the conversation.
    pub(super) async fn rewrite(&self, conversation: &Conversation) -> Result<(), StoreError> {
        let _turn = self.log.turnstile.lock().await;
        let mut rewritten = conversation.snapshot(&self.sessions.store_id());
        let spent = conversation.attempt_spent();
        rewritten.summary = conversation.summary().unwrap_or_default();
        let unsaved = self.written(rewritten.take(conversation.session().store().snapshot(), spent))?;
        let version = lock(&self.log.position).version;
        let save = unsaved.save(version);
        rewritten.version = self.sessions.inner.store.replace(self.key(), save).await?;
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

/// A save that has begun. Within a Tokio runtime, it finishes even if this is dropped: the store and the
/// state of this program must both change.
pub(crate) enum RunningSave {
    Ended(Result<(), StoreError>),
    Running(JoinHandle<Result<(), StoreError>>),
    /// Without a runtime, no task can finish the save.
    Waiting(BoxFuture<'static, Result<(), StoreError>>),
}

impl RunningSave {
    pub(crate) async fn finish(self) -> Result<(), StoreError> {
        match self {
            Self::Ended(saved) => saved,
            Self::Running(task) => task.await.unwrap_or_else(|_| Err(has_panicked())),
            Self::Waiting(save) => save.await,
        }
    }
}

fn has_panicked() -> StoreError {
    StoreError::new("the store of conversations has panicked")
}

impl Unsaved {
    fn save(&self, version: u64) -> Save<'_> {
        Save::new(version, &self.entries, &self.summary).with_first(self.first).with_taken(&self.taken)
    }
}

/// The entries of a running save. If it fails, panics or is dropped, they wait for the next one.
struct Restored<'a> {
    log: &'a Log,
    unsaved: Unsaved,
}

impl Drop for Restored<'_> {
    fn drop(&mut self) {
        if !self.unsaved.entries.is_empty() {
            lock(&self.log.position).restore(std::mem::take(&mut self.unsaved));
        }
    }
}
