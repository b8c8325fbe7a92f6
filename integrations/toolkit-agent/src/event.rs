//! What happens in a run, told while it happens.

use crate::message::AssistantMessage;
use crate::run::RunOutput;
use serde::Serialize;
use std::time::Duration;
use toolkit_core::event::ToolEvent;
use toolkit_core::{CallId, ToolResult};

/// What happens in a run.
///
/// Written as JSON, its `type` says what it is: `text`, `tool`, `finished` and so on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEvent {
    /// An agent begins.
    #[non_exhaustive]
    AgentStarted {
        /// Its name.
        agent: String,
    },
    /// A model is asked.
    #[non_exhaustive]
    ModelAsked {
        /// The agent that asks.
        agent: String,
        /// The name of the model.
        model: String,
    },
    /// More of the answer's text.
    #[non_exhaustive]
    Text {
        /// The agent whose model writes.
        agent: String,
        /// The text.
        text: String,
    },
    /// More of the model's reasoning.
    #[non_exhaustive]
    Reasoning {
        /// The agent whose model reasons.
        agent: String,
        /// The text.
        text: String,
    },
    /// The model has begun to write a call.
    #[non_exhaustive]
    CallStarted {
        /// The agent whose model writes.
        agent: String,
        /// The id that the call will have.
        call_id: CallId,
        /// The name of the tool as the model wrote it.
        tool: String,
    },
    /// What a call does, as the dispatcher tells it.
    #[non_exhaustive]
    Tool {
        /// The agent whose call it is.
        agent: String,
        /// What happens.
        event: Box<ToolEvent>,
    },
    /// What came of a call. Results come in the order in which the calls end.
    #[non_exhaustive]
    Result {
        /// The agent whose call it was.
        agent: String,
        /// The result.
        result: Box<ToolResult>,
    },
    /// The model has said all of a message; the texts before were its pieces.
    #[non_exhaustive]
    Message {
        /// The message, whose [`agent`](AssistantMessage::agent) says whose it is.
        message: Box<AssistantMessage>,
    },
    /// An answer broke off or did not come, and the model is asked again after a pause. The pieces that came since it
    /// was asked are void.
    #[non_exhaustive]
    ModelRetried {
        /// The agent whose model it is.
        agent: String,
        /// What went wrong.
        error: String,
        /// How long the pause is.
        pause: Duration,
    },
    /// Another agent goes on with the conversation.
    #[non_exhaustive]
    Transferred {
        /// The agent that has ended.
        from: String,
        /// The agent that goes on.
        to: String,
    },
    /// An agent that ran beside others has failed; they go on without it.
    #[non_exhaustive]
    BranchFailed {
        /// Its name.
        agent: String,
        /// What went wrong.
        error: String,
    },
    /// An agent has ended.
    #[non_exhaustive]
    AgentEnded {
        /// Its name.
        agent: String,
    },
    /// The run has ended; this is the last event.
    #[non_exhaustive]
    Finished {
        /// What came of it.
        output: Box<RunOutput>,
    },
}
