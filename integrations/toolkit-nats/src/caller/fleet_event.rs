//! Events of a fleet.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use toolkit_core::events::ToolEvent;
use toolkit_core::{BuildError, ToolName};
use toolkit_foreign::ToolIssue;

/// What happens in a fleet, as a caller sees it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum FleetEvent {
    /// A worker has come.
    #[non_exhaustive]
    WorkerJoined {
        /// The id of the worker.
        worker: String,
    },
    /// A worker has gone.
    #[non_exhaustive]
    WorkerLeft {
        /// The id of the worker.
        worker: String,
        /// Whether the worker was lost. Otherwise it said that it ends.
        lost: bool,
    },
    /// The tools have changed.
    #[non_exhaustive]
    ToolsChanged {
        /// The names of new tools.
        added: Vec<ToolName>,
        /// The names of tools without a worker.
        removed: Vec<ToolName>,
        /// The names of tools with another name, description or schema for the model than before: the last worker with
        /// the earlier one is gone.
        changed: Vec<ToolName>,
    },
    /// Definitions of workers were changed or left out.
    Issues(Vec<ToolIssue>),
    /// A live registry refuses a tool, for instance because the program has a tool of this name.
    #[non_exhaustive]
    Refused {
        /// The name of the tool.
        tool: ToolName,
        /// The fault.
        error: BuildError,
    },
    /// An event of a call in the dispatcher of its worker, such as a retry or a request for approval.
    Call(Box<ToolEvent>),
}

/// A stream of the events of a fleet. A slow reader misses the oldest events.
pub struct FleetEvents(broadcast::Receiver<FleetEvent>);

impl FleetEvents {
    pub(super) fn new(events: broadcast::Receiver<FleetEvent>) -> Self {
        Self(events)
    }

    /// Returns the next event. `None` after the last clone of the toolset was dropped.
    pub async fn next(&mut self) -> Option<FleetEvent> {
        loop {
            match self.0.recv().await {
                Ok(event) => return Some(event),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }
}
