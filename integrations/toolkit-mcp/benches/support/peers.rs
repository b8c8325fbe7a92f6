//! The servers in the comparison of servers, and clients that do as little work as possible.

use super::bare::Bare;
use rmcp::ServiceExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use std::env;
use std::pin::Pin;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use toolkit_ai::{ToolRegistry, tool, tools};
use toolkit_mcp::server::McpServer;

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> String {
    (a + b).to_string()
}

pub(crate) fn ours() -> McpServer {
    McpServer::new(ToolRegistry::from_tools(tools![add]).unwrap()).unwrap()
}

/// A server in the comparison.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Toolkit,
    Sdk,
    FastMcp,
}

impl Kind {
    pub(crate) const BOTH: [Self; 2] = [Self::Toolkit, Self::Sdk];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Toolkit => "toolkit",
            Self::Sdk => "rmcp",
            Self::FastMcp => "fastmcp",
        }
    }
}

pub(crate) const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

/// A client that writes calls and reads responses as lines, with as little work as possible.
pub(crate) struct LineClient {
    read: BufReader<Pin<Box<dyn AsyncRead + Send>>>,
    write: Pin<Box<dyn AsyncWrite + Send>>,
    line: Vec<u8>,
    next: u64,
    _child: Option<Child>,
}

impl LineClient {
    pub(crate) fn new(
        read: impl AsyncRead + Send + 'static,
        write: impl AsyncWrite + Send + 'static,
        child: Option<Child>,
    ) -> Self {
        let read = BufReader::new(Box::pin(read) as Pin<Box<dyn AsyncRead + Send>>);
        Self { read, write: Box::pin(write), line: Vec::new(), next: 1, _child: child }
    }

    pub(crate) async fn in_memory(kind: Kind) -> Self {
        let (client, server) = tokio::io::duplex(1 << 16);
        match kind {
            Kind::Toolkit => drop(tokio::spawn(ours().serve(server))),
            _ => drop(tokio::spawn(async { Bare::new().serve(server).await.unwrap().waiting().await })),
        }
        let (read, write) = tokio::io::split(client);
        Self::new(read, write, None).open().await
    }

    pub(crate) async fn over_stdio(kind: Kind) -> Option<Self> {
        let mut command = match kind {
            Kind::FastMcp => fastmcp(),
            _ => {
                let mut command = Command::new(env::current_exe().unwrap());
                command.args(["serve-stdio", kind.name()]);
                command
            }
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().ok()?;
        let read = child.stdout.take()?;
        let write = child.stdin.take()?;
        Some(Self::new(read, write, Some(child)).open().await)
    }

    pub(crate) async fn open(mut self) -> Self {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        });
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        self.write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        self.write.flush().await.unwrap();
        self.response().await;
        let initialized = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
        self.write.write_all(initialized.as_bytes()).await.unwrap();
        self.write.flush().await.unwrap();
        self
    }

    pub(crate) async fn send(&mut self, calls: u64) {
        let mut lines = String::new();
        for _ in 0..calls {
            let id = self.next;
            self.next += 1;
            lines.push_str(&format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"add\",\"arguments\":{{\"a\":{id},\"b\":2}}}}}}\n"
            ));
        }
        self.write.write_all(lines.as_bytes()).await.unwrap();
        self.write.flush().await.unwrap();
    }

    pub(crate) async fn response(&mut self) {
        self.line.clear();
        let read = self.read.read_until(b'\n', &mut self.line).await.unwrap();
        assert!(read > 0, "the server has left");
    }

    /// Runs one call.
    pub(crate) async fn call(&mut self) {
        self.send(1).await;
        self.response().await;
        debug_assert!(self.line.windows(6).any(|part| part == b"result"));
    }

    /// Runs calls with many on their way at once.
    pub(crate) async fn flood(&mut self, calls: u64) {
        for _ in 0..calls / 50 {
            self.send(50).await;
            for _ in 0..50 {
                self.response().await;
            }
        }
    }
}

/// A client over one HTTP connection that stays open.
pub(crate) struct HttpClient {
    stream: BufReader<TcpStream>,
    session: Option<String>,
    next: u64,
}

impl HttpClient {
    pub(crate) async fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream), session: None, next: 1 }
    }

    async fn post(&mut self, headers: &str, body: &str) -> String {
        let session = self.session.as_ref().map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n{session}{headers}\r\n{body}",
            body.len(),
        );
        self.stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = String::new();
        let mut length = 0;
        let mut is_chunked = false;
        loop {
            let start = head.len();
            assert!(self.stream.read_line(&mut head).await.unwrap() > 0, "the server has left");
            let line = head[start..].trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            is_chunked |= line == "transfer-encoding: chunked";
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await.unwrap();
        while is_chunked {
            let mut size = String::new();
            self.stream.read_line(&mut size).await.unwrap();
            let mut chunk = vec![0; usize::from_str_radix(size.trim(), 16).unwrap() + 2];
            self.stream.read_exact(&mut chunk).await.unwrap();
            is_chunked = chunk.len() > 2;
        }
        head
    }

    /// Connects and opens a session.
    pub(crate) async fn in_session(port: u16) -> Self {
        let mut client = Self::connect(port).await;
        client.open_session().await;
        client
    }

    /// Runs one call of the version without sessions.
    pub(crate) async fn call(&mut self) {
        self.call_with(META).await;
    }

    /// Runs one call of the version without sessions, with a token for progress reports. The SDK's own client sends
    /// such a token with each call.
    pub(crate) async fn call_with_token(&mut self) {
        let token = format!("\"_meta\":{{\"progressToken\":{},", self.next);
        self.call_with(&META.replacen("\"_meta\":{", &token, 1)).await;
    }

    /// Runs one call in the open session.
    pub(crate) async fn call_in_session(&mut self) {
        let id = self.next;
        self.next += 1;
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"_meta\":{{\"progressToken\":{id}}},\"name\":\"add\",\"arguments\":{{\"a\":{id},\"b\":2}}}}}}"
        );
        let head = self.post("MCP-Protocol-Version: 2025-11-25\r\n", &body).await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    }

    async fn call_with(&mut self, meta: &str) {
        let id = self.next;
        self.next += 1;
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"add\",\"arguments\":{{\"a\":{id},\"b\":2}},{meta}}}}}"
        );
        let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: add\r\n";
        let head = self.post(headers, &body).await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    }

    pub(crate) async fn open_session(&mut self) {
        let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
        let head = self.post("", body).await;
        let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        self.session = Some(session.expect("a session").trim().to_owned());
        self.post(
            "MCP-Protocol-Version: 2025-11-25\r\n",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        )
        .await;
    }
}

/// The kinds of calls over HTTP that are measured beside the usual call.
#[derive(Clone, Copy)]
pub(crate) enum HttpCall {
    Usual,
    WithToken,
    InSession,
}

impl HttpCall {
    pub(crate) const ALL: [Self; 3] = [Self::Usual, Self::WithToken, Self::InSession];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Usual => "without sessions",
            Self::WithToken => "with a progress token",
            Self::InSession => "in a session",
        }
    }

    pub(crate) async fn client(self, port: u16) -> HttpClient {
        match self {
            Self::InSession => HttpClient::in_session(port).await,
            _ => HttpClient::connect(port).await,
        }
    }

    pub(crate) async fn run(self, client: &mut HttpClient) {
        match self {
            Self::Usual => client.call().await,
            Self::WithToken => client.call_with_token().await,
            Self::InSession => client.call_in_session().await,
        }
    }
}

pub(crate) async fn serve_http(kind: Kind, listener: TcpListener) {
    let router = match kind {
        Kind::Toolkit => axum::Router::new().route_service("/mcp", ours().into_service()),
        _ => {
            let config = StreamableHttpServerConfig::default().with_json_response(true);
            let service = StreamableHttpService::new(
                || Ok(Bare::new()),
                std::sync::Arc::new(LocalSessionManager::default()),
                config,
            );
            axum::Router::new().route_service("/mcp", service)
        }
    };
    axum::serve(axum::serve::ListenerExt::tap_io(listener, |stream| drop(stream.set_nodelay(true))), router)
        .await
        .unwrap();
}

/// The command of the FastMCP server.
fn fastmcp() -> Command {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let tools = env::var("TOOLKIT_MCP_TOOLS").unwrap_or(format!("{root}/target/mcp-tools"));
    let mut command = Command::new(format!("{tools}/python/bin/python"));
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/fastmcp_server.py"));
    command
}

/// Starts a server over HTTP in a process of its own and returns its port. `None` if FastMCP is not installed.
pub(crate) async fn http_child(kind: Kind) -> Option<(Child, u16)> {
    if kind == Kind::FastMcp {
        let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let mut command = fastmcp();
        let child = command.arg(port.to_string()).stderr(Stdio::null()).kill_on_drop(true).spawn().ok()?;
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return Some((child, port));
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        return None;
    }
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["serve-http", kind.name()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let port = port(&mut child).await;
    Some((child, port))
}

/// Reads the port of a server.
pub(crate) async fn port(child: &mut Child) -> u16 {
    let mut port = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).await.unwrap();
    port.trim().parse().unwrap()
}
