//! Typed answers: how a model is asked for a value of a Rust type, and how its answer is decoded.

mod ask;
mod final_answer;
mod format;
mod json;
mod reader;
mod tool;

pub(crate) use ask::ask;
#[doc(hidden)]
pub use final_answer::FinalAnswer;
#[doc(hidden)]
pub use format::{ANSWER, AnswerFormat};
#[doc(hidden)]
pub use json::{Brackets, find};
#[doc(hidden)]
pub use reader::AnswerReader;
#[doc(hidden)]
pub use tool::feedback;

use crate::message::ModelResponse;

/// The way in which a model is asked for an answer of a Rust type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnswerMode {
    /// The request contains the schema of the type in the API's field for structured output. The provider
    /// enforces the schema. The instructions contain the schema, too.
    Native,
    /// The model calls an additional tool, and the arguments of this call are the answer. The tool is named
    /// `final_answer`. If there already is a tool with this name, a number is appended.
    Tool,
    /// The instructions contain the schema of the type, and the model answers with text.
    Text,
}

/// An answer of a model as a value. [`ChatModel::ask`](crate::ChatModel::ask) returns it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answer<T> {
    /// The value.
    pub value: T,
    /// The response with the answer. The tokens of invalid answers before it are in
    /// [`failed_usage`](ModelResponse::failed_usage).
    pub response: ModelResponse,
}
