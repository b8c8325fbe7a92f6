//! The events of AG-UI.

use super::AgMessage;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// An event of AG-UI 1.0.
///
/// In JSON, the field `type` names the variant: `TEXT_MESSAGE_CONTENT`, `RUN_FINISHED`.
///
/// ```
/// use toolkit_frontends::ag_ui::AgEvent;
///
/// let event = AgEvent::TextMessageEnd { message_id: "1.1".into(), subagent_run_id: None };
/// assert_eq!(serde_json::to_string(&event)?, r#"{"type":"TEXT_MESSAGE_END","messageId":"1.1"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the protocol")]
#[non_exhaustive]
pub enum AgEvent {
    /// The exchange begins.
    RunStarted { thread_id: Arc<str>, run_id: Arc<str> },
    /// The exchange has ended.
    RunFinished { thread_id: Arc<str>, run_id: Arc<str>, outcome: Value, usage: Value },
    /// The run has failed.
    RunError { message: String, code: String },
    /// A text begins.
    TextMessageStart {
        message_id: Arc<str>,
        role: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Arc<str>>,
    },
    /// The next piece of a text.
    TextMessageContent {
        message_id: Arc<str>,
        delta: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Arc<str>>,
    },
    /// A text is complete.
    TextMessageEnd {
        message_id: Arc<str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Arc<str>>,
    },
    /// A model begins to reason.
    ReasoningStart { message_id: Arc<str> },
    /// A reasoning begins.
    ReasoningMessageStart { message_id: Arc<str>, role: String },
    /// The next piece of a reasoning.
    ReasoningMessageContent { message_id: Arc<str>, delta: String },
    /// A reasoning is complete.
    ReasoningMessageEnd { message_id: Arc<str> },
    /// The model has reasoned.
    ReasoningEnd { message_id: Arc<str> },
    /// A call begins.
    ToolCallStart {
        tool_call_id: Arc<str>,
        tool_call_name: String,
        parent_message_id: Arc<str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Arc<str>>,
    },
    /// The next piece of a call's arguments.
    ToolCallArgs {
        tool_call_id: Arc<str>,
        delta: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Arc<str>>,
    },
    /// The arguments of a call are complete.
    ToolCallEnd {
        tool_call_id: Arc<str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Arc<str>>,
    },
    /// The result of a call.
    ToolCallResult {
        message_id: Arc<str>,
        tool_call_id: Arc<str>,
        content: String,
        role: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Arc<str>>,
    },
    /// All messages, in place of those that the page has.
    MessagesSnapshot { messages: Vec<AgMessage> },
    /// The session values that the page may read.
    StateSnapshot { snapshot: Value },
    /// An agent inside a call, or a parallel one, begins.
    SubagentStarted {
        subagent_run_id: Arc<str>,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_tool_call_id: Option<Arc<str>>,
    },
    /// It has ended, or waits.
    SubagentFinished { subagent_run_id: Arc<str>, outcome: Value },
    /// It has failed.
    SubagentError { subagent_run_id: Arc<str>, message: String },
    /// Anything else.
    Custom { name: String, value: Value },
}
