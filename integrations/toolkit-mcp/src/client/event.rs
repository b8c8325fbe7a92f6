//! Events of a connection.

use super::tools::ToolListChange;
use serde_json::Value;
use std::time::Duration;
use toolkit_core::events::EventReceiver;
use toolkit_core::foreign::ToolIssue;
use toolkit_core::{BuildError, ToolName};

/// The number of events buffered for slow listeners.
pub(super) const EVENTS_KEPT: usize = 256;

/// An event of the connection to a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum McpEvent {
    /// The connection was lost. Calls fail until it is restored.
    #[non_exhaustive]
    Disconnected {
        /// The reason.
        reason: String,
    },
    /// The client is connected again, or for the first time after [`start`](super::McpClientBuilder::start).
    #[non_exhaustive]
    Reconnected {
        /// The attempts that it took.
        attempts: u32,
    },
    /// An attempt to connect failed.
    #[non_exhaustive]
    ReconnectFailed {
        /// Its number, counted from 1.
        attempt: u32,
        /// The reason.
        error: String,
        /// The time until the next attempt; `None` after the last.
        retry_in: Option<Duration>,
    },
    /// The tools of the server changed.
    ToolsChanged(ToolListChange),
    /// The changed tools could not be listed. The earlier ones stay available.
    #[non_exhaustive]
    ListFailed {
        /// The reason.
        error: String,
    },
    /// The list of the server's resources changed.
    ResourcesChanged,
    /// The list of the server's prompts changed.
    PromptsChanged,
    /// A resource changed to which the program has [subscribed](super::McpClient::subscribe).
    #[non_exhaustive]
    ResourceUpdated {
        /// Its URI.
        uri: String,
    },
    /// The client changed listed tools, or left them out.
    Issues(Vec<ToolIssue>),
    /// A live registry that [follows](super::McpClient::follow) the server refused a tool.
    #[non_exhaustive]
    Refused {
        /// Its name.
        tool: ToolName,
        /// The reason.
        error: BuildError,
    },
    /// The server logged a message.
    #[non_exhaustive]
    Log {
        /// The severity, such as `warning`.
        level: String,
        /// The name of the logger.
        logger: Option<String>,
        /// The message; a string cut to 8,192 characters if its JSON is longer.
        data: Value,
    },
    /// The server's process wrote a line to standard error.
    #[non_exhaustive]
    Stderr {
        /// The line, cut to 4,096 bytes.
        line: String,
    },
    /// The server sent something that is not a message of the protocol, and the client ignored it. If it was
    /// the answer to a call, the call ended with an error. If it was too large, all pending calls did.
    #[non_exhaustive]
    InvalidMessage {
        /// The beginning of the message.
        text: String,
        /// The fault.
        error: String,
    },
}

/// The events of a connection since the subscription. The stream ends once the client is closed.
pub type McpEvents = EventReceiver<McpEvent>;
