//! Events of a connection.

use super::tools::ToolListChange;
use serde_json::Value;
use std::time::Duration;
use toolkit_core::events::EventReceiver;
use toolkit_core::foreign::ToolIssue;
use toolkit_core::{BuildError, ToolName};

/// The number of events buffered for slow listeners.
pub(super) const EVENTS_KEPT: usize = 256;

/// One event of the connection to a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum McpEvent {
    /// The connection was lost. Calls fail until the connection is restored.
    #[non_exhaustive]
    Disconnected {
        /// The reason for the end of the connection.
        reason: String,
    },
    /// The client is connected again, or for the first time after [`start`](super::McpClientBuilder::start).
    #[non_exhaustive]
    Reconnected {
        /// The number of attempts needed to connect.
        attempts: u32,
    },
    /// An attempt to connect failed.
    #[non_exhaustive]
    ReconnectFailed {
        /// The number of the attempt, counted from 1.
        attempt: u32,
        /// The reason why the attempt failed.
        error: String,
        /// The time until the next attempt. `None` if this was the last attempt.
        retry_in: Option<Duration>,
    },
    /// The tools of the server changed.
    ToolsChanged(ToolListChange),
    /// The changed tools of the server could not be listed. The earlier tools stay available.
    #[non_exhaustive]
    ListFailed {
        /// The reason why the tools could not be listed.
        error: String,
    },
    /// The list of the server's resources changed.
    ResourcesChanged,
    /// The list of the server's prompts changed.
    PromptsChanged,
    /// A resource changed to which the program has [subscribed](super::McpClient::subscribe).
    #[non_exhaustive]
    ResourceUpdated {
        /// The URI of the resource.
        uri: String,
    },
    /// The client changed listed tools, or left them out.
    Issues(Vec<ToolIssue>),
    /// A live registry that [follows](super::McpClient::follow) the server refused a tool.
    #[non_exhaustive]
    Refused {
        /// The name of the tool.
        tool: ToolName,
        /// The reason why the registry refused the tool.
        error: BuildError,
    },
    /// The server logged a message.
    #[non_exhaustive]
    Log {
        /// The severity, such as `warning`.
        level: String,
        /// The name of the logger.
        logger: Option<String>,
        /// The message. If its JSON is longer than 8,192 characters, the message becomes a string cut to this
        /// length.
        data: Value,
    },
    /// The process of the server wrote a line to standard error.
    #[non_exhaustive]
    Stderr {
        /// The line, cut to 4,096 bytes.
        line: String,
    },
    /// The server sent something that is not a message of the protocol. The client ignored it. If it was the
    /// answer to a call, the call ended with an error. If it was too large, all pending calls did.
    #[non_exhaustive]
    InvalidMessage {
        /// The beginning of the invalid message.
        text: String,
        /// The fault in the message.
        error: String,
    },
}

/// A stream of the events of a connection, beginning at the subscription. It ends once the client is closed.
pub type McpEvents = EventReceiver<McpEvent>;
