//! A store whose changes fail now and then, before or after they were made.

use std::collections::BTreeMap;
use std::sync::Mutex;
use toolkit_agent::session::{
    ConversationInfo, ConversationKey, ConversationLog, ConversationStore, InboxItem, Save, StateScope,
    StoreError,
};
use toolkit_core::context::SessionDelta;
use toolkit_core::serde_json::Value;

use crate::errand::Dice;

pub(crate) struct FailingStore<S> {
    inner: S,
    permille: u64,
    dice: Mutex<Dice>,
}

impl<S> FailingStore<S> {
    pub(crate) fn new(inner: S, permille: u64) -> Self {
        Self { inner, permille, dice: Mutex::new(Dice::new(u64::from(std::process::id()))) }
    }

    fn fail(&self) -> Result<(), StoreError> {
        if self.dice.lock().unwrap().below(2000) < self.permille {
            return Err(StoreError::new("the disk does not answer"));
        }
        Ok(())
    }
}

impl<S: ConversationStore> ConversationStore for FailingStore<S> {
    async fn load(&self, key: ConversationKey<'_>) -> Result<Option<ConversationLog>, StoreError> {
        self.fail()?;
        self.inner.load(key).await
    }

    async fn load_from(
        &self,
        key: ConversationKey<'_>,
        entry: u64,
    ) -> Result<Option<ConversationLog>, StoreError> {
        self.fail()?;
        self.inner.load_from(key, entry).await
    }

    async fn append(&self, key: ConversationKey<'_>, save: Save<'_>) -> Result<u64, StoreError> {
        self.fail()?;
        let version = self.inner.append(key, save).await?;
        self.fail()?;
        Ok(version)
    }

    async fn replace(&self, key: ConversationKey<'_>, save: Save<'_>) -> Result<u64, StoreError> {
        self.inner.replace(key, save).await
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        self.inner.list(user).await
    }

    async fn unfinished(&self, user: Option<&str>) -> Result<Vec<ConversationInfo>, StoreError> {
        self.fail()?;
        self.inner.unfinished(user).await
    }

    async fn delete(&self, key: ConversationKey<'_>) -> Result<bool, StoreError> {
        self.inner.delete(key).await
    }

    async fn put(
        &self,
        key: ConversationKey<'_>,
        name: &str,
        content: &str,
    ) -> Result<InboxItem, StoreError> {
        self.fail()?;
        let item = self.inner.put(key, name, content).await?;
        self.fail()?;
        Ok(item)
    }

    async fn inbox(&self, key: ConversationKey<'_>) -> Result<Vec<InboxItem>, StoreError> {
        self.fail()?;
        self.inner.inbox(key).await
    }

    async fn take(&self, key: ConversationKey<'_>, number: u64) -> Result<bool, StoreError> {
        self.fail()?;
        let was_there = self.inner.take(key, number).await?;
        self.fail()?;
        Ok(was_there)
    }

    async fn load_state(&self, scope: StateScope<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        self.inner.load_state(scope).await
    }

    async fn update_state(&self, scope: StateScope<'_>, changes: &SessionDelta) -> Result<(), StoreError> {
        self.inner.update_state(scope, changes).await
    }
}
