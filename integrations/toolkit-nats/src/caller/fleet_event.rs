//! Events of a fleet.

use toolkit_core::events::{EventReceiver, ToolEvent};
use toolkit_core::foreign::ToolIssue;
use toolkit_core::{BuildError, ToolName};

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
        /// The names of tools that have had no worker for the [time of absence](crate::FleetToolsBuilder::absence), or that
        /// a worker has removed.
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
    /// The permissions of the server do not allow a message or a subscription of this caller.
    #[non_exhaustive]
    PermissionDenied {
        /// What the server says.
        reason: String,
    },
    /// An event of a call in the dispatcher of its worker, such as a retry or a request for approval.
    Call(Box<ToolEvent>),
}

/// A stream of the events of a fleet. It ends after the last clone of the [`FleetTools`](crate::FleetTools) was dropped.
pub type FleetEvents = EventReceiver<FleetEvent>;
