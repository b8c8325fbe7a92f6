//! Conversations that are kept in files.

mod names;

use super::state::change;
use super::store::{ConversationInfo, ConversationStore, StateOwner, StoreError, blocking};
use crate::conversation::Conversation;
use names::{id_of, path_of};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use toolkit_core::context::SessionDelta;

/// Keeps each conversation in a JSON file of its own, in a folder. Clones keep the same conversations.
///
/// A file is replaced at once, when the new one is on the disk: a crash leaves the old one or the new one. Several
/// programs may share a folder, as long as they do not change what is remembered of the same user at the same moment;
/// for more, take a database.
///
/// ```
/// use toolkit_agent::{FileStore, Sessions};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let sessions = Sessions::new(FileStore::new(folder));
/// let conversation = sessions.open("ada", "What about ../../etc?").await?;
/// sessions.save(&conversation).await?;
/// assert_eq!(sessions.list("ada").await?[0].id, "What about ../../etc?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct FileStore {
    folder: PathBuf,
    /// Held while what is remembered is read and replaced.
    changing: Arc<Mutex<()>>,
}

impl FileStore {
    /// Keeps conversations in this folder, which is made when it is needed.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), changing: Arc::default() }
    }

    fn conversations_of(&self, user: &str) -> PathBuf {
        path_of(&self.folder.join("conversations"), user, "")
    }

    fn conversation(&self, user: &str, id: &str) -> PathBuf {
        path_of(&self.conversations_of(user), id, ".json")
    }

    fn state(&self, owner: StateOwner<'_>) -> PathBuf {
        match owner {
            StateOwner::App => self.folder.join("app.json"),
            StateOwner::User(user) => path_of(&self.folder.join("users"), user, ".json"),
        }
    }
}

impl ConversationStore for FileStore {
    async fn load(&self, user: &str, id: &str) -> Result<Option<Conversation>, StoreError> {
        let path = self.conversation(user, id);
        blocking(move || read(&path)).await
    }

    async fn save(&self, conversation: &Conversation) -> Result<(), StoreError> {
        let path = self.conversation(conversation.user_id(), conversation.id());
        let text = serde_json::to_vec(conversation)?;
        blocking(move || write(&path, &text)).await
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        let folder = self.conversations_of(user);
        blocking(move || {
            let mut found = Vec::new();
            list(&folder, &folder, &mut found)?;
            found.sort_by(|one, other| other.saved_at.cmp(&one.saved_at).then_with(|| one.id.cmp(&other.id)));
            Ok(found)
        })
        .await
    }

    async fn delete(&self, user: &str, id: &str) -> Result<bool, StoreError> {
        let path = self.conversation(user, id);
        blocking(move || match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed("deleted", &path, &error)),
        })
        .await
    }

    async fn load_state(&self, owner: StateOwner<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        let path = self.state(owner);
        blocking(move || Ok(read(&path)?.unwrap_or_default())).await
    }

    async fn change_state(&self, owner: StateOwner<'_>, changes: &SessionDelta) -> Result<(), StoreError> {
        let (path, changes, changing) = (self.state(owner), changes.clone(), self.changing.clone());
        blocking(move || {
            let _changing = changing.lock().unwrap_or_else(PoisonError::into_inner);
            let mut values: BTreeMap<String, Value> = read(&path)?.unwrap_or_default();
            change(&mut values, &changes);
            write(&path, &to_json(&values)?)
        })
        .await
    }
}

fn to_json(value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    Ok(serde_json::to_vec(value)?)
}

fn failed(what: &str, path: &Path, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::new(format_args!("`{}` cannot be {what}: {error}", path.display()))
}

/// What a file holds; `None` if there is none.
fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, StoreError> {
    match fs::read(path) {
        Ok(text) => {
            serde_json::from_slice(&text).map(Some).map_err(|error| failed("understood", path, &error))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path, &error)),
    }
}

/// Replaces a file by one that is whole and on the disk.
fn write(path: &Path, text: &[u8]) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let replace = || -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    replace().map_err(|error| failed("written", path, &error))
}

/// Finds the conversations in a folder. Names that are too long for one file are folders and a file.
fn list(root: &Path, folder: &Path, found: &mut Vec<ConversationInfo>) -> Result<(), StoreError> {
    let unreadable = |error: io::Error| failed("read", folder, &error);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(unreadable)?,
    };
    for entry in entries {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        // Files may go while they are listed.
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() {
            list(root, &path, found)?;
        } else if let Some(id) = id_of(root, &path) {
            let saved_at = metadata.modified().map_err(unreadable)?;
            found.push(ConversationInfo::new(id, saved_at));
        }
    }
    Ok(())
}
