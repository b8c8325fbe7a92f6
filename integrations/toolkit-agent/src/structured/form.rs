//! The form of an answer, on its way into a request.

use crate::model::{ModelRequest, OutputFormat};

/// The form of an answer.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    pub(super) format: OutputFormat,
    pub(super) native: Native,
}

/// When the provider is told of a form, so that it holds the model to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Native {
    Never,
    /// Some servers, llama.cpp's among them, hold the model to the form from its first word: it calls no tool, but
    /// makes an answer up.
    WithoutTools,
    Always,
}

impl Form {
    /// Whether the provider may have been told of it.
    pub(super) fn is_native(&self) -> bool {
        self.native != Native::Never
    }

    /// Has a request ask for the form.
    pub(crate) fn ask(&self, request: &mut ModelRequest) {
        if !request.instructions.is_empty() {
            request.instructions.push_str("\n\n");
        }
        request.instructions.push_str(&format!(
            "When you have all that you need, give your final answer as JSON that fits this schema, and write nothing \
             else:\n{}",
            self.format.schema
        ));
        let is_native = match self.native {
            Native::Never => false,
            Native::WithoutTools => request.tools.is_empty(),
            Native::Always => true,
        };
        request.options.output = is_native.then(|| self.format.clone());
    }
}
