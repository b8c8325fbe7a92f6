//! Agents as tools of other agents, the transfer tool, and the names of a team.

use crate::agent::{Agent, CalledAgents, Caller, OpenCall, Run};
use crate::conversation::{Conversation, Owner};
use crate::error::AgentError;
use crate::event::RunScope;
use crate::options::RunOptions;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use toolkit_core::definition::ToolSource;
use toolkit_core::error::BuildProblem;
use toolkit_core::name::normalize;
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{
    AdaptedTool, BuildError, ClosureTool, Tool, ToolContext, ToolDefinition, ToolError, ToolFuture,
    ToolMetadata, ToolName, ToolOutput,
};

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct AgentArguments {
    /// The request or question to send to this agent.
    request: String,
}

impl Agent {
    /// Creates a tool that calls this agent, with a parameter `request`.
    ///
    /// It has the agent's description and, normalized to a legal tool name, the agent's name.
    /// [`AdaptedTool`] can change both.
    ///
    /// The agent answers in a new conversation, with the session and the user of the caller. A call by
    /// another agent is part of its run: the limits apply, cancelling the call stops the called agent, an
    /// [interruption](crate::AgentError::Interrupted) interrupts the run, and [events](crate::RunEvent)
    /// have the called agent's name.
    ///
    /// A call by a program is a separate run that cannot be resumed, so an interruption is a failure. A
    /// failure becomes the error result of the call.
    ///
    /// ```
    /// use toolkit_ai::agent::Agent;
    /// use toolkit_ai::llm::ScriptedModel;
    /// use toolkit_ai::ToolRegistry;
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
    /// [`BuildError`] if the agent's name contains no character legal in tool names.
    #[doc(alias("as_tool", "AgentTool"))]
    pub fn to_tool(&self) -> Result<AdaptedTool, BuildError> {
        let description = match self.description() {
            "" => format!("Delegate to the {} agent.", self.name()),
            description => description.to_owned(),
        };
        let agent = self.clone();
        let name = normalize(self.name());
        let tool = ClosureTool::new_with_context(
            &name,
            description,
            move |arguments: AgentArguments, context: ToolContext| {
                let agent = agent.clone();
                async move { answer(&agent, arguments.request, &context).await }
            },
        )?;
        Ok(AdaptedTool::new(tool).map_metadata(|metadata| metadata.with_source(ToolSource::Agent)))
    }
}

async fn answer(agent: &Agent, request: String, context: &ToolContext) -> Result<ToolOutput, ToolError> {
    let cancellation = context.cancellation_token();
    let caller = context.extension::<Caller>();
    let called = caller.map(|caller| &caller.called).zip(context.call_id());
    let open = called.and_then(|(called, id)| called.begin(id));
    let (scope, doubled) = match (&open, called) {
        (None, Some((called, id))) => {
            let (scope, conversation) = called.double(id);
            (Some(scope), conversation)
        }
        _ => (context.call_id().cloned().map(RunScope::Call), Conversation::default()),
    };
    let run = match caller {
        Some(caller) => caller.run.nested(agent.clone(), cancellation, scope, open.is_some()),
        // Outside of a run, the agent has its own.
        None => Run::new(agent.clone(), RunOptions { cancellation, ..RunOptions::default() }, None),
    };
    let is_tracked = open.is_some();
    let input = open.as_ref().is_none_or(|open| !open.is_unfinished).then(|| request.into());
    let mut callee = match (open, caller) {
        (Some(OpenCall { position, conversation, .. }), Some(caller)) => {
            CalledConversation { called: Some((&caller.called, position)), conversation }
        }
        _ => CalledConversation { called: None, conversation: doubled },
    };
    if let Some(session) = context.run().and_then(|run| run.session()) {
        callee.conversation = std::mem::take(&mut callee.conversation).sharing(session);
    }
    if let Some(Owner(user)) = context.extension() {
        callee.conversation = std::mem::take(&mut callee.conversation).with_user_id(user.as_str());
    }
    let output = agent.execute(&mut callee.conversation, input, run.clone()).await.map_err(AgentError::from);
    if let Err(error) = &output
        && error.keeps_the_turn()
    {
        run.end(error.clone());
    }
    if is_tracked && output.is_err() && !callee.conversation.pending().is_empty() {
        return Err(ToolError::deferred(agent.name()));
    }
    match output {
        Ok(output) => ToolOutput::json(&json!({"response": output.text})).map_err(ToolError::invalid_output),
        Err(AgentError::Interrupted { .. }) => {
            Err(ToolError::failed("the agent needs a decision, which cannot be given for this call"))
        }
        Err(AgentError::Cancelled) => Err(ToolError::cancelled(context.tool_name().as_str())),
        Err(error) => Err(ToolError::failed(error)),
    }
}

/// The conversation of an agent called as a tool. At the end, the drop stores it if it has pending calls.
struct CalledConversation<'a> {
    called: Option<(&'a CalledAgents, usize)>,
    conversation: Conversation,
}

impl Drop for CalledConversation<'_> {
    fn drop(&mut self) {
        if let Some((called, position)) = self.called {
            called.end(position, self.conversation.take_state());
        }
    }
}

const TRANSFER: &str = "transfer_to_agent";

/// The tool `transfer_to_agent`, which transfers the conversation to another agent.
pub(crate) struct TransferTool {
    definition: ToolDefinition,
}

impl TransferTool {
    /// Creates the tool. `targets` has the names and descriptions of agents beside the sub-agents.
    pub(crate) fn new(sub_agents: &[Agent], targets: &[(String, String)]) -> Result<Self, BuildError> {
        let sub_agents = sub_agents.iter().map(|agent| (agent.name(), agent.description()));
        let targets = targets.iter().map(|(name, description)| (name.as_str(), description.as_str()));
        let mut agents: Vec<(&str, &str)> = Vec::new();
        for (name, description) in sub_agents.chain(targets) {
            if !agents.iter().any(|(known, _)| *known == name) {
                agents.push((name, description));
            }
        }
        let mut description =
            "Transfer the conversation to another specialized agent. Available agents:".to_owned();
        let mut names = Vec::with_capacity(agents.len());
        for (name, text) in agents {
            let shown = if text.is_empty() { "No description" } else { text };
            // Writing to a string cannot fail.
            let _ = write!(description, "\n- {name}: {shown}");
            names.push(name);
        }
        let agent_name = json!({
            "type": "string", "enum": names, "description": "The name of the agent to transfer to.",
        });
        let parameters = json!({
            "type": "object",
            "properties": {"agent_name": agent_name},
            "required": ["agent_name"],
            "additionalProperties": false,
        });
        let name = ToolName::new(TRANSFER)?;
        // Marked as repeatable: a repeated transfer after a crash changes nothing.
        let metadata = ToolMetadata::default().with_read_only(true).with_idempotent(true);
        let definition = ToolDefinition::new(name, description, parameters).with_metadata(metadata);
        Ok(Self { definition })
    }

    fn transfer(&self, arguments: &str, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        // The arguments were checked: the schema lists the agents.
        let arguments = self.definition.parse_arguments(arguments)?;
        let name = arguments.get("agent_name").and_then(Value::as_str).unwrap_or_default();
        context.actions().transfer_to_agent(name);
        ToolOutput::json(&json!({"status": "transferring", "agent": name})).map_err(ToolError::invalid_output)
    }
}

impl Tool for TransferTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(self.transfer(arguments, context))
    }
}

/// Checks that different agents have different names, because messages refer to agents by name.
pub(crate) fn check_names(name: &str, below: &[Agent]) -> Result<(), BuildError> {
    let mut known: HashMap<&str, Vec<&Agent>> = HashMap::new();
    let mut duplicates = BTreeSet::new();
    let mut pending: Vec<&Agent> = below.iter().collect();
    while let Some(agent) = pending.pop() {
        let same_name = known.entry(agent.name()).or_default();
        if same_name.iter().any(|other| other.is(agent)) {
            continue;
        }
        if agent.name() == name || !same_name.is_empty() {
            duplicates.insert(agent.name());
        }
        same_name.push(agent);
        pending.extend(agent.sub_agents());
    }
    let problems = duplicates.into_iter().map(|name| BuildProblem::ambiguous("agent", name));
    BuildError::unless_empty(problems.collect())
}
