//! A store in an SQLite database.

mod database;

use crate::columns;
use database::Database;
use rusqlite::types::FromSql;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, Transaction, params};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use toolkit_agent::session::{
    ConversationInfo, ConversationKey, ConversationLog, ConversationStore, StateScope, StoreError,
};
use toolkit_core::context::SessionDelta;

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

const FIND: &str = "SELECT number, version FROM conversations WHERE user_id = ?1 AND id = ?2";

/// Keeps conversations in an SQLite database, which programs may share.
///
/// Each store has one thread, which owns the connection and commits all waiting saves together. Clones share
/// the thread, and it ends with the last clone.
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
        let opening = tokio::task::spawn_blocking(move || Self::with(Connection::open(path)));
        match opening.await {
            Ok(opened) => opened,
            Err(_) => Err(StoreError::new("the store of conversations has panicked")),
        }
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
        Database::start(connection).map(Self).map_err(failed)
    }

    async fn change(
        &self,
        user: &str,
        id: &str,
        version: u64,
        entry: &str,
        is_replacement: bool,
    ) -> Result<u64, StoreError> {
        let key = [user.to_owned(), id.to_owned()];
        let entry = entry.to_owned();
        let changed = self
            .0
            .write(move |transaction| change_log(transaction, &key, version, &entry, is_replacement))
            .await?;
        changed.ok_or_else(|| StoreError::conflict(id))
    }
}

/// Adds an entry to a log, or replaces its entries. Returns the new version; `None` if the log has another
/// one.
fn change_log(
    transaction: &Transaction<'_>,
    key: &[String; 2],
    version: u64,
    entry: &str,
    is_replacement: bool,
) -> rusqlite::Result<Option<u64>> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
    let Some((number, latest)) = find(transaction, key, version, now)? else { return Ok(None) };
    if is_replacement {
        transaction.execute("DELETE FROM entries WHERE conversation = ?1", [number])?;
    }
    let mut statement = transaction.prepare("INSERT INTO entries VALUES (?1, ?2, ?3)")?;
    statement.execute(params![number, latest + 1, entry])?;
    let sql = "UPDATE conversations SET version = ?2, saved_at = ?3 WHERE number = ?1";
    transaction.prepare(sql)?.execute(params![number, latest + 1, now])?;
    Ok(Some(version_of(number, latest + 1)))
}

fn read_log(transaction: &Transaction<'_>, key: [String; 2]) -> rusqlite::Result<Option<ConversationLog>> {
    let found = transaction.prepare(FIND)?.query_row(key, two_columns).optional()?;
    let Some((number, version)) = found else { return Ok(None) };
    let sql = "SELECT entry FROM entries WHERE conversation = ?1 ORDER BY version";
    let mut statement = transaction.prepare(sql)?;
    let entries = statement.query_map([number], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(Some(ConversationLog::new(entries, version_of(number, version))))
}

fn read_list(transaction: &Transaction<'_>, user: &str) -> rusqlite::Result<Vec<ConversationInfo>> {
    let sql = "SELECT id, saved_at FROM conversations WHERE user_id = ?1 ORDER BY saved_at DESC, id";
    let mut statement = transaction.prepare(sql)?;
    statement.query_map([user], info)?.collect()
}

fn info(row: &Row<'_>) -> rusqlite::Result<ConversationInfo> {
    let since = Duration::from_micros(u64::try_from(row.get::<_, i64>(1)?).unwrap_or_default());
    let saved_at = UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH);
    Ok(ConversationInfo::new(row.get::<_, String>(0)?, saved_at))
}

fn delete_log(transaction: &Transaction<'_>, key: [String; 2]) -> rusqlite::Result<bool> {
    let of_entries = "DELETE FROM entries WHERE conversation IN
        (SELECT number FROM conversations WHERE user_id = ?1 AND id = ?2)";
    transaction.execute(of_entries, [&key[0], &key[1]])?;
    let of_conversation = "DELETE FROM conversations WHERE user_id = ?1 AND id = ?2";
    Ok(transaction.execute(of_conversation, key)? > 0)
}

fn read_state(transaction: &Transaction<'_>, scope: [String; 2]) -> rusqlite::Result<Vec<(String, String)>> {
    let sql = "SELECT key, value FROM state WHERE scope = ?1 AND owner = ?2";
    let mut statement = transaction.prepare(sql)?;
    statement.query_map(scope, two_columns)?.collect()
}

fn write_state(
    transaction: &Transaction<'_>,
    [scope, owner]: &[String; 2],
    changes: SessionDelta,
) -> rusqlite::Result<()> {
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
    Ok(())
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
    connection.execute_batch(TABLES)?;
    Ok(connection)
}

/// Finds a conversation of this version, or creates it for version 0. Returns its number and its last entry's
/// version.
fn find(
    transaction: &Transaction<'_>,
    key: &[String; 2],
    version: u64,
    now: i64,
) -> rusqlite::Result<Option<(i64, i64)>> {
    if version == 0 {
        let sql = "INSERT INTO conversations (user_id, id, saved_at, version) VALUES (?1, ?2, ?3, 0)
            ON CONFLICT DO NOTHING";
        let created = transaction.prepare(sql)?.execute(params![key[0], key[1], now])?;
        return Ok(if created > 0 { Some((transaction.last_insert_rowid(), 0)) } else { None });
    }
    let found = transaction.prepare(FIND)?.query_row([&key[0], &key[1]], two_columns).optional()?;
    match found {
        Some((number, latest)) if version_of(number, latest) == version => Ok(found),
        _ => Ok(None),
    }
}

impl ConversationStore for SqliteStore {
    async fn load(
        &self,
        ConversationKey { user, id }: ConversationKey<'_>,
    ) -> Result<Option<ConversationLog>, StoreError> {
        let key = [user.to_owned(), id.to_owned()];
        self.0.read(move |transaction| read_log(transaction, key)).await
    }

    async fn append(
        &self,
        ConversationKey { user, id }: ConversationKey<'_>,
        version: u64,
        entry: &str,
    ) -> Result<u64, StoreError> {
        self.change(user, id, version, entry, false).await
    }

    async fn replace(
        &self,
        ConversationKey { user, id }: ConversationKey<'_>,
        version: u64,
        entry: &str,
    ) -> Result<u64, StoreError> {
        self.change(user, id, version, entry, true).await
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        let user = user.to_owned();
        self.0.read(move |transaction| read_list(transaction, &user)).await
    }

    async fn delete(&self, ConversationKey { user, id }: ConversationKey<'_>) -> Result<bool, StoreError> {
        let key = [user.to_owned(), id.to_owned()];
        self.0.write(move |transaction| delete_log(transaction, key)).await
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

fn two_columns<A: FromSql, B: FromSql>(row: &Row<'_>) -> rusqlite::Result<(A, B)> {
    Ok((row.get(0)?, row.get(1)?))
}

/// Returns a log's version, with the conversation's number in it, so that a recreated conversation has other
/// versions.
fn version_of(number: i64, version: i64) -> u64 {
    (number.cast_unsigned() << 32) | (version.cast_unsigned() & u64::from(u32::MAX))
}

fn failed(error: impl fmt::Display) -> StoreError {
    StoreError::new(format_args!("the database of conversations failed: {error}"))
}
