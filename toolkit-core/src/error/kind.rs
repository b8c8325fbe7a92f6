//! The kinds of tool errors.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Generates the enum and `as_str` from one list.
macro_rules! kinds {
    ($(#[$meta:meta])* pub enum $ty:ident { $($(#[$doc:meta])* $kind:ident = $text:literal,)* }) => {
        $(#[$meta])*
        pub enum $ty {
            $($(#[$doc])* #[serde(rename = $text)] $kind,)*
        }

        impl $ty {
            /// Returns the stable name of the kind, such as `not_found`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $text,)*
                }
            }
        }
    };
}

kinds! {
    /// The kinds of [`ToolError`](crate::ToolError).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum ErrorKind {
        /// No tool has the name given in the call.
        NotFound = "not_found",
        /// The arguments are not valid JSON.
        InvalidJson = "invalid_json",
        /// The arguments violate the schema of the parameters.
        InvalidArguments = "invalid_arguments",
        /// The tool failed.
        Failed = "failed",
        /// The tool asks the model for a corrected call.
        Retry = "retry",
        /// The return value cannot be written as JSON.
        InvalidOutput = "invalid_output",
        /// The tool exceeded its time limit.
        TimedOut = "timed_out",
        /// The call was cancelled first.
        Cancelled = "cancelled",
        /// The tool panicked.
        Panicked = "panicked",
        /// A policy or a human refused the call.
        Denied = "denied",
        /// The result comes later: a human or another system decides, see
        /// [`ToolError::pending`](crate::ToolError::pending).
        Pending = "pending",
        /// The tool is disabled.
        Disabled = "disabled",
        /// The tool is called too often; call it again later.
        RateLimited = "rate_limited",
        /// Too many calls of the tool failed in a row.
        Exhausted = "exhausted",
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
