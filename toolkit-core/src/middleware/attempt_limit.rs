//! A limit for consecutive failed attempts.

use super::{Middleware, Next, Outcome, ToolRequest};
use crate::context::{Attempts, RunContext, ToolContext};
use crate::error::{BuildError, ErrorKind};
use crate::pattern::PerTool;

/// Limits consecutive failed attempts of the model, per tool and run.
///
/// An attempt counts as failed if its error asks the model to call again, as
/// [`ToolError::retry`](crate::ToolError::retry) and errors about invalid arguments do. From the last
/// allowed attempt on, the error tells the model to stop. Its kind, [`ErrorKind::Exhausted`], tells the
/// program.
///
/// The tool still runs after the limit, and a successful call resets the count. Failed calls of one batch
/// count as one attempt, because the model has not read their results yet.
///
/// Dispatchers with the same [`RunContext`](crate::Dispatcher::with_run) share a run. Without one, each
/// dispatcher is a run, and clones of the middleware share the counts. Add this middleware before all
/// others, so that their retries do not count.
///
/// ```
/// use toolkit_ai::{Dispatcher, ToolRegistry};
/// use toolkit_ai::middleware::AttemptLimit;
///
/// let limit = AttemptLimit::new(3).for_tool("book-*", 5)?;
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_middleware(limit);
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct AttemptLimit {
    all: u32,
    tools: PerTool<u32>,
    without_run: Attempts,
}

impl AttemptLimit {
    /// Creates a limit of `attempts` for each tool. Zero counts as one.
    pub fn new(attempts: u32) -> Self {
        Self { all: attempts, tools: PerTool::default(), without_run: Attempts::default() }
    }

    /// Sets the limit for tools with a name matching `pattern`. The first matching pattern applies.
    ///
    /// Names match with or without their namespace, where `*` matches any string and `?` any character.
    ///
    /// # Errors
    /// [`BuildError`] if no legal name can match the pattern.
    pub fn for_tool(mut self, pattern: impl Into<String>, attempts: u32) -> Result<Self, BuildError> {
        self.tools.add(pattern, attempts)?;
        Ok(self)
    }

    fn attempts<'a>(&'a self, context: &'a ToolContext) -> &'a Attempts {
        context.run().map_or(&self.without_run, RunContext::attempts)
    }
}

impl Middleware for AttemptLimit {
    fn tool_patterns(&self) -> Vec<&str> {
        self.tools.patterns()
    }

    async fn handle(&self, request: ToolRequest, next: Next) -> Outcome {
        let context = request.context().clone();
        let batch = request.batch_token().clone();
        let outcome = next.run(request).await;
        let name = context.tool_name();
        match outcome {
            Ok(output) => {
                self.attempts(&context).succeeded(name.as_str());
                Ok(output)
            }
            Err(error) if asks_for_another(error.kind()) => {
                let failed = self.attempts(&context).failed(name.as_str(), &batch);
                let limit = *self.tools.restriction(name).unwrap_or(&self.all);
                let is_last = failed >= limit.max(1);
                Err(if is_last { error.exhausted(context.known_name(), failed) } else { error })
            }
            Err(error) => Err(error),
        }
    }
}

fn asks_for_another(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Retry | ErrorKind::InvalidArguments | ErrorKind::InvalidJson)
}
