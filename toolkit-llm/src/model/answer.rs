//! Typed answers: asking a model for a value of a Rust type, and decoding it.

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

/// How a model is asked for a typed answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnswerMode {
    /// The provider enforces the schema, which is in the API's field for structured output. The instructions
    /// contain it, too.
    Native,
    /// The answer is the arguments of a call of the tool `final_answer`. If this name is taken, a number is
    /// appended.
    Tool,
    /// The instructions contain the schema, and the answer is text.
    Text,
}

/// An answer as a value, from [`ChatModel::ask`](crate::ChatModel::ask).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answer<T> {
    /// The value.
    pub value: T,
    /// The response with the answer. Tokens of invalid answers before it are in
    /// [`failed_usage`](ModelResponse::failed_usage).
    pub response: ModelResponse,
}
