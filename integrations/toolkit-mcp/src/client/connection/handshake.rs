//! The handshake: finds the version of the protocol that client and server share.
//!
//! A server of version 2026-07-28 answers `server/discover`, an earlier one `initialize`. The client begins
//! with `server/discover`. On a stream, silence has two meanings: the server is still starting, or ignores
//! the unknown request. Therefore, `initialize` follows after a moment, and the first usable answer decides.
//! The other answer belongs to no request of the connection, so the SDK drops it.

use super::server_requests::ServerRequestHandler;
use crate::client::failures::{ends_probe, of_transport, refused};
use crate::client::settings::McpProtocol;
use crate::client::transport::{Watched, Wire};
use crate::mcp_error::{McpError, McpErrorKind};
use rmcp::ClientHandler;
use rmcp::model::{
    ClientNotification, ClientRequest, ClientResult, DiscoverRequest, DiscoverRequestParams, ErrorCode,
    ErrorData, InitializeRequest, InitializedNotification, JsonRpcMessage, ProtocolVersion, RequestId,
    RequestMetaObject, ServerNotification, ServerPeerInfo, ServerRequest, ServerResult,
};
use rmcp::service::{RoleClient, RunningService, TxJsonRpcMessage, serve_directly};
use rmcp::transport::Transport;
use serde_json::Value;
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// The SDK counts its own requests from zero.
const DISCOVER: RequestId = RequestId::Number(i32::MAX as i64 - 2);
const DISCOVER_AGAIN: RequestId = RequestId::Number(i32::MAX as i64 - 1);
const INITIALIZE: RequestId = RequestId::Number(i32::MAX as i64);

/// The wait for the end after a refused message.
const ENDING: Duration = Duration::from_secs(1);

pub(super) type Running = RunningService<RoleClient, ServerRequestHandler>;

pub(super) struct Attempt {
    pub(super) handler: ServerRequestHandler,
    pub(super) wire: Arc<Wire>,
    pub(super) protocol: McpProtocol,
    /// The wait for an answer to `server/discover` before `initialize` is sent, too.
    pub(super) silence: Duration,
    /// The endpoint's memory of whether the server needs `initialize`.
    pub(super) is_legacy: Arc<AtomicBool>,
    pub(super) limit: usize,
}

impl Attempt {
    pub(super) async fn serve(
        self,
        transport: impl Transport<RoleClient> + 'static,
    ) -> Result<Running, McpError> {
        let mut transport = Watched::new(transport, self.wire.clone());
        let info = Handshake::new(&mut transport, &self).run().await?;
        Ok(serve_directly(self.handler, transport, Some(info)))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Discover,
    Both,
    Initialize,
}

type Answer = Result<ServerResult, ErrorData>;

struct Handshake<'a, T> {
    transport: &'a mut T,
    attempt: &'a Attempt,
    waiting: Waiting,
}

impl<'a, T: Transport<RoleClient> + 'static> Handshake<'a, T> {
    fn new(transport: &'a mut T, attempt: &'a Attempt) -> Self {
        Self { transport, attempt, waiting: Waiting::Discover }
    }

    /// Returns the server's description of itself. Remembers whether it needs `initialize`.
    async fn run(mut self) -> Result<ServerPeerInfo, McpError> {
        let info = self.negotiate().await?;
        self.attempt.is_legacy.store(info.protocol_version.has_initialize(), Ordering::Relaxed);
        Ok(info)
    }

    async fn negotiate(&mut self) -> Result<ServerPeerInfo, McpError> {
        if self.attempt.protocol == McpProtocol::Handshake {
            self.initialize(Waiting::Initialize).await?;
        } else {
            self.discover(DISCOVER).await?;
        }
        let mut can_fall_back = self.attempt.protocol == McpProtocol::Auto;
        let silence = sleep(self.attempt.silence);
        tokio::pin!(silence);
        loop {
            let (id, answer) = tokio::select! {
                answer = self.answer() => answer?,
                () = &mut silence, if can_fall_back && self.waiting == Waiting::Discover => {
                    self.initialize(Waiting::Both).await?;
                    continue;
                }
            };
            if id == INITIALIZE && answer.is_err() && self.waiting == Waiting::Both {
                // The server may answer in any order.
                self.waiting = Waiting::Discover;
                can_fall_back = false;
                continue;
            }
            if id == INITIALIZE {
                return self.initialized(answer).await;
            }
            match discovered(answer) {
                Ok(info) => return Ok(info),
                Err(refusal) if refusal.next == Next::DiscoverAgain && id == DISCOVER => {
                    self.discover(DISCOVER_AGAIN).await?;
                }
                Err(refusal) if refusal.next != Next::Initialize || !can_fall_back => {
                    return Err(refusal.error);
                }
                Err(_) if self.waiting == Waiting::Discover => {
                    self.initialize(Waiting::Initialize).await?;
                }
                Err(_) => self.waiting = Waiting::Initialize,
            }
        }
    }

    async fn discover(&mut self, id: RequestId) -> Result<(), McpError> {
        let info = self.attempt.handler.get_info();
        let meta = RequestMetaObject::with_client_context(
            ProtocolVersion::V_2026_07_28,
            info.client_info,
            info.capabilities,
        );
        let mut discover = DiscoverRequest::new(DiscoverRequestParams {});
        discover.extensions.insert(meta);
        self.send(JsonRpcMessage::request(ClientRequest::DiscoverRequest(discover), id)).await
    }

    async fn initialize(&mut self, waiting: Waiting) -> Result<(), McpError> {
        self.waiting = waiting;
        let mut info = self.attempt.handler.get_info();
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        let request = ClientRequest::InitializeRequest(InitializeRequest::new(info));
        self.send(JsonRpcMessage::request(request, INITIALIZE)).await
    }

    async fn initialized(&mut self, answer: Answer) -> Result<ServerPeerInfo, McpError> {
        match answer {
            Ok(ServerResult::InitializeResult(result)) => {
                let initialized = InitializedNotification::default();
                let notification = ClientNotification::InitializedNotification(initialized);
                self.send(JsonRpcMessage::notification(notification)).await?;
                Ok(result.into())
            }
            Ok(_) => Err(invalid("the server's answer to `initialize` is invalid")),
            Err(error) => Err(refused("initialize", &error)),
        }
    }

    /// Waits for an answer to one of the two requests. Cancel safe: dropping the future loses no answer.
    async fn answer(&mut self) -> Result<(RequestId, Answer), McpError> {
        while let Some(message) = self.transport.receive().await {
            match message {
                JsonRpcMessage::Response(response) => {
                    if let Some(id) = self.request(Some(&response.id)) {
                        return Ok((id, Ok(response.result)));
                    }
                }
                JsonRpcMessage::Error(error) => {
                    if let Some(id) = self.request(error.id.as_ref()) {
                        return Ok((id, Err(error.error)));
                    }
                }
                JsonRpcMessage::Request(request) => {
                    let answer = if matches!(request.request, ServerRequest::PingRequest(_)) {
                        JsonRpcMessage::response(ClientResult::empty(()), request.id)
                    } else {
                        let message = "the client answers only `ping` before the handshake has ended";
                        let early = ErrorData::new(ErrorCode::INVALID_REQUEST, message, None);
                        JsonRpcMessage::error(early, Some(request.id))
                    };
                    // This future may be dropped.
                    tokio::spawn(self.transport.send(answer));
                }
                JsonRpcMessage::Notification(message) => {
                    if let ServerNotification::LoggingMessageNotification(log) = message.notification {
                        self.attempt.handler.log(log.params);
                    }
                }
            }
        }
        Err(self.ended())
    }

    /// Returns the request that an answer belongs to. Some servers answer an unknown request without its id,
    /// and some write a number as a string.
    fn request(&self, id: Option<&RequestId>) -> Option<RequestId> {
        match id.map(ToString::to_string) {
            None if self.waiting == Waiting::Initialize => Some(INITIALIZE),
            None => Some(DISCOVER),
            Some(id) => [DISCOVER, DISCOVER_AGAIN, INITIALIZE].into_iter().find(|own| own.to_string() == id),
        }
    }

    async fn send(&mut self, message: TxJsonRpcMessage<RoleClient>) -> Result<(), McpError> {
        let Err(error) = self.transport.send(message).await else { return Ok(()) };
        let error: &(dyn Error + 'static) = &error;
        if error.is::<io::Error>() {
            // The end of the stream has a reason, such as the exit status of a process.
            let end = async { while self.transport.receive().await.is_some() {} };
            let _ = timeout(ENDING, end).await;
            return Err(self.ended());
        }
        if ends_probe(error) {
            self.remember_end();
        }
        Err(of_transport(error))
    }

    fn ended(&self) -> McpError {
        self.remember_end();
        McpError::new(McpErrorKind::Connection, self.attempt.wire.reason())
    }

    /// Remembers that the server ended the connection at `server/discover`, so it may need `initialize`
    /// first.
    fn remember_end(&self) {
        if self.waiting != Waiting::Initialize && self.attempt.protocol == McpProtocol::Auto {
            self.attempt.is_legacy.store(true, Ordering::Relaxed);
        }
    }
}

struct Refusal {
    error: McpError,
    next: Next,
}

#[derive(PartialEq, Eq)]
enum Next {
    /// The server does not speak version 2026-07-28.
    Initialize,
    /// The server refuses the version, although it lists it as supported.
    DiscoverAgain,
    /// The server speaks the version, and refuses this client.
    Nothing,
}

fn discovered(answer: Answer) -> Result<ServerPeerInfo, Refusal> {
    let version = ProtocolVersion::V_2026_07_28;
    let legacy = |error: McpError| Refusal { error, next: Next::Initialize };
    match answer {
        Ok(ServerResult::DiscoverResult(result)) if result.supported_versions.contains(&version) => {
            Ok(ServerPeerInfo::from_discover_result(version, result))
        }
        Ok(ServerResult::DiscoverResult(_)) => {
            Err(legacy(invalid("the server does not support version 2026-07-28 of the protocol")))
        }
        Ok(_) => Err(legacy(invalid("the server's answer to `server/discover` is invalid"))),
        Err(error) => {
            let is_supported = lists_as_supported(&error, version.as_str());
            let next = match error.code {
                ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY | ErrorCode::HEADER_MISMATCH => Next::Nothing,
                ErrorCode::UNSUPPORTED_PROTOCOL_VERSION if is_supported => Next::DiscoverAgain,
                _ => Next::Initialize,
            };
            Err(Refusal { error: refused("server/discover", &error), next })
        }
    }
}

fn lists_as_supported(error: &ErrorData, version: &str) -> bool {
    let Some(data) = &error.data else { return false };
    let Some(supported) = data.get("supported").and_then(Value::as_array) else { return false };
    supported.iter().any(|known| known == version)
}

fn invalid(text: &str) -> McpError {
    McpError::new(McpErrorKind::Protocol, text)
}
