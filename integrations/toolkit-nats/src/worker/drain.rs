//! A running worker, and how it ends without losing a call.

use super::statistics::WorkerStatistics;
use super::worker_state::{Calls, WorkerState};
use crate::fleet_error::FleetError;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use toolkit_core::__private::lock;
use toolkit_core::CancellationToken;

/// The time without a call after which a worker that ends stops listening. Callers that have heard its
/// announcement send it none. A call that is on its way when the subscription ends would be lost, because the
/// client forgets a subscription before the server does.
const QUIET: Duration = Duration::from_millis(500);

/// The end of a worker: it refuses calls until none come, and lets the running ones end.
#[derive(Default)]
pub(super) struct Drain(Option<Draining>);

struct Draining {
    latest_call: Instant,
    /// `None` if it is beyond the range of the clock.
    deadline: Option<Instant>,
}

impl Drain {
    pub(super) fn has_begun(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn begin(&mut self, state: &WorkerState) {
        let now = Instant::now();
        state.calls.is_draining.store(true, Ordering::Relaxed);
        self.0 = Some(Draining { latest_call: now, deadline: now.checked_add(state.settings.drain_time) });
    }

    /// Notes that a caller still sends calls.
    pub(super) fn note_call(&mut self) {
        if let Some(draining) = &mut self.0 {
            draining.latest_call = Instant::now();
        }
    }

    pub(super) fn has_ended(&self, calls: &Calls) -> bool {
        let Some(draining) = &self.0 else { return false };
        let is_idle = lock(&calls.running).is_empty();
        let is_late = draining.deadline.is_some_and(|deadline| Instant::now() > deadline);
        (is_idle && draining.latest_call.elapsed() > QUIET) || is_late
    }
}

/// Serves until it is dropped, which does not wait for running calls.
pub struct RunningWorker {
    pub(super) state: Arc<WorkerState>,
    pub(super) stop: CancellationToken,
    pub(super) drained: CancellationToken,
    pub(super) task: JoinHandle<()>,
}

impl Drop for RunningWorker {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl RunningWorker {
    /// Returns the worker's id: its name, a dot, and a text that is new at each start.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.state.id
    }

    /// Returns the counts of the worker.
    #[must_use]
    pub fn statistics(&self) -> WorkerStatistics {
        self.state.calls.statistics()
    }

    /// Ends the worker: it refuses further calls, cancels those that run beyond the [drain
    /// time](super::Worker::with_drain_time), and stops listening when no call has come for half a second.
    pub async fn drain(self) {
        self.stop.cancel();
        self.drained.cancelled().await;
    }
}

pub(super) async fn terminated() -> Result<(), FleetError> {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate()).map_err(FleetError::lost)?;
        tokio::select! {
            _ = terminate.recv() => Ok(()),
            interrupted = interrupted => interrupted.map_err(FleetError::lost),
        }
    }
    #[cfg(not(unix))]
    interrupted.await.map_err(FleetError::lost)
}
