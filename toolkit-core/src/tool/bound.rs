//! Bound tools: tools with the state of the registry that they come from.

use super::{Tool, ToolDefinition, ToolFuture};
use crate::context::{State, ToolContext};
use std::sync::Arc;

/// A tool with its own state. Types that it lacks are those of the registry that calls it.
pub(crate) struct BoundTool {
    tool: Arc<dyn Tool>,
    definition: ToolDefinition,
    state: Arc<State>,
}

impl BoundTool {
    /// Binds a tool to a state.
    pub(crate) fn new(tool: Arc<dyn Tool>, state: Arc<State>) -> Self {
        let mut definition = tool.definition().clone();
        definition.state_needs.retain(|need| !state.has(need));
        Self { tool, definition, state }
    }
}

impl Tool for BoundTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        let context = context.clone().with_own_state(&self.state);
        let call = async move { self.tool.call(arguments, &context).await };
        ToolFuture::running(call, |outcome| outcome)
    }
}
