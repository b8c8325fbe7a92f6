//! The events of a streamed response.

use crate::hosted::HostedCall;
use toolkit_core::call::ToolCall;

/// An event of a streamed response.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// Further text of the answer. Together, these texts are [`Response::text`](crate::Response::text).
    Text(String),
    /// Further reasoning, if the provider returns it.
    Reasoning(String),
    /// Further text of the model's refusal to answer, if the provider distinguishes it from the text of the answer.
    Refusal(String),
    /// The model has started to write a tool call.
    CallStarted {
        /// The id of the call.
        id: String,
        /// The tool name, as the model wrote it.
        name: String,
    },
    /// Further arguments of a call. Only an accumulator
    /// [with argument events](crate::StreamAccumulator::with_argument_events) returns this event.
    Arguments {
        /// The id of the call.
        id: String,
        /// The next piece of the arguments, as the model wrote it.
        piece: String,
    },
    /// A complete call, ready to be dispatched.
    Call(ToolCall),
    /// A call of a tool that the provider runs itself. If its output arrives later, there is a second event
    /// with the same id and the output.
    Hosted(HostedCall),
}
