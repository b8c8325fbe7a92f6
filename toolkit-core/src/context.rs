//! The context of a call.

mod actions;
mod attempts;
mod deadline;
mod draft;
mod grants;
mod run;
mod session;
mod state;
mod trace_context;

pub use actions::{SessionDelta, ToolActions};
pub(crate) use attempts::Attempts;
pub(crate) use deadline::Limit;
pub use draft::{ActionsHandle, SessionHandle};
pub(crate) use grants::Grants;
use run::Redaction;
pub use run::{Progress, RunContext, RunControl};
pub(crate) use session::grant;
pub use session::{Session, SessionMap};
#[cfg(feature = "cache")]
pub(crate) use state::SeenState;
pub use state::{State, StateNeed};
pub use trace_context::TraceContext;

use crate::call::CallId;
use crate::error::ToolError;
use crate::events::{EventEmitter, ToolEventKind};
use crate::name::ToolName;
use deadline::Deadline;
use draft::Draft;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::sync::CancellationToken;

/// The context of one call: state, session, progress, cancellation, deadline.
///
/// A tool receives it as a `&ToolContext` parameter, which is not in the schema.
///
/// ```
/// use toolkit_ai::prelude::*;
///
/// /// Count the files.
/// #[tool]
/// fn count(context: &ToolContext) -> String {
///     context.progress(0.5, "half of the files"); // an event for listeners
///     format!("counted by {}", context.tool_name())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let registry = ToolRegistry::from_tools(tools![count])?;
/// assert_eq!(registry.call("count", "{}").await?.to_text(), "counted by count");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[doc(alias("RequestContext", "ToolRuntime"))]
#[derive(Debug, Clone)]
#[must_use]
pub struct ToolContext {
    tool_name: ToolName,
    call_id: Option<CallId>,
    cancellation: Option<CancellationToken>,
    state: Option<Arc<State>>,
    extras: Option<Box<ContextExtras>>,
    deadline: Deadline,
    draft: Draft,
}

/// Rarely used fields, boxed because contexts are often moved.
#[derive(Debug, Clone, Default)]
pub(crate) struct ContextExtras {
    /// The model's spelling of the tool name, for messages, if it differs.
    pub(crate) called_as: Option<Box<str>>,
    pub(crate) call_reason: Option<String>,
    pub(crate) run: Option<Arc<RunContext>>,
    pub(crate) extensions: Option<Arc<State>>,
    pub(crate) emitter: Option<EventEmitter>,
    /// Redacts hidden values in text for listeners, if the tool has hidden arguments.
    pub(crate) redaction: Option<Redaction>,
    /// Set to `true` once the arguments of a check are decoded. `None` for a call that runs the tool.
    pub(crate) check: Option<Arc<AtomicBool>>,
}

impl ToolContext {
    /// Creates a context without a call id and without cancellation.
    pub fn new(tool_name: ToolName) -> Self {
        Self::of_call(tool_name, None, None, None, None)
    }

    /// Creates a context in one step: each builder method would move the large struct.
    #[inline]
    pub(crate) fn of_call(
        tool_name: ToolName,
        call_id: Option<CallId>,
        cancellation: Option<CancellationToken>,
        state: Option<Arc<State>>,
        extras: Option<Box<ContextExtras>>,
    ) -> Self {
        let deadline = Deadline::default();
        let draft = Draft::default();
        Self { tool_name, call_id, cancellation, state, extras, deadline, draft }
    }

    pub(crate) fn all_state(&self) -> Option<&Arc<State>> {
        self.state.as_ref()
    }

    /// Sets the agent run of the call, with its session, agent name and extensions.
    #[must_use]
    pub fn with_run(mut self, run: impl Into<Arc<RunContext>>) -> Self {
        self.extras_mut().run = Some(run.into());
        self
    }

    /// Adds a value that the tool finds by its type with [`extension`](Self::extension), replacing an
    /// earlier one.
    pub fn with_extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        let extras = self.extras_mut();
        let extensions = extras.extensions.take().map(Arc::unwrap_or_clone).unwrap_or_default();
        extras.extensions = Some(Arc::new(extensions.with(value)));
        self
    }

    /// Sets the model's reason for the call.
    pub fn with_call_reason(mut self, call_reason: Option<String>) -> Self {
        if call_reason.is_some() {
            self.extras_mut().call_reason = call_reason;
        }
        self
    }

    /// Returns a context for a check, which sets `decoded` and ends once its arguments are decoded.
    pub(crate) fn of_check(&self, decoded: Arc<AtomicBool>) -> Self {
        let mut context = self.clone();
        let extras = context.extras_mut();
        extras.emitter = None;
        extras.check = Some(decoded);
        context
    }

    /// Ends a check with an error. Must be called after the arguments are decoded, before the tool runs.
    #[inline]
    pub(crate) fn end_check(&self) -> Result<(), ToolError> {
        match self.extras.as_ref().and_then(|extras| extras.check.as_ref()) {
            None => Ok(()),
            Some(decoded) => {
                decoded.store(true, Ordering::Relaxed);
                Err(ToolError::cancelled(self.known_name()))
            }
        }
    }

    fn extras_mut(&mut self) -> &mut ContextExtras {
        self.extras.get_or_insert_default()
    }

    #[inline]
    pub(crate) fn emitter(&self) -> Option<&EventEmitter> {
        self.extras.as_ref()?.emitter.as_ref()
    }

    /// Returns the tool name in the model's spelling, such as `math_add` for `math.add`.
    pub(crate) fn known_name(&self) -> &str {
        self.extras
            .as_ref()
            .and_then(|extras| extras.called_as.as_deref())
            .unwrap_or_else(|| self.tool_name.as_str())
    }

    /// Returns the program's state of type `T`, if any.
    #[must_use]
    pub fn state<T: ?Sized + Send + Sync + 'static>(&self) -> Option<&T> {
        self.state.as_deref()?.get::<T>()
    }

    /// Returns the program's state of type `T` as an `Arc`, if any.
    #[must_use]
    pub fn shared_state<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.state.as_deref()?.shared::<T>().cloned()
    }

    /// Returns the name of the running tool.
    #[must_use]
    pub fn tool_name(&self) -> &ToolName {
        &self.tool_name
    }

    /// Returns the provider's id of the call; `None` for a call made by the program.
    #[must_use]
    pub fn call_id(&self) -> Option<&CallId> {
        self.call_id.as_ref()
    }

    /// Returns the key of the call in its run, for instance as an idempotency key; `None` outside of an
    /// agent's run.
    ///
    /// The key is unique in the run, even if the provider reuses a call id, and a resumed run gives it
    /// again. In an agent's conversation, it has the numbers of run, turn and call, as in `1.2.0`.
    #[must_use]
    pub fn call_key(&self) -> Option<String> {
        self.run()?.call_key(self.call_id.as_ref()?)
    }

    /// Returns the model's reason for the call, if the registry [asks for
    /// it](crate::ToolRegistry::with_call_reason) and the model gave one.
    #[must_use]
    pub fn call_reason(&self) -> Option<&str> {
        self.extras.as_ref()?.call_reason.as_deref()
    }

    /// Returns the agent run of the call, if the dispatcher has a [run](crate::Dispatcher::with_run).
    #[must_use]
    pub fn run(&self) -> Option<&RunContext> {
        self.extras.as_ref()?.run.as_deref()
    }

    /// Returns the run for nested calls. Its progress reports do not show hidden values of this call.
    pub(crate) fn nested_run(&self) -> Option<Arc<RunContext>> {
        let run = self.extras.as_ref()?.run.clone()?;
        match self.redaction() {
            Some(redaction) if run.has_listener() => Some(Arc::new(run.redacted(redaction))),
            _ => Some(run),
        }
    }

    fn redaction(&self) -> Option<&Redaction> {
        self.extras.as_ref()?.redaction.as_ref()
    }

    /// Returns the context for a call with hidden values, which `redact` replaces in text for listeners.
    pub(crate) fn with_redaction(mut self, redact: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let extras = self.extras.get_or_insert_default();
        extras.redaction = Some(match extras.redaction.take() {
            Some(Redaction(outer)) => Redaction(Arc::new(move |text| outer(&redact(text)))),
            None => Redaction(Arc::new(redact)),
        });
        self
    }

    /// Adds the actions of a nested call, which the tool made through a dispatcher of its own.
    pub(crate) fn adopt(&self, actions: &ToolActions) {
        if !actions.is_empty() {
            self.draft.merge(actions);
        }
    }

    /// Returns the name of the running agent, if known.
    #[must_use]
    pub fn agent_name(&self) -> Option<&str> {
        self.run()?.agent_name()
    }

    /// Returns the id of the run, if it has one.
    #[must_use]
    pub fn invocation_id(&self) -> Option<&str> {
        self.run()?.invocation_id()
    }

    /// Returns the extension of type `T` of the call, or else of the run.
    #[must_use]
    pub fn extension<T: ?Sized + Send + Sync + 'static>(&self) -> Option<&T> {
        if let Some(extras) = &self.extras
            && let Some(extensions) = &extras.extensions
            && let Some(own) = extensions.get()
        {
            return Some(own);
        }
        self.run()?.extension()
    }

    /// Reports the progress of the call: the finished fraction, from 0 to 1, and a message for users.
    ///
    /// The listeners of the [run](RunContext::on_progress) and the [dispatcher](crate::Dispatcher::events)
    /// receive it. Without listeners, it costs almost nothing.
    pub fn progress(&self, fraction: f64, message: impl Into<String>) {
        if !self.has_listeners() {
            return;
        }
        let run = self.run().filter(|run| run.has_listener());
        let fraction = if fraction.is_nan() { 0.0 } else { fraction.clamp(0.0, 1.0) };
        let mut message = message.into();
        if let Some(Redaction(redact)) = self.redaction() {
            message = redact(&message);
        }
        if let Some(emitter) = self.emitter() {
            emitter.emit(ToolEventKind::Progress { fraction, message: message.as_str().into() });
        }
        if let Some(run) = run {
            let tool_name = self.tool_name.clone();
            let call_id = self.call_id.clone();
            run.notify(Progress { tool_name, call_id, fraction, message });
        }
    }

    pub(crate) fn has_listeners(&self) -> bool {
        self.emitter().is_some() || self.run().is_some_and(RunContext::has_listener)
    }

    /// Ends the call and returns its actions. Those of a failed call are discarded.
    #[inline]
    pub(crate) fn end(&self, has_succeeded: bool) -> ToolActions {
        self.draft.close().filter(|_| has_succeeded).unwrap_or_default()
    }

    /// Returns whether the call was cancelled. A long loop should check this regularly.
    #[inline]
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    /// Returns whether neither the call is cancelled nor its run has stopped.
    #[inline]
    pub(crate) fn may_begin(&self) -> bool {
        !self.is_cancelled() && !self.run().is_some_and(RunContext::has_stopped)
    }

    pub(crate) fn cancellation(&self) -> Option<&CancellationToken> {
        self.cancellation.as_ref()
    }

    /// Waits until the call is cancelled; forever if it cannot be.
    pub async fn cancelled(&self) {
        match &self.cancellation {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Returns the cancellation token of the call. It is never cancelled if the call cannot be.
    #[must_use]
    pub fn cancellation_token(&self) -> CancellationToken {
        self.cancellation.clone().unwrap_or_default()
    }
}

setters! { ToolContext:
    /// Sets the provider's id of the call.
    with_call_id(call_id: CallId) = Some(call_id);
    /// Sets the token that cancels the call.
    with_cancellation(cancellation: CancellationToken) = Some(cancellation);
    /// Sets the program's state for its tools.
    with_state(state: Arc<State>) = Some(state);
}
