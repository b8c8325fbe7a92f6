//! The messages of a call that workers may still run.

use super::caller_state::CallerState;
use super::members::RemoteWorker;
use crate::subjects::cancellations;
use async_nats::Subject;
use std::mem::take;
use std::sync::Arc;

/// The messages of one call that workers may still run. They are cancelled with this value, which the
/// dispatcher drops when the call is cancelled or timed out.
pub(super) struct SentMessages<'a> {
    state: &'a Arc<CallerState>,
    messages: Vec<(Arc<RemoteWorker>, Subject)>,
}

impl<'a> SentMessages<'a> {
    pub(super) fn new(state: &'a Arc<CallerState>) -> Self {
        Self { state, messages: Vec::new() }
    }

    pub(super) fn add(&mut self, worker: &Arc<RemoteWorker>, reply: &Subject) {
        self.messages.push((worker.clone(), reply.clone()));
    }

    /// Forgets the latest message: its worker does not run it.
    pub(super) fn forget_latest(&mut self) {
        self.messages.pop();
    }

    /// Forgets all messages: the call has its outcome, or the ledger will have it.
    pub(super) fn forget_all(&mut self) {
        self.messages.clear();
    }

    pub(super) fn cancel(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        for (worker, reply) in take(&mut self.messages) {
            let state = self.state.clone();
            runtime.spawn(async move {
                let subject = state.fleet.subject(cancellations(&worker.id, &state.settings.name));
                let _ = state.fleet.client.publish(subject, reply.to_string().into()).await;
            });
        }
    }
}

impl Drop for SentMessages<'_> {
    fn drop(&mut self) {
        self.cancel();
    }
}
