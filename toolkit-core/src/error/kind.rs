//! The kinds of tool errors.

use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// The kinds of [`ToolError`](crate::ToolError).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such tool.
    NotFound,
    /// The arguments are not JSON.
    InvalidJson,
    /// The arguments violate the schema of the parameters.
    InvalidArguments,
    /// The tool failed.
    Failed,
    /// The tool asks the model for a corrected call.
    Retry,
    /// The tool's value has no JSON.
    InvalidOutput,
    /// The tool did not finish within its time limit.
    TimedOut,
    /// The call was cancelled before the tool finished.
    Cancelled,
    /// The tool panicked.
    Panicked,
    /// A policy or a human refused the call.
    Denied,
    /// The tool is disabled.
    Disabled,
    /// The tool is called too often; call it again later.
    RateLimited,
    /// Too many calls of the tool failed in a row; the model should stop.
    Exhausted,
}

impl ErrorKind {
    /// Returns the stable name of the kind, such as `not_found` or `timed_out`.
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
