//! The run of an agent, shared by its calls.

use super::actions::SessionDelta;
use super::attempts::Attempts;
use super::grants::Grants;
use super::session::{Scope, Session, SessionMap};
use super::state::{State, StateNeed};
use crate::call::CallId;
use crate::guard::guarded;
use crate::name::ToolName;
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// A progress report of a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The name of the reporting tool.
    pub tool_name: ToolName,
    /// The provider's id of the call; `None` for a call made by the program.
    pub call_id: Option<CallId>,
    /// The finished fraction, from 0 to 1.
    pub fraction: f64,
    /// A message for users.
    pub message: String,
}

#[derive(Clone)]
pub(crate) struct Redaction(pub(super) Arc<dyn Fn(&str) -> String + Send + Sync>);

/// What the calls of a run ask the loop that makes them.
///
/// ```
/// use std::sync::Arc;
/// use toolkit_ai::context::RunControl;
/// use toolkit_ai::{CallId, RunContext};
///
/// /// Numbers the turns of a loop, whose provider may use the id of a call again.
/// struct Turn(u32);
///
/// impl RunControl for Turn {
///     fn call_key(&self, id: &CallId) -> Option<String> {
///         Some(format!("{}.{id}", self.0))
///     }
/// }
///
/// let run = RunContext::new().with_control(Arc::new(Turn(1)));
/// ```
pub trait RunControl: Send + Sync {
    /// Returns whether the run has stopped, asked before each attempt of a tool. Calls that have not begun
    /// then end with [`Cancelled`](crate::ErrorKind::Cancelled); running tools go on. A panic counts as a
    /// stop.
    fn has_stopped(&self) -> bool {
        false
    }

    /// Returns the [key](crate::ToolContext::call_key) of the call with this id, if it has one. A panic
    /// counts as `None`.
    fn call_key(&self, _id: &CallId) -> Option<String> {
        None
    }
}

/// The run of an agent: name, id, session, extensions and progress listener.
///
/// A [`Dispatcher`](crate::Dispatcher::with_run) passes the run to the [`ToolContext`](crate::ToolContext)
/// of each call. Clones share the `temp:` values and the counts of an
/// [`AttemptLimit`](crate::middleware::AttemptLimit).
///
/// ```
/// use toolkit_ai::{RunContext, Session};
///
/// let run = RunContext::new()
///     .with_agent_name("analyst")
///     .with_invocation_id("run 7")
///     .with_session(Session::new("session 1"))
///     .on_progress(|progress| println!("{}: {:.0} %", progress.tool_name, progress.fraction * 100.0));
/// assert_eq!(run.agent_name(), Some("analyst"));
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct RunContext {
    agent_name: Option<Arc<str>>,
    invocation_id: Option<Arc<str>>,
    session: Option<Session>,
    shared: Arc<RunShared>,
    extensions: State,
    state: State,
    listener: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    control: Option<Arc<dyn RunControl>>,
}

/// The parts shared by clones, created on first use because most runs need none.
#[derive(Default)]
struct RunShared {
    temp: OnceLock<SessionMap>,
    attempts: OnceLock<Attempts>,
    grants: OnceLock<Grants>,
}

impl RunContext {
    /// Creates a run without a name, session or extensions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value that tools find by its type, replacing an earlier one.
    pub fn with_extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions = self.extensions.with(value);
        self
    }

    /// Adds a shared value: tools find an `Arc<dyn Store>`, for instance, as `dyn Store`.
    ///
    /// ```
    /// use toolkit_ai::RunContext;
    ///
    /// let run = RunContext::new().with_shared_extension::<str>("tenant 7".into());
    /// assert_eq!(run.extension::<str>(), Some("tenant 7"));
    /// ```
    pub fn with_shared_extension<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.extensions = self.extensions.with_shared(value);
        self
    }

    /// Adds state for the calls of this run. It overrides registry state of the same type, also for
    /// [merged](crate::ToolRegistry::merge_with) tools.
    ///
    /// `#[state]` parameters find it by type, if the registry
    /// [declares](crate::ToolRegistry::with_run_state) the type.
    pub fn with_state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.state = self.state.with_value_of_run(value);
        self
    }

    pub(crate) fn has_state(&self, need: &StateNeed) -> bool {
        self.state.has_value(need)
    }

    /// Returns the state for a call: the values of this run over those of the registry.
    pub(crate) fn state_over(&self, registry: Option<&Arc<State>>) -> Option<Arc<State>> {
        match registry {
            Some(registry) if self.state.is_empty() => Some(registry.clone()),
            Some(registry) => Some(Arc::new(self.state.over(registry))),
            None if self.state.is_empty() => None,
            None => Some(Arc::new(self.state.clone())),
        }
    }

    /// Returns the agent's name, if set.
    #[must_use]
    pub fn agent_name(&self) -> Option<&str> {
        self.agent_name.as_deref()
    }

    /// Returns the run's id, if set.
    #[must_use]
    pub fn invocation_id(&self) -> Option<&str> {
        self.invocation_id.as_deref()
    }

    /// Returns the session, if any.
    #[must_use]
    pub fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// Returns the extension of type `T`, if there is one.
    #[must_use]
    pub fn extension<T: ?Sized + Send + Sync + 'static>(&self) -> Option<&T> {
        self.extensions.get()
    }

    /// Returns the value of a key in the session. `temp:` keys belong to this run.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value> {
        match Scope::split(key) {
            (Scope::Temp, key) => self.temp().get(key),
            _ => self.session.as_ref()?.get(key),
        }
    }

    /// Applies changes to the session, and those of `temp:` keys to this run.
    ///
    /// Dispatchers call this for successful calls. Without a session, only `temp:` values are kept.
    pub fn apply(&self, delta: &SessionDelta) {
        if delta.is_empty() {
            return;
        }
        if let Some(session) = &self.session {
            session.apply(delta);
        }
        self.temp().apply(delta, Scope::Temp);
    }

    fn temp(&self) -> &SessionMap {
        self.shared.temp.get_or_init(SessionMap::default)
    }

    pub(crate) fn attempts(&self) -> &Attempts {
        self.shared.attempts.get_or_init(Attempts::default)
    }

    /// Returns the approvals of the session, or else of the run.
    pub(crate) fn grants(&self) -> &Grants {
        match &self.session {
            Some(session) => session.grants(),
            None => self.shared.grants.get_or_init(Grants::default),
        }
    }

    pub(super) fn has_stopped(&self) -> bool {
        let Some(control) = &self.control else { return false };
        guarded(|| control.has_stopped()).unwrap_or(true)
    }

    pub(super) fn call_key(&self, id: &CallId) -> Option<String> {
        let control = self.control.as_ref()?;
        guarded(|| control.call_key(id)).unwrap_or(None)
    }

    pub(super) fn has_listener(&self) -> bool {
        self.listener.is_some()
    }

    /// Returns a copy of the run with redacted progress reports.
    pub(super) fn redacted(&self, redaction: &Redaction) -> Self {
        let (run, Redaction(redact)) = (self.clone(), redaction.clone());
        self.clone().on_progress(move |progress| {
            run.notify(Progress { message: redact(&progress.message), ..progress });
        })
    }

    /// Passes a report to the listener, whose panic does not fail the call.
    pub(super) fn notify(&self, progress: Progress) {
        if let Some(listener) = &self.listener {
            let _ = guarded(|| listener(progress));
        }
    }
}

setters! { RunContext:
    /// Sets the name of the agent.
    with_agent_name(agent_name: impl Into<Arc<str>>) = Some(agent_name.into());
    /// Sets the id of the run.
    with_invocation_id(invocation_id: impl Into<Arc<str>>) = Some(invocation_id.into());
    /// Sets the session for the calls.
    with_session(session: Session) = Some(session);
    /// Sets what the calls ask the loop of the run.
    with_control(control: Arc<dyn RunControl>) = Some(control);
    /// Sets the listener for progress reports. It should return quickly, as tools call it directly. Its
    /// panic is ignored.
    on_progress(listener: impl Fn(Progress) + Send + Sync + 'static) = Some(Arc::new(listener));
}

impl_debug!(Redaction);
impl_debug!(RunContext, |this|
    agent_name: this.agent_name,
    invocation_id: this.invocation_id,
    session: this.session,
    temp: this.temp(),
    extensions: this.extensions,
    state: this.state,
    listener: this.listener.is_some(),
    control: this.control.is_some(),
);
