//! How the run of a conversation stands, and why runs end.

use crate::pending::PendingCall;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What lists tell of a conversation. It is saved with each change of the log.
///
/// A store keeps it as the JSON of this type, and [`is_unfinished`](Self::is_unfinished) where it can search for it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The title that the program has given, or the beginning of the first input.
    #[serde(with = "crate::helpers::shared_text")]
    pub title: Arc<str>,
    /// How the latest run stands.
    pub status: RunStatus,
    /// The ids of the conversations of which it has messages: the one from which it was
    /// [forked](crate::session::SavedConversation::fork), then the one from which that was, and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forked_from: Vec<String>,
}

impl Summary {
    /// Creates a summary.
    #[must_use]
    pub fn new(title: &str, status: RunStatus) -> Self {
        Self { title: title.into(), status, forked_from: Vec::new() }
    }

    /// Returns whether the run works or waits.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        matches!(self.status, RunStatus::Working { .. } | RunStatus::Waiting { .. })
    }
}

/// How the latest run of a conversation stands.
///
/// In JSON: `"idle"`, `{"working": {"run": "…", "attempt": 1}}`, `{"waiting": {"run": "…", "since": 1795763229, "calls":
/// […]}}` or `{"ended": {"run": "…", "reason": "answered"}}`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunStatus {
    /// There was no run, or the program has given it up.
    #[default]
    Idle,
    /// A process works on the run, or has died.
    #[non_exhaustive]
    Working {
        /// The id of the run.
        #[serde(with = "crate::helpers::shared_text")]
        run: Arc<str>,
        /// How many times a process has begun to work on the run, from 1.
        attempt: u32,
    },
    /// Calls wait for the program.
    #[non_exhaustive]
    Waiting {
        /// The id of the run.
        #[serde(with = "crate::helpers::shared_text")]
        run: Arc<str>,
        /// Since when, in seconds since 1970.
        since: u64,
        /// The calls that wait.
        calls: Vec<PendingCall>,
    },
    /// The run has ended.
    #[non_exhaustive]
    Ended {
        /// The id of the run.
        #[serde(with = "crate::helpers::shared_text")]
        run: Arc<str>,
        /// Why.
        reason: EndReason,
    },
}

/// Why a run, or an attempt at it, has ended.
///
/// In JSON: `"answered"`, `"waiting"`, `"cancelled"`, `"dropped"`, or `{"failed": {"kind": "limit", "message": "…"}}`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EndReason {
    /// With an answer.
    Answered,
    /// Calls wait for the program.
    Waiting,
    /// The program has [cancelled](crate::RunRequest::cancellation) it.
    Cancelled,
    /// The future of the run was dropped.
    #[default]
    Dropped,
    /// With an error.
    #[non_exhaustive]
    Failed {
        /// The kind of the error: the name of the variant of [`AgentError`](crate::AgentError), such as `limit`.
        kind: String,
        /// The message of the error.
        message: String,
    },
}

impl RunStatus {
    /// Returns the id of the run.
    #[must_use]
    pub fn run(&self) -> Option<&str> {
        match self {
            Self::Idle => None,
            Self::Working { run, .. } | Self::Waiting { run, .. } | Self::Ended { run, .. } => Some(run),
        }
    }

    /// Returns since when calls wait.
    #[must_use]
    pub fn waiting_since(&self) -> Option<SystemTime> {
        match self {
            Self::Waiting { since, .. } => UNIX_EPOCH.checked_add(Duration::from_secs(*since)),
            _ => None,
        }
    }
}
