//! What a call wants done beside its output.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Changes of a session: the new value of each key that was set, `None` for one that was removed.
pub type SessionDelta = BTreeMap<String, Option<Value>>;

/// What a call wants done beside its output: by the session, which a dispatcher with a
/// [`RunContext`](crate::RunContext) sees to, and by the agent, which is the program's part.
///
/// ```
/// use toolkit::context::ToolActions;
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
    /// The agent that should go on with the conversation.
    pub transfer_to_agent: Option<String>,
    /// Whether a loop of agents should end.
    pub escalate: bool,
    /// Whether the output is the answer, so that the model need not put it into words.
    pub skip_summarization: bool,
    /// What the call changed in the session.
    pub state_delta: SessionDelta,
}

impl ToolActions {
    /// Whether nothing is wanted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds what a later call wants. Where both want something else, the later one has it.
    pub fn merge(&mut self, later: &Self) {
        if later.transfer_to_agent.is_some() {
            self.transfer_to_agent.clone_from(&later.transfer_to_agent);
        }
        self.escalate |= later.escalate;
        self.skip_summarization |= later.skip_summarization;
        self.state_delta.extend(later.state_delta.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
}
