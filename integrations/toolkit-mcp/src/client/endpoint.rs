//! Endpoints: the addresses of servers, and the functions for connecting.

use super::child_transport::ChildTransport;
use super::mcp_command::McpCommand;
use super::mcp_error::{McpError, McpErrorKind};
use super::server_lines::ServerLines;
use super::server_requests::ServerRequestHandler;
use super::wire::{Watched, Wire};
use crate::locks::lock;
use crate::macros::debug;
use rmcp::RoleClient;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::transport::Transport;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncWrite};

pub(super) type Running = RunningService<RoleClient, ServerRequestHandler>;
type Connecting = Pin<Box<dyn Future<Output = Result<Running, McpError>> + Send>>;
type Connector = dyn Fn(Attempt) -> Connecting + Send + Sync;

/// The inputs of one attempt to connect.
pub(super) struct Attempt {
    pub(super) handler: ServerRequestHandler,
    pub(super) wire: Arc<Wire>,
    pub(super) lifecycle: ClientLifecycleMode,
    /// The maximum size of a message, in bytes.
    pub(super) limit: usize,
}

impl Attempt {
    /// Runs the handshake over a transport.
    pub(super) async fn serve(
        self,
        transport: impl Transport<RoleClient> + 'static,
    ) -> Result<Running, McpError> {
        let transport = Watched::new(transport, self.wire);
        self.handler.serve_with_lifecycle(transport, self.lifecycle).await.map_err(|error| failed(&error))
    }
}

/// Converts the failure of a handshake to an [`McpError`].
fn failed(error: &ClientInitializeError) -> McpError {
    if error.is_authorization_required() {
        let text = "the server refuses access without valid credentials; set a token";
        return McpError::new(McpErrorKind::Unauthorized, text);
    }
    let kind = match error {
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. } => {
            McpErrorKind::Connection
        }
        _ => McpErrorKind::Protocol,
    };
    McpError::new(kind, format!("the handshake failed: {}", chain(error)))
}

/// Returns the message of an error, followed by the messages of its causes. Each message appears only once.
pub(super) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let part = error.to_string();
        if !text.contains(&part) {
            text = format!("{text}: {part}");
        }
        cause = error.source();
    }
    text
}

/// The address of a server: a [command](McpCommand), a URL (feature `client-http`), or a pair of byte streams.
///
/// ```
/// use toolkit_mcp::client::{McpClient, McpEndpoint};
///
/// let (stream, _server) = tokio::io::duplex(4_096);
/// let (reader, writer) = tokio::io::split(stream);
/// let client = McpClient::builder(McpEndpoint::streams(reader, writer));
/// ```
#[derive(Clone)]
pub struct McpEndpoint {
    connector: Arc<Connector>,
    /// The default name for the server in messages.
    pub(super) label: String,
    /// Whether the endpoint can be connected more than once.
    pub(super) is_reusable: bool,
}

impl McpEndpoint {
    pub(super) fn new<F>(label: String, connect: impl Fn(Attempt) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Running, McpError>> + Send + 'static,
    {
        let connector = Arc::new(move |attempt| Box::pin(connect(attempt)) as Connecting);
        Self { connector, label, is_reusable: true }
    }

    /// Creates the endpoint of a server behind a pair of byte streams, with one message per line. A lost
    /// connection cannot be restored.
    pub fn streams(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let streams = Mutex::new(Some((reader, writer)));
        let open = move || {
            let streams = lock(&streams).take();
            std::future::ready(streams.ok_or_else(|| io::Error::other("the streams work only once")))
        };
        Self { is_reusable: false, ..Self::streams_from(open) }
    }

    /// Creates the endpoint of a server from a function. The function opens a pair of byte streams, such as
    /// the halves of a socket, and is called again after the connection was lost.
    ///
    /// ```
    /// use tokio::net::TcpStream;
    /// use toolkit_mcp::client::McpEndpoint;
    ///
    /// let server = McpEndpoint::streams_from(|| async {
    ///     Ok(TcpStream::connect("127.0.0.1:9000").await?.into_split())
    /// });
    /// ```
    pub fn streams_from<F, R, W>(open: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<(R, W)>> + Send + 'static,
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        Self::new("mcp".to_owned(), move |attempt| {
            let opened = open();
            async move {
                let (reader, writer) = opened.await.map_err(|error| unreachable(&error))?;
                let lines = ServerLines::new(reader, writer, attempt.limit, attempt.wire.clone());
                attempt.serve(lines).await
            }
        })
    }

    /// Connects and runs the handshake.
    pub(super) fn connect(&self, attempt: Attempt) -> Connecting {
        (self.connector)(attempt)
    }
}

pub(super) fn unreachable(error: &(dyn std::error::Error + 'static)) -> McpError {
    McpError::new(McpErrorKind::Connection, format!("the server cannot be reached: {}", chain(error)))
}

impl From<McpCommand> for McpEndpoint {
    fn from(command: McpCommand) -> Self {
        Self::new(command.label(), move |attempt| {
            let spawned = ChildTransport::spawn(&command, attempt.limit, &attempt.wire);
            async move {
                let transport = spawned?;
                let tail = transport.tail.clone();
                match attempt.serve(transport).await {
                    Ok(running) => Ok(running),
                    Err(error) => Err(error.and(&tail.text().await)),
                }
            }
        })
    }
}

debug!(McpEndpoint, self, "label": self.label);
