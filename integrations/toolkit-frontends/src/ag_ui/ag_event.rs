//! The events of AG-UI.

use super::AgMessage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An event of AG-UI 1.0.
///
/// In JSON, the field `type` names the variant: `TEXT_MESSAGE_CONTENT`, `RUN_FINISHED`.
///
/// ```
/// use toolkit_frontends::ag_ui::AgEvent;
///
/// let event = AgEvent::TextMessageEnd { message_id: "1.1".to_owned(), subagent_run_id: None };
/// assert_eq!(serde_json::to_string(&event)?, r#"{"type":"TEXT_MESSAGE_END","messageId":"1.1"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the protocol")]
#[non_exhaustive]
pub enum AgEvent {
    /// The exchange begins.
    RunStarted { thread_id: String, run_id: String },
    /// The exchange has ended.
    RunFinished { thread_id: String, run_id: String, outcome: Value, usage: Value },
    /// The run has failed.
    RunError { message: String, code: String },
    /// A text begins.
    TextMessageStart {
        message_id: String,
        role: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<String>,
    },
    /// The next piece of a text.
    TextMessageContent {
        message_id: String,
        delta: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<String>,
    },
    /// A text is complete.
    TextMessageEnd {
        message_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<String>,
    },
    /// A model begins to reason.
    ReasoningStart { message_id: String },
    /// A reasoning begins.
    ReasoningMessageStart { message_id: String, role: String },
    /// The next piece of a reasoning.
    ReasoningMessageContent { message_id: String, delta: String },
    /// A reasoning is complete.
    ReasoningMessageEnd { message_id: String },
    /// The model has reasoned.
    ReasoningEnd { message_id: String },
    /// A call begins.
    ToolCallStart {
        tool_call_id: String,
        tool_call_name: String,
        parent_message_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<String>,
    },
    /// The next piece of a call's arguments.
    ToolCallArgs {
        tool_call_id: String,
        delta: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<String>,
    },
    /// The arguments of a call are complete.
    ToolCallEnd {
        tool_call_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<String>,
    },
    /// The result of a call.
    ToolCallResult {
        message_id: String,
        tool_call_id: String,
        content: String,
        role: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<String>,
    },
    /// All messages, in place of those that the page has.
    MessagesSnapshot { messages: Vec<AgMessage> },
    /// The session values that the page may read.
    StateSnapshot { snapshot: Value },
    /// An agent inside a call, or a parallel one, begins.
    SubagentStarted {
        subagent_run_id: String,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_tool_call_id: Option<String>,
    },
    /// It has ended, or waits.
    SubagentFinished { subagent_run_id: String, outcome: Value },
    /// It has failed.
    SubagentError { subagent_run_id: String, message: String },
    /// Anything else.
    Custom { name: String, value: Value },
}
