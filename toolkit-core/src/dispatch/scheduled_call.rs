//! Scheduled calls: the wait for a turn, the middleware, and then the execution.

use super::execution::{Execution, ordered};
use super::turns::Turn;
use super::waits::wait;
use crate::context::ToolContext;
use crate::definition::{GuardedFuture, Tool};
use crate::error::ToolError;
use crate::middleware::{CallArguments, Next, ToolRequest};
use crate::registry::ToolRegistry;
use std::sync::Arc;

/// A call that needs a turn, a permit, a thread, middleware or retries.
pub(super) struct ScheduledCall {
    pub(super) execution: Arc<Execution>,
    pub(super) arguments: Arc<CallArguments>,
    pub(super) turns: Vec<Turn>,
    pub(super) batch: Arc<u64>,
    /// The registry of the dispatcher. `None` if it is live.
    pub(super) fixed_registry: Option<Arc<ToolRegistry>>,
}

impl ScheduledCall {
    /// Waits for the `turns` of the call, then runs the middleware and the tool.
    pub(super) fn run<'a>(&'a mut self, context: &'a ToolContext, position: usize) -> GuardedFuture<'a> {
        let Self { execution, arguments, turns, batch, fixed_registry } = self;
        let steps = async move {
            let definition = execution.tool.definition();
            let mut resources = context.emitter().map(|_| ordered(definition, arguments));
            for turn in turns {
                match resources.as_mut().and_then(Iterator::next) {
                    Some(resource) if turn.must_wait() => {
                        wait(context, |contents| resource.shown(definition, 1, contents), turn.comes()).await;
                    }
                    _ => turn.comes().await,
                }
                if !context.may_begin() {
                    return Err(ToolError::cancelled(context.known_name()));
                }
            }
            let middleware = execution.settings.middleware_for(&execution.tool.definition().metadata);
            if middleware.is_empty() {
                return execution.run(arguments, context).await;
            }
            let tool = execution.tool.clone();
            let context = context.clone();
            let fixed_registry = fixed_registry.take();
            let request =
                ToolRequest::new(tool, arguments.clone(), context, position, batch.clone(), fixed_registry);
            Next::new(middleware, execution.clone()).run(request).await
        };
        GuardedFuture::new(Box::pin(steps), context, None)
    }
}
