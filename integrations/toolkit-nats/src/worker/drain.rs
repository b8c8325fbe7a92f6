//! A running worker, and how it ends without losing a call.

use super::statistics::WorkerStatistics;
use super::worker_state::WorkerState;
use crate::fleet::FleetError;
use std::sync::Arc;
use tokio::task::JoinHandle;
use toolkit_core::CancellationToken;

/// A worker that serves. Dropping it stops the worker without waiting for its calls.
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
    /// Returns the id of the worker, which is new at each start.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.state.id
    }

    /// Returns the counts of the worker.
    #[must_use]
    pub fn statistics(&self) -> WorkerStatistics {
        self.state.calls.statistics()
    }

    /// Ends the worker: it takes no further call, lets the running calls end within the
    /// [drain time](super::Worker::with_drain_time), and cancels the others.
    pub async fn drain(self) {
        self.stop.cancel();
        self.drained.cancelled().await;
    }
}

/// Waits until the process is asked to end.
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
