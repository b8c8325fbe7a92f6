//! The actions that a call requests in addition to its output.

use crate::depth::serialize_within_depth;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// Changes of a session; `None` removes a key.
pub type SessionDelta = BTreeMap<String, Option<Value>>;

/// The actions that a call requests in addition to its output.
///
/// A dispatcher with a [`RunContext`](crate::RunContext) applies the session changes; the agent carries out
/// the rest.
///
/// ```
/// use toolkit_ai::context::ToolActions;
///
/// let mut all = ToolActions::default();
/// let mut transfer = ToolActions::default();
/// transfer.transfer_to_agent = Some("specialist".to_owned());
/// all.merge(&transfer);
/// all.merge(&ToolActions::default());
/// assert_eq!(all.transfer_to_agent.as_deref(), Some("specialist"));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ToolActions {
    /// The agent to take over the conversation.
    pub transfer_to_agent: Option<String>,
    /// Whether to end the running loop of agents.
    pub escalate: bool,
    /// Whether the output is the final answer, not summarized by the model.
    pub skip_summarization: bool,
    /// The changes of the session.
    #[serde(serialize_with = "readable_changes")]
    pub state_delta: SessionDelta,
}

fn readable_changes<S: Serializer>(delta: &SessionDelta, serializer: S) -> Result<S::Ok, S::Error> {
    serialize_within_depth(delta, delta.values().flatten(), serializer)
}

impl ToolActions {
    /// Returns whether no action is requested.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds the actions of a later call, which takes precedence.
    pub fn merge(&mut self, later: &Self) {
        if later.transfer_to_agent.is_some() {
            self.transfer_to_agent.clone_from(&later.transfer_to_agent);
        }
        self.escalate |= later.escalate;
        self.skip_summarization |= later.skip_summarization;
        self.state_delta.extend(later.state_delta.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
}
