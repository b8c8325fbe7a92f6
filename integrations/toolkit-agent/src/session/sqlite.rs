//! A store that keeps conversations in an SQLite database.

use super::store::{
    ConversationInfo, ConversationLog, ConversationStore, StateScope, StoreError, blocking, check_values,
};
use crate::helpers::lock;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use toolkit_core::context::SessionDelta;

/// The maximum time to wait for a database that another program has locked.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS conversations (
        number INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL, id TEXT NOT NULL,
        saved_at INTEGER NOT NULL, version INTEGER NOT NULL,
        UNIQUE (user_id, id)
    );
    CREATE TABLE IF NOT EXISTS entries (
        conversation INTEGER NOT NULL, version INTEGER NOT NULL, entry TEXT NOT NULL,
        PRIMARY KEY (conversation, version)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS state (
        scope TEXT NOT NULL, owner TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (scope, owner, key)
    ) WITHOUT ROWID;";

/// A store in an SQLite database. Several programs may share the database. Clones share the connection.
///
/// ```
/// use toolkit_agent::{Sessions, session::SqliteStore};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("agents.db");
/// let sessions = Sessions::new(SqliteStore::open(path).await?);
/// let mut conversation = sessions.open("ada", "session 1").await?;
/// sessions.save(&mut conversation).await?;
/// assert_eq!(sessions.list("ada").await?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct SqliteStore(Arc<Mutex<Connection>>);

impl SqliteStore {
    /// Opens the database at `path`, or creates it if the file does not exist.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be opened.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref().to_owned();
        blocking(move || Self::with(Connection::open(path)).map_err(failed)).await
    }

    /// Creates a database in memory, for tests.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be created.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::with(Connection::open_in_memory()).map_err(failed)
    }

    fn with(connection: rusqlite::Result<Connection>) -> rusqlite::Result<Self> {
        let connection = connection?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // In WAL mode, readers and one writer do not block each other. In-memory databases ignore this mode.
        connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        connection.execute_batch(TABLES)?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    async fn with_connection<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let connection = self.0.clone();
        let work = move || work(&mut lock(&connection));
        blocking(move || work().map_err(failed)).await
    }
}

impl ConversationStore for SqliteStore {
    async fn load(&self, user: &str, id: &str) -> Result<Option<ConversationLog>, StoreError> {
        let key = [user.to_owned(), id.to_owned()];
        self.with_connection(move |connection| {
            // Read in one transaction, so that the version belongs to the entries.
            let transaction = connection.transaction()?;
            let sql = "SELECT number, version FROM conversations WHERE user_id = ?1 AND id = ?2";
            let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
            let Some((number, version)) = transaction.query_row(sql, key, read).optional()? else {
                return Ok(None);
            };
            let sql = "SELECT entry FROM entries WHERE conversation = ?1 ORDER BY version";
            let mut statement = transaction.prepare(sql)?;
            let entries = statement.query_map([number], |row| row.get(0))?.collect::<Result<_, _>>()?;
            Ok(Some(ConversationLog::new(entries, version_of(number, version))))
        })
        .await
    }

    async fn append(&self, user: &str, id: &str, version: u64, entry: &str) -> Result<u64, StoreError> {
        let key = [user.to_owned(), id.to_owned()];
        let entry = entry.to_owned();
        let appended = self
            .with_connection(move |connection| {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                let now = i64::try_from(now.as_micros()).unwrap_or(i64::MAX);
                let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                if version == 0 {
                    let sql =
                        "INSERT INTO conversations (user_id, id, saved_at, version) VALUES (?1, ?2, ?3, 0)
                        ON CONFLICT DO NOTHING";
                    if transaction.execute(sql, params![key[0], key[1], now])? == 0 {
                        return Ok(None);
                    }
                }
                let sql = "SELECT number, version FROM conversations WHERE user_id = ?1 AND id = ?2";
                let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
                let found = transaction.query_row(sql, [&key[0], &key[1]], read).optional()?;
                let is_expected =
                    |(number, latest): &(i64, i64)| version == 0 || version_of(*number, *latest) == version;
                let Some((number, latest)) = found.filter(is_expected) else { return Ok(None) };
                let sql = "INSERT INTO entries VALUES (?1, ?2, ?3)";
                transaction.execute(sql, params![number, latest + 1, entry])?;
                let sql = "UPDATE conversations SET version = ?2, saved_at = ?3 WHERE number = ?1";
                transaction.execute(sql, params![number, latest + 1, now])?;
                transaction.commit()?;
                Ok(Some(version_of(number, latest + 1)))
            })
            .await?;
        appended.ok_or_else(|| StoreError::conflict(id))
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        let user = user.to_owned();
        self.with_connection(move |connection| {
            let sql = "SELECT id, saved_at FROM conversations WHERE user_id = ?1 ORDER BY saved_at DESC, id";
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([user], |row| {
                let since = Duration::from_micros(u64::try_from(row.get::<_, i64>(1)?).unwrap_or_default());
                let saved_at = UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH);
                Ok(ConversationInfo::new(row.get::<_, String>(0)?, saved_at))
            })?;
            rows.collect()
        })
        .await
    }

    async fn delete(&self, user: &str, id: &str) -> Result<bool, StoreError> {
        let key = [user.to_owned(), id.to_owned()];
        self.with_connection(move |connection| {
            let transaction = connection.transaction()?;
            let sql = "DELETE FROM entries WHERE conversation IN
                (SELECT number FROM conversations WHERE user_id = ?1 AND id = ?2)";
            transaction.execute(sql, [&key[0], &key[1]])?;
            let sql = "DELETE FROM conversations WHERE user_id = ?1 AND id = ?2";
            let deleted = transaction.execute(sql, key)?;
            transaction.commit()?;
            Ok(deleted > 0)
        })
        .await
    }

    async fn load_state(&self, scope: StateScope<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        let scope = scope.key().map(str::to_owned);
        let rows: Vec<(String, String)> = self
            .with_connection(move |connection| {
                let sql = "SELECT key, value FROM state WHERE scope = ?1 AND owner = ?2";
                let mut statement = connection.prepare(sql)?;
                statement.query_map(scope, |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
            })
            .await?;
        rows.into_iter().map(|(key, value)| Ok((key, serde_json::from_str(&value)?))).collect()
    }

    async fn update_state(&self, scope: StateScope<'_>, changes: &SessionDelta) -> Result<(), StoreError> {
        check_values(changes)?;
        let ([scope, owner], changes) = (scope.key().map(str::to_owned), changes.clone());
        self.with_connection(move |connection| {
            let transaction = connection.transaction()?;
            for (key, value) in changes {
                match value {
                    Some(value) => transaction.execute(
                        "INSERT OR REPLACE INTO state VALUES (?1, ?2, ?3, ?4)",
                        params![scope, owner, key, value.to_string()],
                    )?,
                    None => transaction.execute(
                        "DELETE FROM state WHERE scope = ?1 AND owner = ?2 AND key = ?3",
                        params![scope, owner, key],
                    )?,
                };
            }
            transaction.commit()
        })
        .await
    }
}

/// Returns the version of a log. It includes the number of the conversation, so a conversation that is
/// deleted and created again has other versions.
fn version_of(number: i64, version: i64) -> u64 {
    (number.cast_unsigned() << 32) | (version.cast_unsigned() & u64::from(u32::MAX))
}

fn failed(error: rusqlite::Error) -> StoreError {
    StoreError::new(format_args!("the database of conversations failed: {error}"))
}
