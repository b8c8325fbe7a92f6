//! A store that keeps conversations in memory.

use super::info::ConversationInfo;
use super::store::{ConversationKey, ConversationLog, ConversationStore, InboxItem, Save, StateScope, apply};
use super::store_error::StoreError;
use crate::helpers::lock;
use crate::status::Summary;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};
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
    users: BTreeMap<String, UserState>,
    /// The changes of any log so far. They number the versions, so a log that is deleted and created again
    /// never has an old one.
    version: u64,
    /// The items of all inboxes so far, which number them.
    items: u64,
    app: BTreeMap<String, Value>,
}

#[derive(Default)]
struct UserState {
    conversations: HashMap<String, Saved>,
    values: BTreeMap<String, Value>,
}

/// A conversation, which may have only an inbox.
#[derive(Default)]
struct Saved {
    log: ConversationLog,
    /// The number of the first entry of each save.
    first: Vec<u64>,
    summary: Summary,
    times: Option<(SystemTime, SystemTime)>,
    inbox: Vec<InboxItem>,
}

impl Saved {
    fn info(&self, user: &str, id: &str) -> ConversationInfo {
        let (created_at, saved_at) = self.times.unwrap_or((UNIX_EPOCH, UNIX_EPOCH));
        ConversationInfo::new(user, id)
            .with_summary(self.summary.clone())
            .with_created_at(created_at)
            .with_saved_at(saved_at)
            .with_inbox(self.inbox.len())
    }

    fn is_unfinished(&self) -> bool {
        self.summary.is_unfinished() || !self.inbox.is_empty()
    }
}

impl MemoryState {
    fn find(&self, ConversationKey { user, id }: ConversationKey<'_>) -> Option<&Saved> {
        self.users.get(user)?.conversations.get(id)
    }

    fn find_mut(&mut self, ConversationKey { user, id }: ConversationKey<'_>) -> Option<&mut Saved> {
        self.users.get_mut(user)?.conversations.get_mut(id)
    }

    fn entry(&mut self, ConversationKey { user, id }: ConversationKey<'_>) -> &mut Saved {
        let conversations = &mut self.users.entry(user.to_owned()).or_default().conversations;
        conversations.entry(id.to_owned()).or_default()
    }
}

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Changes a log of this version, and returns its new version.
    fn write(&self, key: ConversationKey<'_>, save: &Save<'_>, replaces: bool) -> Result<u64, StoreError> {
        let mut state = lock(&self.0);
        let version = state.version + 1;
        if save.version == 0 {
            state.entry(key);
        }
        let Some(saved) = state.find_mut(key).filter(|saved| saved.log.version == save.version) else {
            return Err(StoreError::conflict(key.id));
        };
        if replaces {
            saved.log.entries.clear();
            saved.first.clear();
            saved.inbox.clear();
        }
        saved.inbox.retain(|item| !save.taken.contains(&item.number));
        saved.log.entries.push(save.entries.to_owned());
        saved.log.version = version;
        saved.first.push(save.first);
        saved.summary = save.summary.clone();
        let now = SystemTime::now();
        saved.times.get_or_insert((now, now)).1 = now;
        state.version = version;
        Ok(version)
    }

    fn infos(&self, user: Option<&str>, is_listed: impl Fn(&Saved) -> bool) -> Vec<ConversationInfo> {
        let state = lock(&self.0);
        let mut found = Vec::new();
        for (owner, UserState { conversations, .. }) in &state.users {
            if user.is_some_and(|user| user != owner) {
                continue;
            }
            for (id, saved) in conversations {
                if is_listed(saved) {
                    found.push(saved.info(owner, id));
                }
            }
        }
        found
    }
}

impl ConversationStore for MemoryStore {
    async fn load(&self, key: ConversationKey<'_>) -> Result<Option<ConversationLog>, StoreError> {
        let state = lock(&self.0);
        Ok(state.find(key).map(|saved| saved.log.clone()).filter(|log| log.version > 0))
    }

    async fn load_from(
        &self,
        key: ConversationKey<'_>,
        entry: u64,
    ) -> Result<Option<ConversationLog>, StoreError> {
        let state = lock(&self.0);
        let Some(Saved { log, first, .. }) = state.find(key).filter(|saved| saved.log.version > 0) else {
            return Ok(None);
        };
        let before = first.partition_point(|first| *first <= entry).saturating_sub(1);
        Ok(Some(ConversationLog::new(log.entries.get(before..).unwrap_or_default().to_vec(), log.version)))
    }

    async fn append(&self, key: ConversationKey<'_>, save: Save<'_>) -> Result<u64, StoreError> {
        self.write(key, &save, false)
    }

    async fn replace(&self, key: ConversationKey<'_>, save: Save<'_>) -> Result<u64, StoreError> {
        self.write(key, &save, true)
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        let mut found = self.infos(Some(user), |saved| saved.log.version > 0);
        found.sort_by(|one, other| (other.saved_at, &one.id).cmp(&(one.saved_at, &other.id)));
        Ok(found)
    }

    async fn unfinished(&self, user: Option<&str>) -> Result<Vec<ConversationInfo>, StoreError> {
        let mut found = self.infos(user, Saved::is_unfinished);
        found.sort_by(|one, other| (one.saved_at, &one.id).cmp(&(other.saved_at, &other.id)));
        Ok(found)
    }

    async fn delete(&self, ConversationKey { user, id }: ConversationKey<'_>) -> Result<bool, StoreError> {
        let mut state = lock(&self.0);
        let deleted = state.users.get_mut(user).and_then(|user| user.conversations.remove(id));
        Ok(deleted.is_some_and(|saved| saved.log.version > 0))
    }

    async fn put(
        &self,
        key: ConversationKey<'_>,
        name: &str,
        content: &str,
    ) -> Result<InboxItem, StoreError> {
        let mut state = lock(&self.0);
        state.items += 1;
        let number = state.items;
        let inbox = &mut state.entry(key).inbox;
        if let Some(known) = inbox.iter().find(|item| item.name == name) {
            return Ok(known.clone());
        }
        let item = InboxItem { number, name: name.to_owned(), content: content.to_owned() };
        inbox.push(item.clone());
        Ok(item)
    }

    async fn inbox(&self, key: ConversationKey<'_>) -> Result<Vec<InboxItem>, StoreError> {
        Ok(lock(&self.0).find(key).map(|saved| saved.inbox.clone()).unwrap_or_default())
    }

    async fn take(&self, key: ConversationKey<'_>, number: u64) -> Result<bool, StoreError> {
        let mut state = lock(&self.0);
        let Some(saved) = state.find_mut(key) else { return Ok(false) };
        let before = saved.inbox.len();
        saved.inbox.retain(|item| item.number != number);
        Ok(saved.inbox.len() < before)
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
