//! One run of an agent.

mod output;
mod stream;

pub use output::RunOutput;
pub use stream::RunStream;

use crate::agent::Agent;
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::limits::{Budget, Limits};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc::UnboundedSender;
use toolkit_core::CancellationToken;

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
}

/// What all agents of a run have in common. Clones are the same run.
#[derive(Clone)]
pub struct Run(Arc<Shared>);

struct Shared {
    root: Agent,
    invocation_id: String,
    cancellation: CancellationToken,
    budget: Arc<Budget>,
    events: Option<UnboundedSender<RunEvent>>,
}

impl Run {
    pub(crate) fn new(root: Agent, options: RunOptions, events: Option<UnboundedSender<RunEvent>>) -> Self {
        let limits = options.limits.unwrap_or_else(|| root.limits());
        Self(Arc::new(Shared {
            root,
            invocation_id: options.invocation_id.unwrap_or_else(new_id),
            cancellation: options.cancellation,
            budget: Arc::new(Budget::new(limits)),
            events,
        }))
    }

    /// The same run, with another agent at its root and something more that stops it: for an agent that is a tool.
    pub(crate) fn nested(&self, root: Agent, cancellation: CancellationToken) -> Self {
        let Shared { invocation_id, budget, events, .. } = &*self.0;
        Self(Arc::new(Shared {
            root,
            invocation_id: invocation_id.clone(),
            cancellation,
            budget: budget.clone(),
            events: events.clone(),
        }))
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
