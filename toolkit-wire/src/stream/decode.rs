//! Stream decoders, one per API.

use crate::WireError;
use serde_json::Value;
use toolkit_core::call::ToolCall;

/// An event of a streamed response.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// Further text of the answer.
    Text(String),
    /// Further reasoning, if the provider returns it.
    Reasoning(String),
    /// The model has started to write a tool call.
    CallStarted {
        /// The id of the call.
        id: String,
        /// The tool name, as the model wrote it.
        name: String,
    },
    /// A complete call, ready to be dispatched.
    Call(ToolCall),
}

/// Decodes the stream of one API.
pub(crate) trait StreamDecoder: Send {
    /// Processes one event and appends the resulting events. Events decoded before an error are appended too.
    fn push(&mut self, event: &Value, events: &mut Vec<StreamEvent>) -> Result<(), WireError>;

    /// Records the end of the stream, announced outside of the format's own events by `[DONE]`.
    fn done(&mut self) {}

    /// Returns whether the server announced the end.
    fn is_complete(&self) -> bool;

    /// Completes the open calls and appends them to `events`. Returns the response body as in a response
    /// without streaming.
    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Value;
}
