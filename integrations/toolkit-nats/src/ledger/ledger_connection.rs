//! The connection to the database, restored when it is lost.

use std::error::Error;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};
use tokio_postgres::error::Severity;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Row, Socket};
use toolkit_core::redaction::Redactor;

const PAUSES: [Duration; 5] = [
    Duration::from_millis(20),
    Duration::from_millis(100),
    Duration::from_millis(300),
    Duration::from_secs(1),
    Duration::from_secs(2),
];

/// The time limit of a statement, also of a server that is stopped.
const LIMIT: Duration = Duration::from_secs(5);

pub(super) type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

type Connect = Box<
    dyn Fn() -> Pin<Box<dyn Future<Output = Result<Client, tokio_postgres::Error>> + Send>> + Send + Sync,
>;

/// A connection whose statements do not wait for each other.
pub(super) struct LedgerConnection {
    current: Mutex<Option<Arc<Client>>>,
    connect: Connect,
    /// The password, which an error may repeat.
    redactor: Redactor,
}

/// Opens a connection, and runs it in its own task.
async fn connected<T>(config: Config, tls: T) -> Result<Client, tokio_postgres::Error>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let (client, connection) = config.connect(tls).await?;
    tokio::spawn(async { drop(connection.await) });
    Ok(client)
}

impl LedgerConnection {
    pub(super) fn new<T>(config: Config, tls: T) -> Self
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let mut redactor = Redactor::new();
        redactor.add(&String::from_utf8_lossy(config.get_password().unwrap_or_default()));
        let connect: Connect = Box::new(move || Box::pin(connected(config.clone(), tls.clone())));
        Self { current: Mutex::new(None), connect, redactor }
    }

    async fn client(&self) -> Result<Arc<Client>, LedgerError> {
        let mut current = self.current.lock().await;
        if let Some(client) = current.as_ref().filter(|client| !client.is_closed()) {
            return Ok(client.clone());
        }
        let connected = timeout(LIMIT, (self.connect)()).await.map_err(|_| LedgerError::late())?;
        let client = Arc::new(connected.map_err(|error| self.failed(error))?);
        *current = Some(client.clone());
        Ok(client)
    }

    /// Executes a statement that may be repeated after a lost connection.
    pub(super) async fn query(
        &self,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, LedgerError> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let error = match self.attempt(sql, parameters).await {
                Ok(rows) => return Ok(rows),
                Err(error) => error,
            };
            let Some(pause) = pauses.next().filter(|_| error.is_lost) else { return Err(error) };
            sleep(pause).await;
        }
    }

    async fn attempt(&self, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>, LedgerError> {
        let client = self.client().await?;
        match timeout(LIMIT, client.query_typed(sql, parameters)).await {
            Ok(rows) => rows.map_err(|error| self.failed(error)),
            Err(_) => {
                // The next attempt takes another connection.
                *self.current.lock().await = None;
                Err(LedgerError::late())
            }
        }
    }

    pub(super) async fn execute_all(&self, sql: &str) -> Result<(), LedgerError> {
        self.client().await?.batch_execute(sql).await.map_err(|error| self.failed(error))
    }

    fn failed(&self, error: tokio_postgres::Error) -> LedgerError {
        let error = LedgerError::from(error);
        LedgerError { message: self.redactor.redact(&error.message), ..error }
    }
}

/// An error of the ledger.
#[derive(Clone)]
pub struct LedgerError {
    message: String,
    pub(super) is_lost: bool,
}

impl LedgerError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_lost: false }
    }

    fn late() -> Self {
        let message = format!("the ledger has not answered within {} s", LIMIT.as_secs());
        Self { message, is_lost: true }
    }
}

impl From<tokio_postgres::Error> for LedgerError {
    fn from(error: tokio_postgres::Error) -> Self {
        let is_lost = match error.as_db_error() {
            Some(error) => matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic)),
            None => error.is_closed() || error.source().is_some_and(<dyn Error>::is::<io::Error>),
        };
        let mut message = format!("the ledger has failed: {error}");
        if let Some(source) = error.source() {
            message.push_str(&format!(": {source}"));
        }
        Self { message, is_lost }
    }
}

impl fmt::Debug for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for LedgerError {}
