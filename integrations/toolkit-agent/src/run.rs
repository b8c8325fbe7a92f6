//! One run of an agent.

mod output;
mod stream;

pub use output::RunOutput;
pub use stream::RunStream;

use crate::agent::Agent;
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::limits::{Budget, Limits};
use crate::session::Sessions;
use crate::structured::Form;
use std::fmt;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::sleep;
use toolkit_core::{CancellationToken, RunContext};

/// How an agent is run.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// How far the run may go; if it is not said, as the agent says.
    pub limits: Option<Limits>,
    /// What stops the run. Every call that has not ended is answered, so the conversation can go on.
    pub cancellation: CancellationToken,
    /// The id of the run; one is made if it is not said.
    pub invocation_id: Option<String>,
    /// Where the conversation is saved while the run goes on; nowhere if it is not said.
    pub autosave: Option<Sessions>,
}

impl RunOptions {
    /// Nothing is said.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how far the run may go.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets what stops the run.
    #[must_use]
    pub fn with_cancellation(mut self, token: CancellationToken) -> Self {
        self.cancellation = token;
        self
    }

    /// Sets the id of the run.
    #[must_use]
    pub fn with_invocation_id(mut self, id: impl Into<String>) -> Self {
        self.invocation_id = Some(id.into());
        self
    }

    /// Has the conversation saved while the run goes on: with the input, before calls run, whenever one has ended, and
    /// at the end. After a crash, nothing of that is lost, and no call is run again.
    #[must_use]
    pub fn with_autosave(mut self, sessions: &Sessions) -> Self {
        self.autosave = Some(sessions.clone());
        self
    }
}

/// What all agents of a run have in common. Clones are the same run.
#[derive(Clone)]
pub struct Run(Arc<Shared>);

#[derive(Clone)]
struct Shared {
    root: Agent,
    invocation_id: String,
    cancellation: CancellationToken,
    budget: Arc<Budget>,
    events: Option<UnboundedSender<RunEvent>>,
    /// What the calls of all turns have in common.
    context: RunContext,
    autosave: Option<Sessions>,
    /// The form of the answer, if one is asked for.
    form: Option<Form>,
}

impl Run {
    pub(crate) fn new(root: Agent, options: RunOptions, events: Option<UnboundedSender<RunEvent>>) -> Self {
        let limits = options.limits.unwrap_or_else(|| root.limits());
        let invocation_id = options.invocation_id.unwrap_or_else(new_id);
        Self(Arc::new(Shared {
            root,
            context: RunContext::new().with_invocation_id(invocation_id.as_str()),
            invocation_id,
            autosave: options.autosave,
            cancellation: options.cancellation,
            budget: Arc::new(Budget::new(limits)),
            events,
            form: None,
        }))
    }

    /// The same run, whose answer has a form, or none.
    pub(crate) fn with_form(&self, form: Option<Form>) -> Self {
        Self(Arc::new(Shared { form, ..Shared::clone(&self.0) }))
    }

    /// The same run in a conversation that is not saved, with another agent at its root and something else that stops
    /// it: for an agent that is a tool.
    pub(crate) fn nested(&self, root: Agent, cancellation: CancellationToken) -> Self {
        // What it answers is a result, not the answer.
        Self(Arc::new(Shared { root, cancellation, autosave: None, form: None, ..Shared::clone(&self.0) }))
    }

    /// The same run in a copy of the conversation.
    pub(crate) fn branch(&self) -> Self {
        self.nested(self.0.root.clone(), self.0.cancellation.clone())
    }

    /// What the calls of all turns have in common: what is remembered under `temp:`.
    pub(crate) fn context(&self) -> &RunContext {
        &self.0.context
    }

    /// Saves the conversation, if it is to be saved while the run goes on.
    ///
    /// # Errors
    /// [`AgentError::Store`] if it cannot be saved.
    pub(crate) async fn save(&self, conversation: &Conversation) -> Result<(), AgentError> {
        match &self.0.autosave {
            Some(sessions) => Ok(sessions.save(conversation).await?),
            None => Ok(()),
        }
    }

    /// The id of the run.
    #[must_use]
    pub fn invocation_id(&self) -> &str {
        &self.0.invocation_id
    }

    /// What stops the run.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        &self.0.cancellation
    }

    /// The agent that was asked to run.
    #[must_use]
    pub fn root(&self) -> &Agent {
        &self.0.root
    }

    /// Whether anybody listens.
    #[must_use]
    pub fn is_heard(&self) -> bool {
        self.0.events.is_some()
    }

    /// Tells who listens what happens.
    pub fn tell(&self, event: impl FnOnce() -> RunEvent) {
        if let Some(events) = &self.0.events {
            // Nobody listens any more; then nobody wants to know.
            let _ = events.send(event());
        }
    }

    /// # Errors
    /// [`AgentError::Cancelled`] if the run was stopped.
    pub fn check_cancelled(&self) -> Result<(), AgentError> {
        if self.0.cancellation.is_cancelled() { Err(AgentError::Cancelled) } else { Ok(()) }
    }

    /// Waits until the run has taken as long as it may; for ever, if that is not limited.
    pub(crate) async fn time_is_over(&self) -> AgentError {
        match self.0.budget.run_time_left() {
            Some(left) => sleep(left).await,
            None => pending().await,
        }
        self.0.budget.out_of_time()
    }

    /// The form of the answer, if one is asked for.
    pub(crate) fn form(&self) -> Option<&Form> {
        self.0.form.as_ref()
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.0.budget
    }
}

/// An id that no other run has, on this machine and very likely on others.
fn new_id() -> String {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("run_{now:x}_{:x}_{:x}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed))
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("root", &self.0.root.name())
            .field("invocation_id", &self.0.invocation_id)
            .finish_non_exhaustive()
    }
}
