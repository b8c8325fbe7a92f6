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
        /// No tool has the name given in the call: the model invented it, or the tool was removed or
        /// filtered out.
        NotFound = "not_found",
        /// The arguments are not valid JSON, often because the limit of output tokens is too low.
        InvalidJson = "invalid_json",
        /// The arguments violate the schema of the parameters.
        ///
        /// - `Error validating JSON arguments`: often, the parameters need better descriptions.
        InvalidArguments = "invalid_arguments",
        /// The tool failed.
        ///
        /// - ``the program lends no `…` to its tools``: build a `Dispatcher`, and lend the state with `with_state`
        ///   of the run or `with_call_state` of the server.
        Failed = "failed",
        /// The tool asks the model for a corrected call.
        ///
        /// - `Try again`: the hint of the tool follows.
        Retry = "retry",
        /// The return value cannot be written as JSON, whose maps have keys of text.
        InvalidOutput = "invalid_output",
        /// The tool exceeded its time limit.
        ///
        /// - `it cannot be stopped and may still finish`: let the tool look at `context.is_cancelled()`.
        /// - `no thread was free to run it`: raise `max_blocking_threads`, or limit the tool.
        TimedOut = "timed_out",
        /// The call was cancelled first.
        ///
        /// - ``Tool `…` was started, but the program stopped``: mark tools that may run twice as `idempotent`.
        Cancelled = "cancelled",
        /// The tool panicked; the details have the text.
        Panicked = "panicked",
        /// A policy or a human refused the call.
        ///
        /// - `no rule allows it`: end the rules with `PermissionRule::allow()`.
        /// - `the request for approval was not answered`: use `with_patience` or `decide_later`.
        /// - `approvals have no handler in this program`: use `with_handler` or `decide_later`.
        /// - `The limit of tool calls is reached`: raise `Limits::with_max_tool_calls`.
        Denied = "denied",
        /// The result comes later: a human or another system decides, see
        /// [`ToolError::pending`](crate::ToolError::pending). Resume an agent with `Decisions`.
        Pending = "pending",
        /// The tool is disabled; [`ToolRegistry::enable`](crate::ToolRegistry::enable) enables it.
        Disabled = "disabled",
        /// The tool is called too often; call it again later, or give `RateLimit` patience or a higher limit.
        RateLimited = "rate_limited",
        /// Too many calls of the tool failed in a row, as `AttemptLimit` counts them.
        Exhausted = "exhausted",
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
