//! The ways in which a fleet fails a call.

use std::time::Duration;
use toolkit_core::{ErrorKind, ToolError};

/// Why a call has no result of its tool. The error of the call says it to the model, and [`CallFailure::of`] to the
/// program.
///
/// ```
/// use toolkit::ToolError;
/// use toolkit_nats::CallFailure;
///
/// assert_eq!(CallFailure::of(&ToolError::failed("the shop is closed")), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallFailure {
    /// No worker serves this version of the tool. The tool has not run.
    NoWorker,
    /// All workers that were asked are full, end, or cannot reach their ledger. The tool has not run.
    Busy,
    /// This program is not connected to the server. The tool has not run.
    Disconnected,
    /// The worker refuses the caller, or the id of the call belongs to another call. The tool has not run.
    Refused,
    /// The arguments are longer than a message may be. The tool has not run.
    TooLarge,
    /// The worker was lost, or its result. The tool may have run.
    Unknown,
    /// The deadline has passed. The tool may have run.
    Deadline,
}

impl CallFailure {
    const ALL: [Self; 7] = [
        Self::NoWorker,
        Self::Busy,
        Self::Disconnected,
        Self::Refused,
        Self::TooLarge,
        Self::Unknown,
        Self::Deadline,
    ];

    /// Returns the failure of the fleet behind the error of a call. `None` if the error is the tool's own.
    #[must_use]
    pub fn of(error: &ToolError) -> Option<Self> {
        Self::ALL.into_iter().find(|failure| failure.brief() == error.brief())
    }

    /// Returns whether the tool may have run.
    #[must_use]
    pub fn may_have_run(self) -> bool {
        matches!(self, Self::Unknown | Self::Deadline)
    }

    /// Returns the brief text of errors, which is also how the failure is found again in a stored error.
    fn brief(self) -> &'static str {
        match self {
            Self::NoWorker => "No worker has this tool",
            Self::Busy => "All workers of this tool are busy",
            Self::Disconnected => "The fleet cannot be reached",
            Self::Refused => "The worker refused the call",
            Self::TooLarge => "The arguments are too long for the fleet",
            Self::Unknown => "Outcome unknown: the worker was lost",
            Self::Deadline => "Outcome unknown: the deadline has passed",
        }
    }

    /// Returns the name of the failure in metrics and spans.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::NoWorker => "no_worker",
            Self::Busy => "busy",
            Self::Disconnected => "disconnected",
            Self::Refused => "refused",
            Self::TooLarge => "too_large",
            Self::Unknown => "unknown",
            Self::Deadline => "deadline",
        }
    }

    /// Returns the error of a call of `tool`. `repeatable` says whether another call does no harm.
    pub(super) fn error(self, tool: &str, repeatable: bool, reason: &str) -> ToolError {
        let advice = if repeatable { "call it again" } else { "check its effect before you call it again" };
        let (kind, message) = match self {
            Self::NoWorker => (
                ErrorKind::Failed,
                format!(
                    "Tool `{tool}` was not run: no worker has it now; call it again later, or use another tool"
                ),
            ),
            Self::Busy => (
                ErrorKind::RateLimited,
                format!("Tool `{tool}` was not run: all its workers are busy; call it again later"),
            ),
            Self::Disconnected => (
                ErrorKind::Failed,
                format!("Tool `{tool}` was not run: its workers cannot be reached; call it again later"),
            ),
            Self::Refused => return ToolError::denied(tool, reason).with_brief(self.brief()),
            Self::TooLarge => (
                ErrorKind::Failed,
                format!("Tool `{tool}` was not run: {reason}; call it with shorter arguments"),
            ),
            Self::Unknown => (ErrorKind::Failed, format!("Tool `{tool}` may have run: {reason}; {advice}")),
            Self::Deadline => {
                (ErrorKind::TimedOut, format!("Tool `{tool}` may have run: {reason}; {advice}"))
            }
        };
        let retryable = !matches!(self, Self::TooLarge) && (repeatable || !self.may_have_run());
        ToolError::new(kind, message).with_brief(self.brief()).with_retryable(retryable)
    }

    pub(super) fn late(limit: Duration) -> String {
        format!("it did not end within {:.1} s", limit.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_is_found_again_in_its_stored_error() {
        for failure in CallFailure::ALL {
            let error = failure.error("buy", false, "its worker was lost");
            let stored = serde_json::to_string(&error).unwrap();
            assert_eq!(CallFailure::of(&serde_json::from_str(&stored).unwrap()), Some(failure));
            assert_eq!(
                error.message().contains("was not run"),
                !failure.may_have_run() && failure != CallFailure::Refused
            );
            assert!(!failure.may_have_run() || !error.is_retryable());
        }
        assert!(CallFailure::Unknown.error("read", true, "").is_retryable());
    }
}
