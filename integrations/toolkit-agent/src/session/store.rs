//! The trait for stores of conversations, and its types.

use super::info::ConversationInfo;
use super::store_error::StoreError;
use crate::helpers::{MAX_NESTING, append_json};
use crate::status::Summary;
use serde_json::Value;
use std::collections::BTreeMap;
use toolkit_core::context::SessionDelta;

/// A store of conversations, their inboxes, and the session values of users and the application.
///
/// Each user has separate conversations and ids. Programs use a store through
/// [`Sessions`](crate::Sessions). Implement this trait for another database; its functions may be `async
/// fn`.
///
/// All functions obey these rules:
///
/// - Their futures may be dropped at any time, and do not block the runtime's threads.
/// - An answer means that the change is safe.
/// - After an error that is no [conflict](StoreError::conflict), the entries are not in the log, or the next
///   append at the old version is a conflict.
///
/// The package `toolkit-agent-stores` has a test of these rules to copy.
///
/// ```
/// use std::collections::BTreeMap;
/// use toolkit_ai::agent::session::{
///     ConversationInfo, ConversationKey, ConversationLog, ConversationStore, InboxItem, MemoryStore, Save, StateScope,
///     StoreError, Summary,
/// };
/// use toolkit_ai::context::SessionDelta;
/// use toolkit_ai::serde_json::Value;
///
/// /// Conversations of guests, who are users without a name, are never saved.
/// struct Members(MemoryStore);
///
/// impl ConversationStore for Members {
///     async fn load(&self, key: ConversationKey<'_>) -> Result<Option<ConversationLog>, StoreError> {
///         self.0.load(key).await
///     }
///
///     async fn append(&self, key: ConversationKey<'_>, save: Save<'_>) -> Result<u64, StoreError> {
///         if key.user.is_empty() {
///             return Err(StoreError::new("log in to save a conversation"));
///         }
///         self.0.append(key, save).await
///     }
///
///     async fn replace(&self, key: ConversationKey<'_>, save: Save<'_>) -> Result<u64, StoreError> {
///         self.0.replace(key, save).await
///     }
///
///     async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
///         self.0.list(user).await
///     }
///
///     async fn unfinished(&self, user: Option<&str>) -> Result<Vec<ConversationInfo>, StoreError> {
///         self.0.unfinished(user).await
///     }
///
///     async fn delete(&self, key: ConversationKey<'_>) -> Result<bool, StoreError> {
///         self.0.delete(key).await
///     }
///
///     async fn put(&self, key: ConversationKey<'_>, name: &str, content: &str) -> Result<InboxItem, StoreError> {
///         self.0.put(key, name, content).await
///     }
///
///     async fn inbox(&self, key: ConversationKey<'_>) -> Result<Vec<InboxItem>, StoreError> {
///         self.0.inbox(key).await
///     }
///
///     async fn take(&self, key: ConversationKey<'_>, number: u64) -> Result<bool, StoreError> {
///         self.0.take(key, number).await
///     }
///
///     async fn load_state(&self, scope: StateScope<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
///         self.0.load_state(scope).await
///     }
///
///     async fn update_state(&self, scope: StateScope<'_>, changes: &SessionDelta) -> Result<(), StoreError> {
///         self.0.update_state(scope, changes).await
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let store = Members(MemoryStore::default());
/// let guest = ConversationKey { user: "", id: "1" };
/// let summary = Summary::default();
/// let refused = store.append(guest, Save::new(0, "{}", &summary)).await.unwrap_err();
/// assert_eq!(refused.to_string(), "log in to save a conversation");
/// # });
/// ```
#[doc(alias("checkpointer", "persistence"))]
pub trait ConversationStore: Send + Sync + 'static {
    /// Loads the log of a conversation, or `None` if it does not exist.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read.
    fn load(
        &self,
        key: ConversationKey<'_>,
    ) -> impl Future<Output = Result<Option<ConversationLog>, StoreError>> + Send;

    /// Loads the saves of a log from the one with the entry number `entry` on. Loads more if the store
    /// cannot find it, as by default, and nothing if the log has no such entry yet.
    ///
    /// # Errors
    /// As those of [`load`](Self::load).
    fn load_from(
        &self,
        key: ConversationKey<'_>,
        entry: u64,
    ) -> impl Future<Output = Result<Option<ConversationLog>, StoreError>> + Send {
        let _ = entry;
        self.load(key)
    }

    /// Loads a log of which saves may be damaged, for [`recover`](crate::session::SavedConversation::recover).
    ///
    /// A store that checks its data gives what is left of a save that fails the check, with a text before it
    /// that is no JSON and says what is wrong. By default, this is [`load`](Self::load).
    ///
    /// # Errors
    /// As those of [`load`](Self::load).
    fn load_damaged(
        &self,
        key: ConversationKey<'_>,
    ) -> impl Future<Output = Result<Option<ConversationLog>, StoreError>> + Send {
        self.load(key)
    }

    /// Appends the entries of a save, one line of text, to the log of a conversation. Returns the new
    /// version.
    ///
    /// The log must have the [version](Save::version), or 0 creates it. In one step, the version is
    /// compared, the entries and the summary are written, and the taken items of the inbox are deleted: of
    /// two writers with the same version, one gets a conflict. After a crash, the log has the whole save or
    /// nothing of it.
    ///
    /// # Errors
    /// [`StoreError::conflict`] if the log has another version, because another program or task has
    /// appended entries, deleted the log, or created it. Any other [`StoreError`] if the store cannot be
    /// written.
    fn append(
        &self,
        key: ConversationKey<'_>,
        save: Save<'_>,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Replaces all entries of a log by those of one save, and empties the inbox, to erase content. Returns
    /// the new version.
    ///
    /// The log must have the version, or 0 creates it. After a crash, the log has either all old entries or
    /// only the new ones.
    ///
    /// # Errors
    /// As those of [`append`](Self::append).
    fn replace(
        &self,
        key: ConversationKey<'_>,
        save: Save<'_>,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Lists the conversations of a user, latest first, without those that have only an inbox.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read.
    fn list(&self, user: &str) -> impl Future<Output = Result<Vec<ConversationInfo>, StoreError>> + Send;

    /// Lists the conversations of a user, or of all users, whose run works or waits, or whose inbox has
    /// items. The earliest saved comes first. Reads no logs.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read.
    fn unfinished(
        &self,
        user: Option<&str>,
    ) -> impl Future<Output = Result<Vec<ConversationInfo>, StoreError>> + Send;

    /// Deletes a conversation with its inbox, and returns whether it had a log.
    ///
    /// # Errors
    /// [`StoreError`] if the conversation cannot be deleted.
    fn delete(&self, key: ConversationKey<'_>) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Adds an item to the inbox of a conversation, which need not have a log. If the inbox has an item of
    /// this name, that one stays and is returned.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be written.
    fn put(
        &self,
        key: ConversationKey<'_>,
        name: &str,
        content: &str,
    ) -> impl Future<Output = Result<InboxItem, StoreError>> + Send;

    /// Loads the inbox of a conversation, in the order of the numbers.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read.
    fn inbox(
        &self,
        key: ConversationKey<'_>,
    ) -> impl Future<Output = Result<Vec<InboxItem>, StoreError>> + Send;

    /// Deletes an item of the inbox, and returns whether it was there.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be written.
    fn take(
        &self,
        key: ConversationKey<'_>,
        number: u64,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Loads the session values of a user or of the application, without key prefixes.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read.
    fn load_state(
        &self,
        scope: StateScope<'_>,
    ) -> impl Future<Output = Result<BTreeMap<String, Value>, StoreError>> + Send;

    /// Applies `changes` to the session values of a user or of the application. `None` removes a key; other
    /// keys stay.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be written.
    fn update_state(
        &self,
        scope: StateScope<'_>,
        changes: &SessionDelta,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// The key of a conversation: its user and its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(
    clippy::exhaustive_structs,
    reason = "made with the names of its fields, so that they cannot be swapped"
)]
pub struct ConversationKey<'a> {
    /// The id of the user, possibly empty.
    pub user: &'a str,
    /// The id of the conversation.
    pub id: &'a str,
}

/// A change of a log.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Save<'a> {
    /// The version that the log must have, or 0 for a new log.
    pub version: u64,
    /// The number of the first of the entries in the log.
    pub first: u64,
    /// The entries, as one line.
    pub entries: &'a str,
    /// What lists tell of the conversation from now on.
    pub summary: &'a Summary,
    /// The numbers of the items of the inbox that the entries have taken up.
    pub taken: &'a [u64],
}

impl<'a> Save<'a> {
    /// Creates a change that takes up nothing of the inbox.
    #[must_use]
    pub fn new(version: u64, entries: &'a str, summary: &'a Summary) -> Self {
        Self { version, first: 0, entries, summary, taken: &[] }
    }

    /// Sets the number of the first entry. Default: 0.
    #[must_use]
    pub fn with_first(self, first: u64) -> Self {
        Self { first, ..self }
    }

    /// Sets the numbers of the taken items of the inbox. Default: none.
    #[must_use]
    pub fn with_taken(self, taken: &'a [u64]) -> Self {
        Self { taken, ..self }
    }
}

/// The log of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ConversationLog {
    /// The saves, the oldest first. Each has one or more entries of the conversation.
    pub entries: Vec<String>,
    /// The version: greater than 0, and changed by each save.
    ///
    /// A log that is replaced, or deleted and created again, never gets an earlier one.
    pub version: u64,
}

impl ConversationLog {
    /// Creates a log.
    #[must_use]
    pub fn new(entries: Vec<String>, version: u64) -> Self {
        Self { entries, version }
    }
}

/// An item of a conversation's inbox: an input or a decision that the run has not taken up yet.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "stores make it, and it stays a number with two texts")]
pub struct InboxItem {
    /// The number of the item, greater than those of all earlier items of the conversation.
    pub number: u64,
    /// The name, which the inbox has once.
    pub name: String,
    /// The content, as JSON.
    pub content: String,
}

/// The scope of shared session values: application or user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StateScope<'a> {
    /// The application: keys with the prefix `app:`.
    App,
    /// The user with this id: keys with the prefix `user:`.
    User(&'a str),
}

/// Checks that a session value is not nested too deeply to be read again. One level less is allowed than
/// for JSON text, because some stores wrap the value.
pub(super) fn check_value(key: &str, value: Option<&Value>) -> Result<(), StoreError> {
    let Some(value) = value else { return Ok(()) };
    append_json(&mut Vec::new(), value, MAX_NESTING - 1)
        .map_err(|reason| StoreError::new(format_args!("session value `{key}` cannot be saved: it {reason}")))
}

/// Applies `changes` to `values`; `None` removes a key.
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
    pub(crate) trait DynStore: ConversationStore {
        async fn load(key: ConversationKey<'a>) -> Result<Option<ConversationLog>, StoreError>;
        async fn load_from(key: ConversationKey<'a>, entry: u64) -> Result<Option<ConversationLog>, StoreError>;
        async fn load_damaged(key: ConversationKey<'a>) -> Result<Option<ConversationLog>, StoreError>;
        async fn append(key: ConversationKey<'a>, save: Save<'a>) -> Result<u64, StoreError>;
        async fn replace(key: ConversationKey<'a>, save: Save<'a>) -> Result<u64, StoreError>;
        async fn list(user: &'a str) -> Result<Vec<ConversationInfo>, StoreError>;
        async fn unfinished(user: Option<&'a str>) -> Result<Vec<ConversationInfo>, StoreError>;
        async fn put(key: ConversationKey<'a>, name: &'a str, content: &'a str) -> Result<InboxItem, StoreError>;
        async fn inbox(key: ConversationKey<'a>) -> Result<Vec<InboxItem>, StoreError>;
        async fn take(key: ConversationKey<'a>, number: u64) -> Result<bool, StoreError>;
        async fn delete(key: ConversationKey<'a>) -> Result<bool, StoreError>;
        async fn load_state(scope: StateScope<'a>) -> Result<BTreeMap<String, Value>, StoreError>;
        async fn update_state(scope: StateScope<'a>, changes: &'a SessionDelta) -> Result<(), StoreError>;
    }
}
