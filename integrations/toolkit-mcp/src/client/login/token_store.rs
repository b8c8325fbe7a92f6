//! Places for the tokens of a login.

use data_encoding::HEXLOWER;
use fs4::FileExt;
use ring::digest::{SHA256, digest};
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// A lock of a [`TokenStore`], released when it is dropped.
pub type StoreLock = Box<dyn Send>;

/// A place for the tokens of [logins](crate::client::Login), such as the keyring of the system.
///
/// A key stands for a server and a registered program, and has 64 hexadecimal digits. The text contains
/// secrets.
///
/// ```
/// use std::collections::HashMap;
/// use std::error::Error;
/// use std::sync::Mutex;
/// use toolkit_ai::mcp::client::TokenStore;
///
/// /// Tokens that are forgotten with the process. The keyring of a system has the same two functions.
/// #[derive(Default)]
/// struct Forgetful(Mutex<HashMap<String, String>>);
///
/// impl TokenStore for Forgetful {
///     async fn load(&self, key: &str) -> Result<Option<String>, Box<dyn Error + Send + Sync>> {
///         Ok(self.0.lock().map_err(|error| error.to_string())?.get(key).cloned())
///     }
///
///     async fn save(&self, key: &str, text: String) -> Result<(), Box<dyn Error + Send + Sync>> {
///         self.0.lock().map_err(|error| error.to_string())?.insert(key.to_owned(), text);
///         Ok(())
///     }
/// }
/// ```
pub trait TokenStore: Send + Sync + 'static {
    /// Returns the text last saved for a key.
    ///
    /// # Errors
    /// The reason, with which the login fails.
    fn load(
        &self,
        key: &str,
    ) -> impl Future<Output = Result<Option<String>, Box<dyn Error + Send + Sync>>> + Send;

    /// Saves a text for a key.
    ///
    /// # Errors
    /// The reason, with which the login fails.
    fn save(
        &self,
        key: &str,
        text: String,
    ) -> impl Future<Output = Result<(), Box<dyn Error + Send + Sync>>> + Send;

    /// Waits for the lock of a key, held while tokens are loaded, refreshed and saved. A store shared by
    /// several processes needs it: a server may accept each refresh token only once.
    ///
    /// # Errors
    /// The reason, with which the login fails.
    fn lock(
        &self,
        _key: &str,
    ) -> impl Future<Output = Result<StoreLock, Box<dyn Error + Send + Sync>>> + Send {
        async { Ok(Box::new(()) as StoreLock) }
    }
}

impl<T: TokenStore> TokenStore for Arc<T> {
    fn load(
        &self,
        key: &str,
    ) -> impl Future<Output = Result<Option<String>, Box<dyn Error + Send + Sync>>> + Send {
        (**self).load(key)
    }

    fn save(
        &self,
        key: &str,
        text: String,
    ) -> impl Future<Output = Result<(), Box<dyn Error + Send + Sync>>> + Send {
        (**self).save(key, text)
    }

    fn lock(
        &self,
        key: &str,
    ) -> impl Future<Output = Result<StoreLock, Box<dyn Error + Send + Sync>>> + Send {
        (**self).lock(key)
    }
}

type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Box<dyn Error + Send + Sync>>> + Send + 'a>>;

/// The `dyn`-compatible form of [`TokenStore`].
pub(super) trait DynTokenStore: Send + Sync {
    fn load_boxed<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<String>>;
    fn save_boxed<'a>(&'a self, key: &'a str, text: String) -> StoreFuture<'a, ()>;
    fn lock_boxed<'a>(&'a self, key: &'a str) -> StoreFuture<'a, StoreLock>;
}

impl<S: TokenStore> DynTokenStore for S {
    fn load_boxed<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<String>> {
        Box::pin(self.load(key))
    }

    fn save_boxed<'a>(&'a self, key: &'a str, text: String) -> StoreFuture<'a, ()> {
        Box::pin(self.save(key, text))
    }

    fn lock_boxed<'a>(&'a self, key: &'a str) -> StoreFuture<'a, StoreLock> {
        Box::pin(self.lock(key))
    }
}

/// A folder with one file for each login, which several processes may share.
///
/// On Unix, only the user can read the folder and the files. Other systems protect them like their parent
/// folder.
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
    /// Creates a store. The folder is created when it is needed.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Runs `work` on a thread for blocking tasks.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> Result<T, Box<dyn Error + Send + Sync>> {
        let folder = self.folder.clone();
        let outcome = match spawn_blocking(move || work(&folder)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(io::Error::other("the file system is not available")),
        };
        Ok(outcome.map_err(|error| format!("the tokens cannot be stored: {error}"))?)
    }
}

impl TokenStore for FileTokenStore {
    async fn load(&self, key: &str) -> Result<Option<String>, Box<dyn Error + Send + Sync>> {
        let name = format!("{key}.json");
        self.blocking(move |folder| read_if_present(&folder.join(name))).await
    }

    async fn save(&self, key: &str, text: String) -> Result<(), Box<dyn Error + Send + Sync>> {
        let name = format!("{key}.json");
        self.blocking(move |folder| write(folder, &name, &text)).await
    }

    async fn lock(&self, key: &str) -> Result<StoreLock, Box<dyn Error + Send + Sync>> {
        let name = format!("{key}.lock");
        self.blocking(move |folder| lock_file(folder, &name)).await
    }
}

fn read_if_present(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn write(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    create(folder)?;
    // A temporary file belongs to the user alone, and replaces the file at once.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(folder.join(name)).map(drop).map_err(|error| error.error)
}

fn lock_file(folder: &Path, name: &str) -> io::Result<StoreLock> {
    create(folder)?;
    let file = File::options().create(true).truncate(false).write(true).open(folder.join(name))?;
    FileExt::lock(&file)?;
    Ok(Box::new(file))
}

fn create(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

pub(super) fn key(resource: &str, client: &str) -> String {
    HEXLOWER.encode(digest(&SHA256, format!("{resource} {client}").as_bytes()).as_ref())
}
