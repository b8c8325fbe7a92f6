//! What happens to the outcome of a call before the model reads it.

use super::Dispatcher;
use crate::context::{RunContext, SessionDelta, ToolContext};
use crate::error::ToolError;
use crate::output::{ToolOutput, Truncation};
use crate::result::ToolResult;
use crate::tool::Tool;
use std::collections::BTreeMap;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What happens to the outcome of a call before the model reads it.
#[derive(Clone, Default)]
pub(super) struct Finish {
    truncation: Truncation,
    run: Option<Arc<RunContext>>,
    failure_text: Option<Arc<FailureText>>,
}

/// Makes the text for the model of the name that the model has called and what went wrong.
type FailureText = dyn Fn(&str, &ToolError) -> String + Send + Sync;

impl Finish {
    pub(super) fn run(&self) -> Option<Arc<RunContext>> {
        self.run.clone()
    }

    /// The error in the words that the program chose.
    pub(super) fn failure(&self, called: &str, error: ToolError) -> ToolError {
        let Some(text) = &self.failure_text else { return error };
        // Whatever goes wrong with the program's words, the call has its result.
        match catch_unwind(AssertUnwindSafe(|| text(called, &error))) {
            Ok(message) => error.with_message(message),
            Err(_) => error,
        }
    }

    /// Has the session take over what the calls have changed, in the order of the results.
    pub(super) fn apply_changes(&self, results: &[ToolResult]) {
        if let Some(run) = &self.run {
            let mut changes = SessionDelta::new();
            for result in results {
                changes.extend(result.actions.state_delta.clone());
            }
            run.apply(&changes);
        }
    }

    pub(super) fn outcome(
        &self,
        tool: &dyn Tool,
        context: &ToolContext,
        outcome: Result<ToolOutput, ToolError>,
    ) -> Result<ToolOutput, ToolError> {
        let outcome = outcome.map_err(|error| self.failure(context.known_name(), error));
        let own = tool.definition().metadata.max_result_size;
        let Some(limit) = self.truncation.limit_of(own) else { return outcome };
        let (name, id) = (context.tool_name().as_str(), context.call_id());
        match outcome {
            Ok(output) => Ok(self.truncation.shorten(limit, name, id, output)),
            Err(error) => Err(self.truncation.shorten_error(limit, name, id, error)),
        }
    }
}

impl fmt::Debug for Finish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finish")
            .field("truncation", &self.truncation)
            .field("run", &self.run)
            .field("failure_text", &self.failure_text.is_some())
            .finish()
    }
}

/// What the calls of a stream have changed so far. The session takes it over when all have ended, or the
/// program wants no more.
#[derive(Debug)]
pub(super) struct Changes {
    finish: Arc<Finish>,
    /// By position.
    of_calls: BTreeMap<usize, SessionDelta>,
}

impl Changes {
    pub(super) fn new(finish: Arc<Finish>) -> Self {
        Self { finish, of_calls: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, result: &ToolResult) {
        if self.finish.run.is_some() && !result.actions.state_delta.is_empty() {
            self.of_calls.insert(result.position, result.actions.state_delta.clone());
        }
    }

    pub(super) fn apply(&mut self) {
        if let Some(run) = &self.finish.run {
            run.apply(&mem::take(&mut self.of_calls).into_values().flatten().collect());
        }
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.apply();
    }
}

impl Dispatcher {
    /// Tells the calls in which run they are: who runs, in which session, who listens to their progress.
    /// Dispatchers are cheap to clone, so each run may have its own.
    ///
    /// A call sees the session with what it has changed itself, and without what other calls of its batch
    /// change. The changes of the calls that succeeded are made when the batch has ended, in the order of the calls; with
    /// [`dispatch_stream`](Self::dispatch_stream), when the last result was given or the stream is dropped,
    /// those of the results that were given.
    ///
    /// ```
    /// use toolkit::{Dispatcher, FunctionTool, RunContext, Session, ToolCall, ToolContext, ToolRegistry};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Search { query: String }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let search = ClosureTool::with_context("search", "", |args: Search, context: ToolContext| {
    ///     context.session().set("user:last_query", args.query);
    /// })?;
    /// let session = Session::new("session 1");
    /// let run = RunContext::new().with_session(session.clone());
    /// let dispatcher = Dispatcher::new(ToolRegistry::from_tools([search])?)?.with_run(run);
    /// dispatcher.dispatch([ToolCall::new("1", "search", r#"{"query": "rust"}"#)]).await;
    /// assert_eq!(session.get("user:last_query"), Some("rust".into()));
    /// # Ok::<(), toolkit::BuildError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn with_run(mut self, run: impl Into<Arc<RunContext>>) -> Self {
        Arc::make_mut(&mut self.finish).run = Some(run.into());
        self
    }

    /// Sets what makes the text for the model of a failure: it gets the name that the model has called, and the
    /// error. Without it, the model reads [`ToolError::message`], which tells an error's own text and keeps its
    /// causes from the model.
    ///
    /// ```
    /// use toolkit::{Dispatcher, ToolCall, ToolRegistry};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// // A model that may know everything reads the causes too.
    /// let open = Dispatcher::new(ToolRegistry::new())?.with_failure_text(|_, error| format!("{error:#}"));
    /// // One that talks to strangers reads no more than what kind of failure it was.
    /// let closed = Dispatcher::new(ToolRegistry::new())?
    ///     .with_failure_text(|tool, error| format!("`{tool}` has failed: {:?}", error.kind()));
    /// let results = closed.dispatch([ToolCall::new("1", "add", "{}")]).await;
    /// assert_eq!(results[0].to_text(), "`add` has failed: NotFound");
    /// # Ok::<(), toolkit::BuildError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn with_failure_text(
        mut self,
        text: impl Fn(&str, &ToolError) -> String + Send + Sync + 'static,
    ) -> Self {
        Arc::make_mut(&mut self.finish).failure_text = Some(Arc::new(text));
        self
    }

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
