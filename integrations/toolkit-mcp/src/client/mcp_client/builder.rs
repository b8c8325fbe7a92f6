//! Builder of clients.

use super::McpClient;
use crate::client::connection::{MOST_QUESTIONS, McpEndpoint, ServerRequestHandler};
use crate::client::event::{EVENTS_KEPT, McpEvent, McpEvents};
use crate::client::settings::{ClientSettings, ElicitationHandler, McpBackoff, McpLimits, McpProtocol};
use crate::client::tools::{ToolCount, ToolTotal};
use crate::macros::{debug, setters};
use crate::mcp_error::{McpError, McpErrorKind};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, broadcast};
use toolkit_core::ToolName;
use toolkit_core::name::Separator;

/// Builder of an [`McpClient`].
///
/// ```
/// use std::time::Duration;
/// use toolkit_ai::mcp::client::{McpClient, McpCommand};
///
/// let builder = McpClient::builder(McpCommand::new("weather-server"))
///     .namespace("weather")
///     .call_timeout(Duration::from_secs(20))
///     .change_approval();
/// ```
#[must_use]
pub struct McpClientBuilder {
    endpoint: McpEndpoint,
    settings: ClientSettings,
    events: broadcast::Sender<McpEvent>,
    total: ToolTotal,
}

impl McpClientBuilder {
    pub(super) fn new(endpoint: McpEndpoint) -> Self {
        let settings = ClientSettings { name: endpoint.label.clone(), ..ClientSettings::default() };
        let events = broadcast::Sender::new(EVENTS_KEPT);
        Self { endpoint, settings, events, total: ToolTotal::default() }
    }

    /// Sets the namespace of the tools, also the default name of the server.
    ///
    /// Without a namespace, the tools have the names given by the server.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        let namespace = namespace.into();
        if self.settings.name == self.endpoint.label {
            self.settings.name.clone_from(&namespace);
        }
        self.settings.namespace = Some(namespace).filter(|namespace| !namespace.is_empty());
        self
    }

    /// Leaves out all tools for whose name at the server `permits` returns `false`.
    pub fn tool_filter(mut self, permits: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.settings.permits = Some(Arc::new(permits));
        self
    }

    /// Requires approval of all tools added or changed since the first list received by this
    /// client.
    pub fn change_approval(mut self) -> Self {
        self.settings.block_changes = true;
        self
    }

    /// Sets the name and the version of the program, as shown to the server.
    pub fn client_info(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.settings.client_name = name.into();
        self.settings.client_version = version.into();
        self
    }

    /// Returns the events of the client, including the events of the first connection.
    #[must_use]
    pub fn events(&self) -> McpEvents {
        McpEvents::new(self.events.subscribe())
    }

    /// Connects to the server and lists its tools.
    ///
    /// # Errors
    /// [`McpError`] if the namespace is illegal, or if the server does not start, cannot be
    /// reached, refuses access or violates the protocol. The client does not try again.
    pub async fn connect(self) -> Result<McpClient, McpError> {
        let count = ToolCount::in_total(self.total.clone());
        let (endpoint, handler) = self.parts()?;
        McpClient::open(endpoint, handler, count).await
    }

    /// Returns a client that connects in the background, and tries again with [pauses](Self::backoff).
    ///
    /// Until it is connected, the client has no tools; [`McpClient::follow`] then adds them to a live
    /// registry.
    ///
    /// # Errors
    /// [`McpError`] if the namespace is illegal.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    pub fn start(self) -> Result<McpClient, McpError> {
        let count = ToolCount::in_total(self.total.clone());
        let (endpoint, handler) = self.parts()?;
        Ok(McpClient::open_later(endpoint, handler, count))
    }

    /// Counts the tools together with those of other clients.
    pub(crate) fn counted_in(mut self, total: ToolTotal) -> Self {
        self.total = total;
        self
    }

    fn parts(mut self) -> Result<(McpEndpoint, ServerRequestHandler), McpError> {
        if let Some(namespace) = &self.settings.namespace {
            ToolName::qualified(namespace, "tool", Separator::default())
                .map_err(|error| McpError::new(McpErrorKind::Config, error.to_string()))?;
        }
        let timeout = &mut self.settings.connect_timeout;
        *timeout = timeout.saturating_add(self.endpoint.login_time);
        let handler = ServerRequestHandler {
            settings: Arc::new(self.settings),
            events: self.events,
            tools_changed: Arc::default(),
            questions: Arc::new(Semaphore::new(MOST_QUESTIONS)),
            asked: Arc::default(),
        };
        Ok((self.endpoint, handler))
    }
}

setters! { McpClientBuilder.settings:
    /// Sets the name of the server in messages.
    ///
    /// The default is the namespace, the name of the program, or the host.
    name(name: impl Into<String>) = name.into();
    /// Sets the limits for messages, tools and schemas.
    limits(limits: McpLimits) = limits;
    /// Sets the time limit for connecting, and then for the whole tool list.
    ///
    /// The default is 90 seconds: programs such as `npx` may first download the server.
    connect_timeout(connect_timeout: Duration) = connect_timeout;
    /// Sets the time limit for a call without progress, 60 seconds by default.
    ///
    /// Each report with more progress restarts it, and it does not apply while the user answers a question of
    /// the server. The time limits of tool, dispatcher and registry apply as well.
    call_timeout(call_timeout: Duration) = call_timeout;
    /// Sets the maximum time of a call, one hour by default. No progress and no question extends
    /// it.
    max_call_time(max_call_time: Duration) = max_call_time;
    /// Sets the number of tools above which they are deferred; 40 by default.
    ///
    /// A registry with [tool search](toolkit_core::ToolRegistry::with_tool_search) leaves deferred tools out
    /// of its definitions, and the model finds them when it needs them. Without tool search, nothing changes.
    ///
    /// The number counts the tools of all servers of a configuration together. `.tools(client)` of an agent
    /// and the registry of a configuration turn tool search on. A gateway, which lists the tools for its own
    /// clients, sets `usize::MAX`.
    tool_search_above(search_above: usize) = search_above;
    /// Sets the pauses between attempts to connect.
    backoff(backoff: McpBackoff) = backoff;
    /// Sets how often a dispatcher repeats a failed call; 0 by default.
    ///
    /// A call that the server may have executed is repeated only if the tool is read-only or idempotent. See
    /// [`Retry`](toolkit_core::middleware::Retry).
    retries(retries: u32) = retries;
    /// Sets the protocol versions to speak; [`McpProtocol::Auto`] by default.
    protocol(protocol: McpProtocol) = protocol;
    /// Sets whether the client trusts the server's hints about the tools; `true` by default.
    ///
    /// Permission rules may allow read-only tools without approval. With `false`, the client
    /// ignores all hints that make a tool look harmless, and keeps those that warn.
    trusted_annotations(trust_annotations: bool) = trust_annotations;
    /// Sets whether structured content is checked against the output schema of the tool; `true` by default.
    ///
    /// A result that violates the schema, or lacks structured content, then becomes an error.
    result_check(check_results: bool) = check_results;
    /// Requires approval of all tools except those with these
    /// [fingerprints](McpClient::fingerprints).
    approved(approved: BTreeMap<String, String>) = Some(approved);
    /// Sets the handler for questions of the server to the user. Without one, questions are
    /// declined.
    elicitation(elicitation: impl ElicitationHandler) = Some(Arc::new(elicitation));
}

debug!(McpClientBuilder, self, "endpoint": self.endpoint, "name": self.settings.name);
