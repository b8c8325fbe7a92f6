//! The tools of a document.

mod builder;
mod request_options;
mod tool;

pub use builder::OpenApiToolsBuilder;

use crate::client::document::OpenApiIssue;
use crate::error::OpenApiError;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use toolkit_core::registry::{IntoRegistrySource, RegistrySource};
use toolkit_core::{
    BuildError, Tool, ToolCall, ToolContext, ToolDefinition, ToolError, ToolFuture, ToolProvider,
    ToolRegistry,
};

/// Turns the operations of an OpenAPI document into tools.
///
/// The document may be of OpenAPI 3.0, 3.1 or 3.2, or of Swagger 2.0. [`registry`](Self::registry) is the
/// usual way to the tools. As a [`ToolProvider`], the toolset joins other tools.
///
/// ```
/// use toolkit_ai::llm::ApiFormat;
/// use toolkit_ai::openapi::client::OpenApiTools;
///
/// let toolset = OpenApiTools::from_document(r#"{
///     "openapi": "3.1.0",
///     "servers": [{"url": "https://shop.example"}],
///     "paths": {"/orders/{id}": {"get": {
///         "operationId": "getOrder", "tags": ["orders"], "summary": "Returns an order.",
///         "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}]
///     }}}
/// }"#)?;
/// assert!(toolset.issues().is_empty());
/// let registry = toolset.registry()?;
/// let published = registry.definitions(ApiFormat::Anthropic).to_value();
/// assert_eq!(published[0]["name"], "orders-getOrder");
/// assert_eq!(published[0]["input_schema"]["required"][0], "id");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias("swagger", "from_openapi"))]
pub struct OpenApiTools {
    tools: Vec<Arc<dyn Tool>>,
    by_name: BTreeMap<String, usize>,
    issues: Vec<OpenApiIssue>,
    has_search: bool,
}

impl OpenApiTools {
    /// Reads a document in JSON, or in YAML with the feature `yaml`.
    ///
    /// # Errors
    /// Those of [`read_document`](OpenApiToolsBuilder::read_document).
    pub fn from_document(text: &str) -> Result<Self, OpenApiError> {
        Self::builder().read_document(text)
    }

    /// Reads the document in a file.
    ///
    /// # Errors
    /// The file cannot be read, or those of [`from_document`](Self::from_document).
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, OpenApiError> {
        Self::builder().read_file(path)
    }

    /// Fetches the document from an address.
    ///
    /// # Errors
    /// The document cannot be fetched, or those of [`from_document`](Self::from_document).
    pub async fn from_address(address: &str) -> Result<Self, OpenApiError> {
        Self::builder().read_address(address).await
    }

    /// Starts with the settings of a toolset.
    #[must_use]
    pub fn builder() -> OpenApiToolsBuilder {
        OpenApiToolsBuilder::default()
    }

    /// Returns what was changed or left out, in the document's order.
    #[must_use]
    pub fn issues(&self) -> &[OpenApiIssue] {
        &self.issues
    }

    /// Returns the number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Returns whether there are no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Returns a registry that shares the tools.
    ///
    /// Tool search is on if there are more than
    /// [`tool_search_above`](OpenApiToolsBuilder::tool_search_above), 40 by default.
    ///
    /// # Errors
    /// A tool has a schema that cannot be checked.
    pub fn registry(&self) -> Result<ToolRegistry, BuildError> {
        let registry = ToolRegistry::from_tools(self.tools.iter().cloned())?;
        Ok(if self.has_search { registry.with_tool_search() } else { registry })
    }

    fn tool(&self, name: &str) -> Result<&Arc<dyn Tool>, ToolError> {
        let tool = self.by_name.get(name).and_then(|index| self.tools.get(*index));
        tool.ok_or_else(|| ToolError::failed(format!("the document has no operation for the tool `{name}`")))
    }
}

/// Lets `.tools(service)` give the tools to an agent.
impl IntoRegistrySource for OpenApiTools {
    fn into_registry_source(self) -> RegistrySource {
        match self.registry() {
            Ok(registry) => registry.into_registry_source(),
            // The function that takes the source reports the problems.
            Err(_) => RegistrySource::from_provider(self),
        }
    }
}

/// Provides the tools of [`registry`](OpenApiTools::registry). With tool search, they are deferred, and turn
/// it on in their registry.
impl ToolProvider for OpenApiTools {
    fn tools(&self) -> Vec<ToolDefinition> {
        self.tools.iter().map(|tool| tool.definition().clone()).collect()
    }

    fn handle<'a>(&'a self, call: ToolCall, context: &'a ToolContext) -> ToolFuture<'a> {
        match self.tool(&call.name) {
            Ok(tool) => {
                let outcome = async move { tool.call(call.arguments.as_str(), context).await };
                ToolFuture::new(outcome)
            }
            Err(error) => ToolFuture::ready(Err(error)),
        }
    }

    fn validate(&self, call: &ToolCall, _: &ToolDefinition, context: &ToolContext) -> Result<(), ToolError> {
        self.tool(&call.name)?.validate(call.arguments.as_str(), context)
    }
}

impl fmt::Debug for OpenApiTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenApiTools")
            .field("tools", &self.tools.len())
            .field("issues", &self.issues.len())
            .finish_non_exhaustive()
    }
}
