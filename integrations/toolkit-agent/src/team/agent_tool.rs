//! Agents as tools of other agents.

use crate::agent::{Agent, Run};
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::options::RunOptions;
use serde::Deserialize;
use serde_json::json;
use toolkit_core::name::normalize;
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{AdaptedTool, BuildError, ClosureTool, ToolContext, ToolError, ToolOutput};

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Arguments {
    /// The request or question to send to this agent.
    request: String,
}

impl Agent {
    /// Creates a tool for other agents, with one parameter `request`. It has the description and the name of the agent,
    /// normalized to a legal tool name; [`AdaptedTool`] changes both.
    ///
    /// The agent answers in its own conversation and shares the session. Called by another agent, it is a part of that
    /// run: with the same limits, cancelled with the call, and with [events](crate::RunEvent) under its own name. Its
    /// error is the result of the call. Called by a program, it is a run of its own.
    ///
    /// ```
    /// use toolkit_agent::{Agent, ScriptedModel};
    /// use toolkit::ToolRegistry;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let expert = Agent::builder(ScriptedModel::new().text("42")).name("expert").build()?;
    /// let model = ScriptedModel::new().call("expert", r#"{"request": "What is 6 * 7?"}"#).text("It is 42.");
    /// let agent = Agent::builder(model).tools(ToolRegistry::from_tools([expert.to_tool()?])?).build()?;
    /// let output = agent.run("What is six times seven?").await?;
    /// assert_eq!((output.text.as_str(), output.model_calls), ("It is 42.", 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`BuildError`] if the name has no legal character.
    pub fn to_tool(&self) -> Result<AdaptedTool, BuildError> {
        let description = match self.description() {
            "" => format!("Delegate to the {} agent.", self.name()),
            description => description.to_owned(),
        };
        let agent = self.clone();
        let answer = move |arguments: Arguments, context: ToolContext| {
            let agent = agent.clone();
            async move { answer(&agent, arguments.request, &context).await }
        };
        ClosureTool::with_context(&normalize(self.name()), description, answer).map(AdaptedTool::new)
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
