//! Workers: they serve the tools of a registry to callers.

mod accepted_call;
mod drain;
mod identity;
mod offers;
mod seen_messages;
mod service_api;
mod serving;
mod statistics;
mod worker_state;

pub use drain::RunningWorker;
pub use identity::{Identity, RemoteCaller};
pub use statistics::WorkerStatistics;

use crate::fleet::Fleet;
use crate::fleet_error::FleetError;
#[cfg(feature = "ledger")]
use crate::ledger::CallLedger;
use crate::subjects::{ANONYMOUS, is_token};
use identity::Verify;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use toolkit_core::__private::{ServedCalls, dispatcher_for};
use toolkit_core::registry::IntoRegistrySource;
use toolkit_core::{BuildError, Dispatcher};

/// Serves the tools of a dispatcher to the callers of a [`Fleet`].
///
/// Workers with the same definitions share the calls. Each checks arguments, permissions and limits in its
/// dispatcher. Tools take the caller as state, `#[state] caller: &RemoteCaller`, and middleware as the
/// extension [`RemoteCaller`].
///
/// ```no_run
/// use toolkit_ai::middleware::{PermissionRule, Permissions};
/// use toolkit_ai::{Dispatcher, ToolRegistry};
/// use toolkit_nats::{Fleet, Worker};
///
/// # async fn serve(registry: ToolRegistry) -> Result<(), Box<dyn std::error::Error>> {
/// let fleet = Fleet::connect("nats://127.0.0.1:4222").await?;
/// let rule = PermissionRule::deny("not from here").for_tool("files-*")?;
/// let dispatcher = Dispatcher::new(registry)?.with_middleware(Permissions::new().rule(rule));
/// Worker::from(dispatcher).with_max_calls(64).serve(&fleet).await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a worker does nothing before `serve` or `start`"]
pub struct Worker {
    pub(super) dispatcher: Dispatcher,
    pub(super) name: String,
    /// Whether the dispatcher may have middleware.
    pub(super) has_rules: bool,
    pub(super) calls: ServedCalls<RemoteCaller>,
    pub(super) drain_time: Duration,
    pub(super) max_result_bytes: usize,
    pub(super) verify: Option<Verify>,
    pub(super) trusts_subjects: bool,
    #[cfg(feature = "ledger")]
    pub(super) ledger: Option<CallLedger>,
}

/// Serves the tools of a dispatcher.
///
/// If a tool takes a [`RemoteCaller`], its registry must declare this state with
/// [`with_run_state`](toolkit_core::ToolRegistry::with_run_state).
impl From<Dispatcher> for Worker {
    fn from(dispatcher: Dispatcher) -> Self {
        Self {
            dispatcher,
            name: ANONYMOUS.to_owned(),
            has_rules: true,
            calls: ServedCalls::new(256),
            drain_time: Duration::from_secs(30),
            max_result_bytes: 16 * 1_024 * 1_024,
            verify: None,
            trusts_subjects: false,
            #[cfg(feature = "ledger")]
            ledger: None,
        }
    }
}

impl Worker {
    /// Creates a worker for the tools of a registry or a [view](toolkit_core::ToolRegistry), and follows the
    /// changes of a [live](toolkit_core::LiveRegistry) one.
    ///
    /// If a tool takes a [`RemoteCaller`], a live registry must declare this state with
    /// [`with_run_state`](toolkit_core::ToolRegistry::with_run_state). A fixed registry need not.
    ///
    /// # Errors
    /// The errors of [`Dispatcher::new`].
    pub fn new(registry: impl IntoRegistrySource) -> Result<Self, BuildError> {
        let dispatcher = dispatcher_for::<RemoteCaller>(registry)?;
        Ok(Self { has_rules: false, ..Self::from(dispatcher) })
    }

    /// Sets the worker's name in its subjects: letters, digits, `-` and `_`.
    ///
    /// Several workers may share it. The server's permissions can bind it to a user, and callers can select
    /// [workers by name](crate::FleetToolsBuilder::workers_named).
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the maximum number of concurrent calls, at least one; 256 by default.
    ///
    /// Beyond it, a call is refused at once, and the caller asks another worker.
    pub fn with_max_calls(mut self, calls: usize) -> Self {
        self.calls.set_max(calls);
        self
    }

    /// Sets the time that running calls have when the worker ends; 30 seconds by default.
    ///
    /// They are cancelled afterwards, with an unknown outcome.
    pub fn with_drain_time(mut self, time: Duration) -> Self {
        self.drain_time = time;
        self
    }

    /// Sets the maximum size of a result in bytes of JSON; 16 MiB by default.
    ///
    /// A longer result becomes an error.
    pub fn with_max_result_bytes(mut self, bytes: usize) -> Self {
        self.max_result_bytes = bytes;
        self
    }

    /// Sets the function that checks the signed token of each call, including signature, audience and expiry.
    ///
    /// It returns the caller's identity, or why the token is refused.
    ///
    /// **A call without a token is not refused: it runs as an anonymous call**, unseen by the function. A
    /// tool or a middleware that needs a caller must refuse calls whose [`RemoteCaller::identity`] is `None`.
    pub fn with_verifier<E: Into<Box<dyn Error + Send + Sync>>>(
        mut self,
        verify: impl Fn(&str) -> Result<Identity, E> + Send + Sync + 'static,
    ) -> Self {
        self.verify = Some(Arc::new(move |token| verify(token).map_err(|reason| reason.into().to_string())));
        self
    }

    /// Takes the caller's name in the subject as its identity.
    ///
    /// The server's permissions must allow each user no other `PREFIX.to.*.*.NAME.>` and
    /// `PREFIX.result.NAME`.
    pub fn trust_subjects(mut self) -> Self {
        self.trusts_subjects = true;
        self
    }

    /// Sets the ledger.
    ///
    /// The worker claims each call before it runs, so no call runs twice. Calls of
    /// [repeatable](toolkit_core::ToolMetadata::is_repeatable) tools are not claimed.
    #[cfg(feature = "ledger")]
    pub fn with_ledger(mut self, ledger: CallLedger) -> Self {
        self.ledger = Some(ledger);
        self
    }

    /// Starts serving, and returns once the tools can be called.
    ///
    /// Dropping the returned value stops the worker without waiting for its calls.
    ///
    /// # Errors
    /// [`Build`](crate::FleetErrorKind::Build) if a rule selects no tool,
    /// [`Prefix`](crate::FleetErrorKind::Prefix) for an illegal name,
    /// [`Permission`](crate::FleetErrorKind::Permission) for a refused subject, and
    /// [`Connection`](crate::FleetErrorKind::Connection) if the connection has ended.
    pub async fn start(self, fleet: &Fleet) -> Result<RunningWorker, FleetError> {
        self.dispatcher.check()?;
        if !is_token(&self.name) {
            return Err(FleetError::prefix(&self.name));
        }
        serving::start(self, fleet.clone()).await
    }

    /// Serves until the process gets SIGTERM or is interrupted, then [drains](RunningWorker::drain) the
    /// calls.
    ///
    /// # Errors
    /// The errors of [`start`](Self::start), and [`Connection`](crate::FleetErrorKind::Connection) if the
    /// signals cannot be received.
    pub async fn serve(self, fleet: &Fleet) -> Result<(), FleetError> {
        let running = self.start(fleet).await?;
        drain::terminated().await?;
        running.drain().await;
        Ok(())
    }
}
