//! The client of one server, which keeps its connection and its catalog.

mod builder;
mod change_approval;
mod instructions;
mod supervise;

pub use builder::McpClientBuilder;
pub(super) use supervise::Link;

use super::call::{RemoteCall, unreachable};
use super::connection::{CLOSING, McpEndpoint, McpServerInfo, ServerRequestHandler, Session};
use super::event::McpEvents;
use super::tools::{Catalog, RemoteTool, ToolCount};
use crate::macros::debug;
use crate::mcp_error::{McpError, McpErrorKind};
use serde_json::{Map, Value, from_str};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use supervise::supervise;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::DropGuard;
use toolkit_core::__private::lock;
use toolkit_core::foreign::{ToolIssue, clean};
use toolkit_core::{CancellationToken, ErrorKind, ToolCall, ToolContext, ToolError, ToolOutput};

/// A client of one MCP server, and the provider of its tools. Clones share the connection.
///
/// The connection ends when the client is [closed](Self::close), or its last clone is dropped. A
/// registry with its tools holds a clone.
///
/// Calls respect the time limits and the cancellation of the program, send its trace context, and
/// pass on progress reports. While the connection is lost, calls fail at once with an error that
/// the model understands.
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
pub struct McpClient(pub(super) Arc<ClientState>);

/// The tool of a call, and the arguments to send.
pub(super) type Prepared = (Arc<RemoteTool>, Map<String, Value>);

pub(super) struct ClientState {
    endpoint: McpEndpoint,
    pub(super) handler: ServerRequestHandler,
    pub(super) link: watch::Sender<Link>,
    pub(super) catalog: watch::Sender<Arc<Catalog>>,
    pub(super) count: ToolCount,
    /// The approved fingerprints; `None` if no tool needs approval.
    approved: Mutex<Option<BTreeMap<String, String>>>,
    /// Held while the tools are listed, so that lists are published in the order of the requests.
    listing: tokio::sync::Mutex<()>,
    info: Mutex<McpServerInfo>,
    closing: CancellationToken,
    /// Cancelled when the task that follows the connection has ended.
    supervised: CancellationToken,
    _ends_with_client: DropGuard,
}

impl McpClient {
    /// Creates a builder for a client of the server at `endpoint`: an
    /// [`McpCommand`](crate::client::McpCommand), an `McpUrl` (feature `client-http`), or an
    /// [`McpEndpoint`].
    #[must_use]
    pub fn builder(endpoint: impl Into<McpEndpoint>) -> McpClientBuilder {
        McpClientBuilder::new(endpoint.into())
    }

    /// Connects, lists the tools, and starts the task that follows the connection.
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

    /// Returns the name of the server in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns the server's latest description of itself.
    #[must_use]
    pub fn server_info(&self) -> McpServerInfo {
        lock(&self.0.info).clone()
    }

    /// Returns `true` if the client is connected.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        matches!(&*self.0.link.borrow(), Link::Up(_))
    }

    /// Waits until the client is connected. Returns `false` if the client was closed or has given
    /// up.
    pub async fn ready(&self) -> bool {
        self.0.connected(|_| true).await
    }

    /// Returns why the client is not connected; `None` if it is.
    #[must_use]
    pub fn failure(&self) -> Option<McpError> {
        self.0.session().err().map(|error| error.of_server(self.name()))
    }

    pub(crate) async fn first_attempt(&self) {
        let mut link = self.0.link.subscribe();
        // The client keeps the sender.
        let _ = link.wait_for(|link| !matches!(link, Link::Starting)).await;
    }

    /// Returns the connection's events from now on.
    #[must_use]
    pub fn events(&self) -> McpEvents {
        McpEvents::new(self.0.handler.events.subscribe())
    }

    /// Returns reports about changed and rejected tools of the list.
    #[must_use]
    pub fn issues(&self) -> Vec<ToolIssue> {
        self.0.catalog.borrow().issues.clone()
    }

    /// Lists the tools again.
    ///
    /// The client does so itself when the server announces changes, and when the list has become stale
    /// (`ttlMs`).
    ///
    /// # Errors
    /// [`McpError`] if the client is not connected, or if the tools cannot be listed.
    pub async fn refresh(&self) -> Result<(), McpError> {
        self.named(async { self.0.list(&*self.session()?).await }).await
    }

    /// Closes the connection.
    ///
    /// Running calls end with an error. A child process has exited when this method returns; one that is
    /// being started again is killed.
    pub async fn close(&self) {
        self.0.closing.cancel();
        let closed = McpError::new(McpErrorKind::Connection, "the client was closed");
        let link = self.0.link.send_replace(Link::Closed(closed));
        if let Link::Up(session) = link {
            session.close().await;
        }
        // The task may have just opened a connection.
        let _ = timeout(CLOSING, self.0.supervised.cancelled()).await;
    }
}

impl McpClient {
    /// Returns the entry of a tool in the server's list, unchecked and as sent: also with members that no
    /// definition has, such as those of protocol extensions.
    ///
    /// No model sees it.
    #[must_use]
    pub fn listed_tool(&self, tool: &str) -> Option<Value> {
        self.0.catalog.borrow().tools.get(tool).map(|tool| tool.entry.clone())
    }
}

impl McpClient {
    /// Returns a text without hidden characters, cut to the limit for descriptions.
    pub(super) fn short_text(&self, text: &str) -> String {
        clean(text).chars().take(self.0.handler.settings.limits.description).collect()
    }

    pub(super) fn session(&self) -> Result<Arc<Session>, McpError> {
        match self.0.session() {
            Ok(session) => Ok(session),
            Err(error) => {
                let text = format!("the client is not connected: {error}");
                Err(McpError::new(McpErrorKind::Connection, text))
            }
        }
    }

    pub(super) async fn named<T>(
        &self,
        request: impl Future<Output = Result<T, McpError>>,
    ) -> Result<T, McpError> {
        request.await.map_err(|error| error.of_server(self.name()))
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

    pub(super) fn defers(&self) -> bool {
        self.count.total() > self.handler.settings.search_above
    }

    /// Sets the state of the connection. Returns `false` if the client was closed in the meantime.
    fn set_link(&self, link: Link) -> bool {
        // Under the lock: otherwise a closed client could become connected.
        self.link.send_if_modified(|current| self.replace_unless_closed(current, link))
    }

    fn replace_unless_closed(&self, current: &mut Link, link: Link) -> bool {
        if self.closing.is_cancelled() {
            return false;
        }
        *current = link;
        true
    }

    async fn adopt(&self, session: &Session) -> Result<(), McpError> {
        self.list(session).await?;
        *lock(&self.info) = session.info();
        Ok(())
    }

    async fn list(&self, session: &Session) -> Result<(), McpError> {
        let _listing = self.listing.lock().await;
        self.publish(session.list_tools().await?);
        Ok(())
    }

    /// Returns the tool and the arguments for a call, or an error if the call must not be sent.
    ///
    /// The registry has checked the arguments, perhaps by an earlier schema. If a tool has changed
    /// since the first list, they are read again by the current one.
    pub(super) fn prepare(&self, call: &ToolCall) -> Result<Prepared, ToolError> {
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
        let checked = if catalog.has_changed { None } else { from_str(text).ok() };
        let arguments = match checked {
            Some(arguments) => arguments,
            None => tool.definition.parse_arguments(text)?,
        };
        match arguments {
            Value::Object(arguments) => Ok((tool.clone(), arguments)),
            _ => Err(ToolError::invalid_json("expected an object")),
        }
    }

    /// Runs a prepared call. If the server has ended the session instead of executing the call,
    /// prepares it again and runs it over the next connection.
    pub(super) async fn call(
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
        let renewed = self.session().map_err(refused)?;
        RemoteCall::new(&renewed, &tool, context).run(arguments).await
    }

    /// Returns the connection, or the reason why there is none.
    pub(super) fn session(&self) -> Result<Arc<Session>, McpError> {
        match &*self.link.borrow() {
            Link::Up(session) => Ok(session.clone()),
            Link::Starting => Err(McpError::new(McpErrorKind::Connection, "the server is still starting")),
            Link::Down(error) | Link::Closed(error) => Err(error.clone()),
        }
    }

    /// Waits for a connection that `is_wanted` accepts; `false` if none will follow.
    async fn connected(&self, is_wanted: impl Fn(&Arc<Session>) -> bool) -> bool {
        let mut link = self.link.subscribe();
        loop {
            match &*link.borrow_and_update() {
                Link::Up(session) if is_wanted(session) => return true,
                Link::Closed(_) => return false,
                Link::Up(_) | Link::Starting | Link::Down(_) => {}
            }
            if link.changed().await.is_err() {
                return false;
            }
        }
    }
}

debug!(McpClient, self, "name": self.name());
