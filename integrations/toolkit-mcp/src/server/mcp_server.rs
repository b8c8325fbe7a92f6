//! The server of a registry, and its settings.

use super::auth::is_granted;
use super::caller::Caller;
use super::calls::resources::check_resources;
use super::client_requests::ClientRequestHandler;
use super::protocol::MAX_MESSAGE;
use super::server_settings::{ResourceUpdates, ServerSettings};
use crate::line_transport::LineTransport;
use crate::macros::setters;
use crate::mcp_error::{McpError, McpErrorKind};
use rmcp::ServiceExt;
use rmcp::model::RequestStateCodec;
use rmcp::service::ServerInitializeError;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use toolkit_core::__private::dispatcher_for;
use toolkit_core::name::NameRule;
use toolkit_core::output::Truncation;
use toolkit_core::registry::IntoRegistrySource;
use toolkit_core::{BuildError, Dispatcher, ToolDefinition, ToolError};

/// Serves a registry over standard input and output, until the client closes standard input.
///
/// The program must write nothing else to standard output.
///
/// # Errors
/// The registry is not complete (a tool lacks its state, for instance), or the transport fails.
pub async fn serve_stdio(registry: impl IntoRegistrySource) -> Result<(), McpError> {
    McpServer::new(registry)?.serve_stdio().await
}

/// An MCP server with the tools of a registry.
///
/// All calls go through a [`Dispatcher`], with its limits, permissions and other middleware. Clients with
/// protocol version 2026-07-28 and earlier ones are served at the same time.
///
/// ```no_run
/// use std::time::Duration;
/// use toolkit_ai::middleware::{PermissionRule, Permissions};
/// use toolkit_ai::{Dispatcher, ToolRegistry, ToolTag};
/// use toolkit_ai::mcp::server::McpServer;
/// use toolkit_ai::mcp::server::ask_client;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let permissions = Permissions::new()
///     .rule(PermissionRule::ask("it deletes files").for_tag(ToolTag::Destructive))
///     .rule(PermissionRule::allow())
///     .with_handler(ask_client);
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?
///     .with_timeout(Duration::from_secs(30))
///     .with_middleware(permissions);
/// let server = McpServer::from(dispatcher).with_name("files", "1.0.0").with_instructions("Paths are absolute.");
/// server.serve_stdio().await?;
/// # Ok(())
/// # }
/// ```
#[doc(alias("ServerHandler", "FastMCP"))]
#[derive(Debug, Clone)]
#[must_use]
pub struct McpServer {
    pub(super) settings: ServerSettings,
}

impl McpServer {
    /// Creates a server for the tools of a registry. Clients are notified of the changes of a
    /// [live](toolkit_core::LiveRegistry) registry.
    ///
    /// If a tool has a parameter of the type [`Caller`], a live registry must declare this state
    /// with [`with_run_state`](toolkit_core::ToolRegistry::with_run_state); a fixed one need not.
    ///
    /// # Errors
    /// The registry is not complete. See [`Dispatcher::new`].
    pub fn new(registry: impl IntoRegistrySource) -> Result<Self, BuildError> {
        dispatcher_for::<Caller>(registry).map(Self::from)
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut ServerSettings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Sets the name and the version shown to clients; those of this crate by default.
    pub fn with_name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.settings.name = name.into();
        self.settings.version = version.into();
        self
    }

    /// Sets the maximum number of calls at the same time, over all clients; 1,000 by default, at least one.
    ///
    /// Further calls are refused with an error for the model; with [`Dispatcher::with_max_concurrency`],
    /// calls wait instead.
    pub fn with_max_calls(self, calls: usize) -> Self {
        self.with(|settings| settings.calls.set_max(calls))
    }

    /// Sets how overlong results are truncated, and keeps the full texts as resources.
    ///
    /// A truncated result links to the resource with the full text. The latest full texts are kept
    /// in memory, up to 64 MiB in total. The server replaces a sink of `truncation`.
    ///
    /// ```
    /// use toolkit_ai::ToolRegistry;
    /// use toolkit_ai::output::Truncation;
    /// use toolkit_ai::mcp::server::McpServer;
    ///
    /// let server = McpServer::new(ToolRegistry::new())?.with_truncation(Truncation::new(20_000));
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    pub fn with_truncation(self, truncation: Truncation) -> Self {
        self.with(|settings| settings.set_truncation(truncation))
    }

    /// Adds a value to the state of each call, computed from the [`Caller`].
    ///
    /// If `state` returns an error, the call fails with it.
    ///
    /// The registry must declare the type with
    /// [`with_run_state`](toolkit_core::ToolRegistry::with_run_state).
    ///
    /// `_meta` and headers are claims of the client. Take a tenant or a user from `Caller::extension`, where
    /// an authentication layer adds checked claims.
    ///
    /// ```
    /// use toolkit_ai::{ToolError, ToolRegistry};
    /// use toolkit_ai::mcp::server::McpServer;
    ///
    /// /// Tools take a parameter `#[state] language: &Language`.
    /// struct Language(String);
    ///
    /// let registry = ToolRegistry::new().with_run_state::<Language>();
    /// let server = McpServer::new(registry)?.with_call_state(|caller| match caller.meta("example.com/language") {
    ///     Some(language) => Ok(Language(language.to_string())),
    ///     None => Err(ToolError::failed("the request names no language")),
    /// });
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    pub fn with_call_state<T: Send + Sync + 'static>(
        self,
        state: impl Fn(&Caller) -> Result<T, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.with(|settings| settings.calls.add_state(state))
    }

    /// Sets which tools, prompts and resources a client sees.
    ///
    /// The others are not in its lists, and not found by its calls. With several filters, all of them must
    /// return `true`.
    ///
    /// ```
    /// use toolkit_ai::ToolRegistry;
    /// use toolkit_ai::mcp::server::McpServer;
    ///
    /// let server = McpServer::new(ToolRegistry::new())?
    ///     .with_filter(|caller, tool| tool.metadata.read_only == Some(true) || caller.client_name().is_some());
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    pub fn with_filter(
        mut self,
        filter: impl Fn(&Caller, &ToolDefinition) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.settings.filters.push(Arc::new(filter));
        self.settings.is_private = true;
        self
    }

    /// Sets the function that returns the scopes of a client, separated by spaces.
    ///
    /// A client sees a tool with `scopes` in its metadata only if it has all of them.
    ///
    /// ```
    /// use toolkit_ai::{ToolRegistry, tool, tools};
    /// use toolkit_ai::mcp::server::McpServer;
    ///
    /// /// Added by a layer that checks tokens.
    /// #[derive(Clone)]
    /// struct Scope(String);
    ///
    /// /// Deletes a note.
    /// #[tool(meta(scopes = "notes:write"))]
    /// fn delete(note: String) {}
    ///
    /// let server = McpServer::new(ToolRegistry::from_tools(tools![delete])?)?
    ///     .with_scopes(|caller| caller.extension::<Scope>().map(|scope| scope.0.clone()).unwrap_or_default());
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    pub fn with_scopes(self, scopes: impl Fn(&Caller) -> String + Send + Sync + 'static) -> Self {
        self.with_filter(move |caller, tool| is_granted(tool, || scopes(caller)))
    }

    /// Publishes the tools of a registry as prompts, which the user of a client chooses.
    ///
    /// A prompt is a `#[tool]` function whose output is the content of a user message, or
    /// [`PromptMessages`](super::PromptMessages). With `register = false`, it is not discovered as
    /// a tool. Clients are notified of the changes of a live registry.
    ///
    /// ```
    /// use toolkit_ai::{ToolRegistry, tool, tools};
    /// use toolkit_ai::mcp::server::McpServer;
    ///
    /// /// Explains a word.
    /// #[tool(register = false)]
    /// fn explain(word: String) -> String {
    ///     format!("What does {word} mean?")
    /// }
    ///
    /// let prompts = ToolRegistry::from_tools(tools![explain])?;
    /// let server = McpServer::new(ToolRegistry::new())?.with_prompts(prompts)?;
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// The registry is not complete. See [`Dispatcher::new`].
    pub fn with_prompts(mut self, prompts: impl IntoRegistrySource) -> Result<Self, BuildError> {
        self.settings.prompts = Some(dispatcher_for::<Caller>(prompts)?);
        Ok(self)
    }

    /// Publishes a registry of [resources](super::ServerResource), which clients read by URI.
    ///
    /// Clients are notified of the changes of a live registry, which refuses tools without a URI from now on.
    ///
    /// # Errors
    /// The registry is not complete, see [`Dispatcher::new`], or one of its tools has no URI.
    pub fn with_resources(mut self, resources: impl IntoRegistrySource) -> Result<Self, BuildError> {
        let resources = dispatcher_for::<Caller>(resources)?;
        check_resources(resources.source())?;
        self.settings.resources = Some(resources);
        Ok(self)
    }

    /// Returns the sender of updates to clients that have subscribed to a resource.
    #[must_use]
    pub fn resource_updates(&self) -> ResourceUpdates {
        self.settings.updates.clone()
    }

    /// Serves one client over standard input and output, until the client closes standard input.
    ///
    /// The program must write nothing else to standard output.
    ///
    /// # Errors
    /// A rule [selects no tool](Dispatcher::check), the client does not speak the protocol, or the transport
    /// fails.
    pub async fn serve_stdio(self) -> Result<(), McpError> {
        let (read, write) = rmcp::transport::stdio_pipes();
        self.serve_halves(read, write).await
    }

    /// Serves one client over a stream of bytes, such as a socket, until the client closes it.
    ///
    /// # Errors
    /// As for [`serve_stdio`](Self::serve_stdio).
    pub async fn serve(self, stream: impl AsyncRead + AsyncWrite + Send + 'static) -> Result<(), McpError> {
        let (read, write) = tokio::io::split(stream);
        self.serve_halves(read, write).await
    }

    async fn serve_halves(
        self,
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), McpError> {
        self.settings.check_rules()?;
        // The SDK cancels the token at the end of the session.
        let cancellation = self.settings.cancellation.child_token();
        let transport = LineTransport::new(read, write, MAX_MESSAGE, ());
        let handler = ClientRequestHandler::new(Arc::new(self.settings));
        let running = handler.serve_with_ct(transport, cancellation).await;
        match running {
            Ok(running) => {
                let ended = running.waiting().await;
                ended.map(drop).map_err(|error| McpError::new(McpErrorKind::Connection, error.to_string()))
            }
            // A client that connects and leaves is not an error.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
            Err(error) => {
                Err(McpError::new(McpErrorKind::Protocol, format!("the client does not speak MCP: {error}")))
            }
        }
    }
}

impl McpServer {
    /// Creates the first page of the tool list, and returns its number of tools. For benchmarks.
    #[doc(hidden)]
    #[must_use]
    pub fn list_once(&self) -> usize {
        let tools = self.settings.tools(&self.settings.dispatcher.registry(), false);
        tools.page(None, self.settings.page_size, |_| true).map_or(0, |(page, _)| page.len())
    }
}

setters! { McpServer.settings:
    /// Sets the display name of the server.
    with_title(title: impl Into<String>) = Some(title.into());
    /// Sets the instructions for the model on using the tools.
    with_instructions(instructions: impl Into<String>) = Some(instructions.into());
    /// Sets the rule for published tool names.
    ///
    /// By default, names have up to 128 characters of `A-Z a-z 0-9 _ . -`, as the protocol demands.
    /// For clients that pass names on to a model provider unchanged, [`NameRule::DASHES`] suits all
    /// providers.
    with_name_rule(name_rule: NameRule) = name_rule;
    /// Sets the maximum number of entries in one page of a list, 1,000 by default, at least one.
    with_page_size(page_size: usize) = page_size.max(1);
    /// Sets how long clients may reuse a tool list; five minutes for a fixed registry by default,
    /// and zero for a live one.
    with_list_ttl(list_ttl: Duration) = Some(list_ttl);
    /// Sets the secret that protects the state of interrupted calls; random by default.
    ///
    /// With protocol version 2026-07-28, a call that asks the user a question ends early. The
    /// client repeats it with the answer and a signed state. Servers that answer calls of the same
    /// client need the same secret.
    with_secret(secret: impl AsRef<[u8]>) = RequestStateCodec::new_unchecked(secret.as_ref());
    /// Sets the token that stops the server. Running calls then have two seconds to end.
    with_cancellation(cancellation: CancellationToken) = cancellation;
}

/// Serves the tools of a dispatcher.
///
/// A registry with tools that take a [`Caller`] must declare it with
/// [`with_run_state`](toolkit_core::ToolRegistry::with_run_state).
impl From<Dispatcher> for McpServer {
    fn from(dispatcher: Dispatcher) -> Self {
        Self { settings: ServerSettings::new(dispatcher) }
    }
}
