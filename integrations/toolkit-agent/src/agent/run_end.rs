//! The end of a run by a guardrail.

use crate::error::AgentError;
use std::sync::OnceLock;
use tokio::sync::Notify;

/// The error of the end, and a token that stops the rest of the run.
#[derive(Default)]
pub(super) struct RunEnd {
    error: OnceLock<AgentError>,
    /// Wakes all that wait for the end.
    end: Notify,
}

impl RunEnd {
    /// Ends the run with `error`, and returns the error of the first end.
    pub(super) fn set(&self, error: AgentError) -> AgentError {
        let error = self.error.get_or_init(|| error).clone();
        self.end.notify_waiters();
        error
    }

    pub(super) fn get(&self) -> Option<&AgentError> {
        self.error.get()
    }

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
