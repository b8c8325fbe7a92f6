//! The ways in which a fleet fails a call.

use std::time::Duration;
use toolkit_core::{ErrorKind, ToolError};

/// Says why a call has no result of its tool.
///
/// The call's error tells the model, and [`CallFailure::from_error`] the program.
///
/// ```
/// use toolkit_ai::ToolError;
/// use toolkit_nats::CallFailure;
///
/// assert_eq!(CallFailure::from_error(&ToolError::failed("the shop is closed")), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallFailure {
    /// No worker serves this version of the tool. The tool has not run.
    ///
    /// - `no worker has it now`: start one. Keep earlier versions until their conversations end.
    NoWorker,
    /// All workers that were asked are full, end, or cannot reach their ledger. The tool has not run.
    ///
    /// - `all its workers are busy`: start more. Retries help with short peaks.
    Busy,
    /// This program is not connected to the server. The tool has not run.
    ///
    /// - `its workers cannot be reached`: look at the NATS server.
    Disconnected,
    /// The worker refuses the caller, or the id of the call belongs to another call. The tool has not run.
    ///
    /// - `The worker refused the call`: check the token.
    Refused,
    /// The arguments are longer than a message may be. The tool has not run.
    ///
    /// - `its message has … bytes, more than …`: pass a reference in place of the data.
    TooLarge,
    /// The worker was silent for three seconds, its result was lost, or it has stopped the call. The tool may
    /// have run.
    ///
    /// - `check its effect`: a ledger avoids this.
    Unknown,
    /// The deadline has passed. The tool may have run.
    ///
    /// - `it did not end within … s`: raise the time limit, or use a ledger.
    Deadline,
}

impl CallFailure {
    /// The failures with their errors' brief texts, by which a stored error is recognized.
    const ALL: [(Self, &'static str); 7] = [
        (Self::NoWorker, "No worker has this tool"),
        (Self::Busy, "All workers of this tool are busy"),
        (Self::Disconnected, "The fleet cannot be reached"),
        (Self::Refused, "The worker refused the call"),
        (Self::TooLarge, "The arguments are too long for the fleet"),
        (Self::Unknown, "Outcome unknown: the worker was lost"),
        (Self::Deadline, "Outcome unknown: the deadline has passed"),
    ];

    /// Returns the failure behind a call's error.
    ///
    /// `None` if the error is the tool's own.
    #[must_use]
    pub fn from_error(error: &ToolError) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, brief)| *brief == error.brief()).map(|(failure, _)| failure)
    }

    /// Returns whether the tool may have run.
    #[must_use]
    pub fn may_have_run(self) -> bool {
        matches!(self, Self::Unknown | Self::Deadline)
    }

    /// Returns the error of a call of `tool`. `repeatable` says whether another call does no harm.
    pub(super) fn error(self, tool: &str, repeatable: bool, reason: &str) -> ToolError {
        let brief = Self::ALL.iter().find(|(failure, _)| *failure == self).map_or("", |(_, brief)| brief);
        let (kind, fate, reason, advice) = match self {
            Self::NoWorker => (
                ErrorKind::Failed,
                "was not run",
                "no worker has it now",
                "call it again later, or use another tool",
            ),
            Self::Busy => {
                (ErrorKind::RateLimited, "was not run", "all its workers are busy", "call it again later")
            }
            Self::Disconnected => {
                (ErrorKind::Failed, "was not run", "its workers cannot be reached", "call it again later")
            }
            Self::Refused => (ErrorKind::Denied, "was denied", reason, "use another tool"),
            Self::TooLarge => (ErrorKind::Failed, "was not run", reason, "call it with shorter arguments"),
            Self::Unknown | Self::Deadline => {
                let kind = if self == Self::Deadline { ErrorKind::TimedOut } else { ErrorKind::Failed };
                let check = "check its effect before you call it again";
                (kind, "may have run", reason, if repeatable { "call it again" } else { check })
            }
        };
        let is_final = matches!(self, Self::TooLarge | Self::Refused);
        ToolError::new(kind, format!("Tool `{tool}` {fate}: {reason}; {advice}"))
            .with_brief(brief)
            .with_retryable(!is_final && (repeatable || !self.may_have_run()))
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
        for (failure, _) in CallFailure::ALL {
            let error = failure.error("buy", false, "its worker was lost");
            let stored = serde_json::to_string(&error).unwrap();
            assert_eq!(CallFailure::from_error(&serde_json::from_str(&stored).unwrap()), Some(failure));
            assert_eq!(
                error.message().contains("was not run"),
                !failure.may_have_run() && failure != CallFailure::Refused
            );
            assert!(!failure.may_have_run() || !error.is_retryable());
        }
        assert!(CallFailure::Unknown.error("read", true, "").is_retryable());
    }
}
