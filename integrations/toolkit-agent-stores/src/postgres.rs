//! A store in a PostgreSQL database.

mod connections;
mod statements;

use crate::{columns, random, status_column};
use connections::{Connect, Connections, PAUSES, Parameter, failed};
use serde_json::Value;
use statements::{
    APPEND, CREATE, DELETE, EXIST, INBOX, LIST, LOAD, LOAD_FROM, LOAD_STATE, PUT, REPLACE, TABLES, TAKE,
    UNFINISHED, UPDATE_STATE, VERSIONS,
};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use tokio::time::sleep;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::{FromSql, Type};
use tokio_postgres::{Client, Config, NoTls, Row, Socket};
use toolkit_agent::session::{
    ConversationInfo, ConversationKey, ConversationLog, ConversationStore, InboxItem, Save, StateScope,
    StoreError,
};
use toolkit_core::context::SessionDelta;

/// Keeps conversations in a PostgreSQL database, version 11 or later, which programs may share.
///
/// A store opens at most eight connections, each when first needed. Clones share them.
///
/// The tables `toolkit_conversations`, `toolkit_entries`, `toolkit_inbox` and `toolkit_state` are created in
/// the first schema of the search path if they do not exist. An index serves the unfinished conversations.
/// The ids of a conversation and its user may together have about 2,600 bytes.
///
/// After a lost connection, an operation is repeated up to five times in 3.4 seconds. No entry is appended
/// twice, and no item is put twice, unless a run has taken it up meanwhile. `take` may then return `false`
/// for an item that it has deleted itself.
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
        let row = client.query_typed_one(EXIST, &[]).await.map_err(failed)?;
        if get(&row, 1)? {
            return Err(StoreError::new(
                "the table `toolkit_conversations` is that of a development version of toolkit-agent-stores; \
                 drop the tables `toolkit_conversations`, `toolkit_entries` and `toolkit_state`",
            ));
        }
        if !get::<bool>(&row, 0)? {
            client.batch_execute(TABLES).await.map_err(failed)?;
        }
        Ok(Self(Arc::new(Connections::new(client, connect))))
    }

    /// Changes a log of the save's version, and returns the new version. After a lost connection, the
    /// versions in the log show whether the change has succeeded.
    async fn change(&self, sql: &str, key: ConversationKey<'_>, save: Save<'_>) -> Result<u64, StoreError> {
        let version = save.version;
        let next = next_version(version);
        let [number, first, expected] = [next, save.first, version].map(u64::cast_signed);
        let status = status_column(&save.summary.status);
        let json = serde_json::to_vec(save.summary)?;
        let taken: Vec<i64> = save.taken.iter().map(|number| number.cast_signed()).collect();
        let strings = [key.user, key.id, save.entries, &save.summary.title].map(str::as_bytes);
        let summary = json.as_slice();
        let parameters: [Parameter<'_>; 10] = [
            bytes(&strings[0]),
            bytes(&strings[1]),
            bytes(&strings[2]),
            (&number, Type::INT8),
            (&first, Type::INT8),
            bytes(&strings[3]),
            (&status, Type::TEXT),
            bytes(&summary),
            (&taken, Type::INT8_ARRAY),
            (&expected, Type::INT8),
        ];
        // The last one is only in the statements for a log that exists.
        let (sql, parameters) =
            if version == 0 { (CREATE, &parameters[..9]) } else { (sql, &parameters[..]) };
        let mut pauses = PAUSES.into_iter();
        let mut was_lost = false;
        loop {
            match self.0.attempt(sql, parameters).await {
                Ok(rows) if !rows.is_empty() => return Ok(next),
                Ok(_) if !was_lost => return Err(StoreError::conflict(key.id)),
                // An attempt on a lost connection may have ended after the versions were read.
                Ok(_) => {}
                Err(failure) => {
                    let pause = pauses.next().filter(|_| failure.is_lost).ok_or(failure.error)?;
                    was_lost = true;
                    sleep(pause).await;
                }
            }
            let versions = self.versions(key, version).await?;
            if versions.contains(&next) {
                return Ok(next);
            }
            if versions.first().copied().unwrap_or(0) != version {
                return Err(StoreError::conflict(key.id));
            }
        }
    }

    /// Reads the versions of entries from `version` on, the latest first.
    async fn versions(&self, key: ConversationKey<'_>, version: u64) -> Result<Vec<u64>, StoreError> {
        let number = version.cast_signed();
        let rows = self.of_key(VERSIONS, key, &[(&number, Type::INT8)]).await?;
        rows.iter().map(|row| unsigned(row, 0)).collect()
    }

    /// Executes a statement with a key and `more` parameters, which may be repeated after a lost connection.
    async fn of_key(
        &self,
        sql: &str,
        key: ConversationKey<'_>,
        more: &[Parameter<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let [user, id] = [key.user.as_bytes(), key.id.as_bytes()];
        let mut parameters = vec![bytes(&user), bytes(&id)];
        parameters.extend_from_slice(more);
        self.0.query(sql, &parameters).await
    }
}

impl ConversationStore for PostgresStore {
    async fn load(&self, key: ConversationKey<'_>) -> Result<Option<ConversationLog>, StoreError> {
        log(&self.of_key(LOAD, key, &[]).await?)
    }

    async fn load_from(
        &self,
        key: ConversationKey<'_>,
        entry: u64,
    ) -> Result<Option<ConversationLog>, StoreError> {
        let entry = i64::try_from(entry).unwrap_or(i64::MAX);
        log(&self.of_key(LOAD_FROM, key, &[(&entry, Type::INT8)]).await?)
    }

    async fn append(&self, key: ConversationKey<'_>, save: Save<'_>) -> Result<u64, StoreError> {
        self.change(APPEND, key, save).await
    }

    async fn replace(&self, key: ConversationKey<'_>, save: Save<'_>) -> Result<u64, StoreError> {
        self.change(REPLACE, key, save).await
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        let rows = self.0.query(LIST, &[bytes(&user.as_bytes())]).await?;
        rows.iter().map(info).collect()
    }

    async fn unfinished(&self, user: Option<&str>) -> Result<Vec<ConversationInfo>, StoreError> {
        let user = user.map(str::as_bytes);
        let rows = self.0.query(UNFINISHED, &[(&user, Type::BYTEA)]).await?;
        rows.iter().map(info).collect()
    }

    async fn delete(&self, key: ConversationKey<'_>) -> Result<bool, StoreError> {
        Ok(!self.of_key(DELETE, key, &[]).await?.is_empty())
    }

    async fn put(
        &self,
        key: ConversationKey<'_>,
        name: &str,
        content: &str,
    ) -> Result<InboxItem, StoreError> {
        let [name_bytes, content] = [name, content].map(str::as_bytes);
        let rows = self.of_key(PUT, key, &[bytes(&name_bytes), bytes(&content)]).await?;
        let Some(row) = rows.first() else {
            return Err(StoreError::new("the PostgreSQL database of conversations has returned no item"));
        };
        item(row, name.to_owned())
    }

    async fn inbox(&self, key: ConversationKey<'_>) -> Result<Vec<InboxItem>, StoreError> {
        let rows = self.of_key(INBOX, key, &[]).await?;
        let mut items = Vec::with_capacity(rows.len());
        for row in &rows {
            items.push(item(row, text(row, 2)?)?);
        }
        Ok(items)
    }

    async fn take(&self, key: ConversationKey<'_>, number: u64) -> Result<bool, StoreError> {
        let number = number.cast_signed();
        Ok(!self.of_key(TAKE, key, &[(&number, Type::INT8)]).await?.is_empty())
    }

    async fn load_state(&self, scope: StateScope<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        let [scope, owner] = columns(scope);
        let rows = self.0.query(LOAD_STATE, &[(&scope, Type::TEXT), bytes(&owner.as_bytes())]).await?;
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

fn log(rows: &[Row]) -> Result<Option<ConversationLog>, StoreError> {
    let Some(last) = rows.last() else { return Ok(None) };
    let entries = rows.iter().map(|row| text(row, 0)).collect::<Result<_, _>>()?;
    Ok(Some(ConversationLog::new(entries, unsigned(last, 1)?)))
}

fn info(row: &Row) -> Result<ConversationInfo, StoreError> {
    let items = get::<i64>(row, 2)?;
    let info = ConversationInfo::new(text(row, 0)?, text(row, 1)?)
        .with_inbox(usize::try_from(items).unwrap_or_default());
    // Without a log, there is nothing but the inbox.
    let Some(summary) = get::<Option<&[u8]>>(row, 3)? else { return Ok(info) };
    Ok(info
        .with_summary(serde_json::from_slice(summary)?)
        .with_created_at(get(row, 4)?)
        .with_saved_at(get(row, 5)?))
}

fn item(row: &Row, name: String) -> Result<InboxItem, StoreError> {
    Ok(InboxItem { number: unsigned(row, 0)?, name, content: text(row, 1)? })
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

fn unsigned(row: &Row, column: usize) -> Result<u64, StoreError> {
    get(row, column).map(i64::cast_unsigned)
}

/// Returns a version for the entry after `version`. The upper half counts the log's changes. The lower half
/// is random: the store recognizes its own entry after a lost connection, and a recreated conversation has
/// other versions.
fn next_version(version: u64) -> u64 {
    (((version >> 32) + 1) << 32) | (random() & u64::from(u32::MAX))
}
