//! The conversations of a program, and the session values that they share.

use super::info::ConversationInfo;
use super::memory::MemoryStore;
use super::store::{ConversationKey, ConversationStore, DynStore, StateScope, apply, check_value};
use super::store_error::StoreError;
use crate::conversation::{Conversation, PastEvents};
use crate::conversation_entry::ConversationEntry;
use crate::helpers::lock;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::Mutex as AsyncMutex;
use toolkit_core::context::{SessionDelta, SessionMap};

/// The conversations of a program in a [`ConversationStore`](crate::session::ConversationStore). Clones
/// share them.
///
/// Open conversations of a user share the session values with the key prefix `user:`, and all open
/// conversations those with `app:`. Saving a conversation also saves the changed values, each key
/// separately, so programs that change different keys do not overwrite each other. If two runs use one
/// conversation at the same time, the first save wins, and the other run ends with an
/// [error](StoreError::is_conflict).
///
/// ```
/// use toolkit_ai::agent::{Agent, Sessions};
/// use toolkit_ai::llm::ScriptedModel;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let agent = Agent::builder(ScriptedModel::new().text("Hello, Ada.").text("You are Ada.")).build()?;
/// let sessions = Sessions::default(); // in memory
/// let saved = sessions.user("ada").conversation("session 1");
/// agent.run("I am Ada.").on(&saved).await?;
/// agent.run("Who am I?").on(&saved).await?;
/// assert_eq!(saved.open().await?.messages().len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[doc(alias("memory", "SessionService"))]
#[derive(Clone)]
pub struct Sessions {
    pub(super) inner: Arc<SessionsInner>,
    error_details: bool,
}

pub(super) struct SessionsInner {
    pub(super) store: Box<dyn DynStore>,
    pub(super) app: SharedState,
    /// The session values with the prefix `user:`, by user, while a conversation of the user is open.
    users: Mutex<HashMap<String, Weak<SharedState>>>,
}

/// The sessions to which a conversation belongs.
pub(super) struct Lease {
    pub(super) sessions: Sessions,
    /// The user's session values, if these sessions have opened the conversation.
    pub(super) user: Option<Arc<SharedState>>,
}

fn unreadable(id: &str, reason: &str) -> StoreError {
    StoreError::new(format_args!("conversation `{id}` cannot be read: {reason}"))
}

pub(super) fn lease(conversation: &Conversation) -> Option<&Lease> {
    conversation.lease.as_deref()?.downcast_ref()
}

impl Sessions {
    /// Creates sessions in `store`.
    #[must_use]
    pub fn new(store: impl ConversationStore) -> Self {
        let inner =
            SessionsInner { store: Box::new(store), app: SharedState::default(), users: Mutex::default() };
        Self { inner: Arc::new(inner), error_details: false }
    }

    pub(crate) fn store(&self) -> &dyn DynStore {
        &*self.inner.store
    }

    /// Returns a user's conversations. The id may be empty.
    #[must_use]
    pub fn user(&self, user: impl Into<String>) -> UserSessions {
        UserSessions { sessions: self.clone(), user: user.into() }
    }

    async fn open(&self, key: ConversationKey<'_>) -> Result<Conversation, StoreError> {
        let store = &*self.inner.store;
        let ConversationKey { user, id } = key;
        let shared = self.values_of(user);
        self.inner.app.refresh(store, StateScope::App).await?;
        shared.refresh(store, StateScope::User(user)).await?;
        let mut conversation = self
            .read(key)
            .await?
            .unwrap_or_else(|| Conversation::new(id))
            .with_user_id(user)
            .with_error_details(self.error_details)
            .with_user_state(shared.values.clone())
            .with_app_state(self.inner.app.values.clone());
        conversation.lease = Some(Arc::new(Lease { sessions: self.clone(), user: Some(shared) }));
        Ok(conversation)
    }

    /// Loads a conversation without its shared session values, if the store contains it.
    pub(crate) async fn read(&self, key: ConversationKey<'_>) -> Result<Option<Conversation>, StoreError> {
        let Some(log) = self.inner.store.load(key).await? else { return Ok(None) };
        let read = Conversation::read(key.id, &log.entries, self.store_id(), log.version);
        read.map(Some).map_err(|reason| unreadable(key.id, &reason))
    }

    fn values_of(&self, user: &str) -> Arc<SharedState> {
        let mut users = lock(&self.inner.users);
        if let Some(shared) = users.get(user).and_then(Weak::upgrade) {
            return shared;
        }
        users.retain(|_, shared| shared.strong_count() > 0);
        let shared = Arc::default();
        users.insert(user.to_owned(), Arc::downgrade(&shared));
        shared
    }

    /// Saves the changes of a conversation since its last save, and after
    /// [`open`](SavedConversation::open), the changed session values of the user and the application.
    ///
    /// Another conversation is saved as a new one, and later runs save it, too. This is a conflict if the
    /// user already has a conversation with this id.
    ///
    /// Values that are nested too deeply to be read again are refused: a conversation that contains one is
    /// not saved, and such a value of the user or the application is reset.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be written. [`is_conflict`](StoreError::is_conflict) is `true` if
    /// another program or task has saved the conversation since it was opened.
    pub async fn save(&self, conversation: &mut Conversation) -> Result<(), StoreError> {
        let spent = conversation.attempt_spent();
        let values = conversation.session_values();
        let journal = self.journal(conversation);
        let summary = conversation.summary();
        journal.save(values, summary, move || spent).await.finish().await
    }

    /// Saves the conversation, and deletes from its log what it no longer contains: blocked inputs,
    /// replaced answers, and messages removed by [`keep_latest`](Conversation::keep_latest).
    ///
    /// Returns the ids of the conversations that were [forked](SavedConversation::fork) from it, and from
    /// these. They keep the messages that they have.
    ///
    /// ```
    /// use toolkit_ai::agent::Sessions;
    /// use toolkit_ai::llm::Message;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let sessions = Sessions::default();
    /// let mut conversation = sessions.user("ada").conversation("1").open().await?;
    /// conversation.push(Message::user("My number is 4711."));
    /// conversation.push(Message::user("Forget it."));
    /// sessions.save(&mut conversation).await?;
    /// conversation.keep_latest(1);
    /// sessions.erase(&mut conversation).await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`StoreError`] as by [`save`](Self::save), or if the store cannot list the conversations.
    pub async fn erase(&self, conversation: &mut Conversation) -> Result<Vec<String>, StoreError> {
        self.save(conversation).await?;
        self.journal(conversation).rewrite(conversation).await?;
        let mut forks = Vec::new();
        for ConversationInfo { id, summary, .. } in self.inner.store.list(conversation.user_id()).await? {
            if summary.forked_from.iter().any(|source| source == conversation.id()) {
                forks.push(id);
            }
        }
        Ok(forks)
    }
}

setters! { Sessions:
    /// Sets whether conversations store the [details](toolkit_core::ToolError::details) of errors. See
    /// [`Conversation::with_error_details`].
    with_error_details(error_details: bool) = error_details;
}

/// Creates sessions in memory.
impl Default for Sessions {
    fn default() -> Self {
        Self::new(MemoryStore::new())
    }
}

debug!(Sessions, self);

/// The conversations of one user, from [`Sessions::user`].
#[derive(Debug, Clone)]
pub struct UserSessions {
    sessions: Sessions,
    user: String,
}

impl UserSessions {
    /// Returns the conversation with this id, without [opening](SavedConversation::open) it.
    #[must_use]
    pub fn conversation(&self, id: impl Into<String>) -> SavedConversation {
        SavedConversation { sessions: self.sessions.clone(), user: self.user.clone(), id: id.into() }
    }

    /// Lists the conversations of the user, latest first.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read.
    pub async fn list(&self) -> Result<Vec<ConversationInfo>, StoreError> {
        self.sessions.inner.store.list(&self.user).await
    }
}

/// A conversation of [`Sessions`], as a [place](crate::Place) of runs.
///
/// ```
/// use toolkit_ai::agent::{Agent, Sessions};
/// use toolkit_ai::llm::ScriptedModel;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let agent = Agent::builder(ScriptedModel::new().text("Hello, Ada.")).build()?;
/// let saved = Sessions::default().user("ada").conversation("1");
/// let events = agent.run("I am Ada.").on(&saved).stream(); // `'static`: a web handler can return it
/// assert_eq!(events.finish().await?.text, "Hello, Ada.");
/// assert_eq!(saved.open().await?.messages().len(), 2);
/// assert!(saved.delete().await?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct SavedConversation {
    sessions: Sessions,
    user: String,
    id: String,
}

impl SavedConversation {
    pub(super) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    pub(super) fn with_id(&self, id: String) -> Self {
        Self { id, ..self.clone() }
    }

    pub(super) fn key(&self) -> ConversationKey<'_> {
        ConversationKey { user: &self.user, id: &self.id }
    }

    /// Loads the conversation, or creates an empty one. Runs on it save it.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read.
    pub async fn open(&self) -> Result<Conversation, StoreError> {
        self.sessions.open(self.key()).await
    }

    /// Reads what the entries of the log show after the entry with the number `after`, or from the
    /// beginning on. Empty if the conversation does not exist.
    ///
    /// ```
    /// use toolkit_ai::agent::{Agent, RunEvent, Sessions};
    /// use toolkit_ai::llm::ScriptedModel;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let agent = Agent::builder(ScriptedModel::new().text("Hello, Ada.")).build()?;
    /// let saved = Sessions::default().user("ada").conversation("1");
    /// agent.run("I am Ada.").on(&saved).await?;
    /// let mut text = String::new();
    /// for entry in saved.entries(None).await? {
    ///     if let Some(RunEvent::Text { text: piece, .. }) = entry.event() {
    ///         text.push_str(piece);
    ///     }
    /// }
    /// assert_eq!(text, "Hello, Ada.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`StoreError`] if the store or the log cannot be read.
    pub async fn entries(&self, after: Option<u64>) -> Result<Vec<ConversationEntry>, StoreError> {
        let Some(log) = self.sessions.inner.store.load(self.key()).await? else { return Ok(Vec::new()) };
        let shown = PastEvents::entries_of(&log.entries);
        let mut entries = shown.map_err(|reason| unreadable(&self.id, &reason))?;
        if let Some(after) = after {
            entries.retain(|entry| entry.number > after);
        }
        Ok(entries)
    }

    /// Ends the unfinished run. See [`Conversation::abandon`].
    ///
    /// # Errors
    /// [`StoreError`] if the conversation cannot be read or saved.
    pub async fn abandon(&self) -> Result<(), StoreError> {
        let mut conversation = self.open().await?;
        conversation.abandon();
        self.sessions.save(&mut conversation).await
    }

    /// Deletes the conversation and returns whether it existed. The user's session values stay.
    ///
    /// # Errors
    /// [`StoreError`] if the conversation cannot be deleted.
    pub async fn delete(&self) -> Result<bool, StoreError> {
        self.sessions.inner.store.delete(self.key()).await
    }
}

/// The session values of a user or of the application, shared by all its open conversations.
#[derive(Debug, Default)]
pub(super) struct SharedState {
    values: SessionMap,
    /// The values at the last load or save.
    stored: AsyncMutex<BTreeMap<String, Value>>,
}

impl SharedState {
    /// Loads the current values. Unsaved changes stay.
    async fn refresh(&self, store: &dyn DynStore, scope: StateScope<'_>) -> Result<(), StoreError> {
        let mut stored = self.stored.lock().await;
        let loaded = store.load_state(scope).await?;
        let unsaved = delta(&stored, &self.values.snapshot());
        for (key, value) in delta(&stored, &loaded) {
            match value {
                _ if unsaved.contains_key(&key) => {}
                Some(value) => self.values.set(key, value),
                None => self.values.remove(&key),
            }
        }
        *stored = loaded;
        Ok(())
    }

    /// Saves the values changed since then. Values nested too deeply are reset and cause an error.
    pub(super) async fn save(&self, store: &dyn DynStore, scope: StateScope<'_>) -> Result<(), StoreError> {
        let mut stored = self.stored.lock().await;
        let values = self.values.snapshot();
        if values.is_empty() && stored.is_empty() {
            return Ok(());
        }
        let mut changes = delta(&stored, &values);
        let mut refused = Ok(());
        changes.retain(|key, value| {
            let Err(error) = check_value(key, value.as_ref()) else { return true };
            match stored.get(key) {
                Some(value) => self.values.set(key.as_str(), value.clone()),
                None => self.values.remove(key),
            }
            refused = Err(error);
            false
        });
        if !changes.is_empty() {
            store.update_state(scope, &changes).await?;
            apply(&mut stored, &changes);
        }
        refused
    }
}

fn delta(old: &BTreeMap<String, Value>, new: &BTreeMap<String, Value>) -> SessionDelta {
    let set = new.iter().filter(|(key, value)| old.get(*key) != Some(value));
    let removed = old.keys().filter(|key| !new.contains_key(*key));
    let set = set.map(|(key, value)| (key.clone(), Some(value.clone())));
    set.chain(removed.map(|key| (key.clone(), None))).collect()
}
