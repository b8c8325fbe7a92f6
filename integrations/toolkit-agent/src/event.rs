//! The events of a run.

mod guard_action;
mod scope;

pub use guard_action::GuardAction;
pub use scope::RunScope;

use crate::output::RunOutput;
use crate::pending::PendingCall;
use crate::status::EndReason;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use toolkit_core::error::Pending;
use toolkit_core::events::ToolEvent;
use toolkit_core::{CallId, ToolResult};
use toolkit_llm::AssistantMessage;
use toolkit_llm::hosted::HostedCall;
use toolkit_llm::model::RequestLoss;

/// An event of a run.
///
/// In JSON, the field `type` names the variant (`text`, `tool`, `finished`), so a client can read the event
/// again. Times of tool events are whole milliseconds. The JSON has the
/// [details](toolkit_core::ToolError::details) of an error only if the error stores them.
///
/// In all events but `Finished`, `Stopped` and `Waiting`, the field `within` lists the tool calls and
/// parallel agents that enclose the agent, outermost first. It tells simultaneous calls of one agent apart,
/// and is empty for the agents of the conversation itself.
///
/// # Ids
///
/// These are the same live, in the past of a saved conversation, and in every process:
///
/// - `message_id` names a model's message by the numbers of its run and turn, as in `1.2`. Each attempt at a
///   message has another id.
/// - `key` names a tool call by its message and its index there, as in `1.2.0`. It is the key in
///   [`Decisions`](crate::Decisions) and [`ToolContext::call_key`](toolkit_core::ToolContext::call_key).
/// - Inside an agent called as a tool, the key of its call and `/` come first; for a parallel agent, `b` and
///   its number: `1.1.0/1.1`, `b1/1.1.0`.
///
/// A `call_id` is the provider's. Several calls may have it.
///
/// # The past
///
/// [`SavedConversation::entries`](crate::session::SavedConversation::entries) shows the events of earlier
/// runs again:
///
/// | event | its entry in the log |
/// | --- | --- |
/// | `AgentStarted` | `agent_began`; `resumed`, for each unfinished agent |
/// | `AgentEnded` | `agent_ended`; `turn_ended` if it hands over; `stopped` |
/// | `Text`, `Reasoning` | `call` and `model_ended`, as one piece for each |
/// | `CallStarted`, `CallArguments` | `call`, for calls that arrived before the end of their message |
/// | `Message` | `model_ended` |
/// | `Result`, `CallPending` | `result`, `pending` |
/// | `Transferred` | `turn_ended` |
/// | `BranchFailed` | `branch_failed` |
/// | `Finished`, `Stopped`, `Waiting` | `ended`, `stopped` |
/// | `ModelCalled`, `ModelRetried`, `AnswerBroken`, `RequestLosses` | live only |
/// | `Tool`, `HostedCall`, `Compacted`, `Guardrail`, `Custom` | live only |
///
/// If a guardrail checks answers, the answer's text and message, or a tool's output that is the answer, come
/// with `turn_ended`, after the verdict. A typed run that repeats an invalid answer has a `Finished` for each
/// attempt.
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
        /// The agent.
        agent: String,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The agent sends a request to a model.
    #[non_exhaustive]
    ModelCalled {
        /// The agent that calls the model.
        agent: String,
        /// The model.
        model: String,
        /// The enclosing calls and agents.
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
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The next piece of the answer's text.
    #[non_exhaustive]
    Text {
        /// The answering agent.
        agent: String,
        /// The id of the message.
        #[serde(with = "crate::helpers::shared_text")]
        message_id: Arc<str>,
        /// The piece.
        text: String,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The next piece of the model's reasoning.
    #[non_exhaustive]
    Reasoning {
        /// The answering agent.
        agent: String,
        /// The id of the message.
        #[serde(with = "crate::helpers::shared_text")]
        message_id: Arc<str>,
        /// The piece.
        text: String,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The model begins to write a tool call.
    #[non_exhaustive]
    CallStarted {
        /// The answering agent.
        agent: String,
        /// The id of the message.
        #[serde(with = "crate::helpers::shared_text")]
        message_id: Arc<str>,
        /// The key of the call.
        #[serde(with = "crate::helpers::shared_text")]
        key: Arc<str>,
        /// The provider's id of the call.
        call_id: CallId,
        /// The tool's name, as the model wrote it.
        tool: String,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The next piece of a tool call's arguments, after its [`CallStarted`](Self::CallStarted).
    ///
    /// Together, the pieces are the JSON of the arguments, except for spaces and escapes, or a custom
    /// tool's free text. There are none without arguments, or if the provider sends them at once.
    #[non_exhaustive]
    CallArguments {
        /// The answering agent.
        agent: String,
        /// The id of the message.
        #[serde(with = "crate::helpers::shared_text")]
        message_id: Arc<str>,
        /// The key of the call.
        #[serde(with = "crate::helpers::shared_text")]
        key: Arc<str>,
        /// The provider's id of the call.
        call_id: CallId,
        /// The piece.
        piece: String,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An event of the dispatcher, for example that a tool call was queued, started, retried or ended.
    #[non_exhaustive]
    Tool {
        /// The agent that made the call.
        agent: String,
        /// The key of the call. `None` for a call that a tool makes itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// The event.
        event: Box<ToolEvent>,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The provider has called a tool that it runs itself. Output that arrives later comes in a second
    /// event with the same id.
    #[non_exhaustive]
    HostedCall {
        /// The answering agent.
        agent: String,
        /// The id of the message.
        #[serde(with = "crate::helpers::shared_text")]
        message_id: Arc<str>,
        /// The call, with its output if it has arrived.
        call: Box<HostedCall>,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The result of a tool call, in the order of completion.
    #[non_exhaustive]
    Result {
        /// The agent that made the call.
        agent: String,
        /// The key of the call.
        #[serde(with = "crate::helpers::shared_text")]
        key: Arc<str>,
        /// The result.
        result: Box<ToolResult>,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A call waits for a decision or a result from the program. The run accepts them once it is
    /// interrupted, when its other calls have ended.
    #[non_exhaustive]
    CallPending {
        /// The agent that made the call.
        agent: String,
        /// The key of the call. If the call waits for calls of the called agent, the decisions are about
        /// those.
        #[serde(with = "crate::helpers::shared_text")]
        key: Arc<str>,
        /// The provider's id of the call.
        call_id: CallId,
        /// Why the call waits.
        reason: Pending,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A complete message of the model.
    #[non_exhaustive]
    Message {
        /// The id of the message.
        #[serde(with = "crate::helpers::shared_text")]
        message_id: Arc<str>,
        /// The message, with its [author](AssistantMessage::agent).
        message: Box<AssistantMessage>,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An answer failed or broke off, and the agent will call the model again. Discard its pieces.
    #[non_exhaustive]
    ModelRetried {
        /// The agent that calls the model.
        agent: String,
        /// The error message.
        error: String,
        /// The time until the next attempt.
        pause: Duration,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An answer broke off after a call had started. The agent keeps its pieces and calls the model again
    /// with the results.
    #[non_exhaustive]
    AnswerBroken {
        /// The agent that calls the model.
        agent: String,
        /// The error message.
        error: String,
        /// The time until the next model call.
        pause: Duration,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A [compaction](crate::compaction::Compaction) left out or shortened messages too long for the
    /// model's context window.
    #[non_exhaustive]
    Compacted {
        /// The agent with the compacted messages.
        agent: String,
        /// The request's tokens before: the provider's last count if there is one, with estimates for newer
        /// messages.
        tokens_before: u64,
        /// The request's estimated tokens afterwards.
        tokens_after: u64,
        /// The messages replaced with a summary or a note. 0 if only tool results were shortened.
        messages_left_out: usize,
        /// Why a new summary failed, if it did. The model then reads the earlier summary and a note about
        /// the messages left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary_error: Option<String>,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A guardrail replaced or blocked a value, or ended the run.
    #[non_exhaustive]
    Guardrail {
        /// The agent that has this guardrail.
        agent: String,
        /// The guardrail's name.
        guardrail: String,
        /// What the guardrail did.
        action: GuardAction,
        /// The text in place of a blocked value, or the reason for the end. Empty for a replaced value.
        reason: String,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// Another agent takes over the conversation.
    #[non_exhaustive]
    Transferred {
        /// The earlier agent.
        from: String,
        /// The agent that takes over.
        to: String,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// A parallel agent failed. The others continue.
    #[non_exhaustive]
    BranchFailed {
        /// The failed agent.
        agent: String,
        /// The error message.
        error: String,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An agent ends.
    #[non_exhaustive]
    AgentEnded {
        /// The agent.
        agent: String,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// An event from [`Run::custom_event`](crate::Run::custom_event).
    #[non_exhaustive]
    Custom {
        /// The event's name.
        name: String,
        /// The event's content.
        data: serde_json::Value,
        /// The enclosing calls and agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<RunScope>,
    },
    /// The run is complete; this is the last event.
    #[non_exhaustive]
    Finished {
        /// The output of the run.
        output: Box<RunOutput>,
    },
    /// The run has stopped without an answer; this is the last event of a run that has an
    /// [owner](crate::runs). The stream of another run ends with an error.
    #[non_exhaustive]
    Stopped {
        /// Why.
        reason: EndReason,
        /// The output so far.
        output: Box<RunOutput>,
    },
    /// The run has stopped because calls wait for the program; this is the last event.
    /// [`Agent::resume`](crate::Agent::resume) continues it.
    #[non_exhaustive]
    Waiting {
        /// The calls that wait.
        pending: Vec<PendingCall>,
        /// The output so far, without the unfinished turn.
        output: Box<RunOutput>,
    },
}

#[cfg(test)]
mod tests;
