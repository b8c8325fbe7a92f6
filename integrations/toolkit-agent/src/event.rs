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
/// In JSON, the field `type` names the variant: `text`, `tool`, `finished` and so on. The client of a web
/// service, for example, can deserialize the event again. The JSON contains the times of tool events in whole
/// milliseconds. It contains the [details](toolkit_core::ToolError::details) of an error only if the error
/// stores them.
///
/// Each event except `Finished` and `Waiting` has a field `within`. It lists the tool calls and the parallel agents that
/// enclose the agent, the outermost first. It is empty for the agents of the conversation itself. If an agent
/// is called twice at the same time, this field distinguishes the events of the two calls.
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
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
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
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// Parts of a request were left out, because the provider's API cannot express them. A run emits each
    /// loss only once for the same agent.
    #[non_exhaustive]
    RequestLosses {
        /// The name of the agent that has made the request.
        agent: String,
        /// The losses that the run has not emitted for this agent before.
        losses: Vec<RequestLoss>,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The next piece of the answer's text.
    #[non_exhaustive]
    Text {
        /// The name of the answering agent.
        agent: String,
        /// The next piece of the text.
        text: String,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The next piece of the model's reasoning.
    #[non_exhaustive]
    Reasoning {
        /// The name of the answering agent.
        agent: String,
        /// The next piece of the reasoning.
        text: String,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The model begins to write a tool call.
    #[non_exhaustive]
    CallStarted {
        /// The name of the answering agent.
        agent: String,
        /// The id of the call.
        call_id: CallId,
        /// The name of the tool, as the model wrote it.
        tool: String,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The next piece of a tool call's arguments, as the model writes them.
    /// [`CallStarted`](Self::CallStarted) always comes before.
    ///
    /// Together, the pieces of a call are the JSON of its arguments, except that spaces and escapes may
    /// differ. The pieces of a custom tool's call are its free text. A call has no pieces if it has no
    /// arguments, or if the provider sends them at once.
    #[non_exhaustive]
    CallArguments {
        /// The name of the answering agent.
        agent: String,
        /// The id of the call.
        call_id: CallId,
        /// The next piece of the arguments.
        piece: String,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An event of the dispatcher: a tool call was queued, started, retried, ended and so on.
    #[non_exhaustive]
    Tool {
        /// The name of the agent that has made the tool call.
        agent: String,
        /// The event.
        event: Box<ToolEvent>,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The provider has called a tool that the provider itself runs. If the output arrives later, a second
    /// event with the same id contains the output.
    #[non_exhaustive]
    HostedCall {
        /// The name of the answering agent.
        agent: String,
        /// The call, with the output if it has arrived.
        call: Box<HostedCall>,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The result of a tool call. Results are emitted in the order of completion.
    #[non_exhaustive]
    Result {
        /// The name of the agent that has made the call.
        agent: String,
        /// The result.
        result: Box<ToolResult>,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A call waits for a decision or a result from the program. The run will be interrupted when its other calls
    /// have ended. Decisions are accepted after that.
    #[non_exhaustive]
    CallPending {
        /// The name of the agent that has made the call.
        agent: String,
        /// The key of the call in [`Decisions`](crate::Decisions), as in [`PendingCall::id`](crate::PendingCall::id).
        /// If the call waits for calls of the called agent, the decisions are about those.
        id: String,
        /// The id of the call.
        call_id: CallId,
        /// The reason why the call waits.
        reason: Pending,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A complete message of the model. Earlier text events contained the pieces of this message.
    #[non_exhaustive]
    Message {
        /// The message. Its field [`agent`](AssistantMessage::agent) names the author.
        message: Box<AssistantMessage>,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An answer failed or broke off, and the agent calls the model again after a pause. Listeners should
    /// discard the pieces of the failed answer.
    #[non_exhaustive]
    ModelRetried {
        /// The name of the agent that calls the model.
        agent: String,
        /// The message of the error.
        error: String,
        /// The time until the next attempt.
        pause: Duration,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An answer broke off after a call had started. Its pieces stay: the agent calls the model again after a pause, with
    /// the results of its calls.
    #[non_exhaustive]
    AnswerBroken {
        /// The name of the agent that calls the model.
        agent: String,
        /// The message of the error.
        error: String,
        /// The time until the next call of the model.
        pause: Duration,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A [compaction](crate::compaction::Compaction) left out or shortened messages sent to a model, because
    /// they were too long for the model's context window.
    #[non_exhaustive]
    Compacted {
        /// The name of the agent with the compacted messages.
        agent: String,
        /// The tokens of the request before the compaction. The provider's last token count is used if there
        /// is one, and newer messages are estimated.
        tokens_before: u64,
        /// The estimated tokens of the request after the compaction.
        tokens_after: u64,
        /// The number of messages that this compaction has replaced with a summary or a note. 0 if the
        /// compaction has only shortened tool results.
        messages_left_out: usize,
        /// The reason why a new summary failed. `None` if nothing failed. After a failure, the model reads
        /// the earlier summary and a note about the messages left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary_error: Option<String>,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A guardrail has replaced or blocked a value, or ended the run.
    #[non_exhaustive]
    Guardrail {
        /// The name of the agent that has this guardrail.
        agent: String,
        /// The name of the guardrail.
        guardrail: String,
        /// The effect of the guardrail.
        action: GuardAction,
        /// The text that replaces a blocked value, or the reason for the end of the run. Empty for a replaced
        /// value.
        reason: String,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// Another agent takes over the conversation.
    #[non_exhaustive]
    Transferred {
        /// The name of the agent that has transferred the conversation.
        from: String,
        /// The name of the agent that continues the conversation.
        to: String,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// One of several parallel agents failed. The others continue.
    #[non_exhaustive]
    BranchFailed {
        /// The name of the agent that failed.
        agent: String,
        /// The message of the error.
        error: String,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An agent ends.
    #[non_exhaustive]
    AgentEnded {
        /// The name of the agent that ends.
        agent: String,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An event of the program, from [`Run::custom_event`](crate::Run::custom_event).
    #[non_exhaustive]
    Custom {
        /// The name of the event.
        name: String,
        /// What it contains.
        data: serde_json::Value,
        /// The tool calls and the parallel agents that enclose the agent, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The run is complete; this is the last event.
    #[non_exhaustive]
    Finished {
        /// The output of the run.
        output: Box<RunOutput>,
    },
    /// The run has stopped, because calls wait for decisions or results from the program; this is the last event.
    /// [`Agent::resume`](crate::Agent::resume) continues it.
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
