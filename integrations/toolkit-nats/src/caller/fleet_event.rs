//! Events of a fleet.

use toolkit_core::events::{EventReceiver, ToolEvent};
use toolkit_core::foreign::ToolIssue;
use toolkit_core::{BuildError, ToolName};

/// Reports what happens in a fleet.
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
        /// Whether the worker was lost, and did not say that it ends.
        lost: bool,
    },
    /// The tools have changed.
    #[non_exhaustive]
    ToolsChanged {
        /// The names of new tools.
        added: Vec<ToolName>,
        /// The names of tools without a worker for the [time of absence](crate::FleetToolsBuilder::absence),
        /// or removed by one.
        removed: Vec<ToolName>,
        /// The names of tools with another name, description or schema for the model.
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
    /// The server's permissions do not allow a message or a subscription.
    #[non_exhaustive]
    PermissionDenied {
        /// What the server says.
        reason: String,
    },
    /// An event of a call in its worker's dispatcher, such as a retry or a request for approval.
    Call(Box<ToolEvent>),
}

/// A stream of a fleet's events.
///
/// It ends with the last clone of the [`FleetTools`](crate::FleetTools).
pub type FleetEvents = EventReceiver<FleetEvent>;
