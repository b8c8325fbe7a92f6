//! What is remembered of a user and of the application, shared by all conversations of a program.

use super::store::{AnyStore, StateOwner, StoreError};
use serde_json::Value;
use std::collections::BTreeMap;
use tokio::sync::Mutex;
use toolkit_core::context::{SessionDelta, SessionMap};

/// What is remembered of one owner.
#[derive(Debug, Default)]
pub(super) struct SharedState {
    pub(super) values: SessionMap,
    /// The values as the store has them, as far as is known.
    kept: Mutex<BTreeMap<String, Value>>,
}

impl SharedState {
    /// Takes over what others have changed in the store. What was changed here and not saved yet stays.
    pub(super) async fn refresh(
        &self,
        store: &dyn AnyStore,
        owner: StateOwner<'_>,
    ) -> Result<(), StoreError> {
        let mut kept = self.kept.lock().await;
        let now = store.load_state(owner).await?;
        let changed_here = changes(&kept, &self.values.snapshot());
        for (key, value) in changes(&kept, &now) {
            match value {
                _ if changed_here.contains_key(&key) => {}
                Some(value) => self.values.set(key, value),
                None => self.values.remove(&key),
            }
        }
        *kept = now;
        Ok(())
    }

    /// Saves what was changed.
    pub(super) async fn save(&self, store: &dyn AnyStore, owner: StateOwner<'_>) -> Result<(), StoreError> {
        let mut kept = self.kept.lock().await;
        let now = self.values.snapshot();
        let changes = changes(&kept, &now);
        if !changes.is_empty() {
            store.change_state(owner, &changes).await?;
            *kept = now;
        }
        Ok(())
    }
}

/// What has to be changed in `old` to make it `new`.
fn changes(old: &BTreeMap<String, Value>, new: &BTreeMap<String, Value>) -> SessionDelta {
    let set = new.iter().filter(|(key, value)| old.get(*key) != Some(value));
    let removed = old.keys().filter(|key| !new.contains_key(*key));
    let set = set.map(|(key, value)| (key.clone(), Some(value.clone())));
    set.chain(removed.map(|key| (key.clone(), None))).collect()
}

/// Makes changes of values.
pub(super) fn change(values: &mut BTreeMap<String, Value>, changes: &SessionDelta) {
    for (key, value) in changes {
        match value {
            Some(value) => values.insert(key.clone(), value.clone()),
            None => values.remove(key),
        };
    }
}

/// What a conversation that was opened holds, so that what is remembered of its user is kept as long as it is.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(super) user: std::sync::Arc<SharedState>,
}
