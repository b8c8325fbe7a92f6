//! An agent that other agents call as a tool.

use crate::agent::Agent;
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::run::{Run, RunOptions};
use serde::Deserialize;
use serde_json::json;
use std::fmt;
use toolkit_core::name::normalize;
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{
    AdaptedTool, BuildError, ClosureTool, Tool, ToolContext, ToolDefinition, ToolError, ToolFuture, ToolName,
    ToolOutput,
};

/// An agent that other agents call as a tool, with one parameter `request`.
///
/// It answers in a conversation of its own, and shares what the session remembers. Called by another agent, it is part of
/// that one's run: its questions and calls count against the same limits, it is stopped with the call, and its
/// [events](crate::RunEvent) are told under its own name. If it has no answer, the calling model reads why. Called by a
/// program, as any tool may be, it is a run of its own.
///
/// ```
/// use toolkit_agent::{Agent, AgentTool, ScriptedModel};
/// use toolkit::ToolRegistry;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let expert = Agent::builder(ScriptedModel::new().text("42")).name("expert").build()?;
/// let model = ScriptedModel::new().call("expert", r#"{"request": "What is 6 * 7?"}"#).text("It is 42.");
/// let agent = Agent::builder(model).tools(ToolRegistry::from_tools([AgentTool::new(expert)?])?).build()?;
/// let output = agent.run("What is six times seven?").await?;
/// assert_eq!((output.text.as_str(), output.model_calls), ("It is 42.", 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct AgentTool {
    agent: String,
    tool: AdaptedTool,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Arguments {
    /// The request or question to send to this agent.
    request: String,
}

impl AgentTool {
    /// The tool has the agent's name, spelled as tools spell theirs, and its description.
    ///
    /// # Errors
    /// [`BuildError`] if nothing of the name can stand in that of a tool.
    pub fn new(agent: impl Into<Agent>) -> Result<Self, BuildError> {
        let agent = agent.into();
        let agent_name = agent.name().to_owned();
        let description = match agent.description() {
            "" => format!("Delegate to the {agent_name} agent."),
            description => description.to_owned(),
        };
        let answer = move |arguments: Arguments, context: ToolContext| {
            let agent = agent.clone();
            async move { answer(&agent, arguments.request, &context).await }
        };
        let tool = ClosureTool::with_context(&normalize(&agent_name), description, answer)?;
        Ok(Self { agent: agent_name, tool: AdaptedTool::new(tool) })
    }

    /// Sets the name of the tool.
    #[must_use]
    pub fn with_name(self, name: ToolName) -> Self {
        Self { tool: self.tool.with_name(name), ..self }
    }

    /// Sets what the calling model reads about the agent.
    #[must_use]
    pub fn with_description(self, description: impl Into<String>) -> Self {
        Self { tool: self.tool.with_description(description), ..self }
    }
}

async fn answer(agent: &Agent, request: String, context: &ToolContext) -> Result<ToolOutput, ToolError> {
    let cancellation = context.cancellation_token();
    let run = match context.extension::<Run>() {
        Some(outer) => outer.nested(agent.clone(), cancellation),
        None => Run::new(agent.clone(), RunOptions::new().with_cancellation(cancellation), None),
    };
    let session = context.run().and_then(|run| run.session());
    let mut conversation = session.map_or_else(Conversation::default, Conversation::beside);
    match agent.carry_out(&mut conversation, Some(request.into()), run).await {
        Ok(output) => ToolOutput::json(&json!({"response": output.text})).map_err(ToolError::invalid_output),
        Err(AgentError::Cancelled) => Err(ToolError::cancelled(context.tool_name().as_str())),
        Err(error) => Err(ToolError::failed(error)),
    }
}

impl Tool for AgentTool {
    fn definition(&self) -> &ToolDefinition {
        self.tool.definition()
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        self.tool.call(arguments, context)
    }
}

impl fmt::Debug for AgentTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.tool.definition().name.as_str();
        f.debug_struct("AgentTool").field("name", &name).field("agent", &self.agent).finish()
    }
}
