//! Bound tools: tools with the state of the registry that they come from.

use super::{Tool, ToolDefinition, ToolFuture};
use crate::context::{State, ToolContext};
use crate::error::ToolError;
use std::sync::{Arc, OnceLock};

/// A tool with its own state. The tool sees a value from the state of the calling registry only if it requires the
/// value and its own state lacks it.
pub(crate) struct BoundTool {
    tool: Arc<dyn Tool>,
    definition: ToolDefinition,
    state: Arc<State>,
    /// The state of the first calling registry, paired with the tool's own state completed from it. This is a cache,
    /// because nearly all calls come from the same registry.
    completed: OnceLock<(Arc<State>, Arc<State>)>,
}

impl BoundTool {
    /// Binds a tool to a state.
    pub(crate) fn new(tool: Arc<dyn Tool>, state: Arc<State>) -> Self {
        let mut definition = tool.definition().clone();
        definition.state_needs.retain(|need| !state.has_value(need));
        Self { tool, definition, state, completed: OnceLock::new() }
    }

    /// Returns the context of a call, with the tool's own state instead of the state of the calling registry.
    fn bound(&self, context: &ToolContext) -> ToolContext {
        let needs = self.definition.state_needs();
        let complete = |others: &Arc<State>| Arc::new(State::clone(&self.state).with_needs(needs, others));
        let state = match context.all_state() {
            Some(others) if !needs.is_empty() => {
                let (known, completed) = self.completed.get_or_init(|| (others.clone(), complete(others)));
                if Arc::ptr_eq(known, others) { completed.clone() } else { complete(others) }
            }
            _ => self.state.clone(),
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
        ToolFuture::running(call, |outcome| outcome)
    }

    fn validate(&self, arguments: &str, context: &ToolContext) -> Result<(), ToolError> {
        self.tool.validate(arguments, &self.bound(context))
    }
}
