//! A store that keeps conversations in files.

mod log;
mod names;

use super::store::{
    ConversationInfo, ConversationLog, ConversationStore, StateScope, StoreError, apply, blocking,
    check_values,
};
use fs4::FileExt;
use names::{ENDING, id_of, path_of};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use toolkit_core::context::SessionDelta;

/// A store with one file for each conversation, in a folder. Clones share the conversations.
///
/// A save appends one line of JSON to the file. After a crash, an incomplete last line is ignored. Several
/// programs may share a folder: a lock on the file protects each save.
///
/// File names contain the ids of the user and the conversation. A lowercase ASCII letter, a digit, `-` or `_` takes one
/// byte of a path, and any other byte of an id takes three. If a path is too long for the system (on Linux, over 4,095
/// bytes), opening the conversation fails.
///
/// ```
/// use toolkit_agent::{Sessions, session::FileStore};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let sessions = Sessions::new(FileStore::new(folder));
/// let mut conversation = sessions.open("ada", "What about ../../etc?").await?;
/// sessions.save(&mut conversation).await?;
/// assert_eq!(sessions.list("ada").await?[0].id, "What about ../../etc?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct FileStore {
    folder: PathBuf,
}

impl FileStore {
    /// Creates a store in `folder`. The folder is created at the first save.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    fn conversations_of(&self, user: &str) -> PathBuf {
        path_of(&self.folder.join("conversations"), user, "")
    }

    fn conversation(&self, user: &str, id: &str) -> PathBuf {
        path_of(&self.conversations_of(user), id, ENDING)
    }

    fn state(&self, scope: StateScope<'_>) -> PathBuf {
        match scope {
            StateScope::App => self.folder.join("app.json"),
            StateScope::User(user) => path_of(&self.folder.join("users"), user, ".json"),
        }
    }
}

impl ConversationStore for FileStore {
    async fn load(&self, user: &str, id: &str) -> Result<Option<ConversationLog>, StoreError> {
        let path = self.conversation(user, id);
        blocking(move || log::read(&path).map_err(|error| failed("read", &path, &error))).await
    }

    async fn append(&self, user: &str, id: &str, version: u64, entry: &str) -> Result<u64, StoreError> {
        let path = self.conversation(user, id);
        let id = id.to_owned();
        let entry = entry.to_owned();
        blocking(move || {
            let appended = log::append(&path, version, &entry);
            appended
                .map_err(|error| failed("written", &path, &error))?
                .ok_or_else(|| StoreError::conflict(&id))
        })
        .await
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        let folder = self.conversations_of(user);
        blocking(move || {
            let mut found = Vec::new();
            list(&folder, &folder, &mut found)?;
            found.sort_by(ConversationInfo::latest_first);
            Ok(found)
        })
        .await
    }

    async fn delete(&self, user: &str, id: &str) -> Result<bool, StoreError> {
        let path = self.conversation(user, id);
        blocking(move || log::delete(&path).map_err(|error| failed("deleted", &path, &error))).await
    }

    async fn load_state(&self, scope: StateScope<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        let path = self.state(scope);
        blocking(move || Ok(read(&path)?.unwrap_or_default())).await
    }

    async fn update_state(&self, scope: StateScope<'_>, changes: &SessionDelta) -> Result<(), StoreError> {
        check_values(changes)?;
        let path = self.state(scope);
        let changes = changes.clone();
        let lock = self.folder.join("state.lock");
        blocking(move || {
            let _lock = locked(&lock).map_err(|error| failed("locked", &lock, &error))?;
            let mut values: BTreeMap<String, Value> = read(&path)?.unwrap_or_default();
            apply(&mut values, &changes);
            write(&path, &serde_json::to_vec(&values)?)
        })
        .await
    }
}

fn failed(what: &str, path: &Path, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::new(format_args!("file `{}` cannot be {what}: {error}", path.display()))
}

/// Opens and locks a file, creating it if needed. Dropping the returned file releases the lock.
fn locked(path: &Path) -> io::Result<File> {
    create_folder(path.parent().unwrap_or(Path::new(".")))?;
    let file = File::options().create(true).append(true).open(path)?;
    FileExt::lock(&file)?;
    Ok(file)
}

/// Reads and parses a JSON file. Returns `None` if the file does not exist.
fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, StoreError> {
    match fs::read(path) {
        Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|error| failed("parsed", path, &error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path, &error)),
    }
}

/// Writes `text` to a temporary file, and then replaces the file at `path` with the temporary file.
fn write(path: &Path, text: &[u8]) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let replace = || -> io::Result<()> {
        create_folder(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        sync_folder(path)
    };
    replace().map_err(|error| failed("written", path, &error))
}

/// Creates a folder that a crash of the system does not remove, with the folders around it.
fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        create_folder(parent)?;
    }
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => sync_folder(folder),
    }
}

/// Writes the entry of a new file or folder to the disk. Does nothing where folders cannot be written: on systems
/// other than Unix, on some network file systems, and without permission to read the folder.
fn sync_folder(entry: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    if !cfg!(unix) {
        return Ok(());
    }
    let folder = entry.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if !matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => Err(error),
        _ => Ok(()),
    }
}

/// Adds the conversations in `folder` and its subfolders to `found`. The path for a long id contains several
/// folders.
fn list(root: &Path, folder: &Path, found: &mut Vec<ConversationInfo>) -> Result<(), StoreError> {
    let unreadable = |error: io::Error| failed("read", folder, &error);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(unreadable)?,
    };
    for entry in entries {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        // Another program may delete files during the listing.
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() {
            list(root, &path, found)?;
        } else if let Some(id) = id_of(root, &path).filter(|_| metadata.len() > 0) {
            let saved_at = metadata.modified().map_err(unreadable)?;
            found.push(ConversationInfo::new(id, saved_at));
        }
    }
    Ok(())
}
