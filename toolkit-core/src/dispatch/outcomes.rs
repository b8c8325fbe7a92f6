//! Builder methods for the run, for error messages, and for truncation.

use super::Dispatcher;
use crate::context::RunContext;
use crate::error::ToolError;
use crate::output::Truncation;
use std::sync::Arc;

impl Dispatcher {
    /// Sets the agent run of the calls: session, agent name, id and progress listener.
    ///
    /// A dispatcher is cheap to clone, so each run can have its own.
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, Dispatcher, RunContext, Session, ToolCall, ToolContext, ToolRegistry};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Search { query: String }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let search = ClosureTool::new_with_context("search", "", |args: Search, context: ToolContext| {
    ///     context.session().set("user:last_query", args.query);
    /// })?;
    /// let session = Session::new("session 1");
    /// let run = RunContext::new().with_session(session.clone());
    /// let dispatcher = Dispatcher::new(ToolRegistry::from_tools([search])?)?.with_run(run);
    /// dispatcher.dispatch([ToolCall::new("1", "search", r#"{"query": "rust"}"#)]).await;
    /// assert_eq!(session.get("user:last_query"), Some("rust".into()));
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// # }).unwrap();
    /// ```
    pub fn with_run(mut self, run: impl Into<Arc<RunContext>>) -> Self {
        self.run = Some(run.into());
        self
    }

    /// Returns the run of the calls, if one is [set](Self::with_run).
    #[must_use]
    pub fn run_context(&self) -> Option<&Arc<RunContext>> {
        self.run.as_ref()
    }

    /// Sets a function for the texts of errors for the model, from the name of the tool and the error.
    ///
    /// The default is [`ToolError::message`], without causes.
    ///
    /// ```
    /// use toolkit_ai::{Dispatcher, ToolCall, ToolRegistry};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// // A trusted model reads the causes, too.
    /// let open = Dispatcher::new(ToolRegistry::new())?.with_failure_text(|_, error| format!("{error:#}"));
    /// // A model that talks to strangers reads only the kind.
    /// let closed = Dispatcher::new(ToolRegistry::new())?
    ///     .with_failure_text(|tool, error| format!("`{tool}` has failed: {:?}", error.kind()));
    /// let results = closed.dispatch([ToolCall::new("1", "add", "{}")]).await;
    /// assert_eq!(results[0].to_text(), "`add` has failed: NotFound");
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// # }).unwrap();
    /// ```
    pub fn with_failure_text(
        self,
        text: impl Fn(&str, &ToolError) -> String + Send + Sync + 'static,
    ) -> Self {
        self.with(|settings| settings.failure_text = Some(Arc::new(text)))
    }

    /// Sets whether serialized results include the [details](ToolError::details) of errors, which may
    /// contain secrets.
    ///
    /// The default is `false`, because results are stored with conversations.
    pub fn with_stored_details(self, stored: bool) -> Self {
        self.with(|settings| settings.stored_details = stored)
    }

    /// Sets how results and error messages are truncated.
    ///
    /// By default, only results of tools with a [`max_result_size`](crate::ToolMetadata::max_result_size)
    /// are truncated, and the cut part is lost. [`ToolRegistry::call`](crate::ToolRegistry::call) never
    /// truncates.
    pub fn with_truncation(self, truncation: Truncation) -> Self {
        self.with(|settings| settings.truncation = truncation)
    }
}
