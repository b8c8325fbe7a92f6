//! What happens to the outcome of a call before the model reads it.

use super::Dispatcher;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::output::{ToolOutput, Truncation};
use crate::tool::Tool;
use std::sync::Arc;

/// What happens to the outcome of a call before the model reads it.
#[derive(Debug, Clone, Default)]
pub(super) struct Finish {
    truncation: Truncation,
}

impl Finish {
    pub(super) fn outcome(
        &self,
        tool: &dyn Tool,
        context: &ToolContext,
        outcome: Result<ToolOutput, ToolError>,
    ) -> Result<ToolOutput, ToolError> {
        let own = tool.definition().metadata.max_result_size;
        let Some(limit) = self.truncation.limit_of(own) else { return outcome };
        let (name, id) = (context.tool_name().as_str(), context.call_id());
        match outcome {
            Ok(output) => Ok(self.truncation.shorten(limit, name, id, output)),
            Err(error) => Err(self.truncation.shorten_error(limit, name, id, error)),
        }
    }
}

impl Dispatcher {
    /// Sets how results and the messages of errors are kept short. Without it, only tools with a
    /// [`max_result_size`](crate::ToolMetadata::max_result_size) have a limit, and what they have too much
    /// is lost.
    ///
    /// What the program gets from [`ToolRegistry::call`](crate::ToolRegistry::call) is never cut.
    #[must_use]
    pub fn with_truncation(mut self, truncation: Truncation) -> Self {
        Arc::make_mut(&mut self.finish).truncation = truncation;
        self
    }
}
