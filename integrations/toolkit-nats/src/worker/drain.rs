//! A running worker, and how it ends without losing a call.

use super::serving::WorkerState;
use super::statistics::WorkerStatistics;
use crate::fleet::FleetError;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::task::JoinHandle;
use toolkit_core::CancellationToken;

/// A worker that serves. Dropping it stops the worker without waiting for its calls.
pub struct RunningWorker {
    pub(super) state: Arc<WorkerState>,
    pub(super) stop: CancellationToken,
    pub(super) drained: CancellationToken,
    pub(super) task: JoinHandle<()>,
}

impl fmt::Debug for RunningWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningWorker").field("id", &self.state.id).finish_non_exhaustive()
    }
}

impl Drop for RunningWorker {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl RunningWorker {
    /// Returns the id of the worker, which is new at each start.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.state.id
    }

    /// Returns the counts of the worker.
    #[must_use]
    pub fn statistics(&self) -> WorkerStatistics {
        let calls = &self.state.calls;
        calls.counters.read(calls.in_flight.load(Ordering::Relaxed))
    }

    /// Ends the worker: it takes no further call, lets the running calls end within the
    /// [drain time](super::Worker::with_drain_time), and cancels the others.
    pub async fn drain(self) {
        self.stop.cancel();
        self.drained.cancelled().await;
    }
}

/// Waits until the process is asked to end.
#[cfg(unix)]
pub(super) async fn terminated() -> Result<(), FleetError> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).map_err(FleetError::lost)?;
    tokio::select! {
        _ = terminate.recv() => Ok(()),
        interrupted = tokio::signal::ctrl_c() => interrupted.map_err(FleetError::lost),
    }
}

/// Waits until the process is asked to end.
#[cfg(not(unix))]
pub(super) async fn terminated() -> Result<(), FleetError> {
    tokio::signal::ctrl_c().await.map_err(FleetError::lost)
}
