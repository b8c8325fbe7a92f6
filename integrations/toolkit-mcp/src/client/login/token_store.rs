//! Places for the tokens of a login.

use data_encoding::HEXLOWER;
use fs4::FileExt;
use ring::digest::{SHA256, digest};
use std::fs::{self, File};
use std::future::ready;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use tokio::task::spawn_blocking;

/// A future of a [`TokenStore`], with the reason for a failure.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// A lock of a [`TokenStore`], released when the value is dropped.
pub type StoreLock = Box<dyn Send>;

/// A place for the tokens of [logins](crate::client::Login), such as the keyring of the system.
///
/// A key stands for a server and a registered program, and consists of 64 hexadecimal digits. The text to store
/// contains secrets.
pub trait TokenStore: Send + Sync + 'static {
    /// Returns the text last saved for a key.
    fn load<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<String>>;

    /// Saves a text for a key.
    fn save<'a>(&'a self, key: &'a str, text: String) -> StoreFuture<'a, ()>;

    /// Waits for the lock of a key. The lock is held while tokens are loaded, refreshed and saved. A store that several
    /// processes share needs it, because a server may accept each refresh token only once.
    fn lock<'a>(&'a self, _key: &'a str) -> StoreFuture<'a, StoreLock> {
        Box::pin(ready(Ok(Box::new(()) as StoreLock)))
    }
}

/// A store with one file for each login, in a folder. Several processes may share the folder.
///
/// On Unix, only the user can read the folder and the files. Other systems protect them like their parent folder.
///
/// ```
/// use toolkit_ai::mcp::client::{FileTokenStore, Login, McpUrl};
///
/// let login = Login::new("My Program").with_token_store(FileTokenStore::new("/home/ada/.config/my-program/logins"));
/// let _url = McpUrl::new("https://example.com/mcp").with_login(login);
/// ```
#[derive(Debug, Clone)]
pub struct FileTokenStore {
    folder: PathBuf,
}

impl FileTokenStore {
    /// Creates a store in `folder`. The folder is created when it is needed.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Runs `work` with the folder, on a thread for blocking tasks.
    fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let folder = self.folder.clone();
        Box::pin(async move {
            let done = spawn_blocking(move || work(&folder)).await;
            let done = done.unwrap_or_else(|_| Err(io::Error::other("the file system is not available")));
            done.map_err(|error| format!("the tokens cannot be stored: {error}"))
        })
    }
}

impl TokenStore for FileTokenStore {
    fn load<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<String>> {
        let name = format!("{key}.json");
        self.blocking(move |folder| match fs::read_to_string(folder.join(name)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        })
    }

    fn save<'a>(&'a self, key: &'a str, text: String) -> StoreFuture<'a, ()> {
        let name = format!("{key}.json");
        self.blocking(move |folder| {
            create(folder)?;
            // A temporary file belongs to the user alone, and replaces the file at once.
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(folder.join(name)).map(drop).map_err(|error| error.error)
        })
    }

    fn lock<'a>(&'a self, key: &'a str) -> StoreFuture<'a, StoreLock> {
        let name = format!("{key}.lock");
        self.blocking(move |folder| {
            create(folder)?;
            let file = File::options().create(true).truncate(false).write(true).open(folder.join(name))?;
            FileExt::lock(&file)?;
            Ok(Box::new(file) as StoreLock)
        })
    }
}

fn create(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Returns the key for the tokens of a client at a server.
pub(super) fn key(resource: &str, client: &str) -> String {
    HEXLOWER.encode(digest(&SHA256, format!("{resource} {client}").as_bytes()).as_ref())
}
