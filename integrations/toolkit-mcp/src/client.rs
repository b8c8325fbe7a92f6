//! Tools of MCP servers as a tool provider.
//!
//! An [`McpClient`] connects to one server and is a [`ToolProvider`](toolkit_core::ToolProvider): its tools are registered in a registry
//! like other tools. A lost connection is restored, and a [live registry](McpClient::follow) can follow
//! changes of the server's tools.
//!
//! ```no_run
//! use toolkit_core::ToolRegistry;
//! use toolkit_ai::mcp::client::{McpClient, McpCommand};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let files = McpCommand::new("npx").args(["-y", "@modelcontextprotocol/server-filesystem", "/srv"]);
//! let client = McpClient::builder(files).namespace("files").connect().await?;
//! let mut registry = ToolRegistry::new();
//! registry.register_provider(client.clone())?;
//! let listing = registry.call("files-list_directory", r#"{"path": "/srv"}"#).await?;
//! println!("{}", listing.to_text());
//! client.close().await;
//! # Ok(())
//! # }
//! ```

mod any_content;
mod builder;
mod call_errors;
mod catalog;
mod change;
mod change_approval;
mod child_transport;
mod client_settings;
mod connect_errors;
mod content;
mod deep_lists;
mod elicitation;
mod endpoint;
mod event;
#[cfg(feature = "client-http")]
mod failure;
mod follow;
mod handshake;
mod instructions;
mod known_secrets;
mod limits;
mod listing_pace;
#[cfg(feature = "auth")]
mod login;
mod mcp_command;
#[cfg(feature = "client-http")]
mod mcp_url;
mod pages;
#[cfg(feature = "client-http")]
mod raw_lists;
mod registry_source;
mod remote_call;
mod remote_prompts;
mod remote_resources;
mod resource_tools;
mod server_lines;
mod server_requests;
mod session;
mod session_span;
mod stderr_tail;
mod subscription;
mod supervise;
#[cfg(feature = "client-http")]
mod token_source;
mod tool_count;
mod wire;

pub use builder::McpClientBuilder;
pub use change::{McpToolChange, ToolListChange};
pub use client_settings::{McpBackoff, McpProtocol};
pub use elicitation::{ElicitationAnswer, ElicitationHandler, ElicitationKind, ElicitationRequest};
pub use endpoint::McpEndpoint;
pub use event::{McpEvent, McpEvents};
pub use follow::Following;
pub use limits::McpLimits;
#[cfg(feature = "auth")]
pub use login::{FileTokenStore, Login, StoreLock, TokenStore};
pub use mcp_command::McpCommand;
#[cfg(feature = "client-http")]
pub use mcp_url::McpUrl;
pub use remote_prompts::{McpPrompt, McpPromptArgument, McpPromptMessage};
pub use remote_resources::McpResource;
pub use resource_tools::McpResourceTools;
pub use session::McpServerInfo;
pub use subscription::McpSubscription;
#[cfg(feature = "client-http")]
pub use token_source::{McpToken, TokenChallenge, TokenRequest, TokenSource};
pub(crate) use tool_count::ToolTotal;
pub use toolkit_core::foreign::{ToolIssue, ToolIssueKind};

use crate::locks::lock;
use crate::macros::debug;
use crate::mcp_error::{McpError, McpErrorKind};
use catalog::{Catalog, RemoteTool};
use remote_call::{RemoteCall, unreachable};
use serde_json::{Map, Value, from_str};
use server_requests::ServerRequestHandler;
use session::Session;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use supervise::{Link, supervise};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::DropGuard;
use tool_count::ToolCount;
use toolkit_core::{CancellationToken, ErrorKind, ToolCall, ToolContext, ToolError, ToolOutput};

/// A client of one MCP server, and the provider of its tools. Clones share the connection.
///
/// The connection ends when the client is [closed](Self::close), or when the last clone is dropped. A
/// registry with tools of the client holds a clone.
///
/// Calls respect the time limits and the cancellation of the program, send its trace context to the server,
/// and pass on the progress reports of the server. While the connection is lost, calls fail at once with an
/// error that the model understands.
///
/// ```no_run
/// # async fn connect(registry: &mut toolkit_ai::ToolRegistry) -> Result<(), Box<dyn std::error::Error>> {
/// use toolkit_ai::mcp::client::{McpClient, McpCommand};
///
/// let client = McpClient::builder(McpCommand::new("notes-server")).namespace("notes").connect().await?;
/// registry.register_provider(client)?;
/// # Ok(())
/// # }
/// ```
#[doc(alias("ClientSession", "MCPToolset"))]
#[derive(Clone)]
pub struct McpClient(Arc<ClientState>);

/// The tool of a call, and the arguments to send.
type Prepared = (Arc<RemoteTool>, Map<String, Value>);

struct ClientState {
    endpoint: McpEndpoint,
    handler: ServerRequestHandler,
    link: watch::Sender<Link>,
    catalog: watch::Sender<Arc<Catalog>>,
    count: ToolCount,
    /// The fingerprints of approved tools; `None` if no tool needs approval.
    approved: Mutex<Option<BTreeMap<String, String>>>,
    /// Held while the tools are listed, so that lists are published in the order of the requests.
    listing: tokio::sync::Mutex<()>,
    /// The latest description that the server gave of itself.
    info: Mutex<McpServerInfo>,
    closing: CancellationToken,
    /// Cancelled when the task that follows the connection has ended.
    supervised: CancellationToken,
    _ends_with_client: DropGuard,
}

impl McpClient {
    /// Creates a builder for a client of the server at `endpoint`. The endpoint is an [`McpCommand`], an
    /// `McpUrl` (feature `client-http`), or an [`McpEndpoint`].
    #[must_use]
    pub fn builder(endpoint: impl Into<McpEndpoint>) -> McpClientBuilder {
        McpClientBuilder::new(endpoint.into())
    }

    /// Connects to the server, lists the tools, and starts the task that follows the connection.
    async fn open(
        endpoint: McpEndpoint,
        handler: ServerRequestHandler,
        count: ToolCount,
    ) -> Result<Self, McpError> {
        let client = Self(ClientState::new(endpoint, handler, count));
        let opening = async {
            let session = Arc::new(Session::open(&client.0.endpoint, &client.0.handler).await?);
            client.0.adopt(&session).await?;
            Ok(session)
        };
        let session = opening.await.map_err(|error: McpError| error.of_server(client.name()))?;
        client.0.set_link(Link::Up(session.clone()));
        client.follow_connection(Some(session));
        Ok(client)
    }

    /// Starts the task that connects and follows the connection.
    fn open_later(endpoint: McpEndpoint, handler: ServerRequestHandler, count: ToolCount) -> Self {
        let client = Self(ClientState::new(endpoint, handler, count));
        client.follow_connection(None);
        client
    }

    fn follow_connection(&self, session: Option<Arc<Session>>) {
        let client = Arc::downgrade(&self.0);
        let supervised = self.0.supervised.clone().drop_guard();
        tokio::spawn(async move {
            let _supervised = supervised;
            supervise(client, session).await;
        });
    }

    /// Returns the name used for the server in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns the server's description of itself. While the connection is lost, returns the last known description.
    #[must_use]
    pub fn server_info(&self) -> McpServerInfo {
        lock(&self.0.info).clone()
    }

    /// Returns `true` if the client is connected.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        matches!(&*self.0.link.borrow(), Link::Up(_))
    }

    /// Waits until the client is connected. Returns `false` if the client was closed, or has given up connecting again.
    pub async fn ready(&self) -> bool {
        self.0.connected(|_| true).await
    }

    /// Returns the reason why the client is not connected. Returns `None` if it is connected.
    #[must_use]
    pub fn failure(&self) -> Option<McpError> {
        self.0.session().err().map(|error| error.of_server(self.name()))
    }

    /// Waits for the end of the first attempt to connect.
    pub(crate) async fn first_attempt(&self) {
        let mut link = self.0.link.subscribe();
        // The client keeps the sender.
        let _ = link.wait_for(|link| !matches!(link, Link::Starting)).await;
    }

    /// Returns a stream of the connection's events, starting with the next event.
    #[must_use]
    pub fn events(&self) -> McpEvents {
        McpEvents::new(self.0.handler.events.subscribe())
    }

    /// Returns the reports about changed and rejected tools of the current list.
    #[must_use]
    pub fn issues(&self) -> Vec<ToolIssue> {
        self.0.catalog.borrow().issues.clone()
    }

    /// Lists the tools again. The client lists the tools automatically when the server announces changes, and
    /// when the list has become stale. The server sets the time after which the list is stale (`ttlMs`).
    ///
    /// # Errors
    /// [`McpError`] if the client is not connected, or if the tools cannot be listed.
    pub async fn refresh(&self) -> Result<(), McpError> {
        self.named(async { self.0.list(&*self.session()?).await }).await
    }

    /// Closes the connection. Running calls end with an error. A child process has exited when this method
    /// returns. A process that is being started again is killed.
    pub async fn close(&self) {
        self.0.closing.cancel();
        let closed = McpError::new(McpErrorKind::Connection, "the client was closed");
        let link = self.0.link.send_replace(Link::Closed(closed));
        if let Link::Up(session) = link {
            session.close().await;
        }
        // The task may be closing a connection that it has just opened.
        let _ = timeout(session::CLOSING, self.0.supervised.cancelled()).await;
    }
}

impl ClientState {
    fn new(endpoint: McpEndpoint, handler: ServerRequestHandler, count: ToolCount) -> Arc<Self> {
        let closing = CancellationToken::new();
        Arc::new(Self {
            approved: Mutex::new(handler.settings.approved.clone()),
            endpoint,
            handler,
            link: watch::Sender::new(Link::Starting),
            catalog: watch::Sender::new(Arc::default()),
            count,
            listing: tokio::sync::Mutex::default(),
            info: Mutex::default(),
            _ends_with_client: closing.clone().drop_guard(),
            closing,
            supervised: CancellationToken::new(),
        })
    }

    fn name(&self) -> &str {
        &self.handler.settings.name
    }

    /// Returns whether there are so many tools that they are deferred.
    fn defers(&self) -> bool {
        self.count.total() > self.handler.settings.search_above
    }

    /// Sets the state of the connection. Returns `false` if the client was closed in the meantime.
    fn set_link(&self, link: Link) -> bool {
        // The check is made under the lock: otherwise a client could be connected after it was closed.
        self.link.send_if_modified(|current| {
            let is_open = !self.closing.is_cancelled();
            if is_open {
                *current = link;
            }
            is_open
        })
    }

    /// Lists the tools of a new connection.
    async fn adopt(&self, session: &Session) -> Result<(), McpError> {
        self.list(session).await?;
        *lock(&self.info) = session.info();
        Ok(())
    }

    /// Lists the tools and publishes the list.
    async fn list(&self, session: &Session) -> Result<(), McpError> {
        let _listing = self.listing.lock().await;
        self.publish(session.list_tools().await?);
        Ok(())
    }

    /// Returns the tool and the arguments for a call, or an error if the call must not be sent.
    ///
    /// The registry has checked the arguments by the schema that it knows. If a tool has changed since the first list, the
    /// schema of a registry may be an earlier one, and the arguments are read again by the current schema.
    fn prepare(&self, call: &ToolCall) -> Result<Prepared, ToolError> {
        let catalog = self.catalog.borrow().clone();
        let Some(tool) = catalog.tools.get(call.name.as_str()) else {
            let server = self.name();
            let text = format!(
                "Tool `{}` is no longer offered by MCP server `{server}`; use another tool",
                call.name
            );
            return Err(ToolError::new(ErrorKind::NotFound, text));
        };
        if catalog.pending.contains_key(&call.name) {
            let reason = "its definition has changed, and the user has not approved it yet";
            return Err(ToolError::disabled(&call.name, reason));
        }
        let text = call.arguments.as_str();
        let checked = from_str(text).ok().filter(|_| !catalog.has_changed);
        let arguments = checked.map_or_else(|| tool.definition.parse_arguments(text), Ok)?;
        match arguments {
            Value::Object(arguments) => Ok((tool.clone(), arguments)),
            _ => Err(ToolError::invalid_json("expected an object")),
        }
    }

    /// Runs a prepared call. If the server has ended the session instead of executing the call, prepares the call
    /// again and runs it over the next connection.
    async fn call(
        &self,
        call: &ToolCall,
        (tool, arguments): Prepared,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let refused = |reason: McpError| unreachable(self.name()).with_details(reason.to_string());
        let session = self.session().map_err(refused)?;
        let first = RemoteCall::new(&session, &tool, context);
        let outcome = first.run(arguments).await;
        if !first.is_expired() {
            return outcome;
        }
        let next = self.connected(|current| !Arc::ptr_eq(current, &session));
        if !timeout(self.handler.settings.connect_timeout, next).await.unwrap_or(false) {
            return outcome;
        }
        // The tool may have changed, and may need approval.
        let (tool, arguments) = self.prepare(call)?;
        let session = self.session().map_err(refused)?;
        RemoteCall::new(&session, &tool, context).run(arguments).await
    }

    /// Returns the connection, or the reason why there is none.
    fn session(&self) -> Result<Arc<Session>, McpError> {
        match &*self.link.borrow() {
            Link::Up(session) => Ok(session.clone()),
            Link::Starting => Err(McpError::new(McpErrorKind::Connection, "the server is still starting")),
            Link::Down(error) | Link::Closed(error) => Err(error.clone()),
        }
    }

    /// Waits for a connection that `is_wanted` accepts. Returns `false` if no connection will follow.
    async fn connected(&self, is_wanted: impl Fn(&Arc<Session>) -> bool) -> bool {
        let mut link = self.link.subscribe();
        let state = link.wait_for(|link| match link {
            Link::Up(session) => is_wanted(session),
            Link::Starting | Link::Down(_) => false,
            Link::Closed(_) => true,
        });
        state.await.is_ok_and(|link| matches!(&*link, Link::Up(_)))
    }
}

debug!(McpClient, self, "name": self.name());
