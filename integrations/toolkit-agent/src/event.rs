//! The events of a run.

use crate::guardrail::GuardAction;
use crate::message::AssistantMessage;
use crate::model::RequestLoss;
use crate::output::RunOutput;
use serde::Serialize;
use std::time::Duration;
use toolkit_core::error::Pending;
use toolkit_core::event::ToolEvent;
use toolkit_core::{CallId, ToolResult};
use toolkit_wire::HostedCall;

/// An event of a run.
///
/// In JSON, the field `type` names the variant: `text`, `tool`, `finished` and so on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEvent {
    /// An agent starts.
    #[non_exhaustive]
    AgentStarted {
        /// The name of the agent.
        agent: String,
    },
    /// A request goes to a model.
    #[non_exhaustive]
    ModelCalled {
        /// The name of the calling agent.
        agent: String,
        /// The name of the model.
        model: String,
    },
    /// Parts of a request did not reach the model, because the provider's API cannot express these parts. A
    /// run emits each loss once per agent.
    #[non_exhaustive]
    RequestLosses {
        /// The name of the calling agent.
        agent: String,
        /// The losses that the run has not emitted before.
        losses: Vec<RequestLoss>,
    },
    /// The next piece of the answer's text.
    #[non_exhaustive]
    Text {
        /// The name of the agent that answers.
        agent: String,
        /// The text.
        text: String,
    },
    /// The next piece of the model's reasoning.
    #[non_exhaustive]
    Reasoning {
        /// The name of the agent that answers.
        agent: String,
        /// The text.
        text: String,
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
    },
    /// A tool event: a call was queued, started, retried, ended and so on.
    #[non_exhaustive]
    Tool {
        /// The name of the calling agent.
        agent: String,
        /// The event.
        event: Box<ToolEvent>,
    },
    /// The provider has called a tool that it runs itself. If the output arrives later, there is a second
    /// event with the same id and the output.
    #[non_exhaustive]
    HostedCall {
        /// The name of the agent that answers.
        agent: String,
        /// The call.
        call: Box<HostedCall>,
    },
    /// The result of a call, in the order of completion.
    #[non_exhaustive]
    Result {
        /// The name of the calling agent.
        agent: String,
        /// The result.
        result: Box<ToolResult>,
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
    },
    /// A complete message of the model. The preceding text events contained the pieces of this message.
    #[non_exhaustive]
    Message {
        /// The message; its [`agent`](AssistantMessage::agent) names the author.
        message: Box<AssistantMessage>,
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
    },
    /// Another agent takes over the conversation.
    #[non_exhaustive]
    Transferred {
        /// The name of the agent that gives up the conversation.
        from: String,
        /// The name of the agent that takes over the conversation.
        to: String,
    },
    /// An agent of a parallel team failed; the others continue.
    #[non_exhaustive]
    BranchFailed {
        /// The name of the agent.
        agent: String,
        /// The message of the error.
        error: String,
    },
    /// An agent ends.
    #[non_exhaustive]
    AgentEnded {
        /// The name of the agent.
        agent: String,
    },
    /// The run is complete; this is the last event.
    #[non_exhaustive]
    Finished {
        /// The output of the run.
        output: Box<RunOutput>,
    },
}
