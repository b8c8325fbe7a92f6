//! Tools that the client of a run answers.

use crate::conversation::Conversation;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolkit_core::{
    Tool, ToolContext, ToolDefinition, ToolError, ToolFuture, ToolMetadata, ToolName, ToolRegistry,
};

/// The session value with the tools of the client, which a resumed run has again.
const CLIENT_TOOLS: &str = "toolkit:client_tools";

/// A tool that the client of a run has, such as a chat page. A call of it waits until the client
/// [decides](super::Runs::decide) it with [`Decision::Answer`](crate::Decision::Answer).
///
/// ```
/// use toolkit_ai::agent::runs::{ClientTool, RunInput};
/// use toolkit_ai::serde_json::json;
///
/// let place = ClientTool::new("place", "Returns where the user is.", json!({"type": "object"}));
/// let input = RunInput::new("Is it raining here?").with_tools(vec![place]);
/// # let _ = input;
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientTool {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Value,
}

impl ClientTool {
    /// Creates a tool with a JSON Schema of its parameters. [`Runs::submit`](super::Runs::submit) refuses an input whose
    /// tools have illegal names or schemas.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        Self { name: name.into(), description: description.into(), parameters }
    }

    /// Returns the tools as those of a run.
    ///
    /// # Errors
    /// Why a tool is refused.
    pub(super) fn registry(tools: &[Self]) -> Result<ToolRegistry, String> {
        let mut registry = ToolRegistry::new();
        for tool in tools {
            let name = ToolName::new(tool.name.as_str()).map_err(|error| error.to_string())?;
            let parameters = match &tool.parameters {
                Value::Null => serde_json::json!({"type": "object"}),
                parameters => parameters.clone(),
            };
            let definition = ToolDefinition::new(name, tool.description.as_str(), parameters);
            // A call that was lost with its process is asked again.
            let metadata = ToolMetadata::default().with_idempotent(true);
            registry
                .register(AskedTool(definition.with_metadata(metadata)))
                .map_err(|error| error.to_string())?;
        }
        Ok(registry)
    }

    /// Gives a conversation the tools of its client, in place of earlier ones.
    pub(super) fn keep(tools: &[Self], conversation: &Conversation) {
        let values = conversation.session_values();
        match serde_json::to_value(tools) {
            Ok(all) if !tools.is_empty() => values.set(CLIENT_TOOLS, all),
            _ => values.remove(CLIENT_TOOLS),
        }
    }

    /// Returns the tools that the client of a conversation has. They were checked when they were submitted.
    pub(super) fn kept(conversation: &Conversation) -> Option<ToolRegistry> {
        let value = conversation.session_values().get(CLIENT_TOOLS)?;
        let tools: Vec<Self> = serde_json::from_value(value).ok()?;
        Self::registry(&tools).ok()
    }
}

/// A tool whose calls wait for the client.
struct AskedTool(ToolDefinition);

impl Tool for AskedTool {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Err(ToolError::deferred("the client")))
    }
}
