//! The server over HTTP, with a client that writes requests by hand.

use super::client::{PATIENCE, STATELESS, Signals, text};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use toolkit_ai::{ToolContext, ToolRegistry, tool, tools};
use toolkit_mcp::server::Caller;
use toolkit_mcp::server::McpServer;

/// Repeats a number.
#[tool]
fn number(big: u128) -> String {
    big.to_string()
}

/// Repeats a letter.
#[tool]
pub(super) fn letters(count: usize) -> String {
    "x".repeat(count)
}

/// Tells about the request.
#[tool]
fn request(#[state] caller: &Caller) -> String {
    let header = caller.header("x-tenant").unwrap_or("none");
    let claims = caller.extension::<Claims>().map_or("none", |claims| claims.0);
    format!("{header} {claims} {}", caller.client_name().unwrap_or_default())
}

#[derive(Clone)]
pub(super) struct Claims(pub(super) &'static str);

/// Waits for a signal.
#[tool]
async fn wait(#[state] signals: Arc<Signals>) -> &'static str {
    signals.wait().await;
    "waited"
}

/// Reports progress and waits for a signal.
#[tool]
async fn report_and_wait(#[state] signals: Arc<Signals>, context: &ToolContext) -> &'static str {
    context.progress(0.5, "half");
    signals.wait().await;
    context.progress(1.0, "all");
    "reported"
}

pub(super) struct Running {
    pub(super) address: SocketAddr,
    pub(super) signals: Arc<Signals>,
    pub(super) stop: oneshot::Sender<()>,
    pub(super) server: JoinHandle<()>,
}

pub(super) fn registry() -> (ToolRegistry, Arc<Signals>) {
    let signals = Arc::new(Signals::default());
    let registry =
        ToolRegistry::from_tools(tools![number, letters, request, wait, report_and_wait]).expect("legal");
    (registry.with_shared_state(signals.clone()), signals)
}

pub(super) async fn start(settings: impl FnOnce(McpServer) -> McpServer) -> Running {
    let (registry, signals) = registry();
    let server = settings(McpServer::new(registry).expect("complete"));
    let server = server.bind_http("127.0.0.1:0").await.expect("a free port");
    let address = server.address();
    assert_eq!(server.url(), format!("http://{address}/mcp"));
    let (stop, stopped) = oneshot::channel();
    let server = tokio::spawn(server.run_until(async { drop(stopped.await) }));
    Running { address, signals, stop, server }
}

pub(super) struct Response {
    pub(super) status: u16,
    head: String,
    pub(super) body: String,
}

impl Response {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
    }

    /// The body's last JSON message, perhaps in a stream of events.
    pub(super) fn json(&self) -> Value {
        let mut events = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        let last = events.by_ref().map(str::trim).rfind(|data| !data.is_empty());
        serde_json::from_str(last.unwrap_or(&self.body)).expect("JSON")
    }
}

/// Sends a request with these headers, and reads the whole response.
pub(super) async fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> Response {
    let host = if headers.contains("Host:") { String::new() } else { format!("Host: {address}\r\n") };
    let request = format!(
        "{method} {path} HTTP/1.1\r\n{host}Accept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}",
        body.len(),
    );
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut response = Vec::new();
        stream.read_to_end(&mut response).await.map(|_| response)
    };
    let response =
        timeout(PATIENCE, exchange).await.expect("the server answers").expect("the server is there");
    let response = String::from_utf8(response).expect("text");
    let (head, body) = response.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let mut response = Response { status, head: head.to_owned(), body: body.to_owned() };
    if response.header("transfer-encoding") == Some("chunked") {
        let mut rest = body;
        let mut whole = String::new();
        while let Some((size, after)) = rest.split_once("\r\n") {
            let size = usize::from_str_radix(size, 16).expect("a size");
            whole.push_str(&after[..size]);
            rest = after[size..].trim_start_matches("\r\n");
        }
        response.body = whole;
    }
    response
}

pub(super) async fn post(address: SocketAddr, headers: &str, body: &Value) -> Response {
    send(address, "POST", "/mcp", headers, &body.to_string()).await
}

/// A call without sessions.
pub(super) fn stateless(name: &str, arguments: &str) -> (String, String) {
    let headers =
        format!("MCP-Protocol-Version: {STATELESS}\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments},"_meta":{meta}}}}}"#
    );
    (headers, body)
}

pub(super) async fn call(address: SocketAddr, more: &str, name: &str, arguments: &str) -> Response {
    let (headers, body) = stateless(name, arguments);
    send(address, "POST", "/mcp", &(headers + more), &body).await
}

pub(super) fn initialize() -> Value {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "old tester", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

/// Opens a session and returns its header.
pub(super) async fn open_session(address: SocketAddr) -> String {
    let response = post(address, "", &initialize()).await;
    assert_eq!(response.json()["result"]["protocolVersion"], "2025-11-25");
    let session = response.header("mcp-session-id").expect("a session");
    let header = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(post(address, &header, &initialized).await.status, 202);
    header
}

pub(super) fn session_call(name: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": name, "arguments": {}}})
}

#[tokio::test]
async fn both_versions_are_served_at_the_same_address() {
    let server = start(|server| server).await;
    let response = call(server.address, "X-Tenant: acme\r\n", "request", "{}").await;
    assert_eq!((response.status, text(&response.json()["result"])), (200, "acme none tester"));
    let (headers, body) = stateless("request", "{}");
    assert_eq!(send(server.address, "POST", "/mcp/", &headers, &body).await.status, 200);
    let session = open_session(server.address).await;
    let response = post(server.address, &session, &session_call("request")).await;
    assert_eq!(text(&response.json()["result"]), "none none old tester");
    assert_eq!(send(server.address, "DELETE", "/mcp", &session, "").await.status, 204);
    assert_eq!(post(server.address, &session, &session_call("request")).await.status, 404);
}

#[tokio::test]
async fn arguments_reach_the_tool_as_they_were_written() {
    let server = start(|server| server).await;
    let big = "340282366920938463463374607431768211455";
    let response = call(server.address, "", "number", &format!("{{\"big\":{big}}}")).await;
    assert_eq!(text(&response.json()["result"]), big);
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused() {
    let server = start(|server| server).await;
    for (headers, status) in [
        ("Host: evil.example.com\r\n", 403),
        ("Origin: http://evil.example.com\r\n", 403),
        ("Origin: null\r\n", 403),
        ("Origin: http://localhost:3000\r\n", 200),
        ("", 200),
    ] {
        assert_eq!(call(server.address, headers, "request", "{}").await.status, status, "{headers}");
    }
    let server = start(|server| {
        server.with_allowed_hosts(["tools.example.com"]).with_allowed_origins(["https://app.example.com:443"])
    })
    .await;
    let allowed = "Host: tools.example.com\r\nOrigin: https://app.example.com\r\n";
    assert_eq!(call(server.address, allowed, "request", "{}").await.status, 200);
    assert_eq!(call(server.address, "", "request", "{}").await.status, 403);
}

#[tokio::test]
async fn a_token_is_required_if_there_is_one() {
    let server = start(|server| server.with_bearer_token("open sesame")).await;
    for (headers, status) in [
        ("", 401),
        ("Authorization: Bearer wrong\r\n", 401),
        ("Authorization: Basic open sesame\r\n", 401),
        ("Authorization: bearer open sesame\r\n", 200),
    ] {
        let response = call(server.address, headers, "request", "{}").await;
        assert_eq!(response.status, status, "{headers}");
        assert_eq!(response.header("www-authenticate"), (status == 401).then_some("Bearer"));
    }
}

#[tokio::test]
async fn a_token_is_read_without_line_breaks() {
    let server = start(|server| server.with_bearer_token("from a file\n")).await;
    let known = "Authorization: Bearer from a file\r\n";
    assert_eq!(call(server.address, known, "request", "{}").await.status, 200);
}

#[tokio::test]
async fn a_request_beyond_the_limit_is_refused() {
    let server = start(|server| server.with_max_request_size(1_000)).await;
    let arguments = format!("{{\"big\":\"{}\"}}", "1".repeat(1_000));
    assert_eq!(call(server.address, "", "number", &arguments).await.status, 413);
    assert_eq!(call(server.address, "", "number", "{\"big\":1}").await.status, 200);
}

#[tokio::test]
async fn only_this_machine_is_served_unless_hosts_are_named() {
    let (registry, _) = registry();
    let server = McpServer::new(registry).expect("complete");
    let error = server.clone().bind_http("0.0.0.0:0").await.expect_err("everybody could connect");
    assert!(error.to_string().contains("name the accepted hosts with `with_allowed_hosts`"), "{error}");
    let none: [&str; 0] = [];
    server.clone().with_allowed_hosts(none).bind_http("0.0.0.0:0").await.expect_err("no host is named");
    let server = server.with_allowed_hosts(["tools.example.com"]).bind_http("0.0.0.0:0").await;
    assert!(server.expect("the hosts are named").address().port() > 0);
}

#[cfg(feature = "axum-08")]
#[tokio::test]
async fn a_router_stands_beside_other_routes_and_passes_claims_on() {
    let (registry, _) = registry();
    let tools: axum::Router =
        McpServer::new(registry).expect("complete").with_path("/tools").expect("a path").into_router();
    let add_claims = |mut request: axum::extract::Request| {
        request.extensions_mut().insert(Claims("admin"));
        request
    };
    let app = tools
        .layer(tower::util::MapRequestLayer::new(add_claims))
        .route("/health", axum::routing::get(|| async { "ok" }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, app).await });
    assert_eq!(send(address, "GET", "/health", "", "").await.body, "ok");
    let (headers, body) = stateless("request", "{}");
    let response = send(address, "POST", "/tools", &headers, &body).await;
    assert_eq!(text(&response.json()["result"]), "none admin tester");
}

#[tokio::test]
async fn a_stopped_server_lets_running_calls_end() {
    let server = start(|server| server).await;
    let address = server.address;
    let running = tokio::spawn(async move { call(address, "", "wait", "{}").await });
    timeout(PATIENCE, server.signals.begun.notified()).await.expect("the call begins");
    server.stop.send(()).expect("the server runs");
    let closed = async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, closed).await.expect("a stopped server accepts no connection");
    server.signals.open.notify_one();
    let response = running.await.expect("a response");
    assert_eq!(text(&response.json()["result"]), "waited");
    timeout(PATIENCE, server.server).await.expect("the server ends").expect("no panic");
}

#[tokio::test]
async fn a_stopped_server_waits_no_longer_than_its_grace() {
    let server = start(|server| server.with_grace(Duration::from_millis(50))).await;
    let address = server.address;
    let running = tokio::spawn(async move {
        let (headers, body) = stateless("wait", "{}");
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.expect("a request");
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response).await;
    });
    timeout(PATIENCE, server.signals.begun.notified()).await.expect("the call begins");
    server.stop.send(()).expect("the server runs");
    timeout(PATIENCE, server.server).await.expect("the server ends").expect("no panic");
    running.abort();
}

#[tokio::test]
async fn a_call_ends_when_its_client_disappears() {
    let server = start(|server| server).await;
    let address = server.address;
    let client = tokio::spawn(async move { call(address, "", "wait", "{}").await });
    timeout(PATIENCE, server.signals.begun.notified()).await.expect("the call begins");
    client.abort();
    timeout(PATIENCE, server.signals.dropped.notified()).await.expect("the call is dropped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_sessions_work_at_the_same_time() {
    let server = start(|server| server).await;
    let address = server.address;
    let sessions: Vec<_> = (0..200)
        .map(|_| {
            tokio::spawn(async move {
                let session = open_session(address).await;
                for _ in 0..3 {
                    let response = post(address, &session, &session_call("request")).await;
                    assert_eq!(text(&response.json()["result"]), "none none old tester");
                }
            })
        })
        .collect();
    for session in sessions {
        session.await.expect("the session works");
    }
}
