//! Bound tools: tools with the state of their registry.

use super::{Tool, ToolDefinition, ToolFuture};
use crate::context::{State, ToolContext};
use crate::error::ToolError;
use std::sync::Arc;

/// A tool with its own state. The run's state overrides it, and the calling registry adds required values
/// that it lacks.
pub(crate) struct BoundTool {
    tool: Arc<dyn Tool>,
    definition: ToolDefinition,
    state: Arc<State>,
}

impl BoundTool {
    pub(crate) fn new(tool: Arc<dyn Tool>, state: Arc<State>) -> Self {
        let mut definition = tool.definition().clone();
        for need in &mut definition.state_needs {
            need.within = state.pointer_around(need);
            need.is_met |= state.has_value(need);
        }
        Self { tool, definition, state }
    }

    /// Returns the context of a call with the tool's own state.
    fn bound(&self, context: &ToolContext) -> ToolContext {
        let state = match context.all_state() {
            Some(of_call) => self.state.in_call(self.definition.state_needs(), of_call),
            None => self.state.clone(),
        };
        context.clone().with_state(state)
    }
}

impl Tool for BoundTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        let context = self.bound(context);
        let call = async move { self.tool.call(arguments, &context).await };
        ToolFuture::new(call)
    }

    fn validate(&self, arguments: &str, context: &ToolContext) -> Result<(), ToolError> {
        self.tool.validate(arguments, &self.bound(context))
    }
}
