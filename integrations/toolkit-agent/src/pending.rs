//! Tool calls that wait for a decision or a result from the program.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use toolkit_core::error::Pending;
use toolkit_core::{IntoToolOutput, ToolCall, ToolError, ToolOutput};

/// A tool call that waits for the program's decision or result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingCall {
    /// The key of the call in [`Decisions`], unique in the conversation: the numbers of its run, its turn
    /// and the call, as in `1.2.0`. Inside an agent called as a tool, the key of the enclosing call and `/`
    /// come first; for a parallel agent, `b` and its number.
    pub id: String,
    /// The agent that made the call.
    pub agent: String,
    /// The tool call.
    pub call: ToolCall,
    /// Why the call waits.
    pub reason: Pending,
}

/// A decision about a pending call, or its result.
///
/// In JSON: `"approve"`, `"approve_for_session"`, `{"change": {…}}`, `{"deny": "too expensive"}`,
/// `{"answer": "the second one"}` or `{"fail": "the job crashed"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// The call runs.
    Approve,
    /// The call runs, and so do later calls of the tool that need approval for the same reason.
    ///
    /// This holds for the [`Conversation`](crate::Conversation), its clones, and after it was saved, for those that
    /// are loaded later. An [erased](crate::Sessions::erase) log and a
    /// [fork](crate::session::SavedConversation::fork) do not have it.
    ApproveForSession,
    /// The call runs with these arguments.
    Change(serde_json::Value),
    /// The call does not run. The model reads the reason.
    Deny(String),
    /// The result of the call. A string becomes its text; the model reads any other value as JSON.
    Answer(serde_json::Value),
    /// The result as a [`ToolOutput`], for example with media items.
    Output(#[serde(with = "toolkit_core::output::serde::tool_output")] ToolOutput),
    /// The call has failed. The model reads the reason.
    Fail(String),
}

impl Decision {
    pub(crate) fn runs_the_call(&self) -> bool {
        matches!(self, Self::Approve | Self::ApproveForSession | Self::Change(_))
    }

    /// Converts the decision into the result of a call that does not run. A decision to run it becomes a
    /// cancellation error.
    pub(crate) fn into_outcome(self, tool: &str) -> Result<ToolOutput, ToolError> {
        match self {
            Self::Deny(reason) => Err(ToolError::denied(tool, &reason)),
            Self::Answer(serde_json::Value::String(text)) => Ok(ToolOutput::text(text)),
            Self::Answer(value) => value.into_tool_output(),
            Self::Output(output) => Ok(output),
            Self::Fail(reason) => Err(ToolError::failed(reason)),
            Self::Approve | Self::ApproveForSession | Self::Change(_) => Err(ToolError::cancelled(tool)),
        }
    }
}

/// Decisions about pending calls, by their [id](PendingCall::id).
///
/// In JSON, they are an object.
///
/// ```
/// use toolkit_ai::agent::{Decision, Decisions};
///
/// let decisions: Decisions = serde_json::from_str(r#"{"1.1.0": "approve", "1.1.1": {"deny": "too expensive"}}"#)?;
/// let same = Decisions::new().approve("1.1.0").deny("1.1.1", "too expensive");
/// assert_eq!(decisions, same);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, Decision>", into = "BTreeMap<String, Decision>")]
pub struct Decisions {
    decisions: BTreeMap<String, Decision>,
    /// Who has decided, as far as it is known.
    by: BTreeMap<String, String>,
}

impl From<BTreeMap<String, Decision>> for Decisions {
    fn from(decisions: BTreeMap<String, Decision>) -> Self {
        Self { decisions, ..Self::default() }
    }
}

impl From<Decisions> for BTreeMap<String, Decision> {
    fn from(decisions: Decisions) -> Self {
        decisions.decisions
    }
}

impl Decisions {
    /// Creates an empty set of decisions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the decision about a call, replacing an earlier one.
    #[must_use]
    pub fn with(mut self, id: impl Into<String>, decision: Decision) -> Self {
        self.decisions.insert(id.into(), decision);
        self
    }

    /// Names who has decided those so far that have no name. The log keeps it; JSON does not.
    #[must_use]
    pub fn decided_by(mut self, who: impl Into<String>) -> Self {
        let who = who.into();
        for id in self.decisions.keys() {
            self.by.entry(id.clone()).or_insert_with(|| who.clone());
        }
        self
    }

    pub(crate) fn decider(&self, id: &str) -> &str {
        self.by.get(id).map_or("", String::as_str)
    }

    /// Approves a call, so that it runs.
    #[must_use]
    pub fn approve(self, id: impl Into<String>) -> Self {
        self.with(id, Decision::Approve)
    }

    /// Denies a call. The model reads the reason.
    #[must_use]
    pub fn deny(self, id: impl Into<String>, reason: impl Into<String>) -> Self {
        self.with(id, Decision::Deny(reason.into()))
    }

    /// Adds the result of a call, as [`Decision::Answer`] does.
    #[must_use]
    pub fn answer(self, id: impl Into<String>, answer: impl Into<serde_json::Value>) -> Self {
        self.with(id, Decision::Answer(answer.into()))
    }

    /// Returns the decision about this call.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Decision> {
        self.decisions.get(id)
    }

    /// Returns whether there are no decisions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.decisions.is_empty()
    }

    /// Returns whether any decision is about a call inside the agent that the call `id` has called.
    pub(crate) fn are_within(&self, id: &str) -> bool {
        let prefix = format!("{id}/");
        self.decisions.range(prefix.clone()..).next().is_some_and(|(id, _)| id.starts_with(&prefix))
    }

    /// Checks that the decisions fit the pending calls.
    pub(crate) fn check(&self, pending: &[PendingCall]) -> Result<(), String> {
        let calls: HashMap<&str, &PendingCall> =
            pending.iter().map(|call| (call.id.as_str(), call)).collect();
        for (id, decision) in &self.decisions {
            let Some(call) = calls.get(id.as_str()) else {
                let ids: Vec<String> = pending.iter().map(|call| format!("`{}`", call.id)).collect();
                let listed = if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
                return Err(format!("call `{id}` is not pending; pending calls: {listed}"));
            };
            if decision.runs_the_call() && !matches!(call.reason, Pending::Approval { .. }) {
                return Err(format!("call `{id}` needs no approval; give its result instead"));
            }
        }
        Ok(())
    }
}
