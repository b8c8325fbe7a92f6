//! One run of an agent.

mod output;
mod stream;

pub use output::RunOutput;
pub use stream::RunStream;

use crate::agent::Agent;
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::limits::{Budget, Limits};
use crate::structured::Form;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::sleep;
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

#[derive(Clone)]
struct Shared {
    root: Agent,
    invocation_id: String,
    cancellation: CancellationToken,
    budget: Arc<Budget>,
    events: Option<UnboundedSender<RunEvent>>,
    /// The form of the answer, if one is asked for.
    form: Option<Form>,
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
            form: None,
        }))
    }

    /// The same run, whose answer has a form.
    pub(crate) fn with_form(&self, form: Form) -> Self {
        Self(Arc::new(Shared { form: Some(form), ..Shared::clone(&self.0) }))
    }

    /// The same run, with another agent at its root and something more that stops it: for an agent that is a tool.
    pub(crate) fn nested(&self, root: Agent, cancellation: CancellationToken) -> Self {
        // What it answers is a result, not the answer.
        Self(Arc::new(Shared { root, cancellation, form: None, ..Shared::clone(&self.0) }))
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

    /// Waits for something, unless the run is stopped or its time is over before.
    ///
    /// # Errors
    /// [`AgentError::Cancelled`], or [`AgentError::Limit`].
    pub(crate) async fn unless_stopped<F: Future>(&self, future: F) -> Result<F::Output, AgentError> {
        let time = self.budget().run_time_left();
        let mut time_is_over = pin!(async {
            match time {
                Some(left) => sleep(left).await,
                None => std::future::pending().await,
            }
        });
        let mut cancelled = pin!(self.cancellation().cancelled());
        let mut future = pin!(future);
        poll_fn(|context| {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                return Poll::Ready(Ok(output));
            }
            if cancelled.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(AgentError::Cancelled));
            }
            time_is_over.as_mut().poll(context).map(|()| Err(self.budget().out_of_time()))
        })
        .await
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
