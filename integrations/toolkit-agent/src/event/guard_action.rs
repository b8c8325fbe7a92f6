//! What a guardrail did.

use serde::{Deserialize, Serialize};

/// The effect of a [`Guardrail`](crate::guardrail::Guardrail) on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GuardAction {
    /// The value was replaced.
    Replaced,
    /// The value was blocked.
    Blocked,
    /// The run was ended.
    Ended,
}
