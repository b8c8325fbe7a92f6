//! What a running tool may know about its call.

mod actions;
mod attempts;
mod deadline;
mod draft;
mod run;
mod session;
mod state;

pub use actions::{SessionDelta, ToolActions};
pub(crate) use attempts::Attempts;
pub use draft::{ActionsHandle, SessionHandle};
pub use run::{Progress, RunContext};
pub use session::{Session, SessionMap};
pub use state::{State, StateNeed};

use crate::call::CallId;
use crate::event::Teller;
use crate::name::ToolName;
use deadline::Deadline;
use draft::Draft;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What a running tool may know about its call. A tool asks for it with a `&ToolContext` parameter,
/// which the model never sees.
#[derive(Debug, Clone)]
pub struct ToolContext {
    tool_name: ToolName,
    call_id: Option<CallId>,
    cancellation: Option<CancellationToken>,
    state: Option<Arc<State>>,
    /// What most calls do not have, so that moving and dropping a context costs little.
    rare: Option<Box<Rare>>,
    deadline: Deadline,
    draft: Draft,
}

/// What a dispatcher knows about a call before it runs.
pub(crate) struct AboutCall {
    pub(crate) call_id: CallId,
    pub(crate) cancellation: Option<CancellationToken>,
    /// How the model spells the tool's name, if otherwise; messages use that spelling.
    pub(crate) called_as: Option<Box<str>>,
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Clone, Default)]
struct Rare {
    /// How the model spells the tool's name, if otherwise.
    called_as: Option<Box<str>>,
    reason: Option<String>,
    run: Option<Arc<RunContext>>,
    extensions: Option<Arc<State>>,
    teller: Option<Teller>,
}

impl ToolContext {
    /// The context of a call of this tool that has no id and cannot be cancelled.
    #[must_use]
    pub fn new(tool_name: ToolName) -> Self {
        Self {
            tool_name,
            call_id: None,
            cancellation: None,
            state: None,
            rare: None,
            deadline: Deadline::default(),
            draft: Draft::default(),
        }
    }

    /// The context of a call of a dispatcher. It is made at once, because moving it costs.
    #[inline]
    pub(crate) fn of_call(
        tool_name: ToolName,
        about: AboutCall,
        state: Option<Arc<State>>,
        run: Option<Arc<RunContext>>,
        teller: Option<&Teller>,
    ) -> Self {
        let AboutCall { call_id, cancellation, called_as, reason } = about;
        let rare = match (&called_as, &reason, &run, teller) {
            (None, None, None, None) => None,
            _ => {
                let teller = teller.cloned();
                Some(Box::new(Rare { called_as, reason, run, extensions: None, teller }))
            }
        };
        let (deadline, draft) = (Deadline::default(), Draft::default());
        Self { tool_name, call_id: Some(call_id), cancellation, state, rare, deadline, draft }
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

    /// Sets what the program lends to its tools.
    #[must_use]
    pub fn with_state(mut self, state: Arc<State>) -> Self {
        self.state = Some(state);
        self
    }

    pub(crate) fn lent(mut self, state: Option<&Arc<State>>) -> Self {
        self.state = state.cloned();
        self
    }

    /// Sets what the call has in common with all others of the run.
    #[must_use]
    pub fn with_run(mut self, run: impl Into<Arc<RunContext>>) -> Self {
        self.rare_mut().run = Some(run.into());
        self
    }

    /// Adds a value that the tool finds by its type; one of the same type is replaced.
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        let rare = self.rare_mut();
        let extensions = rare.extensions.take().map(Arc::unwrap_or_clone).unwrap_or_default();
        rare.extensions = Some(Arc::new(extensions.with(value)));
        self
    }

    /// Sets why the model makes the call.
    #[must_use]
    pub fn with_reason(mut self, reason: Option<String>) -> Self {
        if reason.is_some() {
            self.rare_mut().reason = reason;
        }
        self
    }

    fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Who tells what happens to the call, if anybody listens.
    #[inline]
    pub(crate) fn teller(&self) -> Option<&Teller> {
        self.rare.as_ref()?.teller.as_ref()
    }

    /// The tool's name as the model knows it.
    pub(crate) fn known_name(&self) -> &str {
        self.rare
            .as_ref()
            .and_then(|rare| rare.called_as.as_deref())
            .unwrap_or_else(|| self.tool_name.as_str())
    }

    /// What the program lends under this type; `None` if it lends none.
    #[must_use]
    pub fn state<T: ?Sized + Send + Sync + 'static>(&self) -> Option<&T> {
        self.state.as_deref()?.get::<T>()
    }

    /// Like [`state`](Self::state), to be shared further.
    #[must_use]
    pub fn shared_state<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.state.as_deref()?.shared::<T>().cloned()
    }

    /// The name of the tool that runs.
    #[must_use]
    pub fn tool_name(&self) -> &ToolName {
        &self.tool_name
    }

    /// The provider's id of the call; `None` for a call that the program made itself.
    #[must_use]
    pub fn call_id(&self) -> Option<&CallId> {
        self.call_id.as_ref()
    }

    /// Why the model makes the call, if it was [asked](crate::ToolRegistry::with_call_reason) and has said so.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.rare.as_ref()?.reason.as_deref()
    }

    /// What the call has in common with all others of the run, if the dispatcher was
    /// [told](crate::Dispatcher::with_run).
    #[must_use]
    pub fn run(&self) -> Option<&RunContext> {
        self.rare.as_ref()?.run.as_deref()
    }

    /// The name of the agent that runs.
    #[must_use]
    pub fn agent_name(&self) -> Option<&str> {
        self.run()?.agent_name()
    }

    /// The id of the run.
    #[must_use]
    pub fn invocation_id(&self) -> Option<&str> {
        self.run()?.invocation_id()
    }

    /// The value of a type that was given to this call, else to its run.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let own = self.rare.as_ref().and_then(|rare| rare.extensions.as_deref()?.get());
        own.or_else(|| self.run()?.extension())
    }

    /// Tells whoever listens to the [run](RunContext::on_progress) or to the
    /// [dispatcher](crate::Dispatcher::events) how far the call has come: which part is done, from 0 to
    /// 1, and what is being done. Without a listener it costs next to nothing.
    pub fn progress(&self, fraction: f64, message: impl Into<String>) {
        let listener = self.run().and_then(RunContext::listener);
        if listener.is_none() && self.teller().is_none() {
            return;
        }
        let fraction = if fraction.is_nan() { 0.0 } else { fraction.clamp(0.0, 1.0) };
        let message = message.into();
        if let Some(teller) = self.teller() {
            teller.progress(fraction, &message);
        }
        if let Some(listener) = listener {
            let (tool_name, call_id) = (self.tool_name.clone(), self.call_id.clone());
            listener.tell(Progress { tool_name, call_id, fraction, message });
        }
    }

    /// Ends the call and returns what it wants, which counts if it has succeeded.
    pub(crate) fn end(&self, has_succeeded: bool) -> ToolActions {
        let actions = self.draft.close();
        if has_succeeded { actions } else { ToolActions::default() }
    }

    /// Whether the call was cancelled. A tool that loops should look now and then.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    pub(crate) fn can_be_cancelled(&self) -> bool {
        self.cancellation.is_some()
    }

    /// Waits until the call is cancelled; for ever if nobody can.
    pub async fn cancelled(&self) {
        match &self.cancellation {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// The token that cancels the call, to hand on; one that is never cancelled if nobody can.
    #[must_use]
    pub fn cancellation_token(&self) -> CancellationToken {
        self.cancellation.clone().unwrap_or_default()
    }
}
