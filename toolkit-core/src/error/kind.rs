//! The kinds of errors of calls.

use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// The kinds of [`ToolError`](crate::ToolError).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// No tool has this name.
    NotFound,
    /// The arguments are not JSON.
    InvalidJson,
    /// The arguments are JSON, but do not fit the parameters.
    InvalidArguments,
    /// The tool ran and reported a failure.
    Failed,
    /// The tool asks the model to call again, otherwise than it did.
    Retry,
    /// The tool ran, but what it returned cannot be written as JSON.
    InvalidOutput,
    /// The tool did not finish within its time limit.
    TimedOut,
    /// The call was cancelled before the tool finished.
    Cancelled,
    /// The tool panicked.
    Panicked,
    /// A policy or a person refused the call.
    Denied,
    /// The tool is there, but switched off.
    Disabled,
    /// The tool is called too often; later is soon enough.
    RateLimited,
    /// The model has called the tool wrongly too often, and should stop trying.
    Exhausted,
}

impl ErrorKind {
    /// The kind as one word, the same in every version: `not_found`, `timed_out`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::InvalidJson => "invalid_json",
            Self::InvalidArguments => "invalid_arguments",
            Self::Failed => "failed",
            Self::Retry => "retry",
            Self::InvalidOutput => "invalid_output",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Panicked => "panicked",
            Self::Denied => "denied",
            Self::Disabled => "disabled",
            Self::RateLimited => "rate_limited",
            Self::Exhausted => "exhausted",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for ErrorKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
