//! The events of a run.

use crate::guardrail::GuardAction;
use crate::message::AssistantMessage;
use crate::model::RequestLoss;
use crate::output::RunOutput;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use toolkit_core::error::Pending;
use toolkit_core::event::ToolEvent;
use toolkit_core::{CallId, ToolResult};
use toolkit_wire::HostedCall;

/// An event of a run.
///
/// In JSON, the field `type` names the variant: `text`, `tool`, `finished` and so on. An event can be read back
/// from its JSON, for example by the client of a web service. The JSON has the times of tool events in whole
/// milliseconds, and the [details](toolkit_core::ToolError::details) of errors only if they are stored.
///
/// Each event except `Finished` has a field `within`. It lists the tool calls and the parallel agents that
/// enclose the agent, the outermost first. It is empty for the agents of the conversation itself. So the
/// events of an agent that is called twice at the same time can be told apart.
///
/// ```
/// use toolkit_agent::{Agent, RunEvent, RunScope, ScriptedModel};
/// use toolkit::ToolRegistry;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let expert = Agent::builder(ScriptedModel::new().text("42")).name("expert").build()?;
/// let model = ScriptedModel::new().call("expert", r#"{"request": "6 * 7?"}"#).text("It is 42.");
/// let agent = Agent::builder(model).tools(ToolRegistry::from_tools([expert.to_tool()?])?).build()?;
/// let mut events = agent.run_stream("What is six times seven?");
/// while let Some(event) = events.next().await {
///     let event = event?;
///     if let RunEvent::Text { text, within, .. } = &event {
///         let is_nested = *within == [RunScope::Call("call_0_1".into())];
///         assert_eq!(is_nested, text == "42");
///     }
///     let json = serde_json::to_string(&event)?; // sent to a browser, or stored
///     assert_eq!(serde_json::from_str::<RunEvent>(&json)?.within(), event.within());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEvent {
    /// An agent starts.
    #[non_exhaustive]
    AgentStarted {
        /// The name of the agent.
        agent: String,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A request goes to a model.
    #[non_exhaustive]
    ModelCalled {
        /// The name of the calling agent.
        agent: String,
        /// The name of the model.
        model: String,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// Parts of a request did not reach the model, because the provider's API cannot express these parts. A
    /// run emits each loss once per agent.
    #[non_exhaustive]
    RequestLosses {
        /// The name of the calling agent.
        agent: String,
        /// The losses that the run has not emitted before.
        losses: Vec<RequestLoss>,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The next piece of the answer's text.
    #[non_exhaustive]
    Text {
        /// The name of the agent that answers.
        agent: String,
        /// The text.
        text: String,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The next piece of the model's reasoning.
    #[non_exhaustive]
    Reasoning {
        /// The name of the agent that answers.
        agent: String,
        /// The text.
        text: String,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The model starts to write a call.
    #[non_exhaustive]
    CallStarted {
        /// The name of the agent that answers.
        agent: String,
        /// The id of the call.
        call_id: CallId,
        /// The name of the tool, as the model wrote it.
        tool: String,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The next piece of the arguments of a call, as the model writes it. Only calls announced by
    /// [`CallStarted`](Self::CallStarted) have pieces. Together, the pieces of a call are the JSON of its
    /// arguments; spaces and escapes may differ. The pieces of a custom tool's call are its free text. A call has
    /// no pieces if it has no arguments, or if the provider sends them at once.
    #[non_exhaustive]
    CallArguments {
        /// The name of the agent that answers.
        agent: String,
        /// The id of the call.
        call_id: CallId,
        /// The next piece of the arguments.
        piece: String,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A tool event: a call was queued, started, retried, ended and so on.
    #[non_exhaustive]
    Tool {
        /// The name of the calling agent.
        agent: String,
        /// The event.
        event: Box<ToolEvent>,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The provider has called a tool that it runs itself. If the output arrives later, there is a second
    /// event with the same id and the output.
    #[non_exhaustive]
    HostedCall {
        /// The name of the agent that answers.
        agent: String,
        /// The call.
        call: Box<HostedCall>,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The result of a call, in the order of completion.
    #[non_exhaustive]
    Result {
        /// The name of the calling agent.
        agent: String,
        /// The result.
        result: Box<ToolResult>,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The result of a call comes later: the run is going to be interrupted.
    #[non_exhaustive]
    CallPending {
        /// The name of the calling agent.
        agent: String,
        /// The id of the call.
        call_id: CallId,
        /// The reason why the result comes later.
        reason: Pending,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A complete message of the model. The preceding text events contained the pieces of this message.
    #[non_exhaustive]
    Message {
        /// The message; its [`agent`](AssistantMessage::agent) names the author.
        message: Box<AssistantMessage>,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An answer failed or broke off, and the model is called again after a pause. Discard the pieces of the
    /// failed answer.
    #[non_exhaustive]
    ModelRetried {
        /// The name of the calling agent.
        agent: String,
        /// The message of the error.
        error: String,
        /// The time until the next attempt.
        pause: Duration,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The messages sent to a model became fewer or shorter, because they had outgrown the model's context
    /// window. See [`Compaction`](crate::compaction::Compaction).
    #[non_exhaustive]
    Compacted {
        /// The name of the agent.
        agent: String,
        /// The tokens of the request before the compaction: the count of the provider, if there is one, and
        /// estimates of newer messages.
        tokens_before: u64,
        /// The estimated tokens of the request after the compaction.
        tokens_after: u64,
        /// The number of messages that this compaction has replaced with a summary or a note. 0 if it has only
        /// shortened tool results.
        messages_left_out: usize,
        /// The reason, if a summary failed. The model then reads the summary so far, and a note about the other
        /// messages.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary_error: Option<String>,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A guardrail has replaced or blocked a value, or ended the run.
    #[non_exhaustive]
    Guardrail {
        /// The name of the agent with this guardrail.
        agent: String,
        /// The name of the guardrail.
        guardrail: String,
        /// The effect of the guardrail.
        action: GuardAction,
        /// The text in place of a blocked value, or the reason for the end of the run. Empty for a replaced value.
        reason: String,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// Another agent takes over the conversation.
    #[non_exhaustive]
    Transferred {
        /// The name of the agent that gives up the conversation.
        from: String,
        /// The name of the agent that takes over the conversation.
        to: String,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An agent of a parallel team failed; the others continue.
    #[non_exhaustive]
    BranchFailed {
        /// The name of the agent.
        agent: String,
        /// The message of the error.
        error: String,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An agent ends.
    #[non_exhaustive]
    AgentEnded {
        /// The name of the agent.
        agent: String,
        /// The enclosing calls and parallel agents, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The run is complete; this is the last event.
    #[non_exhaustive]
    Finished {
        /// The output of the run.
        output: Box<RunOutput>,
    },
}

/// A part of a run that encloses an agent.
///
/// In JSON: `{"call": "call_1"}` or `{"branch": 0}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunScope {
    /// A call of the agent as a tool, with the id of the call. If the id does not identify the call, because
    /// several calls have the same id, `#` and a number follow the id.
    Call(CallId),
    /// A branch of a parallel group, with the index of its agent.
    Branch(usize),
}

impl RunEvent {
    /// Returns the tool calls and the parallel agents that enclose the agent of the event, the outermost
    /// first.
    #[must_use]
    pub fn within(&self) -> &[RunScope] {
        match self {
            Self::AgentStarted { within, .. }
            | Self::ModelCalled { within, .. }
            | Self::RequestLosses { within, .. }
            | Self::Text { within, .. }
            | Self::Reasoning { within, .. }
            | Self::CallStarted { within, .. }
            | Self::CallArguments { within, .. }
            | Self::Tool { within, .. }
            | Self::HostedCall { within, .. }
            | Self::Result { within, .. }
            | Self::CallPending { within, .. }
            | Self::Message { within, .. }
            | Self::ModelRetried { within, .. }
            | Self::Compacted { within, .. }
            | Self::Guardrail { within, .. }
            | Self::Transferred { within, .. }
            | Self::BranchFailed { within, .. }
            | Self::AgentEnded { within, .. } => within,
            Self::Finished { .. } => &[],
        }
    }
}

#[cfg(test)]
mod tests;
