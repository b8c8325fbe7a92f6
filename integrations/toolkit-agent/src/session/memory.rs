//! Conversations that are kept in memory.

use super::state::change;
use super::store::{ConversationInfo, ConversationStore, StateOwner, StoreError};
use crate::conversation::Conversation;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use toolkit_core::context::SessionDelta;

/// Keeps conversations in memory, until the program ends: for tests and for programs that need no more. Clones keep
/// the same conversations.
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    /// By user and id, as JSON: what changes in a conversation later does not change what was saved.
    conversations: HashMap<(String, String), (SystemTime, String)>,
    app: BTreeMap<String, Value>,
    users: HashMap<String, BTreeMap<String, Value>>,
}

impl MemoryStore {
    /// A store of no conversations.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConversationStore for MemoryStore {
    async fn load(&self, user: &str, id: &str) -> Result<Option<Conversation>, StoreError> {
        let key = (user.to_owned(), id.to_owned());
        let saved = self.kept().conversations.get(&key).map(|(_, saved)| saved.clone());
        Ok(saved.map(|saved| serde_json::from_str(&saved)).transpose()?)
    }

    async fn save(&self, conversation: &Conversation) -> Result<(), StoreError> {
        let key = (conversation.user_id().to_owned(), conversation.id().to_owned());
        let saved = serde_json::to_string(conversation)?;
        self.kept().conversations.insert(key, (SystemTime::now(), saved));
        Ok(())
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        let kept = self.kept();
        let of_user = kept.conversations.iter().filter(|((owner, _), _)| owner == user);
        let mut found: Vec<_> =
            of_user.map(|((_, id), (saved_at, _))| ConversationInfo::new(id.as_str(), *saved_at)).collect();
        found.sort_by(|one, other| other.saved_at.cmp(&one.saved_at).then_with(|| one.id.cmp(&other.id)));
        Ok(found)
    }

    async fn delete(&self, user: &str, id: &str) -> Result<bool, StoreError> {
        Ok(self.kept().conversations.remove(&(user.to_owned(), id.to_owned())).is_some())
    }

    async fn load_state(&self, owner: StateOwner<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        let kept = self.kept();
        Ok(match owner {
            StateOwner::App => kept.app.clone(),
            StateOwner::User(user) => kept.users.get(user).cloned().unwrap_or_default(),
        })
    }

    async fn change_state(&self, owner: StateOwner<'_>, changes: &SessionDelta) -> Result<(), StoreError> {
        let mut kept = self.kept();
        let values = match owner {
            StateOwner::App => &mut kept.app,
            StateOwner::User(user) => kept.users.entry(user.to_owned()).or_default(),
        };
        change(values, changes);
        Ok(())
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("conversations", &self.kept().conversations.len()).finish()
    }
}
