//! An agent as a tool of other agents.

use crate::agent::{Agent, Run};
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::options::RunOptions;
use serde::Deserialize;
use serde_json::json;
use std::fmt;
use toolkit_core::name::normalize;
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{
    AdaptedTool, BuildError, ClosureTool, Tool, ToolContext, ToolDefinition, ToolError, ToolFuture, ToolName,
    ToolOutput,
};

/// An agent as a tool of other agents, with one parameter `request`.
///
/// The agent answers in its own conversation and shares the session. Called by another agent, it is a part of that run:
/// with the same limits, cancelled with the call, and with [events](crate::RunEvent) under its own name. Its error is
/// the result of the call. Called by a program, it is a run of its own.
///
/// ```
/// use toolkit_agent::{Agent, ScriptedModel, team::AgentTool};
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
    /// Creates a tool with the description and the name of the agent, normalized to a legal tool name.
    ///
    /// # Errors
    /// [`BuildError`] if the name has no legal character.
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

    /// Sets the description of the tool.
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
    let mut conversation = session.map_or_else(Conversation::default, Conversation::with_session);
    match agent.execute(&mut conversation, Some(request.into()), run).await {
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
