//! The options of one run.

use crate::limits::Limits;
use crate::session::Sessions;
use toolkit_core::CancellationToken;

/// The options of one run.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// The limits of the run. Default: the limits of the agent.
    pub limits: Option<Limits>,
    /// Stops the run. Every unfinished call is answered, so the conversation can continue.
    pub cancellation: CancellationToken,
    /// The id of the run. Default: a new one.
    pub invocation_id: Option<String>,
    /// Saves the conversation during the run. Default: it is not saved.
    pub autosave: Option<Sessions>,
}

impl RunOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limits of the run.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets the cancellation token of the run.
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

    /// Saves the conversation during the run: with the input, before calls run, after each result, and at the end.
    /// A crash loses nothing of that, and no call runs twice.
    #[must_use]
    pub fn with_autosave(mut self, sessions: &Sessions) -> Self {
        self.autosave = Some(sessions.clone());
        self
    }
}
