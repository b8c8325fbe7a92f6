//! The format of the final answer, on its way into a request.

use crate::model::{ModelRequest, OutputFormat};

/// The format of the final answer, and its enforcement.
#[derive(Debug, Clone)]
pub(crate) struct AnswerFormat {
    pub(crate) format: OutputFormat,
    pub(crate) enforcement: Enforcement,
}

/// When the provider gets the schema as well, to enforce it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Enforcement {
    Never,
    /// Some servers, such as llama.cpp's, enforce the schema from the first token on: the model then invents an answer
    /// and calls no tool.
    WithoutTools,
    Always,
}

impl AnswerFormat {
    /// Adds the format to a request: always to the instructions, and to the options if the provider enforces it.
    pub(crate) fn apply(&self, request: &mut ModelRequest) {
        if !request.instructions.is_empty() {
            request.instructions.push_str("\n\n");
        }
        request.instructions.push_str(&format!(
            "When you have all that you need, give your final answer as JSON that fits this schema, and write nothing \
             else:\n{}",
            self.format.schema
        ));
        let is_enforced = match self.enforcement {
            Enforcement::Never => false,
            Enforcement::WithoutTools => request.tools.is_empty(),
            Enforcement::Always => true,
        };
        request.options.output = is_enforced.then(|| self.format.clone());
    }
}
