//! The context of a call: state, session, progress, cancellation.

mod actions;
mod attempts;
mod deadline;
mod draft;
mod run;
mod session;
mod state;

pub use actions::{SessionDelta, ToolActions};
pub(crate) use attempts::Attempts;
pub(crate) use deadline::Limit;
pub use draft::{ActionsHandle, SessionHandle};
pub use run::{Progress, RunContext};
pub use session::{Session, SessionMap};
pub use state::{State, StateNeed};

use crate::call::CallId;
use crate::event::EventEmitter;
use crate::name::ToolName;
use deadline::Deadline;
use draft::Draft;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The context of one call: state, session, progress, cancellation, deadline.
///
/// A tool receives it through a `&ToolContext` parameter, which is not part of the schema.
#[derive(Debug, Clone)]
pub struct ToolContext {
    tool_name: ToolName,
    call_id: Option<CallId>,
    cancellation: Option<CancellationToken>,
    state: Option<Arc<State>>,
    /// Boxed, because most calls have none of it and contexts are moved often.
    rare: Option<Box<Rare>>,
    deadline: Deadline,
    draft: Draft,
}

/// The parts of a context that registry and dispatcher fill in.
#[derive(Default)]
pub(crate) struct CallParts<'a> {
    /// `None` for a call that the program makes itself.
    pub(crate) call_id: Option<CallId>,
    pub(crate) cancellation: Option<CancellationToken>,
    /// The model's spelling of the tool's name, if it differs; messages use it.
    pub(crate) called_as: Option<Box<str>>,
    pub(crate) call_reason: Option<String>,
    pub(crate) state: Option<Arc<State>>,
    pub(crate) run: Option<Arc<RunContext>>,
    pub(crate) emitter: Option<&'a EventEmitter>,
}

#[derive(Debug, Clone, Default)]
struct Rare {
    /// The model's spelling of the tool's name, if it differs.
    called_as: Option<Box<str>>,
    call_reason: Option<String>,
    run: Option<Arc<RunContext>>,
    extensions: Option<Arc<State>>,
    emitter: Option<EventEmitter>,
}

impl ToolContext {
    /// Creates the context of a call without an id that cannot be cancelled.
    #[must_use]
    pub fn new(tool_name: ToolName) -> Self {
        Self::of_call(tool_name, CallParts::default())
    }

    /// Creates the context of a call in one piece: each builder method would move it.
    #[inline]
    pub(crate) fn of_call(tool_name: ToolName, parts: CallParts<'_>) -> Self {
        let CallParts { call_id, cancellation, called_as, call_reason, state, run, emitter } = parts;
        let rare = match (&called_as, &call_reason, &run, emitter) {
            (None, None, None, None) => None,
            _ => {
                let emitter = emitter.cloned();
                Some(Box::new(Rare { called_as, call_reason, run, extensions: None, emitter }))
            }
        };
        let (deadline, draft) = (Deadline::default(), Draft::default());
        Self { tool_name, call_id, cancellation, state, rare, deadline, draft }
    }

    /// Sets the provider's id of the call.
    #[must_use]
    pub fn with_call_id(mut self, id: CallId) -> Self {
        self.call_id = Some(id);
        self
    }

    /// Sets the token that cancels the call.
    #[must_use]
    pub fn with_cancellation(mut self, token: CancellationToken) -> Self {
        self.cancellation = Some(token);
        self
    }

    /// Sets the state that the program lends to its tools.
    #[must_use]
    pub fn with_state(mut self, state: Arc<State>) -> Self {
        self.state = Some(state);
        self
    }

    /// Adds state that precedes the state of the program.
    pub(crate) fn with_own_state(mut self, own: &State) -> Self {
        let state = match &self.state {
            Some(state) => own.clone().or(state),
            None => own.clone(),
        };
        self.state = Some(Arc::new(state));
        self
    }

    /// Sets the run that the call belongs to.
    #[must_use]
    pub fn with_run(mut self, run: impl Into<Arc<RunContext>>) -> Self {
        self.rare_mut().run = Some(run.into());
        self
    }

    /// Adds a value that the tool finds by its type, replacing one of the same type.
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        let rare = self.rare_mut();
        let extensions = rare.extensions.take().map(Arc::unwrap_or_clone).unwrap_or_default();
        rare.extensions = Some(Arc::new(extensions.with(value)));
        self
    }

    /// Sets the model's rationale for the call.
    #[must_use]
    pub fn with_call_reason(mut self, call_reason: Option<String>) -> Self {
        if call_reason.is_some() {
            self.rare_mut().call_reason = call_reason;
        }
        self
    }

    fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Returns the emitter of the call's events, if there are listeners.
    #[inline]
    pub(crate) fn emitter(&self) -> Option<&EventEmitter> {
        self.rare.as_ref()?.emitter.as_ref()
    }

    /// Returns the tool's name as the model spells it.
    pub(crate) fn known_name(&self) -> &str {
        self.rare
            .as_ref()
            .and_then(|rare| rare.called_as.as_deref())
            .unwrap_or_else(|| self.tool_name.as_str())
    }

    /// Returns the program's state of a type; `None` if the program lends none.
    #[must_use]
    pub fn state<T: ?Sized + Send + Sync + 'static>(&self) -> Option<&T> {
        self.state.as_deref()?.get::<T>()
    }

    /// Returns the program's state of a type as an `Arc`, to keep or pass on.
    #[must_use]
    pub fn shared_state<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.state.as_deref()?.shared::<T>().cloned()
    }

    /// Returns the name of the running tool.
    #[must_use]
    pub fn tool_name(&self) -> &ToolName {
        &self.tool_name
    }

    /// Returns the provider's id of the call; `None` for a call that the program made itself.
    #[must_use]
    pub fn call_id(&self) -> Option<&CallId> {
        self.call_id.as_ref()
    }

    /// Returns the model's rationale for the call, if the registry
    /// [asks for it](crate::ToolRegistry::with_call_reason) and the model gave one.
    #[must_use]
    pub fn call_reason(&self) -> Option<&str> {
        self.rare.as_ref()?.call_reason.as_deref()
    }

    /// Returns the run that the call belongs to, if the dispatcher [has one](crate::Dispatcher::with_run).
    #[must_use]
    pub fn run(&self) -> Option<&RunContext> {
        self.rare.as_ref()?.run.as_deref()
    }

    /// Returns the run as an `Arc`, to pass on to a nested dispatcher.
    pub(crate) fn shared_run(&self) -> Option<&Arc<RunContext>> {
        self.rare.as_ref()?.run.as_ref()
    }

    /// Takes over the actions of a nested call.
    pub(crate) fn adopt(&self, actions: &ToolActions) {
        if !actions.is_empty() {
            self.draft.merge(actions);
        }
    }

    /// Returns the name of the running agent.
    #[must_use]
    pub fn agent_name(&self) -> Option<&str> {
        self.run()?.agent_name()
    }

    /// Returns the id of the run.
    #[must_use]
    pub fn invocation_id(&self) -> Option<&str> {
        self.run()?.invocation_id()
    }

    /// Returns the extension of a type: the call's own, else the run's.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let own = self.rare.as_ref().and_then(|rare| rare.extensions.as_deref()?.get());
        own.or_else(|| self.run()?.extension())
    }

    /// Reports the call's progress: the finished fraction, from 0 to 1, and a message for people.
    ///
    /// The listeners of the [run](RunContext::on_progress) and of the [dispatcher](crate::Dispatcher::events)
    /// receive it. Without listeners the call costs next to nothing.
    pub fn progress(&self, fraction: f64, message: impl Into<String>) {
        let listener = self.run().and_then(RunContext::listener);
        if listener.is_none() && self.emitter().is_none() {
            return;
        }
        let fraction = if fraction.is_nan() { 0.0 } else { fraction.clamp(0.0, 1.0) };
        let message = message.into();
        if let Some(emitter) = self.emitter() {
            emitter.progress(fraction, &message);
        }
        if let Some(listener) = listener {
            let (tool_name, call_id) = (self.tool_name.clone(), self.call_id.clone());
            listener.notify(Progress { tool_name, call_id, fraction, message });
        }
    }

    /// Ends the call and returns its actions; a failed call has none.
    pub(crate) fn end(&self, has_succeeded: bool) -> ToolActions {
        let actions = self.draft.close();
        if has_succeeded { actions } else { ToolActions::default() }
    }

    /// Returns whether the call was cancelled. A tool that loops should check now and then.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    pub(crate) fn can_be_cancelled(&self) -> bool {
        self.cancellation.is_some()
    }

    /// Waits until the call is cancelled; for ever if it cannot be.
    pub async fn cancelled(&self) {
        match &self.cancellation {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Returns the token that cancels the call; a token that is never cancelled if the call has none.
    #[must_use]
    pub fn cancellation_token(&self) -> CancellationToken {
        self.cancellation.clone().unwrap_or_default()
    }
}
