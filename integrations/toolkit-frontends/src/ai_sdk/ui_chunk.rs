//! The chunks of a UI message stream.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// A chunk of a UI message stream, as version 7 of the AI SDK reads it.
///
/// In JSON, the field `type` names the variant: `text-delta`, `tool-input-available`.
///
/// ```
/// use toolkit_frontends::ai_sdk::UiChunk;
///
/// let chunk = UiChunk::TextDelta { id: "1.1".into(), delta: "Hello".to_owned() };
/// assert_eq!(serde_json::to_string(&chunk)?, r#"{"type":"text-delta","id":"1.1","delta":"Hello"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the protocol")]
#[non_exhaustive]
pub enum UiChunk {
    /// The message begins, or goes on after decisions.
    Start { message_id: Arc<str> },
    /// A model call begins.
    StartStep,
    /// A model call has ended, and so have its tool calls.
    FinishStep,
    /// The pieces since the last `start-step` are taken back.
    ResetStep,
    /// A text begins.
    TextStart { id: Arc<str> },
    /// The next piece of a text.
    TextDelta { id: Arc<str>, delta: String },
    /// A text is complete.
    TextEnd { id: Arc<str> },
    /// A reasoning begins.
    ReasoningStart { id: Arc<str> },
    /// The next piece of a reasoning.
    ReasoningDelta { id: Arc<str>, delta: String },
    /// A reasoning is complete.
    ReasoningEnd { id: Arc<str> },
    /// The model begins to write a tool call.
    ToolInputStart { tool_call_id: Arc<str>, tool_name: String },
    /// The next piece of a call's arguments.
    ToolInputDelta { tool_call_id: Arc<str>, input_text_delta: String },
    /// The arguments of a call are complete.
    ToolInputAvailable { tool_call_id: Arc<str>, tool_name: String, input: Value },
    /// A call waits for an approval.
    ToolApprovalRequest { approval_id: Arc<str>, tool_call_id: Arc<str>, reason: String },
    /// A call was approved or denied.
    ToolApprovalResponse {
        approval_id: Arc<str>,
        approved: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The output of a call. A preliminary one is what a called agent has written so far.
    ToolOutputAvailable {
        tool_call_id: Arc<str>,
        output: Value,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        preliminary: bool,
    },
    /// A call has failed.
    ToolOutputError { tool_call_id: Arc<str>, error_text: String },
    /// A call was denied.
    ToolOutputDenied { tool_call_id: Arc<str> },
    /// A file in the output of a call.
    File { media_type: String, url: String },
    /// Another agent takes over the conversation.
    DataAgent { data: Value },
    /// A tool reports progress. It is no part of the message.
    DataProgress { id: Arc<str>, data: Value, transient: bool },
    /// The provider runs a tool of its own. It is no part of the message.
    DataHostedCall { data: Value, transient: bool },
    /// An event of the program. It is no part of the message.
    DataCustom { data: Value, transient: bool },
    /// A call of this request was decided by another user before. It is no part of the message.
    DataDecided { id: Arc<str>, data: Value, transient: bool },
    /// The message is complete, or its calls wait.
    Finish { finish_reason: String, message_metadata: Value },
    /// The run was cancelled.
    Abort { reason: String },
    /// The run has failed.
    Error { error_text: String },
}
