//! The conversations of a program and the state of its users.

use super::memory::MemoryStore;
use super::store::{ConversationInfo, ConversationStore, DynStore, StateScope, StoreError};
use crate::conversation::Conversation;
use crate::helpers::lock;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::Mutex as AsyncMutex;
use toolkit_core::context::{SessionDelta, SessionMap};

/// The conversations of a program, in a [`ConversationStore`](crate::session::ConversationStore). Clones share them.
///
/// Session values under `user:` are shared by all open conversations of a user, values under `app:` by the whole
/// program. Both are saved with each conversation, key by key, so that programs with a common store do not undo each
/// other's changes. Of two simultaneous runs in one conversation, the last to be saved wins.
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
pub struct Sessions(Arc<SessionsInner>);

struct SessionsInner {
    store: Box<dyn DynStore>,
    app: SharedState,
    /// The state of each user with an open conversation.
    users: Mutex<HashMap<String, Weak<SharedState>>>,
}

impl Sessions {
    /// Creates sessions with this store.
    #[must_use]
    pub fn new(store: impl ConversationStore) -> Self {
        let inner =
            SessionsInner { store: Box::new(store), app: SharedState::default(), users: Mutex::default() };
        Self(Arc::new(inner))
    }

    /// Opens a conversation, or creates it if there is none.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn open(&self, user: &str, id: &str) -> Result<Conversation, StoreError> {
        let store = &*self.0.store;
        let shared = self.user(user);
        self.0.app.refresh(store, StateScope::App).await?;
        shared.refresh(store, StateScope::User(user)).await?;
        let conversation = store.load(user, id).await?.unwrap_or_else(|| Conversation::new(id));
        let mut conversation = conversation
            .with_user_id(user)
            .with_user_state(shared.values.clone())
            .with_app_state(self.0.app.values.clone());
        conversation.lease = Some(Arc::new(Lease { user: shared }));
        Ok(conversation)
    }

    /// Loads a conversation without its shared state.
    pub(crate) async fn read(&self, user: &str, id: &str) -> Result<Option<Conversation>, StoreError> {
        self.0.store.load(user, id).await
    }

    /// Returns the shared state of a user.
    fn user(&self, user: &str) -> Arc<SharedState> {
        let mut users = lock(&self.0.users);
        if let Some(shared) = users.get(user).and_then(Weak::upgrade) {
            return shared;
        }
        users.retain(|_, shared| shared.strong_count() > 0);
        let shared = Arc::default();
        users.insert(user.to_owned(), Arc::downgrade(&shared));
        shared
    }

    /// Saves a conversation. The state of its user and the application is saved as well if it was
    /// [opened](Self::open) here.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    pub async fn save(&self, conversation: &Conversation) -> Result<(), StoreError> {
        let store = &*self.0.store;
        if let Some(lease) = &conversation.lease {
            self.0.app.save(store, StateScope::App).await?;
            lease.user.save(store, StateScope::User(conversation.user_id())).await?;
        }
        store.save(conversation).await
    }

    /// Lists the conversations of a user, the latest first.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        self.0.store.list(user).await
    }

    /// Deletes a conversation. Returns whether there was one. The state of the user stays.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be deleted.
    pub async fn delete(&self, user: &str, id: &str) -> Result<bool, StoreError> {
        self.0.store.delete(user, id).await
    }
}

/// Sessions in memory.
impl Default for Sessions {
    fn default() -> Self {
        Self::new(MemoryStore::new())
    }
}

debug!(Sessions, self);

/// The session values of one scope.
#[derive(Debug, Default)]
struct SharedState {
    values: SessionMap,
    /// The values in the store, as last seen.
    stored: AsyncMutex<BTreeMap<String, Value>>,
}

impl SharedState {
    /// Takes over changes by other programs. Unsaved changes of this program stay.
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

    /// Saves the changes since the last save, if there are any.
    async fn save(&self, store: &dyn DynStore, scope: StateScope<'_>) -> Result<(), StoreError> {
        let mut stored = self.stored.lock().await;
        let current = self.values.snapshot();
        let changes = delta(&stored, &current);
        if !changes.is_empty() {
            store.update_state(scope, &changes).await?;
            *stored = current;
        }
        Ok(())
    }
}

/// Returns the changes from `old` to `new`.
fn delta(old: &BTreeMap<String, Value>, new: &BTreeMap<String, Value>) -> SessionDelta {
    let set = new.iter().filter(|(key, value)| old.get(*key) != Some(value));
    let removed = old.keys().filter(|key| !new.contains_key(*key));
    let set = set.map(|(key, value)| (key.clone(), Some(value.clone())));
    set.chain(removed.map(|key| (key.clone(), None))).collect()
}

/// Keeps the shared state of a user open as long as one of the user's conversations.
#[derive(Debug)]
pub(crate) struct Lease {
    user: Arc<SharedState>,
}
