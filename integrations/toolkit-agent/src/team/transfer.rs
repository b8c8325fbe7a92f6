//! The tool for transfers to another agent.

use crate::agent::Agent;
use serde::Deserialize;
use serde_json::json;
use toolkit_core::error::BuildProblem;
use toolkit_core::{
    BuildError, ErrorKind, Tool, ToolContext, ToolDefinition, ToolError, ToolFuture, ToolName, ToolOutput,
};

const TRANSFER: &str = "transfer_to_agent";

/// Transfers the conversation to a sub-agent, or to another agent of the team.
pub(crate) struct TransferTool {
    definition: ToolDefinition,
    agents: Vec<String>,
}

#[derive(Deserialize)]
struct Arguments {
    agent_name: Option<String>,
}

impl TransferTool {
    /// Creates the tool; `targets` are names and descriptions of agents beyond the sub-agents.
    pub(crate) fn new(sub_agents: &[Agent], targets: &[(String, String)]) -> Result<Self, BuildError> {
        let sub_agents = sub_agents.iter().map(|agent| (agent.name(), agent.description()));
        let targets = targets.iter().map(|(name, description)| (name.as_str(), description.as_str()));
        let mut agents: Vec<(&str, &str)> = Vec::new();
        for (name, description) in sub_agents.chain(targets) {
            if !agents.iter().any(|(known, _)| *known == name) {
                agents.push((name, description));
            }
        }
        let listed = agents.iter().map(|(name, description)| {
            let description = if description.is_empty() { "No description" } else { description };
            format!("\n- {name}: {description}")
        });
        let description = format!(
            "Transfer the conversation to another specialized agent. Available agents:{}",
            listed.collect::<String>()
        );
        let agents: Vec<String> = agents.iter().map(|(name, _)| (*name).to_owned()).collect();
        let agent_name = json!({
            "type": "string", "enum": agents, "description": "The name of the agent to transfer to.",
        });
        let parameters = json!({
            "type": "object",
            "properties": {"agent_name": agent_name},
            "required": ["agent_name"],
            "additionalProperties": false,
        });
        let name =
            ToolName::new(TRANSFER).map_err(|error| BuildProblem::IllegalName { error, defined_at: None })?;
        let definition = ToolDefinition::new(name, description, parameters);
        Ok(Self { definition, agents })
    }

    fn transfer(&self, arguments: &str, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let invalid = |text: String| ToolError::new(ErrorKind::InvalidArguments, text);
        let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
        let Arguments { agent_name } = serde_json::from_str(arguments).map_err(ToolError::invalid_json)?;
        let Some(name) = agent_name.filter(|name| !name.is_empty()) else {
            return Err(invalid("`agent_name` is missing; name one of the available agents".to_owned()));
        };
        if !self.agents.contains(&name) {
            let known = self.agents.join("`, `");
            return Err(invalid(format!("Agent `{name}` not found; available agents: `{known}`")));
        }
        context.actions().transfer_to_agent(name.as_str());
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
