//! What keeps conversations.

use crate::conversation::Conversation;
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::time::SystemTime;
use toolkit_core::context::SessionDelta;

/// What keeps conversations, and what is remembered of users and of the application.
///
/// A conversation belongs to a user and has an id that no other of that user has. [`Sessions`](crate::Sessions) is
/// what programs use; this is what an implementation for another database has to do.
pub trait ConversationStore: Send + Sync + 'static {
    /// The conversation of this user with this id; `None` if there is none.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    fn load(
        &self,
        user: &str,
        id: &str,
    ) -> impl Future<Output = Result<Option<Conversation>, StoreError>> + Send;

    /// Keeps a conversation, whose user and id it says itself, in place of what was kept of it before. Whenever the
    /// program ends, one of the two is there, whole.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    fn save(&self, conversation: &Conversation) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The conversations of a user, the latest first.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    fn list(&self, user: &str) -> impl Future<Output = Result<Vec<ConversationInfo>, StoreError>> + Send;

    /// Deletes a conversation, and says whether there was one.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be deleted.
    fn delete(&self, user: &str, id: &str) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// What is remembered of this owner, under keys without a prefix.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    fn load_state(
        &self,
        owner: StateOwner<'_>,
    ) -> impl Future<Output = Result<BTreeMap<String, Value>, StoreError>> + Send;

    /// Changes what is remembered of this owner, and leaves all other keys as they are.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    fn change_state(
        &self,
        owner: StateOwner<'_>,
        changes: &SessionDelta,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// A conversation that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversationInfo {
    /// Its id.
    pub id: String,
    /// When it was last saved.
    pub saved_at: SystemTime,
}

impl ConversationInfo {
    /// A conversation that was saved at this time.
    #[must_use]
    pub fn new(id: impl Into<String>, saved_at: SystemTime) -> Self {
        Self { id: id.into(), saved_at }
    }
}

/// Of whom something is remembered, beside single conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StateOwner<'a> {
    /// All of the application: keys with the prefix `app:`.
    App,
    /// The user of this id: keys with the prefix `user:`.
    User(&'a str),
}

/// Why a conversation could not be read or saved.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreError {
    /// What went wrong.
    pub message: String,
}

impl StoreError {
    /// This went wrong.
    #[must_use]
    pub fn new(message: impl fmt::Display) -> Self {
        Self { message: message.to_string() }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for StoreError {}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::new(format_args!("a conversation is not as it was written: {error}"))
    }
}

/// Does work that blocks where it holds nobody up.
#[cfg(any(feature = "files", feature = "sqlite"))]
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(StoreError::new(error)))
}

type Doing<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// [`ConversationStore`] for any store; it is implemented for all of them.
pub(super) trait AnyStore: Send + Sync {
    fn load<'a>(&'a self, user: &'a str, id: &'a str) -> Doing<'a, Option<Conversation>>;
    fn save<'a>(&'a self, conversation: &'a Conversation) -> Doing<'a, ()>;
    fn list<'a>(&'a self, user: &'a str) -> Doing<'a, Vec<ConversationInfo>>;
    fn delete<'a>(&'a self, user: &'a str, id: &'a str) -> Doing<'a, bool>;
    fn load_state<'a>(&'a self, owner: StateOwner<'a>) -> Doing<'a, BTreeMap<String, Value>>;
    fn change_state<'a>(&'a self, owner: StateOwner<'a>, changes: &'a SessionDelta) -> Doing<'a, ()>;
}

impl<S: ConversationStore> AnyStore for S {
    fn load<'a>(&'a self, user: &'a str, id: &'a str) -> Doing<'a, Option<Conversation>> {
        Box::pin(ConversationStore::load(self, user, id))
    }

    fn save<'a>(&'a self, conversation: &'a Conversation) -> Doing<'a, ()> {
        Box::pin(ConversationStore::save(self, conversation))
    }

    fn list<'a>(&'a self, user: &'a str) -> Doing<'a, Vec<ConversationInfo>> {
        Box::pin(ConversationStore::list(self, user))
    }

    fn delete<'a>(&'a self, user: &'a str, id: &'a str) -> Doing<'a, bool> {
        Box::pin(ConversationStore::delete(self, user, id))
    }

    fn load_state<'a>(&'a self, owner: StateOwner<'a>) -> Doing<'a, BTreeMap<String, Value>> {
        Box::pin(ConversationStore::load_state(self, owner))
    }

    fn change_state<'a>(&'a self, owner: StateOwner<'a>, changes: &'a SessionDelta) -> Doing<'a, ()> {
        Box::pin(ConversationStore::change_state(self, owner, changes))
    }
}
