//! A store in an SQLite database.

mod database;
mod transactions;

use crate::{columns, status_column};
use database::Database;
use rusqlite::{Connection, ErrorCode};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};
use toolkit_agent::session::{
    ConversationInfo, ConversationKey, ConversationLog, ConversationStore, InboxItem, Save, StateScope,
    StoreError,
};
use toolkit_core::context::SessionDelta;
use transactions::{
    Change, IS_FOREIGN, TABLES, change_log, delete_log, put_item, read_inbox, read_list, read_log,
    read_state, read_unfinished, take_item, write_state,
};

const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Keeps conversations in an SQLite database, which programs may share.
///
/// Each store has one thread, which owns the connection and commits all waiting saves together. Clones share
/// the thread, and it ends with the last clone. An index serves the unfinished conversations.
///
/// ```
/// use toolkit_ai::agent::Sessions;
/// use toolkit_agent_stores::SqliteStore;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("agents.db");
/// let sessions = Sessions::new(SqliteStore::open(path).await?);
/// let mut conversation = sessions.user("ada").conversation("session 1").open().await?;
/// sessions.save(&mut conversation).await?;
/// assert_eq!(sessions.user("ada").list().await?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct SqliteStore(Database);

impl SqliteStore {
    /// Opens the database at `path`, or creates it.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be opened.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref().to_owned();
        let opened = tokio::task::spawn_blocking(move || Self::with(Connection::open(path))).await;
        opened.unwrap_or_else(|_| Err(StoreError::new("the store of conversations has panicked")))
    }

    /// Creates a database in memory, for tests.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be created.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::with(Connection::open_in_memory())
    }

    fn with(connection: rusqlite::Result<Connection>) -> Result<Self, StoreError> {
        let connection = connection.and_then(prepared).map_err(failed)?;
        if connection.query_row(IS_FOREIGN, [], |row| row.get(0)).map_err(failed)? {
            return Err(failed(
                "the table `conversations` has other columns, because another program or a development version of \
                 toolkit-agent-stores has created it; use another database",
            ));
        }
        connection.execute_batch(TABLES).map_err(failed)?;
        Database::start(connection).map(Self).map_err(failed)
    }

    async fn change(
        &self,
        key: ConversationKey<'_>,
        save: Save<'_>,
        is_replacement: bool,
    ) -> Result<u64, StoreError> {
        let change = Change {
            key: owned(key),
            version: save.version,
            first: save.first.cast_signed(),
            entries: save.entries.to_owned(),
            title: save.summary.title.clone(),
            status: status_column(&save.summary.status),
            summary: serde_json::to_string(save.summary)?,
            taken: save.taken.to_vec(),
            is_replacement,
        };
        let changed = self.0.write(move |transaction| change_log(transaction, &change)).await?;
        changed.ok_or_else(|| StoreError::conflict(key.id))
    }
}

fn prepared(connection: Connection) -> rusqlite::Result<Connection> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // In WAL mode, readers and one writer do not block each other. In-memory databases ignore it. SQLite does
    // not wait for other programs that change the mode at the same time.
    let started = Instant::now();
    while let Err(error) = connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())) {
        if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) || started.elapsed() > BUSY_TIMEOUT {
            return Err(error);
        }
        sleep(Duration::from_millis(5));
    }
    // Deleted content is overwritten with zeros.
    connection.query_row("PRAGMA secure_delete = ON", [], |_| Ok(()))?;
    Ok(connection)
}

impl ConversationStore for SqliteStore {
    async fn load(&self, key: ConversationKey<'_>) -> Result<Option<ConversationLog>, StoreError> {
        let key = owned(key);
        self.0.read(move |transaction| read_log(transaction, key, None)).await
    }

    async fn load_from(
        &self,
        key: ConversationKey<'_>,
        entry: u64,
    ) -> Result<Option<ConversationLog>, StoreError> {
        let key = owned(key);
        self.0.read(move |transaction| read_log(transaction, key, Some(entry))).await
    }

    async fn append(&self, key: ConversationKey<'_>, save: Save<'_>) -> Result<u64, StoreError> {
        self.change(key, save, false).await
    }

    async fn replace(&self, key: ConversationKey<'_>, save: Save<'_>) -> Result<u64, StoreError> {
        self.change(key, save, true).await
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        let user = user.to_owned();
        self.0.read(move |transaction| read_list(transaction, &user)).await
    }

    async fn unfinished(&self, user: Option<&str>) -> Result<Vec<ConversationInfo>, StoreError> {
        let user = user.map(str::to_owned);
        self.0.read(move |transaction| read_unfinished(transaction, user.as_deref())).await
    }

    async fn delete(&self, key: ConversationKey<'_>) -> Result<bool, StoreError> {
        let key = owned(key);
        self.0.write(move |transaction| delete_log(transaction, key)).await
    }

    async fn put(
        &self,
        key: ConversationKey<'_>,
        name: &str,
        content: &str,
    ) -> Result<InboxItem, StoreError> {
        let (key, name, content) = (owned(key), name.to_owned(), content.to_owned());
        self.0.write(move |transaction| put_item(transaction, key, name, &content)).await
    }

    async fn inbox(&self, key: ConversationKey<'_>) -> Result<Vec<InboxItem>, StoreError> {
        let key = owned(key);
        self.0.read(move |transaction| read_inbox(transaction, key)).await
    }

    async fn take(&self, key: ConversationKey<'_>, number: u64) -> Result<bool, StoreError> {
        let key = owned(key);
        self.0.write(move |transaction| take_item(transaction, &key, number)).await
    }

    async fn load_state(&self, scope: StateScope<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        let scope = columns(scope).map(str::to_owned);
        let rows = self.0.read(move |transaction| read_state(transaction, scope)).await?;
        let mut values = BTreeMap::new();
        for (key, value) in rows {
            values.insert(key, serde_json::from_str(&value)?);
        }
        Ok(values)
    }

    async fn update_state(&self, scope: StateScope<'_>, changes: &SessionDelta) -> Result<(), StoreError> {
        let scope = columns(scope).map(str::to_owned);
        let changes = changes.clone();
        self.0.write(move |transaction| write_state(transaction, &scope, changes)).await
    }
}

fn owned(ConversationKey { user, id }: ConversationKey<'_>) -> [String; 2] {
    [user.to_owned(), id.to_owned()]
}

fn failed(error: impl fmt::Display) -> StoreError {
    StoreError::new(format_args!("the database of conversations failed: {error}"))
}
