//! The conversations of a program, and the session values that they share.

use super::memory::MemoryStore;
use super::store::{
    ConversationInfo, ConversationKey, ConversationStore, DynStore, StateScope, StoreError, apply,
    check_value,
};
use crate::conversation::Conversation;
use crate::helpers::lock;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::Mutex as AsyncMutex;
use toolkit_core::context::{SessionDelta, SessionMap};

/// The conversations of a program, saved in a [`ConversationStore`](crate::session::ConversationStore).
/// Clones share the conversations.
///
/// Session values with the key prefix `user:` are shared by all open conversations of a user, and values with
/// the prefix `app:` by all open conversations. Saving a conversation also saves the changed values, each key
/// separately. If several programs use the same store and change different keys, no change overwrites
/// another. If two runs use the same conversation at the same time, the first save wins, and the other run
/// ends with an [error](StoreError::is_conflict).
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
    /// The session values with the prefix `user:`, by user. They are dropped when no conversation of the user
    /// is open.
    users: Mutex<HashMap<String, Weak<SharedState>>>,
}

/// The sessions to which a conversation belongs.
pub(super) struct Lease {
    pub(super) sessions: Sessions,
    /// The session values of the user. `None` if the conversation was not opened from these sessions.
    pub(super) user: Option<Arc<SharedState>>,
}

pub(super) fn lease(conversation: &Conversation) -> Option<&Lease> {
    conversation.lease.as_deref()?.downcast_ref()
}

impl Sessions {
    /// Creates sessions with their conversations in `store`.
    #[must_use]
    pub fn new(store: impl ConversationStore) -> Self {
        let inner =
            SessionsInner { store: Box::new(store), app: SharedState::default(), users: Mutex::default() };
        Self { inner: Arc::new(inner), error_details: false }
    }

    /// Returns the conversations of a user. The id of the user may be any text, or empty.
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

    /// Loads the conversation `id` of a user, without the session values that it shares with other
    /// conversations. Returns `None` if the store does not contain it.
    pub(crate) async fn read(&self, key: ConversationKey<'_>) -> Result<Option<Conversation>, StoreError> {
        let Some(log) = self.inner.store.load(key).await? else { return Ok(None) };
        let read = Conversation::read(key.id, &log.entries, self.store_id(), log.version);
        let failed =
            |reason| StoreError::new(format_args!("conversation `{}` cannot be read: {reason}", key.id));
        read.map(Some).map_err(failed)
    }

    /// Returns the session values with the prefix `user:`. Conversations of a user that are open at the same
    /// time share these values.
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

    /// Saves the changes of a conversation since its last save. If [`open`](SavedConversation::open) has returned the
    /// conversation, the changed session values of the user and the application are saved as well.
    ///
    /// A conversation that was not opened from these sessions is saved as a new conversation, and later runs save it,
    /// too. This fails with a conflict if the store already contains a conversation with the same user and id.
    ///
    /// Values that are nested too deeply to be read again are refused. If the conversation contains such a
    /// value, the conversation is not saved. If a session value of the user or the application is such a
    /// value, the last saved value replaces it.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be written. [`is_conflict`](StoreError::is_conflict) is `true` if
    /// another program or task has saved the conversation since it was opened.
    pub async fn save(&self, conversation: &mut Conversation) -> Result<(), StoreError> {
        let spent = conversation.spent();
        let values = conversation.session_values();
        self.journal(conversation).save(values, move || spent).await.finish().await
    }

    /// Deletes from the store what the conversation no longer contains, and saves it. A log keeps everything that was
    /// ever part of a conversation: blocked inputs, answers that guardrails have replaced, and messages removed by
    /// [`keep_latest`](Conversation::keep_latest). This method replaces the entries of the log by the conversation as it
    /// is.
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
    /// [`StoreError`] as by [`save`](Self::save).
    pub async fn erase(&self, conversation: &mut Conversation) -> Result<(), StoreError> {
        self.save(conversation).await?;
        self.journal(conversation).rewrite(conversation).await
    }
}

setters! { Sessions:
    /// Sets whether conversations opened from these sessions store the
    /// [details](toolkit_core::ToolError::details) of errors. See [`Conversation::with_error_details`].
    with_error_details(error_details: bool) = error_details;
}

/// Creates sessions with their conversations in memory only.
impl Default for Sessions {
    fn default() -> Self {
        Self::new(MemoryStore::new())
    }
}

debug!(Sessions, self);

/// The conversations of one user, created by [`Sessions::user`].
#[derive(Debug, Clone)]
pub struct UserSessions {
    sessions: Sessions,
    user: String,
}

impl UserSessions {
    /// Returns the conversation with this id. Does not read it: it is [opened](SavedConversation::open) by a run.
    #[must_use]
    pub fn conversation(&self, id: impl Into<String>) -> SavedConversation {
        SavedConversation { sessions: self.sessions.clone(), user: self.user.clone(), id: id.into() }
    }

    /// Lists the conversations of the user, the latest first.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read.
    pub async fn list(&self) -> Result<Vec<ConversationInfo>, StoreError> {
        self.sessions.inner.store.list(&self.user).await
    }
}

/// A conversation in the store of [`Sessions`], as a [place](crate::Place) of runs.
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
    fn key(&self) -> ConversationKey<'_> {
        ConversationKey { user: &self.user, id: &self.id }
    }

    /// Loads the conversation. Creates an empty one if the store does not contain it. Runs on it save it.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read.
    pub async fn open(&self) -> Result<Conversation, StoreError> {
        self.sessions.open(self.key()).await
    }

    /// Ends the unfinished run of the conversation without an answer. See [`Conversation::abandon`].
    ///
    /// # Errors
    /// [`StoreError`] if the conversation cannot be read or saved.
    pub async fn abandon(&self) -> Result<(), StoreError> {
        let mut conversation = self.open().await?;
        conversation.abandon();
        self.sessions.save(&mut conversation).await
    }

    /// Deletes the conversation and returns whether it existed. The session values of the user stay in the store.
    ///
    /// # Errors
    /// [`StoreError`] if the conversation cannot be deleted.
    pub async fn delete(&self) -> Result<bool, StoreError> {
        self.sessions.inner.store.delete(self.key()).await
    }
}

/// The session values of a user or of the application. All open conversations in this scope share them.
#[derive(Debug, Default)]
pub(super) struct SharedState {
    values: SessionMap,
    /// The values that the store contained at the last load or save.
    stored: AsyncMutex<BTreeMap<String, Value>>,
}

impl SharedState {
    /// Loads the current values from the store. Changes that this program has not saved yet stay.
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

    /// Saves the values that have changed since the last load or save. Values nested too deeply are not
    /// saved: they are reset and cause an error.
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

/// Returns the changes from `old` to `new`.
fn delta(old: &BTreeMap<String, Value>, new: &BTreeMap<String, Value>) -> SessionDelta {
    let set = new.iter().filter(|(key, value)| old.get(*key) != Some(value));
    let removed = old.keys().filter(|key| !new.contains_key(*key));
    let set = set.map(|(key, value)| (key.clone(), Some(value.clone())));
    set.chain(removed.map(|key| (key.clone(), None))).collect()
}
