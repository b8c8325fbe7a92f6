//! A store in a PostgreSQL database.

mod connections;

use crate::{columns, random};
use connections::{Connect, Connections, PAUSES, Parameter, failed};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::time::sleep;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::{FromSql, Type};
use tokio_postgres::{Client, Config, NoTls, Row, Socket};
use toolkit_agent::session::{
    ConversationInfo, ConversationKey, ConversationLog, ConversationStore, StateScope, StoreError,
};
use toolkit_core::context::SessionDelta;

const EXIST: &str = "SELECT to_regclass('toolkit_conversations') IS NOT NULL
    AND to_regclass('toolkit_entries') IS NOT NULL AND to_regclass('toolkit_state') IS NOT NULL";

/// Creates the tables. The lock lasts until the end of the request, one transaction. Without it, programs
/// that start at the same time would fail, because `IF NOT EXISTS` does not see the tables of other
/// transactions.
///
/// Strings are bytes, because `TEXT` cannot contain NUL and depends on the database's encoding.
const TABLES: &str = "
    SELECT pg_advisory_xact_lock(8389754676633367905);
    CREATE TABLE IF NOT EXISTS toolkit_conversations (
        user_id BYTEA NOT NULL, id BYTEA NOT NULL, saved_at TIMESTAMPTZ NOT NULL,
        version BIGINT NOT NULL,
        PRIMARY KEY (user_id, id)
    );
    CREATE TABLE IF NOT EXISTS toolkit_entries (
        user_id BYTEA NOT NULL, id BYTEA NOT NULL, version BIGINT NOT NULL, entry BYTEA NOT NULL,
        PRIMARY KEY (user_id, id, version),
        FOREIGN KEY (user_id, id) REFERENCES toolkit_conversations ON DELETE CASCADE
    );
    CREATE TABLE IF NOT EXISTS toolkit_state (
        scope TEXT NOT NULL, owner BYTEA NOT NULL, key BYTEA NOT NULL, value BYTEA NOT NULL,
        PRIMARY KEY (scope, owner, key)
    );";

const CREATE: &str = "
    WITH saved AS (
        INSERT INTO toolkit_conversations VALUES ($1, $2, clock_timestamp(), $4)
        ON CONFLICT DO NOTHING RETURNING version
    )
    INSERT INTO toolkit_entries SELECT $1, $2, version, $3 FROM saved RETURNING version";

/// Appends an entry with the version `$4` if the log has the version `$5`. Of two concurrent appends, the
/// second waits for the row's lock and finds another version.
const APPEND: &str = "
    WITH saved AS (
        UPDATE toolkit_conversations SET version = $4, saved_at = clock_timestamp()
        WHERE user_id = $1 AND id = $2 AND version = $5 RETURNING version
    )
    INSERT INTO toolkit_entries SELECT $1, $2, version, $3 FROM saved RETURNING version";

/// Replaces all entries by one with the version `$4` if the log has the version `$5`.
const REPLACE: &str = "
    WITH saved AS (
        UPDATE toolkit_conversations SET version = $4, saved_at = clock_timestamp()
        WHERE user_id = $1 AND id = $2 AND version = $5 RETURNING version
    ), removed AS (
        DELETE FROM toolkit_entries WHERE user_id = $1 AND id = $2 AND EXISTS (SELECT FROM saved)
    )
    INSERT INTO toolkit_entries SELECT $1, $2, version, $3 FROM saved RETURNING version";

const VERSIONS: &str = "
    SELECT version FROM toolkit_entries WHERE user_id = $1 AND id = $2 AND version >= $3
    ORDER BY version DESC";

const UPDATE_STATE: &str = "
    WITH removed AS (DELETE FROM toolkit_state WHERE scope = $1 AND owner = $2 AND key = ANY($5))
    INSERT INTO toolkit_state SELECT $1, $2, key, value FROM unnest($3, $4) AS changed (key, value)
    ON CONFLICT (scope, owner, key) DO UPDATE SET value = EXCLUDED.value";

/// Keeps conversations in a PostgreSQL database, version 11 or later, which programs may share.
///
/// A store opens at most eight connections, each when first needed. Clones share them.
///
/// The tables `toolkit_conversations`, `toolkit_entries` and `toolkit_state` are created in the first schema
/// of the search path if they do not exist. The ids of a conversation and its user may together have about
/// 2,600 bytes.
///
/// After a lost connection, an operation is repeated up to five times in 3.4 seconds. No entry is appended
/// twice.
///
/// Each operation is one statement, without an explicit transaction and without named prepared statements,
/// and so works with connection poolers in transaction mode. There is no time limit by default: set
/// `connect_timeout` and `tcp_user_timeout` in the connection string, and `statement_timeout` in its
/// `options`.
///
/// ```no_run
/// use toolkit_ai::agent::Sessions;
/// use toolkit_agent_stores::PostgresStore;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = PostgresStore::connect("host=localhost user=ada dbname=agents").await?;
/// let sessions = Sessions::new(store);
/// let mut conversation = sessions.user("ada").conversation("session 1").open().await?;
/// sessions.save(&mut conversation).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct PostgresStore(Arc<Connections>);

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("reconnects", &self.0.reconnects()).finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// Connects without encryption, to a server on this machine or in a private network.
    ///
    /// `config` is a connection string, such as `host=localhost user=ada dbname=agents` or
    /// `postgresql://ada@localhost/agents`.
    ///
    /// For other servers, use [`connect_with`](Self::connect_with).
    ///
    /// # Errors
    /// [`StoreError`] if the connection string is invalid, the server cannot be reached, or the tables cannot
    /// be created.
    pub async fn connect(config: &str) -> Result<Self, StoreError> {
        let Ok(config) = config.parse() else {
            // The reason may quote parts of a password.
            return Err(StoreError::new(
                "the connection string of the PostgreSQL store is invalid; write it as \
                `host=… user=… dbname=…`, with values that contain spaces in single quotes",
            ));
        };
        Self::connect_with(config, NoTls).await
    }

    /// Connects with encryption.
    ///
    /// `tls` is a connector from a crate such as `tokio-postgres-rustls` or `postgres-native-tls`.
    /// [`Config::ssl_mode`] sets whether the server must support encryption.
    ///
    /// # Errors
    /// [`StoreError`] if the server cannot be reached, or the tables cannot be created.
    pub async fn connect_with<T>(config: Config, tls: T) -> Result<Self, StoreError>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let connect: Connect = Box::new(move || Box::pin(connected(config.clone(), tls.clone())));
        let client = connect().await.map_err(failed)?;
        Self::open(client.into(), Some(connect)).await
    }

    /// Uses an open connection, whose task the program must run.
    ///
    /// After the connection is lost, all operations fail.
    ///
    /// # Errors
    /// [`StoreError`] if the tables cannot be created.
    pub async fn new(client: impl Into<Arc<Client>>) -> Result<Self, StoreError> {
        Self::open(client.into(), None).await
    }

    async fn open(client: Arc<Client>, connect: Option<Connect>) -> Result<Self, StoreError> {
        // Not every user may create tables.
        let rows = client.query_typed(EXIST, &[]).await.map_err(failed)?;
        let exist = match rows.first() {
            Some(row) => get(row, 0)?,
            None => false,
        };
        if !exist {
            client.batch_execute(TABLES).await.map_err(failed)?;
        }
        Ok(Self(Arc::new(Connections::new(client, connect))))
    }

    /// Changes a log that has this version, and returns the new version. After a lost connection, the
    /// versions in the log show whether the change has succeeded.
    async fn change(
        &self,
        sql: &str,
        [user, id]: [&str; 2],
        version: u64,
        entry: &str,
    ) -> Result<u64, StoreError> {
        let next = next_version(version);
        let numbers = [next.cast_signed(), version.cast_signed()];
        let strings = [user.as_bytes(), id.as_bytes(), entry.as_bytes()];
        let mut parameters: Vec<Parameter<'_>> = strings.iter().map(bytes).collect();
        let used = if version == 0 { &numbers[..1] } else { &numbers[..] };
        for number in used {
            parameters.push((number, Type::INT8));
        }
        let sql = if version == 0 { CREATE } else { sql };
        let mut pauses = PAUSES.into_iter();
        let mut was_lost = false;
        loop {
            match self.0.attempt(sql, &parameters).await {
                Ok(rows) if !rows.is_empty() => return Ok(next),
                Ok(_) if !was_lost => return Err(StoreError::conflict(id)),
                // An attempt on a lost connection may have ended after the versions were read.
                Ok(_) => {}
                Err(failure) if !failure.is_lost => return Err(failure.error),
                Err(failure) => {
                    let Some(pause) = pauses.next() else { return Err(failure.error) };
                    was_lost = true;
                    sleep(pause).await;
                }
            }
            let versions = self.versions([user, id], version).await?;
            if versions.contains(&next) {
                return Ok(next);
            }
            if versions.first().copied().unwrap_or(0) != version {
                return Err(StoreError::conflict(id));
            }
        }
    }

    /// Reads the versions of entries from `version` on, the latest first.
    async fn versions(&self, key: [&str; 2], version: u64) -> Result<Vec<u64>, StoreError> {
        let [user, id] = key.map(str::as_bytes);
        let number = version.cast_signed();
        let rows = self.0.query(VERSIONS, &[bytes(&user), bytes(&id), (&number, Type::INT8)]).await?;
        rows.iter().map(|row| version_of(row, 0)).collect()
    }
}

impl ConversationStore for PostgresStore {
    async fn load(
        &self,
        ConversationKey { user, id }: ConversationKey<'_>,
    ) -> Result<Option<ConversationLog>, StoreError> {
        // A conversation has at least one entry. The last entry's version is the log's.
        let sql =
            "SELECT entry, version FROM toolkit_entries WHERE user_id = $1 AND id = $2 ORDER BY version";
        let rows = self.0.query(sql, &[bytes(&user.as_bytes()), bytes(&id.as_bytes())]).await?;
        let Some(last) = rows.last() else { return Ok(None) };
        let mut entries = Vec::with_capacity(rows.len());
        for row in &rows {
            entries.push(text(row, 0)?);
        }
        Ok(Some(ConversationLog::new(entries, version_of(last, 1)?)))
    }

    async fn append(
        &self,
        ConversationKey { user, id }: ConversationKey<'_>,
        version: u64,
        entry: &str,
    ) -> Result<u64, StoreError> {
        self.change(APPEND, [user, id], version, entry).await
    }

    async fn replace(
        &self,
        ConversationKey { user, id }: ConversationKey<'_>,
        version: u64,
        entry: &str,
    ) -> Result<u64, StoreError> {
        self.change(REPLACE, [user, id], version, entry).await
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        let sql =
            "SELECT id, saved_at FROM toolkit_conversations WHERE user_id = $1 ORDER BY saved_at DESC, id";
        let rows = self.0.query(sql, &[bytes(&user.as_bytes())]).await?;
        let mut conversations = Vec::with_capacity(rows.len());
        for row in &rows {
            conversations.push(ConversationInfo::new(text(row, 0)?, get::<SystemTime>(row, 1)?));
        }
        Ok(conversations)
    }

    async fn delete(&self, ConversationKey { user, id }: ConversationKey<'_>) -> Result<bool, StoreError> {
        let sql = "DELETE FROM toolkit_conversations WHERE user_id = $1 AND id = $2 RETURNING true";
        let rows = self.0.query(sql, &[bytes(&user.as_bytes()), bytes(&id.as_bytes())]).await?;
        Ok(!rows.is_empty())
    }

    async fn load_state(&self, scope: StateScope<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        let [scope, owner] = columns(scope);
        let sql = "SELECT key, value FROM toolkit_state WHERE scope = $1 AND owner = $2";
        let rows = self.0.query(sql, &[(&scope, Type::TEXT), bytes(&owner.as_bytes())]).await?;
        let mut values = BTreeMap::new();
        for row in &rows {
            values.insert(text(row, 0)?, serde_json::from_str(&text(row, 1)?)?);
        }
        Ok(values)
    }

    async fn update_state(&self, scope: StateScope<'_>, changes: &SessionDelta) -> Result<(), StoreError> {
        let [scope, owner] = columns(scope);
        let owner = owner.as_bytes();
        let mut keys = Vec::new();
        let mut values = Vec::new();
        let mut removed = Vec::new();
        for (key, value) in changes {
            match value {
                Some(value) => {
                    keys.push(key.as_bytes());
                    values.push(value.to_string().into_bytes());
                }
                None => removed.push(key.as_bytes()),
            }
        }
        let parameters: [Parameter<'_>; 5] = [
            (&scope, Type::TEXT),
            bytes(&owner),
            (&keys, Type::BYTEA_ARRAY),
            (&values, Type::BYTEA_ARRAY),
            (&removed, Type::BYTEA_ARRAY),
        ];
        self.0.query(UPDATE_STATE, &parameters).await.map(drop)
    }
}

/// Opens a connection, and runs it in its own task.
async fn connected<T>(config: Config, tls: T) -> Result<Client, tokio_postgres::Error>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let (client, connection) = config.connect(tls).await?;
    // Statements on the connection return its errors, too.
    tokio::spawn(async { drop(connection.await) });
    Ok(client)
}

fn bytes<'a>(bytes: &'a &[u8]) -> Parameter<'a> {
    (bytes, Type::BYTEA)
}

fn get<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> Result<T, StoreError> {
    row.try_get(column).map_err(failed)
}

fn text(row: &Row, column: usize) -> Result<String, StoreError> {
    match String::from_utf8(get(row, column)?) {
        Ok(text) => Ok(text),
        Err(error) => {
            let message = format_args!("the PostgreSQL database of conversations is invalid: {error}");
            Err(StoreError::new(message))
        }
    }
}

fn version_of(row: &Row, column: usize) -> Result<u64, StoreError> {
    get(row, column).map(i64::cast_unsigned)
}

/// Returns a version for the entry after `version`. The upper half counts the log's changes. The lower half
/// is random: the store recognizes its own entry after a lost connection, and a recreated conversation has
/// other versions.
fn next_version(version: u64) -> u64 {
    (((version >> 32) + 1) << 32) | (random() & u64::from(u32::MAX))
}
