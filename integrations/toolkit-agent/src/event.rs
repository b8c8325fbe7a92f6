//! The events of a run.

use crate::guardrail::GuardAction;
use crate::output::RunOutput;
use crate::pending::PendingCall;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use toolkit_core::error::Pending;
use toolkit_core::events::ToolEvent;
use toolkit_core::{CallId, ToolResult};
use toolkit_llm::AssistantMessage;
use toolkit_llm::hosted::HostedCall;
use toolkit_llm::model::RequestLoss;

/// An event of a run.
///
/// In JSON, the field `type` names the variant (`text`, `tool`, `finished`), so a client of a web service
/// can read the event again. Times of tool events are whole milliseconds. The JSON contains the
/// [details](toolkit_core::ToolError::details) of an error only if the error stores them.
///
/// Each event except `Finished` and `Waiting` has a field `within`. It lists the tool calls and the
/// parallel agents that enclose the agent, outermost first, and is empty for the agents of the conversation
/// itself. It distinguishes two simultaneous calls of one agent.
///
/// ```
/// use toolkit_ai::agent::{Agent, RunEvent, RunScope};
/// use toolkit_ai::llm::ScriptedModel;
/// use toolkit_ai::ToolRegistry;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let expert = Agent::builder(ScriptedModel::new().text("42")).name("expert").build()?;
/// let model = ScriptedModel::new().call("expert", r#"{"request": "6 * 7?"}"#).text("It is 42.");
/// let agent = Agent::builder(model).tools(ToolRegistry::from_tools([expert.to_tool()?])?).build()?;
/// let mut events = agent.run("What is six times seven?").stream();
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
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The agent sends a request to a model.
    #[non_exhaustive]
    ModelCalled {
        /// The name of the agent that calls the model.
        agent: String,
        /// The name of the model.
        model: String,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// Parts of a request that the provider's API cannot express were left out. A run emits each loss once
    /// per agent.
    #[non_exhaustive]
    RequestLosses {
        /// The agent that made the request.
        agent: String,
        /// The new losses.
        losses: Vec<RequestLoss>,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The next piece of the answer's text.
    #[non_exhaustive]
    Text {
        /// The answering agent.
        agent: String,
        /// The piece.
        text: String,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The next piece of the model's reasoning.
    #[non_exhaustive]
    Reasoning {
        /// The answering agent.
        agent: String,
        /// The piece.
        text: String,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The model begins to write a tool call.
    #[non_exhaustive]
    CallStarted {
        /// The answering agent.
        agent: String,
        /// The id of the call.
        call_id: CallId,
        /// The name of the tool, as the model wrote it.
        tool: String,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The next piece of a tool call's arguments, after its [`CallStarted`](Self::CallStarted).
    ///
    /// Together, the pieces are the JSON of the arguments, except for spaces and escapes. The pieces of a
    /// custom tool's call are its free text. There are none if the call has no arguments, or if the
    /// provider sends them at once.
    #[non_exhaustive]
    CallArguments {
        /// The answering agent.
        agent: String,
        /// The id of the call.
        call_id: CallId,
        /// The piece.
        piece: String,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An event of the dispatcher: a tool call was queued, started, retried or ended, for example.
    #[non_exhaustive]
    Tool {
        /// The agent that made the tool call.
        agent: String,
        /// The event.
        event: Box<ToolEvent>,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The provider has called a tool that it runs itself. If the output arrives later, a second event with
    /// the same id contains it.
    #[non_exhaustive]
    HostedCall {
        /// The answering agent.
        agent: String,
        /// The call, with the output if it has arrived.
        call: Box<HostedCall>,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The result of a tool call, emitted in the order of completion.
    #[non_exhaustive]
    Result {
        /// The agent that made the call.
        agent: String,
        /// The result.
        result: Box<ToolResult>,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A call waits for a decision or a result from the program. The run is interrupted when its other
    /// calls have ended, and accepts decisions then.
    #[non_exhaustive]
    CallPending {
        /// The agent that made the call.
        agent: String,
        /// The key of the call in [`Decisions`](crate::Decisions), as in
        /// [`PendingCall::id`](crate::PendingCall::id). If the call waits for calls of the called agent,
        /// the decisions are about those.
        id: String,
        /// The id of the call.
        call_id: CallId,
        /// Why the call waits.
        reason: Pending,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A complete message of the model, after text events with its pieces.
    #[non_exhaustive]
    Message {
        /// The message. Its [`agent`](AssistantMessage::agent) is the author.
        message: Box<AssistantMessage>,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An answer failed or broke off, and the agent will call the model again. Listeners should discard its
    /// pieces.
    #[non_exhaustive]
    ModelRetried {
        /// The agent that calls the model.
        agent: String,
        /// The error message.
        error: String,
        /// The time until the next attempt.
        pause: Duration,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An answer broke off after a call had started. Its pieces stay, and the agent calls the model again
    /// with the results.
    #[non_exhaustive]
    AnswerBroken {
        /// The agent that calls the model.
        agent: String,
        /// The error message.
        error: String,
        /// The time until the next model call.
        pause: Duration,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A [compaction](crate::compaction::Compaction) left out or shortened messages that were too long for
    /// the model's context window.
    #[non_exhaustive]
    Compacted {
        /// The agent with the compacted messages.
        agent: String,
        /// The tokens of the request before the compaction: the provider's last count if there is one, with
        /// estimates for newer messages.
        tokens_before: u64,
        /// The estimated tokens of the request after the compaction.
        tokens_after: u64,
        /// The number of messages replaced with a summary or a note. 0 if only tool results were shortened.
        messages_left_out: usize,
        /// Why a new summary failed, if it did. The model then reads the earlier summary and a note about
        /// the messages left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary_error: Option<String>,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A guardrail has replaced or blocked a value, or ended the run.
    #[non_exhaustive]
    Guardrail {
        /// The agent that has this guardrail.
        agent: String,
        /// The name of the guardrail.
        guardrail: String,
        /// What the guardrail did.
        action: GuardAction,
        /// The text that replaces a blocked value, or the reason for the end of the run. Empty for a
        /// replaced value.
        reason: String,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// Another agent takes over the conversation.
    #[non_exhaustive]
    Transferred {
        /// The agent that transferred the conversation.
        from: String,
        /// The agent that continues the conversation.
        to: String,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A parallel agent failed. The others continue.
    #[non_exhaustive]
    BranchFailed {
        /// The agent that failed.
        agent: String,
        /// The error message.
        error: String,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An agent ends.
    #[non_exhaustive]
    AgentEnded {
        /// The agent that ends.
        agent: String,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An event from [`Run::custom_event`](crate::Run::custom_event).
    #[non_exhaustive]
    Custom {
        /// The name of the event.
        name: String,
        /// The content of the event.
        data: serde_json::Value,
        /// The enclosing tool calls and parallel agents, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The run is complete; this is the last event.
    #[non_exhaustive]
    Finished {
        /// The output of the run.
        output: Box<RunOutput>,
    },
    /// The run has stopped because calls wait for decisions or results from the program; this is the last
    /// event. [`Agent::resume`](crate::Agent::resume) continues it.
    #[non_exhaustive]
    Waiting {
        /// The calls that wait.
        pending: Vec<PendingCall>,
        /// The output so far, without the unfinished turn.
        output: Box<RunOutput>,
    },
}

/// A tool call or a parallel agent that encloses other agents of a run.
///
/// In JSON: `{"call": "call_1"}` or `{"branch": 0}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunScope {
    /// A call of an agent as a tool, with the id of the call. If an earlier call of the message has the same id, `#` and
    /// the index of the call follow it.
    Call(CallId),
    /// One of several parallel agents, with its index in the group.
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
            | Self::AnswerBroken { within, .. }
            | Self::Compacted { within, .. }
            | Self::Guardrail { within, .. }
            | Self::Transferred { within, .. }
            | Self::BranchFailed { within, .. }
            | Self::AgentEnded { within, .. }
            | Self::Custom { within, .. } => within,
            Self::Finished { .. } | Self::Waiting { .. } => &[],
        }
    }
}

#[cfg(test)]
mod tests;
