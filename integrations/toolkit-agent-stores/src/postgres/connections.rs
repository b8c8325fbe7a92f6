//! The connections of a store, and statements that survive their loss.

use crate::random;
use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{AcquireError, Semaphore, SemaphorePermit};
use tokio::time::sleep;
use tokio_postgres::error::{Severity, SqlState};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};
use toolkit_agent::session::StoreError;
use toolkit_core::__private::lock;

const CONNECTIONS: usize = 8;
/// The maximum attempts at a statement that the server rolls back because of concurrent ones.
const ATTEMPTS: u32 = 20;
/// The power of two of the maximum pause between them, in milliseconds.
const LONGEST_PAUSE_LOG2: u32 = 8;
pub(super) const PAUSES: [Duration; 5] = [
    Duration::from_millis(20),
    Duration::from_millis(100),
    Duration::from_millis(300),
    Duration::from_secs(1),
    Duration::from_secs(2),
];

pub(super) type Connect = Box<
    dyn Fn() -> Pin<Box<dyn Future<Output = Result<Client, tokio_postgres::Error>> + Send>> + Send + Sync,
>;

pub(super) type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

pub(super) struct Failure {
    pub(super) error: StoreError,
    /// Whether the connection was lost. The statement's effect is then unknown, and another attempt may get
    /// another connection.
    pub(super) is_lost: bool,
}

/// Connections that are opened when first needed, for one statement at a time.
pub(super) struct Connections {
    idle: Mutex<Vec<Arc<Client>>>,
    permits: Semaphore,
    /// Opens a connection. `None` if the program has opened the only connection itself.
    connect: Option<Connect>,
}

impl Connections {
    pub(super) fn new(client: Arc<Client>, connect: Option<Connect>) -> Self {
        // A single connection sends statements without waiting for each other.
        let idle = if connect.is_some() { vec![client] } else { vec![client; CONNECTIONS] };
        Self { idle: Mutex::new(idle), permits: Semaphore::new(CONNECTIONS), connect }
    }

    pub(super) fn reconnects(&self) -> bool {
        self.connect.is_some()
    }

    /// Executes a statement that may be repeated after a lost connection.
    pub(super) async fn query(
        &self,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let failure = match self.attempt(sql, parameters).await {
                Ok(rows) => return Ok(rows),
                Err(failure) => failure,
            };
            if !failure.is_lost {
                return Err(failure.error);
            }
            let Some(pause) = pauses.next() else { return Err(failure.error) };
            sleep(pause).await;
        }
    }

    /// Executes a statement once. After a rollback because of a concurrent one, repeats it after a random
    /// pause: without it, the same statements would meet again.
    pub(super) async fn attempt(&self, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>, Failure> {
        let lease = self.lease().await?;
        let mut attempt = 1;
        loop {
            let error = match lease.client.query_typed(sql, parameters).await {
                Ok(rows) => return Ok(rows),
                Err(error) => error,
            };
            let codes = [&SqlState::T_R_SERIALIZATION_FAILURE, &SqlState::T_R_DEADLOCK_DETECTED];
            if attempt == ATTEMPTS || !error.code().is_some_and(|code| codes.contains(&code)) {
                return Err(self.failure(error));
            }
            let longest = 1 << attempt.min(LONGEST_PAUSE_LOG2);
            sleep(Duration::from_millis(random() % longest)).await;
            attempt += 1;
        }
    }

    async fn lease(&self) -> Result<Lease<'_>, Failure> {
        let permit = self.permits.acquire().await;
        let client = match (self.idle(), &self.connect) {
            (Some(client), _) => client,
            (None, Some(connect)) => connect().await.map_err(|error| self.failure(error))?.into(),
            (None, None) => {
                let error = StoreError::new("the PostgreSQL store has no connection");
                return Err(Failure { error, is_lost: false });
            }
        };
        Ok(Lease { client, connections: self, _permit: permit })
    }

    fn idle(&self) -> Option<Arc<Client>> {
        let mut idle = lock(&self.idle);
        if self.reconnects() {
            idle.retain(|client| !client.is_closed());
        }
        idle.pop()
    }

    fn failure(&self, error: tokio_postgres::Error) -> Failure {
        Failure { is_lost: self.reconnects() && is_lost(&error), error: failed(error) }
    }
}

/// A connection in use, idle when dropped.
struct Lease<'a> {
    client: Arc<Client>,
    connections: &'a Connections,
    _permit: Result<SemaphorePermit<'a>, AcquireError>,
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut idle = lock(&self.connections.idle);
        idle.push(self.client.clone());
    }
}

fn is_lost(error: &tokio_postgres::Error) -> bool {
    match error.as_db_error() {
        Some(error) => matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic)),
        None => error.is_closed() || error.source().is_some_and(<dyn Error>::is::<io::Error>),
    }
}

/// Converts an error without its details, because they may contain values of rows.
pub(super) fn failed(error: tokio_postgres::Error) -> StoreError {
    let mut reason = match error.as_db_error() {
        Some(error) => error.message().to_owned(),
        None => error.to_string(),
    };
    if let (None, Some(source)) = (error.as_db_error(), error.source()) {
        reason = format!("{reason}: {source}");
    }
    StoreError::new(format_args!("the PostgreSQL database of conversations failed: {reason}"))
}
