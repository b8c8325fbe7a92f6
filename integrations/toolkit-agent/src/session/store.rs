//! The interface of a store for conversations.

use crate::conversation::Conversation;
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::time::SystemTime;
use toolkit_core::context::SessionDelta;

/// A store for conversations, and for the session values of users and the application.
///
/// A conversation belongs to a user and has an id unique to that user. Programs use [`Sessions`](crate::Sessions);
/// implement this trait for another database.
pub trait ConversationStore: Send + Sync + 'static {
    /// Loads a conversation. Returns `None` if there is none.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    fn load(
        &self,
        user: &str,
        id: &str,
    ) -> impl Future<Output = Result<Option<Conversation>, StoreError>> + Send;

    /// Saves a conversation under its user and id, in place of the one before. A crash leaves one of the two intact.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    fn save(&self, conversation: &Conversation) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Lists the conversations of a user, the latest first.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    fn list(&self, user: &str) -> impl Future<Output = Result<Vec<ConversationInfo>, StoreError>> + Send;

    /// Deletes a conversation. Returns whether there was one.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be deleted.
    fn delete(&self, user: &str, id: &str) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Loads the session values of a scope, under keys without a prefix.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    fn load_state(
        &self,
        scope: StateScope<'_>,
    ) -> impl Future<Output = Result<BTreeMap<String, Value>, StoreError>> + Send;

    /// Changes session values of a scope and leaves all other keys as they are.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    fn update_state(
        &self,
        scope: StateScope<'_>,
        changes: &SessionDelta,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// An entry of the list of conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversationInfo {
    /// The id of the conversation.
    pub id: String,
    /// The time of the last save.
    pub saved_at: SystemTime,
}

impl ConversationInfo {
    /// Creates an entry.
    #[must_use]
    pub fn new(id: impl Into<String>, saved_at: SystemTime) -> Self {
        Self { id: id.into(), saved_at }
    }

    /// Orders entries by time, the latest first, and then by id.
    pub(super) fn latest_first(one: &Self, other: &Self) -> Ordering {
        other.saved_at.cmp(&one.saved_at).then_with(|| one.id.cmp(&other.id))
    }
}

/// The scope of session values beyond one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StateScope<'a> {
    /// The application: keys with the prefix `app:`.
    App,
    /// The user with this id: keys with the prefix `user:`.
    User(&'a str),
}

/// An error of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreError {
    /// The message of the error.
    pub message: String,
}

impl StoreError {
    /// Creates an error with this message.
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
        Self::new(format_args!("the saved JSON is invalid: {error}"))
    }
}

/// Runs blocking work off the async threads.
#[cfg(any(feature = "files", feature = "sqlite"))]
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(StoreError::new(error)))
}

/// Applies changes to values.
pub(super) fn apply(values: &mut BTreeMap<String, Value>, changes: &SessionDelta) {
    for (key, value) in changes {
        match value {
            Some(value) => values.insert(key.clone(), value.clone()),
            None => values.remove(key),
        };
    }
}

object_safe! {
    /// The object-safe form of [`ConversationStore`].
    pub(super) trait DynStore: ConversationStore {
        async fn load(user: &'a str, id: &'a str) -> Result<Option<Conversation>, StoreError>;
        async fn save(conversation: &'a Conversation) -> Result<(), StoreError>;
        async fn list(user: &'a str) -> Result<Vec<ConversationInfo>, StoreError>;
        async fn delete(user: &'a str, id: &'a str) -> Result<bool, StoreError>;
        async fn load_state(scope: StateScope<'a>) -> Result<BTreeMap<String, Value>, StoreError>;
        async fn update_state(scope: StateScope<'a>, changes: &'a SessionDelta) -> Result<(), StoreError>;
    }
}
