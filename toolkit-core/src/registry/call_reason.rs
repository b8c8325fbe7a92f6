//! Call reasons: asking the model for the reason of each call, and removing the reason from the arguments.

use super::ToolRegistry;
use crate::error::{BuildProblem, ToolFault};
use crate::tool::{CALL_REASON, ToolDefinition, asks_for_call_reason, has_call_reason_parameter};

impl ToolRegistry {
    /// Sets whether the model is asked for the reason of each call, in an extra argument `call_reason`.
    ///
    /// Every tool is published with the extra argument, unless the tool [opts
    /// out](crate::ToolMetadata::call_reason). The argument is removed before the tool reads the arguments,
    /// and the dispatcher stores the reason in [`ToolResult::call_reason`](crate::ToolResult::call_reason).
    /// Models choose tools better when asked for a reason ([arXiv
    /// 2601.18282](https://arxiv.org/abs/2601.18282)).
    ///
    /// ```
    /// use toolkit::{ClosureTool, ToolRegistry};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Add { a: i64, b: i64 }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let add = ClosureTool::new("add", "Adds.", |Add { a, b }: Add| a + b)?;
    /// let registry = ToolRegistry::from_tools([add])?.with_call_reason(true);
    /// let output = registry.call("add", r#"{"a": 1, "call_reason": "To sum up", "b": 2}"#).await?;
    /// assert_eq!(output.to_text(), "3");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn with_call_reason(mut self, call_reason: bool) -> Self {
        self.call_reason = call_reason;
        self.cache = self.cache.renewed();
        self
    }

    /// Returns a problem for each tool that declares a parameter `call_reason` although the registry asks the model for
    /// a call reason under this name.
    pub(super) fn reserved_parameters(&self) -> impl Iterator<Item = BuildProblem> {
        let is_taken = |definition: &&ToolDefinition| {
            asks_for_call_reason(definition, self.call_reason) && has_call_reason_parameter(definition)
        };
        let taken = self.iter_definitions().filter(is_taken);
        taken.map(|tool| tool.problem(ToolFault::ReservedParameter { parameter: CALL_REASON }))
    }
}
