//! Agents in a loop.

use super::sequential::run_sequence;
use super::workflow::{Workflow, workflow_agent};
use crate::agent::{Agent, AgentOutput, Run, RunAgent};
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::limits::Limits;

/// A sequence of agents, repeated until one [escalates](toolkit_core::context::ActionsHandle::escalate) or the iterations
/// are used up. The last answer counts. Escalation ends the innermost loop only.
///
/// ```
/// use toolkit_agent::{Agent, ScriptedModel, team::LoopAgent};
/// use toolkit::{ClosureTool, ToolContext, ToolRegistry};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Nothing {}
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let good = ClosureTool::with_context("good_enough", "Ends the work.", |_: Nothing, context: ToolContext| {
///     context.actions().escalate();
/// })?;
/// let model = ScriptedModel::new().text("First draft.").call("good_enough", "{}").text("Second draft.");
/// let writer = Agent::builder(model).name("writer").tools(ToolRegistry::from_tools([good])?).build()?;
/// let output = Agent::from(LoopAgent::new("until_good", [writer])).run("Write.").await?;
/// assert_eq!((output.text.as_str(), output.model_calls), ("Second draft.", 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct LoopAgent {
    workflow: Workflow,
    max_iterations: u32,
}

workflow_agent!(LoopAgent);

impl LoopAgent {
    /// Creates a loop of these agents with at most 10 iterations.
    #[must_use]
    pub fn new(name: impl Into<String>, agents: impl IntoIterator<Item = Agent>) -> Self {
        Self { workflow: Workflow::new(name, agents), max_iterations: 10 }
    }

    /// Sets the maximum number of iterations.
    #[must_use]
    pub fn with_max_iterations(mut self, iterations: u32) -> Self {
        self.max_iterations = iterations;
        self
    }

    async fn work(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentOutput, AgentError> {
        let mut output = AgentOutput::new(self.workflow.name.as_str(), "");
        for _ in 0..self.max_iterations {
            output = run_sequence(&self.workflow, conversation, run).await?;
            if output.escalate {
                break;
            }
        }
        output.escalate = false;
        Ok(output)
    }
}
