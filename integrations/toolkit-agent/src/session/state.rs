//! The session values of a user or the application, shared by all conversations of a program.

use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Mutex;
use toolkit_core::context::{SessionDelta, SessionMap};

/// The session values of one scope.
#[derive(Debug, Default)]
pub(super) struct SharedState {
    pub(super) values: SessionMap,
    /// The values in the store, as last seen.
    stored: Mutex<BTreeMap<String, Value>>,
}

impl SharedState {
    /// Takes over changes by other programs. Unsaved changes of this program stay.
    pub(super) async fn refresh<E>(
        &self,
        load: impl Future<Output = Result<BTreeMap<String, Value>, E>>,
    ) -> Result<(), E> {
        let mut stored = self.stored.lock().await;
        let loaded = load.await?;
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
    pub(super) async fn save<E>(
        &self,
        write: impl AsyncFnOnce(&SessionDelta) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut stored = self.stored.lock().await;
        let current = self.values.snapshot();
        let changes = delta(&stored, &current);
        if !changes.is_empty() {
            write(&changes).await?;
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

/// Applies changes to values.
pub(super) fn apply(values: &mut BTreeMap<String, Value>, changes: &SessionDelta) {
    for (key, value) in changes {
        match value {
            Some(value) => values.insert(key.clone(), value.clone()),
            None => values.remove(key),
        };
    }
}

/// Keeps the shared state of a user open as long as one of the user's conversations.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(super) user: Arc<SharedState>,
}
