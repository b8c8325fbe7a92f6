//! Events of the program in a run.

use super::Run;
use super::called::Caller;
use crate::event::RunEvent;
use serde_json::Value;
use toolkit_core::ToolContext;

impl Run {
    /// Returns the run in which an agent calls a tool, if the call is part of one.
    ///
    /// ```
    /// use toolkit_ai::agent::{Agent, Run, RunEvent};
    /// use toolkit_ai::llm::ScriptedModel;
    /// use toolkit_ai::prelude::*;
    ///
    /// /// Draw the sales of a month.
    /// #[tool]
    /// fn draw(month: u32, context: &ToolContext) -> &'static str {
    ///     if let Some(run) = Run::from_context(context) {
    ///         run.custom_event("chart", serde_json::json!({"month": month, "sales": [3, 5, 8]}));
    ///     }
    ///     "The user sees the chart."
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let model = ScriptedModel::new().call("draw", r#"{"month": 7}"#).text("Here it is.");
    /// let agent = Agent::builder(model).tools(tools![draw]).build()?;
    /// let mut events = agent.run("Draw July.").stream();
    /// while let Some(event) = events.next().await {
    ///     if let RunEvent::Custom { name, data, .. } = event? {
    ///         assert_eq!((name.as_str(), &data["month"]), ("chart", &7.into()));
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn from_context(context: &ToolContext) -> Option<Self> {
        Some(context.extension::<Caller>()?.run.clone())
    }

    /// Emits an event of the program, such as a part of a page that the model does not read. It becomes a
    /// [`RunEvent::Custom`] of the run's stream, if there is one, and is not saved.
    #[doc(alias("get_stream_writer", "writer", "adispatch_custom_event"))]
    pub fn custom_event(&self, name: impl Into<String>, data: impl Into<Value>) {
        self.emit(|| RunEvent::Custom { name: name.into(), data: data.into(), within: self.within() });
    }
}
