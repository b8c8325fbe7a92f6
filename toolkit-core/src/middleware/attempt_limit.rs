//! How often a model may try again.

use super::pattern::fits;
use super::{Middleware, Next, Outcome, ToolRequest};
use crate::context::{Attempts, RunContext, ToolContext};
use crate::error::ErrorKind;

/// Limits how often in a row a model may call a tool wrongly, in one run.
///
/// What counts are the errors that ask the model to call otherwise: [`ToolError::retry`](crate::ToolError::retry)
/// and arguments that do not fit. The error of the last attempt that the limit allows says that the model should stop
/// trying, and so does every later one; its kind is [`ErrorKind::Exhausted`], so that the program can stop as well. The tool is still called: a right call does no harm, and then the count begins anew.
/// The calls of one batch are one attempt, because the model has not read of the others.
///
/// A run is what dispatchers with the same [`RunContext`](crate::Dispatcher::with_run) do; a dispatcher without one has
/// one run. Put it outside of all other middleware, or it counts what they try.
///
/// ```
/// use toolkit::{Dispatcher, ToolRegistry};
/// use toolkit::middleware::AttemptLimit;
///
/// let limit = AttemptLimit::new(3).for_tool("book-*", 5);
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_middleware(limit);
/// # Ok::<(), toolkit::BuildError>(())
/// ```
#[derive(Debug)]
pub struct AttemptLimit {
    all: u32,
    /// By pattern; the first that fits is the tool's.
    tools: Vec<(String, u32)>,
    without_run: Attempts,
}

impl AttemptLimit {
    /// So many attempts for each tool, at least one.
    #[must_use]
    pub fn new(attempts: u32) -> Self {
        Self { all: attempts, tools: Vec::new(), without_run: Attempts::default() }
    }

    /// Another limit for each tool whose name fits the pattern, where `*` is any text. The first pattern that
    /// fits holds.
    #[must_use]
    pub fn for_tool(mut self, pattern: impl Into<String>, attempts: u32) -> Self {
        self.tools.push((pattern.into(), attempts));
        self
    }

    fn limit(&self, name: &str) -> u32 {
        let own = self.tools.iter().find(|(pattern, _)| fits(name, pattern));
        own.map_or(self.all, |(_, attempts)| *attempts).max(1)
    }

    fn attempts<'a>(&'a self, context: &'a ToolContext) -> &'a Attempts {
        context.run().map_or(&self.without_run, RunContext::attempts)
    }
}

impl Middleware for AttemptLimit {
    async fn handle(&self, request: ToolRequest, next: Next) -> Outcome {
        let context = request.context().clone();
        let batch = request.batch_token().clone();
        let outcome = next.run(request).await;
        let name = context.tool_name().as_str();
        match outcome {
            Ok(output) => {
                self.attempts(&context).succeeded(name);
                Ok(output)
            }
            Err(error) if asks_for_another(error.kind()) => {
                let failed = self.attempts(&context).failed(name, &batch);
                let is_last = failed >= self.limit(name);
                Err(if is_last { error.exhausted(context.known_name(), failed) } else { error })
            }
            // It says nothing about how the model calls.
            Err(error) => Err(error),
        }
    }
}

fn asks_for_another(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Retry | ErrorKind::InvalidArguments | ErrorKind::InvalidJson)
}
