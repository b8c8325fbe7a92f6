//! A store that keeps conversations in files.

mod inbox;
mod line;
mod list;
mod log;
mod names;
mod tail;

use fs4::FileExt;
use line::OwnedSave;
use list::listed;
use names::{ENDING, path_of};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use toolkit_agent::session::{
    ConversationInfo, ConversationKey, ConversationLog, ConversationStore, InboxItem, Save, StateScope,
    StoreError,
};
use toolkit_core::context::SessionDelta;

/// The maximum number of concurrent operations. A disk writes several files at once faster than in turn.
const OPERATIONS: usize = 8;

/// Keeps one file for each conversation, in a folder.
///
/// Clones share the conversations.
///
/// A save appends one line: the entries, a tab, and details as JSON with what lists tell, so that lists read
/// only the end of each file. After a crash, an incomplete last line is ignored. A damaged line is an error
/// that names the file and the line. The inbox of a conversation is a file beside it.
///
/// Several programs may share a folder: a lock on the file protects each save. A store runs at most eight
/// operations at the same time, in blocking tasks of Tokio.
///
/// File names contain the ids of the user and the conversation. A lowercase ASCII letter, a digit, `-` or `_`
/// takes one byte of a path, and any other byte of an id takes three. If a path is too long for the system
/// (on Linux, over 4,095 bytes), opening the conversation fails.
///
/// ```
/// use toolkit_ai::agent::Sessions;
/// use toolkit_agent_stores::FileStore;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let sessions = Sessions::new(FileStore::new(folder));
/// let mut conversation = sessions.user("ada").conversation("What about ../../etc?").open().await?;
/// sessions.save(&mut conversation).await?;
/// assert_eq!(sessions.user("ada").list().await?[0].id, "What about ../../etc?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct FileStore {
    folder: PathBuf,
    permits: Arc<Semaphore>,
}

impl FileStore {
    /// Creates a store in `folder`, which the first save creates.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), permits: Arc::new(Semaphore::new(OPERATIONS)) }
    }

    /// Runs `work` on a blocking thread. A panic becomes an error.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = self.permits.clone().acquire_owned().await;
        let done = tokio::task::spawn_blocking(move || with_permit(permit, work)).await;
        // A panic message may contain secrets, and the model may read this error.
        done.unwrap_or_else(|_| Err(StoreError::new("the store of conversations has panicked")))
    }

    /// Changes a log with `write`, which returns the new version.
    async fn write(
        &self,
        key: ConversationKey<'_>,
        save: Save<'_>,
        write: fn(&Path, OwnedSave) -> io::Result<Option<u64>>,
    ) -> Result<u64, StoreError> {
        let save = OwnedSave::from(save);
        let written = self.on_log("written", key, move |path| write(path, save)).await?;
        written.ok_or_else(|| StoreError::conflict(key.id))
    }

    /// Runs `work` with the path of a log. `what` names it in errors.
    async fn on_log<T: Send + 'static>(
        &self,
        what: &'static str,
        ConversationKey { user, id }: ConversationKey<'_>,
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let path = path_of(&path_of(&self.conversations(), user, ""), id, ENDING);
        self.blocking(move || of_file(what, &path, work(&path))).await
    }

    fn conversations(&self) -> PathBuf {
        self.folder.join("conversations")
    }

    fn state(&self, scope: StateScope<'_>) -> PathBuf {
        match scope {
            StateScope::App => self.folder.join("app.json"),
            StateScope::User(user) => path_of(&self.folder.join("users"), user, ".json"),
        }
    }
}

/// Runs `work`, and gives the permit back afterwards.
fn with_permit<T>(_permit: Result<OwnedSemaphorePermit, AcquireError>, work: impl FnOnce() -> T) -> T {
    work()
}

impl ConversationStore for FileStore {
    async fn load(&self, key: ConversationKey<'_>) -> Result<Option<ConversationLog>, StoreError> {
        self.on_log("read", key, log::read).await
    }

    async fn load_from(
        &self,
        key: ConversationKey<'_>,
        entry: u64,
    ) -> Result<Option<ConversationLog>, StoreError> {
        self.on_log("read", key, move |path| log::read_from(path, entry)).await
    }

    async fn append(&self, key: ConversationKey<'_>, save: Save<'_>) -> Result<u64, StoreError> {
        self.write(key, save, log::append).await
    }

    async fn replace(&self, key: ConversationKey<'_>, save: Save<'_>) -> Result<u64, StoreError> {
        self.write(key, save, log::replace).await
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        let (folder, user) = (self.conversations(), user.to_owned());
        let mut found = self.blocking(move || listed(&folder, Some(&user))).await?;
        found.retain(|info| info.saved_at > UNIX_EPOCH);
        found.sort_by(|one, other| (other.saved_at, &one.id).cmp(&(one.saved_at, &other.id)));
        Ok(found)
    }

    async fn unfinished(&self, user: Option<&str>) -> Result<Vec<ConversationInfo>, StoreError> {
        let (folder, user) = (self.conversations(), user.map(str::to_owned));
        let mut found = self.blocking(move || listed(&folder, user.as_deref())).await?;
        found.retain(|info| info.inbox > 0 || info.summary.is_unfinished());
        found.sort_by(|one, other| (one.saved_at, &one.id).cmp(&(other.saved_at, &other.id)));
        Ok(found)
    }

    async fn delete(&self, key: ConversationKey<'_>) -> Result<bool, StoreError> {
        self.on_log("deleted", key, log::delete).await
    }

    async fn put(
        &self,
        key: ConversationKey<'_>,
        name: &str,
        content: &str,
    ) -> Result<InboxItem, StoreError> {
        let (name, content) = (name.to_owned(), content.to_owned());
        self.on_log("written", key, move |path| inbox::put(path, name, content)).await
    }

    async fn inbox(&self, key: ConversationKey<'_>) -> Result<Vec<InboxItem>, StoreError> {
        self.on_log("read", key, inbox::items).await
    }

    async fn take(&self, key: ConversationKey<'_>, number: u64) -> Result<bool, StoreError> {
        self.on_log("written", key, move |path| inbox::take(path, number)).await
    }

    async fn load_state(&self, scope: StateScope<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        let path = self.state(scope);
        self.blocking(move || read(&path)).await
    }

    async fn update_state(&self, scope: StateScope<'_>, changes: &SessionDelta) -> Result<(), StoreError> {
        let path = self.state(scope);
        let changes = changes.clone();
        let lock = self.folder.join("state.lock");
        self.blocking(move || update(&path, &lock, changes)).await
    }
}

/// Changes the session values at `path`, under the lock of the file `lock`.
fn update(path: &Path, lock: &Path, changes: SessionDelta) -> Result<(), StoreError> {
    let _lock = of_file("locked", lock, locked(lock))?;
    let mut values = read(path)?;
    for (key, value) in changes {
        match value {
            Some(value) => values.insert(key, value),
            None => values.remove(&key),
        };
    }
    let text = serde_json::to_vec(&values)?;
    of_file("written", path, replace_file(path, &text))
}

/// Names the file and the failed action in an error.
fn of_file<T>(what: &str, path: &Path, result: io::Result<T>) -> Result<T, StoreError> {
    result.map_err(|error| failed(what, path, &error))
}

fn failed(what: &str, path: &Path, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::new(format_args!("file `{}` cannot be {what}: {error}", path.display()))
}

/// Opens or creates a file, and locks it until it is dropped.
fn locked(path: &Path) -> io::Result<File> {
    create_folder(path.parent().unwrap_or(Path::new(".")))?;
    let file = File::options().create(true).append(true).open(path)?;
    FileExt::lock(&file)?;
    Ok(file)
}

/// Reads the session values in a file, none if it does not exist.
fn read(path: &Path) -> Result<BTreeMap<String, Value>, StoreError> {
    match fs::read(path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| failed("parsed", path, &error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(failed("read", path, &error)),
    }
}

/// Replaces the file at `path` through a temporary file.
fn replace_file(path: &Path, text: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    sync_folder(path)
}

/// Creates a folder and those around it, safe from a crash of the system.
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

/// Writes the entry of a new file or folder to the disk, except where folders cannot be written: on systems
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
