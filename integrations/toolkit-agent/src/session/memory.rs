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

/// A store that keeps conversations in memory, until the program ends. Clones share them.
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
    users: HashMap<String, UserState>,
    /// The changes of any log so far. They number the versions, so a log that is deleted and created again
    /// never has an old one.
    version: u64,
    app: BTreeMap<String, Value>,
}

#[derive(Default)]
struct UserState {
    /// The logs, with the time of the last save.
    conversations: HashMap<String, (SystemTime, ConversationLog)>,
    values: BTreeMap<String, Value>,
}

impl MemoryState {
    fn log(&self, ConversationKey { user, id }: ConversationKey<'_>) -> Option<&ConversationLog> {
        Some(&self.users.get(user)?.conversations.get(id)?.1)
    }
}

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Changes the entries of a log of this version, and returns its new version.
    fn write(
        &self,
        user: &str,
        id: &str,
        version: u64,
        change: impl FnOnce(&mut Vec<String>),
    ) -> Result<u64, StoreError> {
        let MemoryState { users, version: latest, .. } = &mut *lock(&self.0);
        let known = users.get_mut(user).and_then(|user| user.conversations.get_mut(id));
        if known.as_ref().map_or(0, |(_, log)| log.version) != version {
            return Err(StoreError::conflict(id));
        }
        let (saved_at, log) = match known {
            Some(known) => known,
            None => {
                let conversations = &mut users.entry(user.to_owned()).or_default().conversations;
                let new = (SystemTime::UNIX_EPOCH, ConversationLog::default());
                conversations.entry(id.to_owned()).or_insert(new)
            }
        };
        *saved_at = SystemTime::now();
        change(&mut log.entries);
        *latest += 1;
        log.version = *latest;
        Ok(*latest)
    }
}

impl ConversationStore for MemoryStore {
    async fn load(&self, key: ConversationKey<'_>) -> Result<Option<ConversationLog>, StoreError> {
        Ok(lock(&self.0).log(key).cloned())
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
        let Some(UserState { conversations, .. }) = stored.users.get(user) else { return Ok(Vec::new()) };
        let infos =
            conversations.iter().map(|(id, (saved_at, _))| ConversationInfo::new(id.as_str(), *saved_at));
        let mut found: Vec<_> = infos.collect();
        found.sort_by(|one, other| other.saved_at.cmp(&one.saved_at).then_with(|| one.id.cmp(&other.id)));
        Ok(found)
    }

    async fn delete(&self, ConversationKey { user, id }: ConversationKey<'_>) -> Result<bool, StoreError> {
        let mut stored = lock(&self.0);
        Ok(stored.users.get_mut(user).is_some_and(|user| user.conversations.remove(id).is_some()))
    }

    async fn load_state(&self, scope: StateScope<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        let stored = lock(&self.0);
        Ok(match scope {
            StateScope::App => stored.app.clone(),
            StateScope::User(user) => {
                stored.users.get(user).map(|user| user.values.clone()).unwrap_or_default()
            }
        })
    }

    async fn update_state(&self, scope: StateScope<'_>, changes: &SessionDelta) -> Result<(), StoreError> {
        let mut stored = lock(&self.0);
        let values = match scope {
            StateScope::App => &mut stored.app,
            StateScope::User(user) => &mut stored.users.entry(user.to_owned()).or_default().values,
        };
        apply(values, changes);
        Ok(())
    }
}

debug!(
    MemoryStore, self,
    "conversations": lock(&self.0).users.values().map(|user| user.conversations.len()).sum::<usize>()
);
