//! Decoders of streams, one for each API.

use crate::WireError;
use serde_json::Value;
use toolkit_core::call::ToolCall;

/// News from a streamed response.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// More of the text.
    Text(String),
    /// More of the reasoning, where the provider shows it.
    Reasoning(String),
    /// The model has begun to write a call of this tool.
    CallStarted {
        /// The id that the call will have.
        id: String,
        /// The tool's name as the model wrote it.
        name: String,
    },
    /// A call is complete and can be dispatched.
    Call(ToolCall),
}

/// Decodes the events of one API's stream.
pub(crate) trait StreamDecoder: Send {
    /// Takes one event and adds the news to `events`, also before an error.
    fn push(&mut self, event: &Value, events: &mut Vec<StreamEvent>) -> Result<(), WireError>;

    /// Notes that the server announced the end in a way that is no event of the format.
    fn done(&mut self) {}

    /// Returns whether the server announced the end.
    fn is_complete(&self) -> bool;

    /// Completes the open calls, adds them to `events`, and returns the response body as if it had come whole.
    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Value;
}
