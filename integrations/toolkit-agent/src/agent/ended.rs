//! The end of a run by a guardrail.

use crate::error::AgentError;
use crate::helpers::lock;
use std::sync::Mutex;
use toolkit_core::CancellationToken;

/// The error of a guardrail that has ended a run.
#[derive(Default)]
pub(super) struct Ended {
    error: Mutex<Option<AgentError>>,
    /// Cancelled when the run has ended.
    pub(super) token: CancellationToken,
}

impl Ended {
    /// Ends the run, unless it has ended before. Returns the error of the end.
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
