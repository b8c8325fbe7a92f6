//! Callers: they discover the workers of a fleet and call their tools.

mod builder;
mod call_failure;
mod caller_state;
mod catalog;
mod discovery;
mod fleet_event;
mod fleet_tool;
mod follow;
mod listings;
mod members;
mod newcomers;
mod outgoing_call;
mod replies;
mod sent_messages;
mod stored_call;

pub use builder::FleetToolsBuilder;
pub use call_failure::CallFailure;
pub use caller_state::CallerStatistics;
pub use fleet_event::{FleetEvent, FleetEvents};
pub use fleet_tool::FleetTool;
pub use follow::FleetFollowing;
pub use stored_call::StoredCall;

use crate::fleet::Fleet;
use crate::fleet_error::FleetError;
use crate::subjects::is_token;
use caller_state::CallerState;
use std::sync::Arc;
use tokio_util::sync::DropGuard;
use toolkit_core::__private::lock;
use toolkit_core::CancellationToken;
use toolkit_core::ToolRegistry;
use toolkit_core::error::BuildError;
use toolkit_core::foreign::ToolIssue;
use toolkit_core::registry::{IntoRegistrySource, RegistrySource};

/// Discovers the workers of a fleet, and follows those that come, go and change.
///
/// The tools can be registered [once](Self::tools), or join a live registry that [follows](Self::follow) the
/// fleet. Clones share the state, which follows the fleet until all clones and tools are dropped.
///
/// ```no_run
/// use toolkit_ai::{Dispatcher, LiveRegistry, ToolCall, ToolRegistry};
/// use toolkit_nats::{CallFailure, FleetTools};
///
/// # async fn call() -> Result<(), Box<dyn std::error::Error>> {
/// let fleet = FleetTools::connect("nats://127.0.0.1:4222").await?;
/// let live = LiveRegistry::new(ToolRegistry::new())?;
/// let _following = fleet.follow(&live)?;
/// let results = Dispatcher::new(&live)?.dispatch([ToolCall::new("call_1", "shop-buy", r#"{"item": 7}"#)]).await;
/// match results[0].error().and_then(CallFailure::from_error) {
///     Some(CallFailure::Unknown) => println!("look whether it was bought, before buying again"),
///     _ => println!("{}", results[0].to_text()),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct FleetTools {
    state: Arc<CallerState>,
    /// Ends the tasks when the last clone is dropped.
    _guard: Arc<DropGuard>,
}

impl FleetToolsBuilder {
    /// Discovers the workers, see [`FleetTools::join`].
    ///
    /// # Errors
    /// Those of [`FleetTools::join`], and [`Prefix`](crate::FleetErrorKind::Prefix) for an illegal name.
    pub async fn join(self) -> Result<FleetTools, FleetError> {
        for name in [Some(&self.settings.name), self.settings.workers.as_ref()].into_iter().flatten() {
            if !is_token(name) {
                return Err(FleetError::prefix(name));
            }
        }
        let stop = CancellationToken::new();
        let state = Arc::new(CallerState::new(self.fleet, self.settings, stop.clone())?);
        let guard = Arc::new(stop.drop_guard());
        discovery::start(&state).await?;
        Ok(FleetTools { state, _guard: guard })
    }
}

impl FleetTools {
    /// Connects to a server on this machine, and discovers the workers with the prefix `fleet`.
    ///
    /// # Errors
    /// The errors of [`Fleet::connect`].
    pub async fn connect(address: &str) -> Result<Self, FleetError> {
        Self::join(&Fleet::connect(address).await?).await
    }

    /// Discovers the workers of a fleet, until none answers for a tenth of a second.
    ///
    /// Workers that answer later are followed, too.
    ///
    /// # Errors
    /// [`Permission`](crate::FleetErrorKind::Permission) if the server refuses a subject, for instance
    /// because the [inbox prefix](crate::FleetBuilder::inbox_prefix) is not the user's, and
    /// [`Connection`](crate::FleetErrorKind::Connection) if the connection has ended.
    pub async fn join(fleet: &Fleet) -> Result<Self, FleetError> {
        Self::builder(fleet).join().await
    }

    /// Begins the settings of a caller.
    pub fn builder(fleet: &Fleet) -> FleetToolsBuilder {
        FleetToolsBuilder::new(fleet.clone())
    }

    /// Returns the current tools, sorted by name.
    ///
    /// Tools whose workers are away shortly are included. Calls only go to workers with exactly the tool's
    /// definition.
    #[must_use]
    pub fn tools(&self) -> Vec<FleetTool> {
        let catalog = self.state.catalog();
        catalog.tools.values().map(|tool| FleetTool::new(self.clone(), tool.clone())).collect()
    }

    /// Returns a registry with the current tools, possibly none.
    ///
    /// A live registry [follows](Self::follow) later workers.
    ///
    /// # Errors
    /// The errors of [`ToolRegistry::from_tools`].
    pub fn registry(&self) -> Result<ToolRegistry, BuildError> {
        ToolRegistry::from_tools(self.tools())
    }

    /// Returns what was changed or left out in the current definitions.
    #[must_use]
    pub fn issues(&self) -> Vec<ToolIssue> {
        self.state.catalog().issues.clone()
    }

    /// Returns the ids of the current workers.
    #[must_use]
    pub fn workers(&self) -> Vec<String> {
        lock(&self.state.members).workers.keys().map(ToString::to_string).collect()
    }

    /// Returns a stream of later events.
    #[must_use]
    pub fn events(&self) -> FleetEvents {
        FleetEvents::new(self.state.subscribe())
    }

    /// Returns the counts of this caller.
    #[must_use]
    pub fn statistics(&self) -> CallerStatistics {
        *lock(&self.state.counts)
    }

    /// Returns what the workers' ledger knows about a call of this caller, also after a crash of both.
    ///
    /// `id` is the [id](FleetToolsBuilder::call_ids) with which the call was sent.
    ///
    /// Calls belong to the caller's identity: its [token](FleetToolsBuilder::token), or its
    /// [name](FleetToolsBuilder::name) if the workers trust subjects. The calls of an anonymous caller belong
    /// to this value and its clones, and are lost with its process.
    ///
    /// # Errors
    /// [`Connection`](crate::FleetErrorKind::Connection) if no worker with a ledger answers.
    pub async fn stored_call(&self, id: &str) -> Result<StoredCall, FleetError> {
        stored_call::fetch(&self.state, id).await
    }
}

/// Lets `.tools(fleet)` give the current tools to an agent. Later workers add nothing. A live registry
/// [follows](FleetTools::follow) the changes.
impl IntoRegistrySource for FleetTools {
    fn into_registry_source(self) -> RegistrySource {
        self.tools().into_registry_source()
    }
}
