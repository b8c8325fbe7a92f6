//! A dispatcher as a tool provider for another dispatcher.

use super::Dispatcher;
use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::definition::{ToolDefinition, ToolFuture, ToolProvider};
use crate::error::ToolError;
use crate::middleware::DecidedApproval;
use std::time::Duration;

/// Provides the tools of this dispatcher to another dispatcher.
///
/// Calls of these tools keep the limits, middleware, retries and state of this dispatcher. The hard limit
/// of the other dispatcher applies to all attempts together, and so does its default limit, to tools
/// without a limit of their own.
///
/// The calls belong to this dispatcher's [run](Dispatcher::with_run). Without one, they belong to the run
/// of the outer call, which gets their session changes and actions.
impl ToolProvider for Dispatcher {
    fn tools(&self) -> Vec<ToolDefinition> {
        let mut definitions = Vec::new();
        for definition in self.registry().iter_definitions() {
            let mut outer = definition.clone().without_state_needs();
            // The outer dispatcher must not retry again, or end all attempts with the limit of one.
            outer.metadata.retries = 0;
            outer.metadata.timeout = outer.metadata.timeout.map(|_| Duration::MAX);
            definitions.push(outer);
        }
        definitions
    }

    fn handle<'a>(&'a self, call: ToolCall, context: &'a ToolContext) -> ToolFuture<'a> {
        let call = async move {
            let cancellation = Some(context.cancellation_token().child_token());
            let run = self.run.as_ref();
            let outer = if run.is_none() { context.nested_run() } else { None };
            // The approval does not hold for other calls that the tool makes.
            let mut decided = None;
            if context.call_id() == Some(&call.id)
                && let Some(DecidedApproval(approval)) = context.extension()
            {
                decided = Some(Box::new(approval.clone()));
            }
            let run_or_outer = run.or(outer.as_ref());
            let (result, ()) =
                self.run_one(&self.snapshot(), call, cancellation, run_or_outer, decided, |_| ()).await;
            if run.is_none() {
                context.adopt(&result.actions);
            }
            result.outcome
        };
        ToolFuture::new(call)
    }

    fn validate(&self, call: &ToolCall, _: &ToolDefinition, _: &ToolContext) -> Result<(), ToolError> {
        Self::validate(self, call)
    }
}
