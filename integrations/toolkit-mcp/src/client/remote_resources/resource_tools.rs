//! Tools with which a model lists and reads the resources of a server.

use super::McpResource;
use crate::client::mcp_client::McpClient;
use crate::macros::debug;
use crate::mcp_error::McpError;
use serde_json::{Value, json};
use toolkit_core::definition::ToolSource;
use toolkit_core::name::{NameError, Separator};
use toolkit_core::{
    ToolCall, ToolContext, ToolDefinition, ToolError, ToolFuture, ToolMetadata, ToolName, ToolOutput,
    ToolProvider, ToolTag,
};

/// The tools `list_resources` and `read_resource`, in the namespace of the client.
#[derive(Clone)]
pub struct McpResourceTools {
    client: McpClient,
    list: ToolDefinition,
    read: ToolDefinition,
}

impl McpClient {
    /// Returns tools with which a model lists and reads resources, such as the full text that a link in a
    /// result names.
    ///
    /// ```no_run
    /// # async fn example(client: toolkit_ai::mcp::client::McpClient) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut registry = toolkit_core::ToolRegistry::new();
    /// registry.register_provider(client.clone())?;
    /// registry.register_provider(client.resource_tools()?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`NameError`] if the namespace of the client is illegal.
    pub fn resource_tools(&self) -> Result<McpResourceTools, NameError> {
        let server = self.name();
        let list = self.resource_tool(
            "list_resources",
            format!("List the resources of the MCP server `{server}` and the templates of their URIs."),
            json!({}),
        )?;
        let uri = json!({"type": "string", "description": "The URI of a link in a result, or of a listed resource."});
        let read = self.resource_tool(
            "read_resource",
            format!("Read a resource of the MCP server `{server}`, such as the full text that a link in a result names."),
            json!({ "uri": uri }),
        )?;
        Ok(McpResourceTools { client: self.clone(), list, read })
    }

    fn resource_tool(
        &self,
        method: &str,
        text: String,
        properties: Value,
    ) -> Result<ToolDefinition, NameError> {
        let name = match &self.0.handler.settings.namespace {
            Some(namespace) => ToolName::qualified(namespace, method, Separator::default())?,
            None => ToolName::new(method)?,
        };
        let required: Vec<&String> = properties.as_object().into_iter().flat_map(|all| all.keys()).collect();
        let parameters = json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        let mut metadata = ToolMetadata::default();
        metadata.read_only = Some(true);
        metadata.tags.insert(ToolTag::ReadOnly);
        metadata.is_async = true;
        metadata.source = ToolSource::Mcp;
        metadata.source_detail = self.name().to_owned();
        Ok(ToolDefinition::new(name, text, parameters).with_metadata(metadata))
    }
}

impl McpResourceTools {
    async fn list(&self) -> Result<ToolOutput, McpError> {
        let mut resources = self.client.resources().await?;
        // Some servers do not know the request for templates.
        resources.extend(self.client.resource_templates().await.unwrap_or_default());
        let lines: Vec<String> = resources.iter().map(line).collect();
        let text =
            if lines.is_empty() { "The server lists no resources.".to_owned() } else { lines.join("\n") };
        Ok(ToolOutput::text(text))
    }

    async fn run(&self, call: &ToolCall) -> Result<ToolOutput, ToolError> {
        let definition = if call.name == self.read.name.as_str() { &self.read } else { &self.list };
        let arguments = definition.parse_arguments(call.arguments.as_str())?;
        let outcome = match arguments.get("uri").and_then(Value::as_str) {
            Some(uri) => self.client.read_resource(uri).await.map(ToolOutput::new),
            None => self.list().await,
        };
        outcome
            .map_err(|error| ToolError::failed(format_args!("{error}; use a listed URI, or try again later")))
    }
}

fn line(resource: &McpResource) -> String {
    let name = resource.title.as_ref().unwrap_or(&resource.name);
    let mut parts = vec![name.as_str()];
    parts.extend(resource.media_type.as_deref());
    parts.extend(resource.description.as_deref());
    format!("{} ({})", resource.uri, parts.join("; ").replace('\n', " "))
}

impl ToolProvider for McpResourceTools {
    fn tools(&self) -> Vec<ToolDefinition> {
        vec![self.list.clone(), self.read.clone()]
    }

    fn handle<'a>(&'a self, call: ToolCall, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::new(async move { self.run(&call).await })
    }
}

debug!(McpResourceTools, self, "client": self.client);
