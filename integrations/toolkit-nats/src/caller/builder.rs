//! The settings of a caller.

use crate::fleet::Fleet;
use crate::subjects::ANONYMOUS;
use std::sync::Arc;
use std::time::Duration;
use toolkit_core::ToolContext;

type TokenSource = Arc<dyn Fn() -> Option<String> + Send + Sync>;
type CallIds = Arc<dyn Fn(&ToolContext) -> Option<String> + Send + Sync>;

/// What a caller needs for each call.
pub(super) struct CallerSettings {
    pub(super) name: String,
    pub(super) token: Option<TokenSource>,
    pub(super) call_ids: CallIds,
    pub(super) call_timeout: Duration,
    /// How long a tool without workers stays.
    pub(super) absence: Duration,
    /// The name of the workers that are heard. `None` for all.
    pub(super) workers: Option<String>,
}

/// The settings of a [`FleetTools`](super::FleetTools).
#[must_use = "settings do nothing before `join`"]
pub struct FleetToolsBuilder {
    pub(super) fleet: Fleet,
    pub(super) settings: CallerSettings,
}

/// Returns the id of a call of an agent: the id of its run, and the key of the call in it or, without an agent, the id of the
/// call. `None` if one of them is missing.
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

    /// Sets the name of the caller in subjects: letters, digits, `-` and `_`. Workers that
    /// [trust subjects](crate::Worker::trust_subjects) take it as the identity.
    pub fn name(self, name: impl Into<String>) -> Self {
        self.with(|settings| settings.name = name.into())
    }

    /// Sets the source of signed tokens for the [verifier](crate::Worker::with_verifier) of the workers. It is asked for
    /// each call. Each worker that gets the call reads the token, so it should be valid for this fleet only, and not for
    /// long.
    pub fn token(self, token: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.token = Some(Arc::new(token)))
    }

    /// Sets the source of the ids of calls, under which a ledger stores them. Two calls with one id are one call. Without
    /// an id, a call gets an id that no other call has. By default, the id is the id of the run, `/`, and the
    /// [key](toolkit_core::ToolContext::call_key) of the call. Outside of the run of an agent, the id of the call takes the
    /// place of the key.
    pub fn call_ids(self, ids: impl Fn(&ToolContext) -> Option<String> + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.call_ids = Arc::new(ids))
    }

    /// Sets how long a tool stays after its last worker has gone. Meanwhile, its calls end with
    /// [`NoWorker`](crate::CallFailure::NoWorker), and the tools of a model do not change because its workers are away
    /// shortly. A tool that a worker removes from its live registry goes at once. The default is 60 seconds.
    pub fn absence(self, time: Duration) -> Self {
        self.with(|settings| settings.absence = time)
    }

    /// Hears only workers with this [name](crate::Worker::with_name). If the permissions of the server let no other user
    /// subscribe to `PREFIX.to.NAME.>`, no other worker gets calls of this caller.
    pub fn workers_named(self, name: impl Into<String>) -> Self {
        self.with(|settings| settings.workers = Some(name.into()))
    }

    /// Sets the time limit of calls without a deadline of their own. The default is 60 seconds.
    pub fn call_timeout(self, limit: Duration) -> Self {
        self.with(|settings| settings.call_timeout = limit)
    }
}
