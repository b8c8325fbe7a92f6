//! How a command ends: the exit codes, and the failures that a command reports.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;
use toolkit_core::{ErrorKind, ToolError};

/// The exit codes, which scripts read. The guide has the same table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Success = 0,
    /// The tool failed, or a check found something.
    Failed = 1,
    /// The command line or the arguments are wrong.
    Usage = 2,
    /// A user must decide or answer, and nobody can be asked.
    Waiting = 3,
    /// A policy, a user or the program refused.
    Refused = 4,
    TimedOut = 5,
    /// A server cannot be reached, or a file cannot be read or written.
    Unreachable = 6,
    /// As a shell reports Ctrl+C.
    Cancelled = 130,
}

impl Exit {
    pub(crate) fn of_tool(error: &ToolError) -> Self {
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::InvalidJson | ErrorKind::InvalidArguments => Self::Usage,
            ErrorKind::Pending => Self::Waiting,
            ErrorKind::Denied | ErrorKind::Disabled => Self::Refused,
            ErrorKind::TimedOut => Self::TimedOut,
            ErrorKind::Cancelled => Self::Cancelled,
            _ => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command did not succeed. Without a message, the command has printed its result itself.
#[derive(Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }

    pub(crate) fn silent(exit: Exit) -> Self {
        Self::new(exit, "")
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub(crate) fn unreachable(error: impl Display) -> Self {
        Self::new(Exit::Unreachable, error.to_string())
    }
}

impl From<io::Error> for Failure {
    /// A reader that closes the pipe, such as `head`, has read enough.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::silent(Exit::Success),
            _ => Self::unreachable(error),
        }
    }
}
