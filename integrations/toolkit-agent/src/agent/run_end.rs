//! The end of a run by a guardrail.

use crate::error::AgentError;
use std::sync::OnceLock;
use tokio::sync::Notify;

/// The end of a run by a guardrail: the error, and a token that stops the rest of the run.
#[derive(Default)]
pub(super) struct RunEnd {
    error: OnceLock<AgentError>,
    /// Wakes everything that waits for the end.
    end: Notify,
}

impl RunEnd {
    /// Ends the run with `error`. If the run has already ended, returns the earlier error; otherwise, returns
    /// `error`.
    pub(super) fn set(&self, error: AgentError) -> AgentError {
        let error = self.error.get_or_init(|| error).clone();
        self.end.notify_waiters();
        error
    }

    /// Returns the error if the run has ended.
    pub(super) fn get(&self) -> Option<&AgentError> {
        self.error.get()
    }

    /// Waits for the end of the run. Returns its error.
    pub(super) async fn wait(&self) -> AgentError {
        loop {
            // Created before the check, so that an end after the check wakes it.
            let end = self.end.notified();
            if let Some(error) = self.get() {
                return error.clone();
            }
            end.await;
        }
    }
}
