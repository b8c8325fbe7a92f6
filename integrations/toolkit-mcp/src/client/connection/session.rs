//! One connection to a server.

use super::endpoint::McpEndpoint;
use super::handshake::{Attempt, Running};
use super::listing_pace::LONGEST_PAUSE;
use super::server_requests::{MOST_QUESTIONS, ServerRequestHandler};
use crate::client::failures::{chain, of_transport, refused};
use crate::client::settings::McpProtocol;
use crate::client::transport::Wire;
use crate::mcp_error::{McpError, McpErrorKind};
use crate::request_span::NetworkPath;
use rmcp::model::{ClientRequest, RequestId, ServerResult, SubscriptionFilter};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleClient, ServiceError, Subscription};
use std::future::pending;
use std::sync::atomic::Ordering;
use std::sync::{self, Arc};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::{Instant, sleep_until, timeout};
use toolkit_core::__private::lock;
use toolkit_core::CancellationToken;
use toolkit_core::foreign::clean;

/// The longest wait for an answer to `server/discover` before `initialize` is sent, too.
const SILENCE: Duration = Duration::from_secs(2);

const RETRY: Duration = Duration::from_secs(60);

/// The shortest and the longest time for which a tool list counts as fresh.
const FRESH: (Duration, Duration) = (LONGEST_PAUSE, Duration::from_secs(24 * 3_600));

/// The time for closing a connection before it is cut.
pub(crate) const CLOSING: Duration = Duration::from_secs(10);

/// A server's description of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct McpServerInfo {
    /// The name of its program.
    pub name: String,
    /// The version of its program.
    pub version: String,
    /// Its display name.
    pub title: Option<String>,
    /// The protocol version, such as `2026-07-28`.
    pub protocol: String,
    /// Its own instructions. Show them to a model only if the program trusts the server.
    pub instructions: Option<String>,
}

/// One connection to a server.
pub(crate) struct Session {
    running: Mutex<Option<Running>>,
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) wire: Arc<Wire>,
    pub(crate) handler: ServerRequestHandler,
    /// Cancelled when a failed request shows that a new connection is needed. Other requests may
    /// still receive their responses.
    pub(crate) stale: CancellationToken,
    pub(crate) opened: Instant,
    /// The time at which the tool list becomes stale, if the server sets one.
    pub(super) expiry: sync::Mutex<Option<Instant>>,
    pub(crate) path: NetworkPath,
}

impl Session {
    pub(crate) async fn open(
        endpoint: &McpEndpoint,
        handler: &ServerRequestHandler,
    ) -> Result<Self, McpError> {
        // Questions end with their connection.
        let questions = Arc::new(Semaphore::new(MOST_QUESTIONS));
        let handler = ServerRequestHandler { questions, ..handler.clone() };
        let limit = handler.settings.connect_timeout;
        let mut wire = Arc::new(Wire::new(handler.events.clone()));
        let outcome = timeout(limit, connect(endpoint, &handler, &mut wire)).await;
        let running = match outcome.unwrap_or_else(|_| Err(too_slow("connect", limit))) {
            Ok(running) => running,
            // It already contains the last output of the process.
            Err(error) if error.kind() == McpErrorKind::Connection => return Err(error),
            Err(error) => return Err(error.and(&wire.tail.text().await)),
        };
        Ok(Self {
            peer: running.peer().clone(),
            running: Mutex::new(Some(running)),
            wire,
            handler,
            stale: CancellationToken::new(),
            opened: Instant::now(),
            expiry: sync::Mutex::default(),
            path: endpoint.path.clone(),
        })
    }

    pub(crate) fn info(&self) -> McpServerInfo {
        let Some(peer) = self.peer.peer_info() else { return McpServerInfo::default() };
        let limit = self.handler.settings.limits.description;
        let short = |text: &str| clean(text).chars().take(limit).collect::<String>();
        let server = peer.server_info.as_ref();
        McpServerInfo {
            name: server.map(|server| short(&server.name)).unwrap_or_default(),
            version: server.map(|server| short(&server.version)).unwrap_or_default(),
            title: server.and_then(|server| server.title.as_deref()).map(short),
            protocol: peer.protocol_version.to_string(),
            instructions: peer.instructions.as_deref().map(short),
        }
    }

    /// Sends a request. Dropping the returned value before the response cancels it.
    pub(crate) async fn send(
        &self,
        request: ClientRequest,
        options: PeerRequestOptions,
    ) -> Result<Pending, ServiceError> {
        let handle = self.peer.send_request_with_option(request, options).await?;
        Ok(Pending { handle: Some(handle), wire: self.wire.clone() })
    }

    pub(super) fn fresh_for(&self, time: Duration) {
        let expiry = Instant::now() + time.clamp(FRESH.0, FRESH.1);
        let mut earliest = lock(&self.expiry);
        *earliest = Some(earliest.map_or(expiry, |earlier| earlier.min(expiry)));
    }

    /// Plans the next listing of the tools after a failure.
    pub(crate) fn postpone(&self) {
        *lock(&self.expiry) = Some(Instant::now() + RETRY);
    }

    /// Waits until the tool list is stale; forever if the server sets no time.
    pub(crate) async fn stale_list(&self) {
        let expiry = *lock(&self.expiry);
        match expiry {
            Some(expiry) => sleep_until(expiry).await,
            None => pending().await,
        }
    }

    pub(crate) fn failed(&self, method: &str, error: &ServiceError) -> McpError {
        #[cfg(feature = "client-http")]
        if crate::client::failures::is_expired(error) {
            let ended = "the server has ended the session";
            self.replace(ended);
            return McpError::new(McpErrorKind::Connection, ended);
        }
        match error {
            ServiceError::McpError(error) => refused(method, error),
            ServiceError::TransportSend(_) => of_transport(error),
            ServiceError::TransportClosed => McpError::new(McpErrorKind::Connection, self.wire.reason()),
            _ => McpError::new(McpErrorKind::Protocol, chain(error)),
        }
    }

    pub(crate) fn has_handshake(&self) -> bool {
        self.peer.peer_info().is_some_and(|peer| peer.protocol_version.has_initialize())
    }

    /// Returns the announced lists if the protocol version requires a subscription to their
    /// changes.
    pub(crate) fn announced_lists(&self) -> Option<SubscriptionFilter> {
        let peer = self.peer.peer_info().filter(|peer| !peer.protocol_version.has_initialize())?;
        let capabilities = &peer.capabilities;
        let mut filter = SubscriptionFilter::new();
        filter.tools_list_changed = capabilities.tools.as_ref().and_then(|tools| tools.list_changed);
        filter.resources_list_changed =
            capabilities.resources.as_ref().and_then(|resources| resources.list_changed);
        filter.prompts_list_changed = capabilities.prompts.as_ref().and_then(|prompts| prompts.list_changed);
        let lists = [filter.tools_list_changed, filter.resources_list_changed, filter.prompts_list_changed];
        if lists.contains(&Some(true)) { Some(filter) } else { None }
    }

    /// Subscribes to changes of lists; `None` if the server refuses or does not answer.
    pub(crate) async fn subscribe(&self) -> Option<Subscription> {
        let limit = self.handler.settings.connect_timeout;
        timeout(limit, self.peer.listen(self.announced_lists()?)).await.ok()?.ok()
    }

    /// Asks for a new connection. Requests without an answer stay open.
    pub(crate) fn replace(&self, reason: &str) {
        self.wire.ends_because(reason);
        self.stale.cancel();
    }

    /// Closes the connection. A child process has exited when this method returns.
    pub(crate) async fn close(&self) {
        if let Some(mut running) = self.running.lock().await.take() {
            self.wire.ends_because("the client was closed");
            let _ = running.close_with_timeout(CLOSING).await;
        }
    }
}

/// Connects and runs the handshake, once more if a server of an earlier version ended at
/// `server/discover`. `wire` becomes the state of the last connection.
async fn connect(
    endpoint: &McpEndpoint,
    handler: &ServerRequestHandler,
    wire: &mut Arc<Wire>,
) -> Result<Running, McpError> {
    let was_legacy = endpoint.is_legacy.load(Ordering::Relaxed);
    let mut outcome = endpoint.connect(attempt(endpoint, handler, wire)).await;
    let is_legacy = endpoint.is_legacy.load(Ordering::Relaxed);
    if outcome.is_err() && is_legacy && !was_legacy && endpoint.is_reusable {
        *wire = Arc::new(Wire::new(handler.events.clone()));
        outcome = endpoint.connect(attempt(endpoint, handler, wire)).await;
    }
    if let Err(error) = &outcome
        && (!was_legacy || error.kind() == McpErrorKind::Protocol)
    {
        endpoint.is_legacy.store(false, Ordering::Relaxed);
    }
    outcome
}

fn attempt(endpoint: &McpEndpoint, handler: &ServerRequestHandler, wire: &Arc<Wire>) -> Attempt {
    let settings = &handler.settings;
    Attempt {
        handler: handler.clone(),
        wire: wire.clone(),
        protocol: match settings.protocol {
            McpProtocol::Auto if endpoint.is_legacy.load(Ordering::Relaxed) => McpProtocol::Handshake,
            protocol => protocol,
        },
        silence: SILENCE.min(settings.connect_timeout / 4),
        is_legacy: endpoint.is_legacy.clone(),
        limit: settings.limits.message_bytes,
    }
}

pub(super) fn too_slow(what: &str, limit: Duration) -> McpError {
    let seconds = limit.as_secs_f64();
    McpError::new(McpErrorKind::TimedOut, format!("the server did not {what} within {seconds} s"))
}

/// A request without a response yet. Dropping it cancels the request.
pub(crate) struct Pending {
    handle: Option<RequestHandle<RoleClient>>,
    wire: Arc<Wire>,
}

impl Pending {
    pub(crate) fn id(&self) -> Option<&RequestId> {
        self.handle.as_ref().map(|handle| &handle.id)
    }

    /// Waits for the response. Cancel safe: dropping the future loses no response.
    pub(crate) async fn response(&mut self) -> Result<ServerResult, ServiceError> {
        let Some(handle) = &mut self.handle else { return pending().await };
        let response = (&mut handle.rx).await.unwrap_or(Err(ServiceError::TransportClosed));
        self.end();
        response
    }

    fn end(&mut self) -> Option<RequestHandle<RoleClient>> {
        let handle = self.handle.take()?;
        self.wire.forget(&handle.progress_token);
        Some(handle)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(handle) = self.end()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(async move {
                let _ = handle.cancel(Some("the caller no longer waits for the result".to_owned())).await;
            });
        }
    }
}
