//! Resources: texts, files and functions that clients read by URI.

use super::client_call::{self, CallSession, ClientCall};
use super::visibility::View;
use crate::server::protocol::{expand, icons, is_template, published_meta, resource_contents};
use rmcp::RoleServer;
use rmcp::model::{
    ErrorData, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource as Listed, ResourceTemplate,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolkit_core::registry::{CheckOutcome, RegistrySource};
use toolkit_core::{
    BuildError, ClosureTool, Content, Dispatcher, LiveRegistry, Media, Tool, ToolContext, ToolDefinition,
    ToolError, ToolFuture, ToolRegistry,
};

const URI: &str = "uri";
const MEDIA_TYPE: &str = "mediaType";

/// A tool with a URI, for [`McpServer::with_resources`](crate::server::McpServer::with_resources).
///
/// ```
/// use toolkit_ai::{ToolRegistry, tool};
/// use toolkit_ai::mcp::server::McpServer;
/// use toolkit_ai::mcp::server::ServerResource;
///
/// /// The profile of a user.
/// #[tool(register = false)]
/// fn profile(id: u32) -> String {
///     format!("user {id}")
/// }
///
/// let resources = ToolRegistry::from_tools([
///     ServerResource::text("config://app", "app", "debug = false")?.with_media_type("application/toml"),
///     ServerResource::file("file:///var/log/app.log", "log", "/var/log/app.log")?,
///     ServerResource::function("users://{id}/profile", profile::tool()),
/// ])?;
/// let server = McpServer::new(ToolRegistry::new())?.with_resources(resources)?;
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct ServerResource {
    tool: Arc<dyn Tool>,
    definition: ToolDefinition,
}

impl ServerResource {
    /// Creates a resource with a fixed text.
    ///
    /// # Errors
    /// The name is illegal.
    pub fn text(uri: &str, name: &str, text: impl Into<String>) -> Result<Self, BuildError> {
        let text = text.into();
        Ok(Self::function(uri, ClosureTool::without_arguments(name, "", move || text.clone())?))
    }

    /// Creates a resource with the content of a file, read at each request.
    ///
    /// # Errors
    /// The name is illegal.
    pub fn file(uri: &str, name: &str, path: impl Into<PathBuf>) -> Result<Self, BuildError> {
        let path = path.into();
        let tool = ClosureTool::without_arguments(name, "", move || content_of(&path))?;
        let mut resource = Self::function(uri, tool);
        resource.definition.metadata.blocking = true;
        Ok(resource)
    }

    /// Creates a resource that a function computes, with its name and its description.
    ///
    /// The URI may be a template such as `users://{id}`: each variable is the argument of the same name. A
    /// variable matches one segment, and `{+path}` also several. A URI with an encoded `/`, `\` or NUL in a
    /// segment, or with a segment `..`, matches nothing. A function that opens files still has to check where
    /// a path leads, for instance through links.
    pub fn function(uri: &str, function: impl Tool + 'static) -> Self {
        let mut definition = function.definition().clone();
        definition.metadata.meta.insert(URI.to_owned(), uri.into());
        Self { tool: Arc::new(function), definition }
    }

    /// Sets the media type. By default, texts are `text/plain`, and other contents have their own type.
    pub fn with_media_type(mut self, media_type: &str) -> Self {
        self.definition.metadata.meta.insert(MEDIA_TYPE.to_owned(), media_type.into());
        self
    }

    /// Sets the display name.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.definition.metadata.title = Some(title.into());
        self
    }

    /// Sets the description.
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = description.into();
        self
    }
}

/// Reads a file as a text, or else as bytes.
fn content_of(path: &Path) -> Result<Content, ToolError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return Err(ToolError::failed(format!("the file cannot be read: {}", error.kind()))),
    };
    Ok(match String::from_utf8(bytes) {
        Ok(text) => Content::text(text),
        Err(binary) => Media::new("application/octet-stream", binary.into_bytes()).into(),
    })
}

impl Tool for ServerResource {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        self.tool.call(arguments, context)
    }

    fn validate(&self, arguments: &str, context: &ToolContext) -> Result<(), ToolError> {
        self.tool.validate(arguments, context)
    }
}

impl fmt::Debug for ServerResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerResource").field("uri", &uri(&self.definition)).finish_non_exhaustive()
    }
}

/// Checks that the tools of a registry are resources. A live registry also refuses others later.
///
/// # Errors
/// A tool has no URI, or its URI is none.
pub(crate) fn check_resources(source: &RegistrySource) -> Result<(), BuildError> {
    let checked = LiveRegistry::new(ToolRegistry::new())?;
    checked.add_check(check_uri);
    let registry = source.snapshot();
    checked.change(|resources| {
        resources.clone_from(&registry);
        Ok(())
    })?;
    if let RegistrySource::Live(live) = source {
        live.add_check(check_uri);
    }
    Ok(())
}

fn check_uri(definition: &ToolDefinition, _: &ToolRegistry) -> CheckOutcome {
    let uri = uri(definition);
    let (scheme, rest) = uri.split_once(':').unwrap_or_default();
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if is_scheme && !rest.is_empty() && !uri.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return CheckOutcome::Accept;
    }
    let name = &definition.name;
    CheckOutcome::Refuse(if uri.is_empty() {
        format!("it is no resource; write `ServerResource::function(\"{name}://{{id}}\", {name}::tool())`")
    } else {
        format!("`{uri}` is no URI, for example `config://app`")
    })
}

/// Returns the URI of a resource, or its template.
fn uri(definition: &ToolDefinition) -> &str {
    definition.metadata.meta.get(URI).and_then(Value::as_str).unwrap_or_default()
}

fn media_type(definition: &ToolDefinition) -> Option<&str> {
    definition.metadata.meta.get(MEDIA_TYPE).and_then(Value::as_str)
}

macro_rules! described {
    ($listed:ident, $definition:expr) => {{
        let definition = $definition;
        let mut listed = $listed::new(uri(definition), definition.name.as_str());
        listed.title.clone_from(&definition.metadata.title);
        listed.description = Some(definition.description.clone()).filter(|text| !text.is_empty());
        listed.mime_type = media_type(definition).map(str::to_owned);
        listed.icons = icons(&definition.metadata);
        let mut meta = definition.metadata.meta.clone();
        meta.retain(|key, _| ![URI, MEDIA_TYPE].contains(&key.as_str()));
        listed.meta = published_meta(&meta);
        listed
    }};
}

/// Returns a page of the resources without a template, and the cursor of the next page.
pub(crate) fn listed(
    dispatcher: &Dispatcher,
    view: &View<'_>,
    request: Option<PaginatedRequestParams>,
) -> Result<(Vec<Listed>, Option<String>), ErrorData> {
    let registry = dispatcher.registry();
    let resources = registry.iter_definitions().filter(|definition| !is_template(uri(definition)));
    let (page, next) = view.page(resources, request)?;
    Ok((page.into_iter().map(|definition| described!(Listed, definition)).collect(), next))
}

/// Returns a page of the templates, and the cursor of the next page.
pub(crate) fn listed_templates(
    dispatcher: &Dispatcher,
    view: &View<'_>,
    request: Option<PaginatedRequestParams>,
) -> Result<(Vec<ResourceTemplate>, Option<String>), ErrorData> {
    let registry = dispatcher.registry();
    let templates = registry.iter_definitions().filter(|definition| is_template(uri(definition)));
    let (page, next) = view.page(templates, request)?;
    Ok((page.into_iter().map(|definition| described!(ResourceTemplate, definition)).collect(), next))
}

/// Returns the resource whose own URI, or else whose template, is `wanted`.
pub(crate) fn with_template<'a>(registry: &'a ToolRegistry, wanted: &str) -> Option<&'a ToolDefinition> {
    registry.iter_definitions().find(|definition| uri(definition) == wanted)
}

/// Returns the resource with a URI, and the arguments in it. A URI of its own precedes templates.
pub(crate) fn find<'a>(registry: &'a ToolRegistry, wanted: &str) -> Option<(&'a ToolDefinition, Value)> {
    if let Some(own) = with_template(registry, wanted) {
        return Some((own, json!({})));
    }
    for definition in registry.iter_definitions() {
        if let Some(arguments) = expand(uri(definition), wanted) {
            return Some((definition, arguments));
        }
    }
    None
}

pub(crate) async fn read(
    session: CallSession<'_>,
    dispatcher: &Dispatcher,
    request: ReadResourceRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<ReadResourceResponse, ErrorData> {
    let registry = dispatcher.registry();
    let not_found = || not_found(&request.uri);
    let (definition, arguments) = find(&registry, &request.uri).ok_or_else(not_found)?;
    let call = ClientCall {
        id: session.settings.next_call_id(),
        name: definition.name.as_str(),
        arguments: arguments.to_string().into(),
        input_responses: request.input_responses,
        request_state: request.request_state,
    };
    let output = match client_call::output(session, dispatcher, call, context, not_found).await? {
        Ok(output) => output,
        Err(question) => return Ok(question.into()),
    };
    let mut contents = Vec::new();
    for content in output.into_content() {
        contents.push(resource_contents(content, &request.uri, media_type(definition)));
    }
    Ok(ReadResourceResult::new(contents).into())
}

pub(crate) fn not_found(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(format!("Resource `{uri}` not found"), Some(json!({ "uri": uri })))
}
