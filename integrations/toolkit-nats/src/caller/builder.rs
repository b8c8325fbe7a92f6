//! The settings of a caller.

use crate::fleet::Fleet;
use crate::subjects::ANONYMOUS;
use std::sync::Arc;
use std::time::Duration;
use toolkit_core::ToolContext;

type TokenSource = Arc<dyn Fn() -> Option<String> + Send + Sync>;
type CallIds = Arc<dyn Fn(&ToolContext) -> Option<String> + Send + Sync>;

pub(super) struct CallerSettings {
    pub(super) name: String,
    pub(super) token: Option<TokenSource>,
    pub(super) call_ids: CallIds,
    pub(super) call_timeout: Duration,
    /// How long a tool without workers stays.
    pub(super) absence: Duration,
    pub(super) workers: Option<String>,
}

/// The settings of a [`FleetTools`](super::FleetTools).
#[must_use = "settings do nothing before `join`"]
pub struct FleetToolsBuilder {
    pub(super) fleet: Fleet,
    pub(super) settings: CallerSettings,
}

/// Returns the id of the run with the key of the call or, without an agent, its id. `None` if one is missing.
fn id_in_run(context: &ToolContext) -> Option<String> {
    let run = context.invocation_id()?;
    if let Some(key) = context.call_key() {
        return Some(format!("{run}/{key}"));
    }
    let call = context.call_id().filter(|id| !id.as_str().is_empty())?;
    Some(format!("{run}/{call}"))
}

impl FleetToolsBuilder {
    pub(super) fn new(fleet: Fleet) -> Self {
        let settings = CallerSettings {
            name: ANONYMOUS.to_owned(),
            token: None,
            call_ids: Arc::new(id_in_run),
            call_timeout: Duration::from_secs(60),
            absence: Duration::from_secs(60),
            workers: None,
        };
        Self { fleet, settings }
    }

    fn with(mut self, change: impl FnOnce(&mut CallerSettings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Sets the caller's name in subjects: letters, digits, `-` and `_`.
    ///
    /// Workers that [trust subjects](crate::Worker::trust_subjects) take it as the identity.
    pub fn name(self, name: impl Into<String>) -> Self {
        self.with(|settings| settings.name = name.into())
    }

    /// Sets the source of a signed token for each call, for the workers'
    /// [verifier](crate::Worker::with_verifier).
    ///
    /// Each worker that gets the call reads it, so it should be valid briefly, and for this fleet only.
    pub fn token(self, token: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.token = Some(Arc::new(token)))
    }

    /// Sets the source of the ids under which a ledger stores calls.
    ///
    /// Two calls with one id are one call. Without an id, a call gets a unique one. The default is the run's
    /// id, `/`, and the call's [key](toolkit_core::ToolContext::call_key), or outside of an agent's run the
    /// call's id.
    pub fn call_ids(self, ids: impl Fn(&ToolContext) -> Option<String> + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.call_ids = Arc::new(ids))
    }

    /// Sets how long a tool stays after its last worker has gone; 60 seconds by default.
    ///
    /// Meanwhile, its calls end with [`NoWorker`](crate::CallFailure::NoWorker). A tool that a worker removes
    /// from its live registry goes at once.
    pub fn absence(self, time: Duration) -> Self {
        self.with(|settings| settings.absence = time)
    }

    /// Hears only workers with this [name](crate::Worker::with_name).
    ///
    /// If the server's permissions let no other user subscribe to `PREFIX.to.NAME.>`, no other worker gets
    /// the calls.
    pub fn workers_named(self, name: impl Into<String>) -> Self {
        self.with(|settings| settings.workers = Some(name.into()))
    }

    /// Sets the time limit of calls without a deadline; 60 seconds by default.
    pub fn call_timeout(self, limit: Duration) -> Self {
        self.with(|settings| settings.call_timeout = limit)
    }
}
