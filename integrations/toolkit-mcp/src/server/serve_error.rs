//! Errors of a server.

use std::fmt;
use std::io;
use toolkit_core::BuildError;

/// The reason why a server could not start, or ended early.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// The registry is not complete: for instance, a tool lacks its state.
    Build(BuildError),
    /// The transport failed.
    Io(io::Error),
    /// The client does not speak the protocol.
    Protocol(String),
}

impl ServeError {
    pub(super) fn protocol(error: impl fmt::Display) -> Self {
        Self::Protocol(error.to_string())
    }

    pub(super) fn lost(error: impl fmt::Display) -> Self {
        Self::Io(io::Error::other(error.to_string()))
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => error.fmt(f),
            Self::Io(error) => write!(f, "the transport failed: {error}"),
            Self::Protocol(error) => write!(f, "the client does not speak MCP: {error}"),
        }
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Build(error) => Some(error),
            Self::Io(error) => Some(error),
            Self::Protocol(_) => None,
        }
    }
}

impl From<BuildError> for ServeError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl From<io::Error> for ServeError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
