//! The form of an answer, on its way into a request.

use crate::model::{ModelRequest, OutputFormat};

/// The form of an answer.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    pub(super) format: OutputFormat,
    /// Whether the provider is told of it, too.
    pub(super) native: bool,
}

impl Form {
    pub(crate) fn is_native(&self) -> bool {
        self.native
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
        request.options.output = self.native.then(|| self.format.clone());
    }
}
