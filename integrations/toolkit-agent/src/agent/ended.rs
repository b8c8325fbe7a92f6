//! The end of a run by a guardrail.

use crate::error::AgentError;
use crate::helpers::lock;
use std::sync::Mutex;
use toolkit_core::CancellationToken;

/// The end of a run by a guardrail: the error, and a token that stops the rest of the run.
#[derive(Default)]
pub(super) struct Ended {
    error: Mutex<Option<AgentError>>,
    /// A token that is cancelled when the run ends.
    pub(super) token: CancellationToken,
}

impl Ended {
    /// Ends the run with `error`. If the run has already ended, returns the earlier error; otherwise, returns
    /// `error`.
    pub(super) fn set(&self, error: AgentError) -> AgentError {
        let error = lock(&self.error).get_or_insert(error).clone();
        self.token.cancel();
        error
    }

    /// Returns the error if the run has ended.
    pub(super) fn get(&self) -> Option<AgentError> {
        self.token.is_cancelled().then(|| lock(&self.error).clone()).flatten()
    }
}
