//! Endpoints: the addresses of servers, and the functions for connecting.

use super::handshake::{Attempt, Running};
use crate::client::failures::unreachable;
use crate::client::transport::{ChildTransport, McpCommand, ServerLines};
use crate::macros::debug;
use crate::mcp_error::McpError;
use crate::request_span::NetworkPath;
use std::future::ready;
use std::io;
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use toolkit_core::__private::lock;

type Connecting = Pin<Box<dyn Future<Output = Result<Running, McpError>> + Send>>;
type Connector = dyn Fn(Attempt) -> Connecting + Send + Sync;

/// The address of a server: a [command](McpCommand), a URL (feature `client-http`), or a pair of byte
/// streams.
///
/// ```
/// use toolkit_ai::mcp::client::{McpClient, McpEndpoint};
///
/// let (stream, _server) = tokio::io::duplex(4_096);
/// let (reader, writer) = tokio::io::split(stream);
/// let client = McpClient::builder(McpEndpoint::streams(reader, writer));
/// ```
#[derive(Clone)]
pub struct McpEndpoint {
    connector: Arc<Connector>,
    /// The default name of the server in messages.
    pub(crate) label: String,
    /// Whether it can be connected more than once.
    pub(crate) is_reusable: bool,
    /// Whether the server needs `initialize`, as far as known.
    pub(super) is_legacy: Arc<AtomicBool>,
    /// The time for a login, added to that for connecting.
    pub(crate) login_time: Duration,
    pub(super) path: NetworkPath,
}

impl McpEndpoint {
    pub(super) fn new<F>(label: String, connect: impl Fn(Attempt) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Running, McpError>> + Send + 'static,
    {
        let connector = Arc::new(move |attempt| Box::pin(connect(attempt)) as Connecting);
        Self {
            connector,
            label,
            is_reusable: true,
            is_legacy: Arc::default(),
            login_time: Duration::ZERO,
            path: NetworkPath::default(),
        }
    }

    /// Creates the endpoint of a server behind a pair of byte streams, with one message per line.
    ///
    /// A lost connection cannot be restored.
    pub fn streams(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let streams = Mutex::new(Some((reader, writer)));
        Self { is_reusable: false, ..Self::streams_from(move || ready(take_once(&streams))) }
    }

    /// Creates an endpoint from a function that opens a pair of byte streams, such as the halves of a socket.
    /// It is called again after the connection was lost.
    ///
    /// ```
    /// use tokio::net::TcpStream;
    /// use toolkit_ai::mcp::client::McpEndpoint;
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
        Self::new("mcp".to_owned(), move |attempt| serve_streams(attempt, open()))
    }

    pub(super) fn connect(&self, attempt: Attempt) -> Connecting {
        (self.connector)(attempt)
    }
}

fn take_once<S>(streams: &Mutex<Option<S>>) -> io::Result<S> {
    lock(streams).take().ok_or_else(|| io::Error::other("the streams work only once"))
}

async fn serve_streams<R, W>(
    attempt: Attempt,
    opening: impl Future<Output = io::Result<(R, W)>>,
) -> Result<Running, McpError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (reader, writer) = opening.await.map_err(|error| unreachable(&error))?;
    let lines = ServerLines::new(reader, writer, attempt.limit, attempt.wire.clone());
    attempt.serve(lines).await
}

async fn serve_child(attempt: Attempt, command: McpCommand) -> Result<Running, McpError> {
    let child = ChildTransport::spawn(&command, attempt.limit, &attempt.wire)?;
    attempt.serve(child).await
}

impl From<McpCommand> for McpEndpoint {
    fn from(command: McpCommand) -> Self {
        let label = command.label();
        let mut endpoint = Self::new(label, move |attempt| serve_child(attempt, command.clone()));
        endpoint.path.transport = Some("pipe");
        endpoint
    }
}

debug!(McpEndpoint, self, "label": self.label);
