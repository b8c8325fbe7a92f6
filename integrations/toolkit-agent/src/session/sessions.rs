//! The conversations of a program, with what is remembered of its users.

use super::memory::MemoryStore;
use super::state::{Lease, SharedState};
use super::store::{AnyStore, ConversationInfo, ConversationStore, StateOwner, StoreError};
use crate::agent::Agent;
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::message::UserMessage;
use crate::run::{RunOptions, RunOutput};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The conversations of a program, as a [`ConversationStore`] keeps them. Clones are the same conversations.
///
/// What tools remember under `user:` is shared by all conversations of a user while they are open, and under `app:` by
/// all of the program; both are saved with each conversation, key by key, so that programs which share a store do not
/// undo each other's changes. Two runs at the same time should not be in the same conversation: the one that is
/// saved last takes the place of the other.
///
/// ```
/// use toolkit_agent::{Agent, ScriptedModel, Sessions};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let agent = Agent::builder(ScriptedModel::new().text("Hello, Ada.").text("You are Ada.")).build()?;
/// let sessions = Sessions::default(); // in memory
/// sessions.run(&agent, "ada", "session 1", "I am Ada.").await?;
/// sessions.run(&agent, "ada", "session 1", "Who am I?").await?;
/// assert_eq!(sessions.open("ada", "session 1").await?.messages().len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Sessions(Arc<Inner>);

struct Inner {
    store: Box<dyn AnyStore>,
    app: SharedState,
    /// Of each user with an open conversation.
    users: Mutex<HashMap<String, Weak<SharedState>>>,
}

impl Sessions {
    /// The conversations that this store keeps.
    #[must_use]
    pub fn new(store: impl ConversationStore) -> Self {
        let inner = Inner { store: Box::new(store), app: SharedState::default(), users: Mutex::default() };
        Self(Arc::new(inner))
    }

    /// The conversation of this user with this id; a new one if there is none.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn open(&self, user: &str, id: &str) -> Result<Conversation, StoreError> {
        let store = &*self.0.store;
        let shared = self.user(user);
        self.0.app.refresh(store, StateOwner::App).await?;
        shared.refresh(store, StateOwner::User(user)).await?;
        let kept = store.load(user, id).await?;
        let conversation = kept.unwrap_or_else(|| Conversation::new(id));
        Ok(conversation
            .with_user_id(user)
            .with_user(shared.values.clone())
            .with_app(self.0.app.values.clone())
            .leased(Arc::new(Lease { user: shared })))
    }

    /// The conversation as it was saved, only to be read.
    pub(crate) async fn read(&self, user: &str, id: &str) -> Result<Option<Conversation>, StoreError> {
        self.0.store.load(user, id).await
    }

    /// What is remembered of a user.
    fn user(&self, user: &str) -> Arc<SharedState> {
        let mut users = self.0.users.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = users.get(user).and_then(Weak::upgrade) {
            return shared;
        }
        users.retain(|_, shared| shared.strong_count() > 0);
        let shared = Arc::default();
        users.insert(user.to_owned(), Arc::downgrade(&shared));
        shared
    }

    /// Saves a conversation that was [opened](Self::open), and what is remembered of its user and the application. Of
    /// any other conversation, only itself and what is remembered in it is saved.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    pub async fn save(&self, conversation: &Conversation) -> Result<(), StoreError> {
        let store = &*self.0.store;
        if let Some(lease) = conversation.lease() {
            self.0.app.save(store, StateOwner::App).await?;
            lease.user.save(store, StateOwner::User(conversation.user_id())).await?;
        }
        store.save(conversation).await
    }

    /// The conversations of a user, the latest first.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        self.0.store.list(user).await
    }

    /// Deletes a conversation, and says whether there was one. What is remembered of the user stays.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be deleted.
    pub async fn delete(&self, user: &str, id: &str) -> Result<bool, StoreError> {
        self.0.store.delete(user, id).await
    }

    /// Has an agent answer in a conversation, which is saved while it does.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer, or the conversation cannot be read or saved.
    pub async fn run(
        &self,
        agent: &Agent,
        user: &str,
        id: &str,
        input: impl Into<UserMessage>,
    ) -> Result<RunOutput, AgentError> {
        let mut conversation = self.open(user, id).await?;
        agent.run_with(&mut conversation, input, RunOptions::new().with_autosave(self)).await
    }

    /// Has an agent go on with a conversation that has no answer yet, as after a crash.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer, or the conversation cannot be read or saved.
    pub async fn resume(&self, agent: &Agent, user: &str, id: &str) -> Result<RunOutput, AgentError> {
        let mut conversation = self.open(user, id).await?;
        agent.resume(&mut conversation, RunOptions::new().with_autosave(self)).await
    }
}

/// Conversations that are kept in memory.
impl Default for Sessions {
    fn default() -> Self {
        Self::new(MemoryStore::new())
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").finish_non_exhaustive()
    }
}
