//! The events of a streamed response.

use crate::hosted::HostedCall;
#[cfg(feature = "model")]
use crate::message::{ModelResponse, NativeMessages};
#[cfg(feature = "model")]
use crate::response::Usage;
use toolkit_core::CallId;
use toolkit_core::call::ToolCall;

/// An event of a streamed response.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "model", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum StreamEvent {
    /// Further text of the answer.
    ///
    /// Together, these texts are [`Response::text`](crate::Response::text).
    Text(String),
    /// Further reasoning, if the provider returns it.
    Reasoning(String),
    /// Further text of the model's refusal, if the provider distinguishes it.
    ///
    /// A `ModelStream` has it as text, after all other text.
    Refusal(String),
    /// The model has started to write a tool call.
    #[non_exhaustive]
    CallStarted {
        /// The id of the call.
        id: CallId,
        /// The tool name, as the model wrote it.
        name: String,
    },
    /// Further arguments of a call, between [`CallStarted`](Self::CallStarted) and [`Call`](Self::Call).
    ///
    /// Only a `ModelStream`, and an accumulator [with argument
    /// events](crate::StreamAccumulator::with_argument_events), return this event. The pieces of a call are
    /// the JSON of its arguments, except that spaces and escapes may differ. The pieces of a custom tool's
    /// call are its free text. Some models return no pieces.
    #[non_exhaustive]
    Arguments {
        /// The id of the call.
        id: CallId,
        /// The next piece of the arguments, as the model wrote it.
        piece: String,
    },
    /// A complete call, ready to be dispatched.
    Call(ToolCall),
    /// A call of a tool that the provider runs itself.
    ///
    /// A later output comes in a second event, with the same id.
    Hosted(HostedCall),
    /// Further parts of the message in the JSON of the provider's API, including the calls.
    ///
    /// A model returns them before a call if later requests need more than the text and the calls, such as
    /// signed thinking.
    ///
    /// All pieces together are the message so far. The first JSON message of a piece continues the last one
    /// of the piece before if both have the same fields, except for their lists `content`. Every other is a
    /// message of its own.
    #[cfg(feature = "model")]
    Native(NativeMessages),
    /// The token counts so far, including those of failed attempts before this response.
    ///
    /// In a `ModelStream`, each such event replaces the one before. A run counts them if it stops the stream;
    /// otherwise, the counts of the response apply.
    #[cfg(feature = "model")]
    Usage(Usage),
    /// The complete response, with all calls: the last event of a `ModelStream`.
    #[cfg(feature = "model")]
    Done(Box<ModelResponse>),
}

impl StreamEvent {
    /// Creates the event of a call that the model has started to write.
    #[must_use]
    pub fn call_started(id: impl Into<CallId>, name: impl Into<String>) -> Self {
        Self::CallStarted { id: id.into(), name: name.into() }
    }

    /// Creates the event of further arguments of a call.
    #[must_use]
    pub fn arguments(id: impl Into<CallId>, piece: impl Into<String>) -> Self {
        Self::Arguments { id: id.into(), piece: piece.into() }
    }
}
