//! A store that keeps conversations in a PostgreSQL database.

use super::store::{
    ConversationInfo, ConversationLog, ConversationStore, StateScope, StoreError, check_values,
};
use crate::helpers::BoxFuture;
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::sync::Mutex;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::{FromSql, ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, Row, Socket};
use toolkit_core::context::SessionDelta;

/// The maximum number of attempts to execute a statement. The server may roll back a statement because of
/// concurrent ones.
const ATTEMPTS: usize = 10;

const EXIST: &str = "SELECT to_regclass('toolkit_conversations') IS NOT NULL
    AND to_regclass('toolkit_entries') IS NOT NULL AND to_regclass('toolkit_state') IS NOT NULL";

/// Creates the tables. The server executes all statements of one request in one transaction, and the lock
/// lasts until its end. Without the lock, programs that start at the same time would fail, because
/// `IF NOT EXISTS` does not see the tables of other transactions.
///
/// Strings are stored as bytes, because the type `TEXT` cannot contain NUL and depends on the encoding of the
/// database. Versions of all conversations come from one sequence, so a conversation that is deleted and
/// created again has other versions.
const TABLES: &str = "
    SELECT pg_advisory_xact_lock(8389754676633367905);
    CREATE TABLE IF NOT EXISTS toolkit_conversations (
        user_id BYTEA NOT NULL, id BYTEA NOT NULL, saved_at TIMESTAMPTZ NOT NULL,
        version BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY,
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
        INSERT INTO toolkit_conversations (user_id, id, saved_at) VALUES ($1, $2, clock_timestamp())
        ON CONFLICT DO NOTHING RETURNING version
    )
    INSERT INTO toolkit_entries SELECT $1, $2, version, $3 FROM saved RETURNING version";

/// Appends an entry if the version matches. Of two concurrent appends, the second one waits for the lock of
/// the row and then finds another version.
const APPEND: &str = "
    WITH saved AS (
        UPDATE toolkit_conversations SET version = DEFAULT, saved_at = clock_timestamp()
        WHERE user_id = $1 AND id = $2 AND version = $4 RETURNING version
    )
    INSERT INTO toolkit_entries SELECT $1, $2, version, $3 FROM saved RETURNING version";

const UPDATE_STATE: &str = "
    WITH removed AS (DELETE FROM toolkit_state WHERE scope = $1 AND owner = $2 AND key = ANY($5))
    INSERT INTO toolkit_state SELECT $1, $2, key, value FROM unnest($3, $4) AS changed (key, value)
    ON CONFLICT (scope, owner, key) DO UPDATE SET value = EXCLUDED.value";

type Connect = Box<dyn Fn() -> BoxFuture<'static, Result<Client, StoreError>> + Send + Sync>;

/// A store in a PostgreSQL database, version 11 or later. Several programs may share the database. Clones
/// share the connection.
///
/// The tables `toolkit_conversations`, `toolkit_entries` and `toolkit_state` are created in the first schema
/// of the search path if they do not exist. Together, the id of a conversation and the id of its user may
/// have about 2,600 bytes.
///
/// Each operation executes one statement, without an explicit transaction and without named prepared
/// statements. It therefore works with connection poolers in transaction mode. There is no time limit by
/// default. To set time limits, use `connect_timeout` and `tcp_user_timeout` in the connection string, and
/// `statement_timeout` in its `options`.
///
/// ```no_run
/// use toolkit_agent::{Sessions, session::PostgresStore};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = PostgresStore::connect("host=localhost user=ada dbname=agents").await?;
/// let sessions = Sessions::new(store);
/// let mut conversation = sessions.open("ada", "session 1").await?;
/// sessions.save(&mut conversation).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct PostgresStore(Arc<Inner>);

struct Inner {
    client: Mutex<Arc<Client>>,
    /// Opens a new connection if the connection was lost. `None` if the program has opened the connection
    /// itself.
    connect: Option<Connect>,
}

debug!(PostgresStore, self, "reconnects": self.0.connect.is_some());

impl PostgresStore {
    /// Connects without encryption to a server. `config` is a connection string, such as
    /// `host=localhost user=ada dbname=agents` or `postgresql://ada@localhost/agents`.
    ///
    /// Use this for a server on the same machine or in a private network. For other servers, use
    /// [`connect_with`](Self::connect_with). Its documentation also describes lost connections.
    ///
    /// # Errors
    /// [`StoreError`] if the connection string is invalid, the server cannot be reached, or the tables cannot
    /// be created.
    pub async fn connect(config: &str) -> Result<Self, StoreError> {
        // Without the reason, because the reason may quote parts of the string, such as parts of a password.
        let invalid = |_| {
            StoreError::new(
                "the connection string of the PostgreSQL store is invalid; write it as \
                `host=… user=… dbname=…`, with values that contain spaces in single quotes",
            )
        };
        Self::connect_with(config.parse().map_err(invalid)?, NoTls).await
    }

    /// Connects with encryption. `tls` is a connector from a crate such as `tokio-postgres-rustls` or
    /// `postgres-native-tls`. [`Config::ssl_mode`] sets whether the server must support encryption.
    ///
    /// If the connection is lost during an operation, this operation fails. The next operation connects
    /// again.
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
        let connect: Connect = Box::new(move || {
            let config = config.clone();
            let tls = tls.clone();
            Box::pin(async move {
                let (client, connection) = config.connect(tls).await.map_err(failed)?;
                // An error of the connection can be ignored, because its statements return an error, too.
                tokio::spawn(async { drop(connection.await) });
                Ok(client)
            })
        });
        Self::open(connect().await?.into(), Some(connect)).await
    }

    /// Creates a store that uses an open connection. The program must also run the task of the connection.
    /// The store does not connect again: after the connection is lost, all operations fail.
    ///
    /// # Errors
    /// [`StoreError`] if the tables cannot be created.
    pub async fn new(client: impl Into<Arc<Client>>) -> Result<Self, StoreError> {
        Self::open(client.into(), None).await
    }

    async fn open(client: Arc<Client>, connect: Option<Connect>) -> Result<Self, StoreError> {
        // Creates no tables if they exist, because not every user of the database may create tables.
        let rows = client.query_typed(EXIST, &[]).await.map_err(failed)?;
        let exist = rows.first().map(|row| get(row, 0)).transpose()?;
        if exist != Some(true) {
            client.batch_execute(TABLES).await.map_err(failed)?;
        }
        Ok(Self(Arc::new(Inner { client: Mutex::new(client), connect })))
    }

    async fn client(&self) -> Result<Arc<Client>, StoreError> {
        let mut client = self.0.client.lock().await;
        if client.is_closed()
            && let Some(connect) = &self.0.connect
        {
            *client = connect().await?.into();
        }
        Ok(client.clone())
    }

    /// Executes a statement. Repeats the statement if the server has rolled it back because of a concurrent
    /// one.
    async fn query(
        &self,
        sql: &str,
        parameters: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, StoreError> {
        let client = self.client().await?;
        let mut attempt = 1;
        loop {
            let error = match client.query_typed(sql, parameters).await {
                Ok(rows) => return Ok(rows),
                Err(error) => error,
            };
            let codes = [&SqlState::T_R_SERIALIZATION_FAILURE, &SqlState::T_R_DEADLOCK_DETECTED];
            if attempt == ATTEMPTS || !error.code().is_some_and(|code| codes.contains(&code)) {
                return Err(failed(error));
            }
            attempt += 1;
        }
    }
}

impl ConversationStore for PostgresStore {
    async fn load(&self, user: &str, id: &str) -> Result<Option<ConversationLog>, StoreError> {
        // A conversation has at least one entry. The version of the last entry is the version of the log.
        let sql =
            "SELECT entry, version FROM toolkit_entries WHERE user_id = $1 AND id = $2 ORDER BY version";
        let rows = self.query(sql, &[bytes(&user.as_bytes()), bytes(&id.as_bytes())]).await?;
        let Some(last) = rows.last() else { return Ok(None) };
        let entries = rows.iter().map(|row| text(row, 0)).collect::<Result<_, _>>()?;
        Ok(Some(ConversationLog::new(entries, version_of(last, 1)?)))
    }

    async fn append(&self, user: &str, id: &str, version: u64, entry: &str) -> Result<u64, StoreError> {
        let owner = user.as_bytes();
        let key = id.as_bytes();
        let content = entry.as_bytes();
        let mut parameters = vec![bytes(&owner), bytes(&key), bytes(&content)];
        let number = version.cast_signed();
        let sql = if version == 0 {
            CREATE
        } else {
            parameters.push((&number, Type::INT8));
            APPEND
        };
        let rows = self.query(sql, &parameters).await?;
        version_of(rows.first().ok_or_else(|| StoreError::conflict(id))?, 0)
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        let sql =
            "SELECT id, saved_at FROM toolkit_conversations WHERE user_id = $1 ORDER BY saved_at DESC, id";
        let rows = self.query(sql, &[bytes(&user.as_bytes())]).await?;
        let info = |row| Ok(ConversationInfo::new(text(row, 0)?, get::<SystemTime>(row, 1)?));
        rows.iter().map(info).collect()
    }

    async fn delete(&self, user: &str, id: &str) -> Result<bool, StoreError> {
        let sql = "DELETE FROM toolkit_conversations WHERE user_id = $1 AND id = $2 RETURNING true";
        let rows = self.query(sql, &[bytes(&user.as_bytes()), bytes(&id.as_bytes())]).await?;
        Ok(!rows.is_empty())
    }

    async fn load_state(&self, scope: StateScope<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        let [scope, owner] = scope.key();
        let sql = "SELECT key, value FROM toolkit_state WHERE scope = $1 AND owner = $2";
        let rows = self.query(sql, &[(&scope, Type::TEXT), bytes(&owner.as_bytes())]).await?;
        rows.iter().map(|row| Ok((text(row, 0)?, serde_json::from_str(&text(row, 1)?)?))).collect()
    }

    async fn update_state(&self, scope: StateScope<'_>, changes: &SessionDelta) -> Result<(), StoreError> {
        check_values(changes)?;
        let [scope, owner] = scope.key();
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
        let parameters: [(&(dyn ToSql + Sync), Type); 5] = [
            (&scope, Type::TEXT),
            bytes(&owner),
            (&keys, Type::BYTEA_ARRAY),
            (&values, Type::BYTEA_ARRAY),
            (&removed, Type::BYTEA_ARRAY),
        ];
        self.query(UPDATE_STATE, &parameters).await.map(drop)
    }
}

fn bytes<'a>(bytes: &'a &[u8]) -> (&'a (dyn ToSql + Sync), Type) {
    (bytes, Type::BYTEA)
}

fn get<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> Result<T, StoreError> {
    row.try_get(column).map_err(failed)
}

fn text(row: &Row, column: usize) -> Result<String, StoreError> {
    let invalid =
        |error| StoreError::new(format_args!("the PostgreSQL database of conversations is invalid: {error}"));
    String::from_utf8(get(row, column)?).map_err(invalid)
}

fn version_of(row: &Row, column: usize) -> Result<u64, StoreError> {
    get(row, column).map(i64::cast_unsigned)
}

/// Converts an error of the server or the connection. The message leaves out details, because they may
/// contain values of rows.
fn failed(error: tokio_postgres::Error) -> StoreError {
    let mut reason = match error.as_db_error() {
        Some(error) => error.message().to_owned(),
        None => error.to_string(),
    };
    if let (None, Some(source)) = (error.as_db_error(), error.source()) {
        reason = format!("{reason}: {source}");
    }
    StoreError::new(format_args!("the PostgreSQL database of conversations failed: {reason}"))
}
