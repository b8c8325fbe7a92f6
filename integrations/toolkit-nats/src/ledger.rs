//! The ledger: one table in PostgreSQL with the calls that were claimed, and their outcomes.

mod ledger_connection;

use crate::frames::CallHead;
use hmac_sha256::Hash;
pub use ledger_connection::LedgerError;
use ledger_connection::{LedgerConnection, Parameter};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::Type;
use tokio_postgres::{Config, NoTls, Socket};
use toolkit_core::__private::lock;
use toolkit_core::CancellationToken;

/// The time between two looks at a call that another worker runs.
pub(crate) const POLL: Duration = Duration::from_millis(200);
const RENEWAL: Duration = Duration::from_secs(2);
/// How long a claim whose answer was lost is withdrawn.
const WITHDRAWAL: Duration = Duration::from_secs(20);
/// The seconds after which the worker of a claim without renewal counts as lost.
const LEASE: f64 = 10.0;

/// Creates the table. The lock lasts until the end of the request: without it, workers that start at once
/// would fail.
const TABLE: &str = "
    SELECT pg_advisory_xact_lock(8389754676633367906);
    CREATE TABLE IF NOT EXISTS toolkit_calls (
        caller BYTEA NOT NULL, id BYTEA NOT NULL, fingerprint BYTEA NOT NULL, claim BYTEA NOT NULL,
        worker TEXT NOT NULL, claimed TIMESTAMPTZ NOT NULL, lease TIMESTAMPTZ NOT NULL,
        done TIMESTAMPTZ, result BYTEA, expiry TIMESTAMPTZ NOT NULL,
        PRIMARY KEY (caller, id)
    );
    CREATE INDEX IF NOT EXISTS toolkit_calls_running ON toolkit_calls (worker) WHERE done IS NULL;
    CREATE INDEX IF NOT EXISTS toolkit_calls_expiry ON toolkit_calls (expiry);";

const EXISTS: &str = "SELECT to_regclass('toolkit_calls') IS NOT NULL";

/// Claims a call. Of two concurrent claims, one inserts the row.
const CLAIM: &str = "
    INSERT INTO toolkit_calls VALUES ($1, $2, $3, $4, $5, clock_timestamp(),
        clock_timestamp() + make_interval(secs => $6), NULL, NULL, clock_timestamp() + make_interval(secs => $7))
    ON CONFLICT DO NOTHING RETURNING claim";

/// Reads a call. Its outcome is unknown if the lease ended first, or the call ended without a result.
const READ: &str = "
    SELECT fingerprint, claim, result, done IS NOT NULL OR lease < clock_timestamp() AS has_ended
    FROM toolkit_calls WHERE caller = $1 AND id = $2";

/// Stores the outcome, or that it is unknown. A late outcome is stored, too: the call never runs again.
const FINISH: &str = "
    UPDATE toolkit_calls SET done = clock_timestamp(), result = $4
    WHERE caller = $1 AND id = $2 AND claim = $3 RETURNING true";

const RENEW: &str = "
    UPDATE toolkit_calls SET lease = clock_timestamp() + make_interval(secs => $2)
    WHERE worker = $1 AND done IS NULL RETURNING true";

const WITHDRAW: &str = "
    DELETE FROM toolkit_calls WHERE caller = $1 AND id = $2 AND claim = $3 AND done IS NULL RETURNING true";

const EXPIRE: &str = "DELETE FROM toolkit_calls WHERE expiry < clock_timestamp() RETURNING true";

/// Keeps a ledger of calls in a PostgreSQL database, version 11 or later.
///
/// Clones share one connection.
///
/// A worker claims each call that may not be repeated before it runs, and stores its outcome before it
/// answers. A claimed id does not run again: its outcome is returned, or reported as unknown if its worker
/// was lost.
///
/// The table `toolkit_calls` is created in the first schema of the search path. All times are those of the
/// database. After the [retention](Self::with_retention), an entry is deleted, and its id may run again.
///
/// ```no_run
/// use toolkit_ai::ToolRegistry;
/// use toolkit_nats::{CallLedger, Fleet, Worker};
///
/// # async fn serve(registry: ToolRegistry) -> Result<(), Box<dyn std::error::Error>> {
/// let ledger = CallLedger::connect("host=localhost user=ada dbname=calls").await?;
/// let fleet = Fleet::connect("nats://127.0.0.1:4222").await?;
/// Worker::new(registry)?.with_ledger(ledger).serve(&fleet).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct CallLedger {
    connection: Arc<LedgerConnection>,
    retention: Duration,
    /// The claims whose answers were lost, and since when. Their calls do not run.
    withdrawn: Arc<Mutex<Vec<(ClaimedCall, Instant)>>>,
}

#[derive(Clone)]
pub(crate) struct ClaimedCall {
    caller: Vec<u8>,
    id: Vec<u8>,
    fingerprint: Vec<u8>,
    claim: Vec<u8>,
    worker: String,
}

impl ClaimedCall {
    /// Creates a worker's claim for a call of `caller`. `number` is unique for the worker, so no call takes
    /// an earlier claim.
    pub(crate) fn new(
        caller: Vec<u8>,
        head: &CallHead<'_>,
        arguments: &str,
        worker: &str,
        number: u64,
    ) -> Self {
        // Only the same tool with the same arguments is the same call.
        let mut hash = Hash::new();
        hash.update(head.tool.as_bytes());
        hash.update([0]);
        hash.update(arguments.as_bytes());
        Self {
            caller,
            id: head.id.as_bytes().to_vec(),
            fingerprint: hash.finalize().to_vec(),
            claim: Hash::hash(format!("{worker} {number}").as_bytes()).to_vec(),
            worker: worker.to_owned(),
        }
    }
}

/// What the ledger says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The call may run.
    Ours,
    Done(Vec<u8>),
    Running,
    /// The worker was lost, or has stopped the call.
    Unknown,
    OfAnotherCall,
}

impl CallLedger {
    /// Connects without encryption, to a server on this machine or in a private network.
    ///
    /// `config` is a connection string, such as `host=localhost user=ada dbname=calls`.
    ///
    /// # Errors
    /// [`LedgerError`] if the connection string is invalid, the server cannot be reached, or the table cannot
    /// be created.
    pub async fn connect(config: &str) -> Result<Self, LedgerError> {
        let Ok(config) = config.parse() else {
            // The reason may quote parts of a password.
            return Err(LedgerError::new("the connection string of the ledger is invalid"));
        };
        Self::connect_with(config, NoTls).await
    }

    /// Connects with encryption.
    ///
    /// `tls` is a connector from a crate such as `tokio-postgres-rustls`.
    ///
    /// # Errors
    /// [`LedgerError`] if the server cannot be reached, or the table cannot be created.
    pub async fn connect_with<T>(config: Config, tls: T) -> Result<Self, LedgerError>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let connection = LedgerConnection::new(config, tls);
        let rows = connection.query(EXISTS, &[]).await?;
        if rows.first().is_none_or(|row| !matches!(row.try_get(0), Ok(true))) {
            connection.execute_all(TABLE).await?;
        }
        let retention = Duration::from_secs(7 * 24 * 3_600);
        Ok(Self { connection: Arc::new(connection), retention, withdrawn: Arc::default() })
    }

    /// Sets the time until an entry is deleted, longer than callers take to come back.
    ///
    /// The default is seven days.
    #[must_use]
    pub fn with_retention(mut self, retention: Duration) -> Self {
        self.retention = retention;
        self
    }

    /// Claims a call, or says why it may not run. After a lost connection, the same claim is found again.
    /// After an error, the call must not run until [`renew_leases`] has withdrawn this claim.
    pub(crate) async fn claim(&self, call: &ClaimedCall) -> Result<Claim, LedgerError> {
        let claim = self.try_claim(call).await;
        if claim.is_err() {
            lock(&self.withdrawn).push((call.clone(), Instant::now()));
        }
        claim
    }

    async fn try_claim(&self, call: &ClaimedCall) -> Result<Claim, LedgerError> {
        let lease = LEASE;
        let retention = self.retention.as_secs_f64();
        let parameters: [Parameter<'_>; 7] = [
            (&call.caller, Type::BYTEA),
            (&call.id, Type::BYTEA),
            (&call.fingerprint, Type::BYTEA),
            (&call.claim, Type::BYTEA),
            (&call.worker, Type::TEXT),
            (&lease, Type::FLOAT8),
            (&retention, Type::FLOAT8),
        ];
        if !self.connection.query(CLAIM, &parameters).await?.is_empty() {
            return Ok(Claim::Ours);
        }
        match self.read(&call.caller, &call.id).await? {
            Some((fingerprint, ..)) if fingerprint != call.fingerprint => Ok(Claim::OfAnotherCall),
            Some((_, claim, Claim::Running)) if claim == call.claim => Ok(Claim::Ours),
            Some((_, _, claim)) => Ok(claim),
            // The entry has expired meanwhile.
            None => Ok(Claim::Running),
        }
    }

    /// Withdraws the claims whose answers were lost, repeatedly: a claim may arrive later than its
    /// withdrawal.
    async fn withdraw(&self) {
        let withdrawn = lock(&self.withdrawn).clone();
        for (call, _) in &withdrawn {
            let parameters: [Parameter<'_>; 3] =
                [(&call.caller, Type::BYTEA), (&call.id, Type::BYTEA), (&call.claim, Type::BYTEA)];
            // Without the database, the next renewal tries again.
            if self.connection.query(WITHDRAW, &parameters).await.is_err() {
                break;
            }
        }
        lock(&self.withdrawn).retain(|(_, since)| since.elapsed() < WITHDRAWAL);
    }

    /// Returns what is known about a call. `None` if it is unclaimed.
    pub(crate) async fn stored(&self, caller: &[u8], id: &str) -> Result<Option<Claim>, LedgerError> {
        Ok(self.read(caller, id.as_bytes()).await?.map(|(_, _, claim)| claim))
    }

    async fn read(&self, caller: &[u8], id: &[u8]) -> Result<Option<(Vec<u8>, Vec<u8>, Claim)>, LedgerError> {
        let rows = self.connection.query(READ, &[(&caller, Type::BYTEA), (&id, Type::BYTEA)]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let has_ended: bool = row.try_get(3)?;
        let claim = match row.try_get(2)? {
            Some(result) => Claim::Done(result),
            None if has_ended => Claim::Unknown,
            None => Claim::Running,
        };
        Ok(Some((row.try_get(0)?, row.try_get(1)?, claim)))
    }

    /// Stores the outcome of a claimed call; `None` means unknown. Without a connection, tries again until
    /// `give_up`.
    pub(crate) async fn finish(
        &self,
        call: &ClaimedCall,
        result: Option<&[u8]>,
        give_up: Instant,
    ) -> Result<(), LedgerError> {
        let parameters: [Parameter<'_>; 4] = [
            (&call.caller, Type::BYTEA),
            (&call.id, Type::BYTEA),
            (&call.claim, Type::BYTEA),
            (&result, Type::BYTEA),
        ];
        loop {
            match self.connection.query(FINISH, &parameters).await {
                Err(error) if error.is_lost && Instant::now() < give_up => tokio::time::sleep(POLL).await,
                stored => return stored.map(drop),
            }
        }
    }
}

/// Renews a worker's leases, withdraws unused claims, and deletes expired entries, until `ended`.
pub(crate) fn renew_leases(ledger: Option<&CallLedger>, worker: &str, ended: CancellationToken) {
    let Some(ledger) = ledger.cloned() else { return };
    let worker = worker.to_owned();
    tokio::spawn(ended.run_until_cancelled_owned(async move {
        let mut renewals = tokio::time::interval(RENEWAL);
        let lease = LEASE;
        loop {
            renewals.tick().await;
            // After an error, the next renewal tries again.
            let parameters: [Parameter<'_>; 2] = [(&worker, Type::TEXT), (&lease, Type::FLOAT8)];
            ledger.withdraw().await;
            let _ = ledger.connection.query(RENEW, &parameters).await;
            let _ = ledger.connection.query(EXPIRE, &[]).await;
        }
    }));
}
