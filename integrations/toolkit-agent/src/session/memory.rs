//! A store that keeps conversations in memory.

use super::store::{
    ConversationInfo, ConversationKey, ConversationLog, ConversationStore, StateScope, StoreError, apply,
};
use crate::helpers::lock;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;
use toolkit_core::context::SessionDelta;

/// A store that keeps conversations in memory, for tests and for conversations that are not needed after the
/// program ends. Clones share the conversations.
///
/// ```
/// use toolkit_ai::agent::session::MemoryStore;
/// use toolkit_ai::agent::{Agent, Sessions};
/// use toolkit_ai::llm::ScriptedModel;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let sessions = Sessions::new(MemoryStore::new());
/// let agent = Agent::builder(ScriptedModel::new().text("Hello, Ada.")).build()?;
/// agent.run("I am Ada.").on(sessions.user("ada").conversation("session 1")).await?;
/// assert_eq!(sessions.user("ada").conversation("session 1").open().await?.messages().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<MemoryState>>);

#[derive(Default)]
struct MemoryState {
    /// The log of each conversation, with the time of the last save. The key consists of the user and the id.
    conversations: HashMap<(String, String), (SystemTime, ConversationLog)>,
    /// The number of changes of any log so far. Versions come from this number, so a log
    /// that is deleted and created again never has an old version.
    version: u64,
    app: BTreeMap<String, Value>,
    users: HashMap<String, BTreeMap<String, Value>>,
}

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Changes the entries of a log that has this version, and returns its new version.
    fn write(
        &self,
        user: &str,
        id: &str,
        version: u64,
        change: impl FnOnce(&mut Vec<String>),
    ) -> Result<u64, StoreError> {
        let mut stored = lock(&self.0);
        let next = stored.version + 1;
        let key = (user.to_owned(), id.to_owned());
        if stored.conversations.get(&key).map_or(0, |(_, log)| log.version) != version {
            return Err(StoreError::conflict(id));
        }
        let new = || (SystemTime::now(), ConversationLog::default());
        let (saved_at, log) = stored.conversations.entry(key).or_insert_with(new);
        *saved_at = SystemTime::now();
        change(&mut log.entries);
        log.version = next;
        stored.version = next;
        Ok(next)
    }
}

impl ConversationStore for MemoryStore {
    async fn load(
        &self,
        ConversationKey { user, id }: ConversationKey<'_>,
    ) -> Result<Option<ConversationLog>, StoreError> {
        let key = (user.to_owned(), id.to_owned());
        Ok(lock(&self.0).conversations.get(&key).map(|(_, log)| log.clone()))
    }

    async fn append(
        &self,
        ConversationKey { user, id }: ConversationKey<'_>,
        version: u64,
        entry: &str,
    ) -> Result<u64, StoreError> {
        self.write(user, id, version, |entries| entries.push(entry.to_owned()))
    }

    async fn replace(
        &self,
        ConversationKey { user, id }: ConversationKey<'_>,
        version: u64,
        entry: &str,
    ) -> Result<u64, StoreError> {
        self.write(user, id, version, |entries| *entries = vec![entry.to_owned()])
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        let stored = lock(&self.0);
        let of_user = stored.conversations.iter().filter(|((owner, _), _)| owner == user);
        let mut found: Vec<_> =
            of_user.map(|((_, id), (saved_at, _))| ConversationInfo::new(id.as_str(), *saved_at)).collect();
        found.sort_by(|one, other| other.saved_at.cmp(&one.saved_at).then_with(|| one.id.cmp(&other.id)));
        Ok(found)
    }

    async fn delete(&self, ConversationKey { user, id }: ConversationKey<'_>) -> Result<bool, StoreError> {
        Ok(lock(&self.0).conversations.remove(&(user.to_owned(), id.to_owned())).is_some())
    }

    async fn load_state(&self, scope: StateScope<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        let stored = lock(&self.0);
        Ok(match scope {
            StateScope::App => stored.app.clone(),
            StateScope::User(user) => stored.users.get(user).cloned().unwrap_or_default(),
        })
    }

    async fn update_state(&self, scope: StateScope<'_>, changes: &SessionDelta) -> Result<(), StoreError> {
        let mut stored = lock(&self.0);
        let values = match scope {
            StateScope::App => &mut stored.app,
            StateScope::User(user) => stored.users.entry(user.to_owned()).or_default(),
        };
        apply(values, changes);
        Ok(())
    }
}

debug!(MemoryStore, self, "conversations": lock(&self.0).conversations.len());
