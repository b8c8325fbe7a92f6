//! A dispatcher as the provider of its tools for another one.

use super::Dispatcher;
use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::tool::{ToolDefinition, ToolFuture, ToolProvider};

/// Provides the tools of a dispatcher, under its own limits, middleware and state, to another one.
///
/// Calls belong to the dispatcher's own [run](Dispatcher::with_run), else to that of the calling context: session,
/// agent and progress listener are then the caller's, and session changes and actions become part of the outer call.
impl ToolProvider for Dispatcher {
    fn tools(&self) -> Vec<ToolDefinition> {
        self.registry()
            .iter_definitions()
            .map(|definition| definition.clone().without_state_needs())
            .collect()
    }

    fn handle<'a>(&'a self, call: ToolCall, context: &'a ToolContext) -> ToolFuture<'a> {
        let call = async move {
            let cancellation = Some(context.cancellation_token().child_token());
            let run = self.settings.run.as_ref();
            let result = self.run_one(call, cancellation, run.or(context.shared_run())).await;
            if run.is_none() {
                context.adopt(&result.actions);
            }
            result.outcome
        };
        ToolFuture::running(call, |outcome| outcome)
    }

    fn validate(&self, call: &ToolCall, _: &ToolContext) -> Result<(), ToolError> {
        Self::validate(self, call)
    }
}
