//! A store in memory.

use super::store::{
    ConversationInfo, ConversationStore, StateScope, StoreError, apply, check_values, encode,
};
use crate::conversation::Conversation;
use crate::helpers::lock;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;
use toolkit_core::context::SessionDelta;

/// A store in memory, for tests and for conversations not needed after the program ends. Clones share the
/// conversations.
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<Stored>>);

#[derive(Default)]
struct Stored {
    /// The conversations by user and id, each with the time of saving. Conversations are kept as JSON,
    /// because clones of a `Conversation` would share their session values.
    conversations: HashMap<(String, String), (SystemTime, String)>,
    app: BTreeMap<String, Value>,
    users: HashMap<String, BTreeMap<String, Value>>,
}

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl ConversationStore for MemoryStore {
    async fn load(&self, user: &str, id: &str) -> Result<Option<Conversation>, StoreError> {
        let key = (user.to_owned(), id.to_owned());
        let saved = lock(&self.0).conversations.get(&key).map(|(_, saved)| saved.clone());
        Ok(saved.map(|saved| serde_json::from_str(&saved)).transpose()?)
    }

    async fn save(&self, conversation: &Conversation) -> Result<(), StoreError> {
        let key = (conversation.user_id().to_owned(), conversation.id().to_owned());
        let saved = encode(conversation)?;
        lock(&self.0).conversations.insert(key, (SystemTime::now(), saved));
        Ok(())
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        let stored = lock(&self.0);
        let of_user = stored.conversations.iter().filter(|((owner, _), _)| owner == user);
        let mut found: Vec<_> =
            of_user.map(|((_, id), (saved_at, _))| ConversationInfo::new(id.as_str(), *saved_at)).collect();
        found.sort_by(ConversationInfo::latest_first);
        Ok(found)
    }

    async fn delete(&self, user: &str, id: &str) -> Result<bool, StoreError> {
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
        check_values(changes)?;
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
