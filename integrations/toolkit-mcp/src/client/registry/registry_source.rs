//! A client wherever tools are taken.

use crate::client::mcp_client::McpClient;
use toolkit_core::registry::{IntoRegistrySource, RegistrySource};
use toolkit_core::{ToolCall, ToolContext, ToolDefinition, ToolError, ToolFuture, ToolProvider};

impl ToolProvider for McpClient {
    fn tools(&self) -> Vec<ToolDefinition> {
        let defers = self.0.defers();
        let mut definitions = Vec::new();
        for tool in self.0.catalog.borrow().tools.values() {
            let mut definition = tool.definition.clone();
            definition.metadata.defer = defers;
            definitions.push(definition);
        }
        definitions
    }

    fn handle<'a>(&'a self, call: ToolCall, context: &'a ToolContext) -> ToolFuture<'a> {
        match self.0.prepare(&call) {
            Ok(prepared) => ToolFuture::new(async move { self.0.call(&call, prepared, context).await }),
            Err(error) => ToolFuture::ready(Err(error)),
        }
    }

    fn validate(&self, call: &ToolCall, _: &ToolDefinition, _: &ToolContext) -> Result<(), ToolError> {
        self.0.prepare(call).map(drop)
    }
}

/// The server's tools, so that `.tools(client)` gives them to an agent, with tool search if there are
/// [many](crate::client::McpClientBuilder::tool_search_above). A live registry [follows](McpClient::follow)
/// their changes.
impl IntoRegistrySource for McpClient {
    fn into_registry_source(self) -> RegistrySource {
        let defers = self.0.defers();
        let source = RegistrySource::from_provider(self);
        if !defers {
            return source;
        }
        let registry = (*source.snapshot()).clone();
        registry.with_tool_search().into_registry_source()
    }
}

impl IntoRegistrySource for &McpClient {
    fn into_registry_source(self) -> RegistrySource {
        self.clone().into_registry_source()
    }
}
