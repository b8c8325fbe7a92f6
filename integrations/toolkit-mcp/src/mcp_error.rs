//! Errors of connecting to a server, and of serving.

use std::fmt;
use toolkit_core::BuildError;
use toolkit_core::foreign::shorten;

/// The maximum length of a message, in characters.
const LONGEST: usize = 2_048;

/// An error of connecting, listing tools, reading a configuration, or serving.
#[derive(Clone, PartialEq, Eq)]
pub struct McpError {
    kind: McpErrorKind,
    message: String,
}

/// The kinds of [`McpError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum McpErrorKind {
    /// The configuration or a setting is invalid.
    ///
    /// - `the file has no servers`: for another dialect, use `ConfigFile::open_as`.
    Config,
    /// The tools of a server are incomplete, or one of its rules [selects no
    /// tool](toolkit_core::Dispatcher::check).
    Build,
    /// The address is not free, or other machines could reach an open server.
    Bind,
    /// The server's process could not be started.
    Start,
    /// The server cannot be reached, or the connection was lost.
    ///
    /// - `the process ended`: its last output follows. `McpCommand::env` passes secrets.
    /// - `the proxy of the environment has the scheme`: use a proxy with `http://`, or `NO_PROXY`.
    Connection,
    /// The server refuses access without valid credentials.
    ///
    /// - `the user did not log in within … s`: without a user, use `Login::client_credentials`.
    /// - `the server names another authorization server`: correct `with_issuer`.
    Unauthorized,
    /// The server did not answer in time.
    ///
    /// - `the server did not … within … s`: raise the timeout of the builder.
    TimedOut,
    /// The protocol is violated, or no version is shared.
    ///
    /// - `the server's answer is not a message of the protocol`: the server prints something else.
    Protocol,
}

impl McpError {
    pub(crate) fn new(kind: McpErrorKind, message: impl Into<String>) -> Self {
        // The server may have written a long text.
        Self { kind, message: shorten(message.into(), LONGEST) }
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> McpErrorKind {
        self.kind
    }

    #[cfg(feature = "client")]
    pub(crate) fn and(mut self, text: &str) -> Self {
        self.message.push_str(text);
        self
    }

    #[cfg(feature = "client")]
    pub(crate) fn of_server(mut self, name: &str) -> Self {
        self.message = format!("MCP server `{name}`: {}", self.message);
        self
    }
}

impl From<BuildError> for McpError {
    fn from(error: BuildError) -> Self {
        Self::new(McpErrorKind::Build, error.to_string())
    }
}

/// Prints the message, so that a failed `main` shows it.
impl fmt::Debug for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for McpError {}
