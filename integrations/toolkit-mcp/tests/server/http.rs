//! The server over HTTP, with a client that writes requests by hand.

use super::client::{PATIENCE, STATELESS, Signals, text};
use axum::Router;
use axum::routing::get;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use toolkit::{LiveRegistry, ToolRegistry, tool, tools};
use toolkit_mcp::McpServer;
use toolkit_mcp::server::{Caller, ServeError};

/// Repeats a number.
#[tool]
fn number(big: u128) -> String {
    big.to_string()
}

/// Repeats a letter.
#[tool]
fn letters(count: usize) -> String {
    "x".repeat(count)
}

/// Tells about the request.
#[tool]
fn request(#[state] caller: &Caller) -> String {
    let header = caller.header("x-tenant").unwrap_or("none");
    let claims = caller.extension::<Claims>().map_or("none", |claims| claims.0);
    format!("{header} {claims} {}", caller.client_name().unwrap_or_default())
}

/// Token claims, added by a layer of the program.
#[derive(Clone)]
struct Claims(&'static str);

/// Waits for a signal.
#[tool]
async fn wait(#[state] signals: Arc<Signals>) -> &'static str {
    signals.wait().await;
    "waited"
}

pub(super) struct Running {
    pub(super) address: SocketAddr,
    pub(super) signals: Arc<Signals>,
    stop: oneshot::Sender<()>,
    server: JoinHandle<Result<(), ServeError>>,
}

fn registry() -> (ToolRegistry, Arc<Signals>) {
    let signals = Arc::new(Signals::default());
    let registry = ToolRegistry::from_tools(tools![number, letters, request, wait]).expect("legal");
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

    /// The last JSON message of the body, which may be a stream of events.
    pub(super) fn json(&self) -> Value {
        let mut events = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        let last = events.by_ref().map(str::trim).rfind(|data| !data.is_empty());
        serde_json::from_str(last.unwrap_or(&self.body)).expect("JSON")
    }
}

/// Sends a request with these header lines and reads the response to its end.
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
        let (mut rest, mut whole) = (body, String::new());
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

/// A call of the version without sessions.
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

/// Opens a session and returns the header that names it.
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
    let session = open_session(server.address).await;
    let response = post(server.address, &session, &session_call("request")).await;
    assert_eq!(text(&response.json()["result"]), "none none old tester");
    assert_eq!(send(server.address, "DELETE", "/mcp", &session, "").await.status, 202);
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
async fn a_token_is_read_without_line_breaks_and_an_empty_token_refuses_all() {
    let server = start(|server| server.with_bearer_token("from a file\n")).await;
    let known = "Authorization: Bearer from a file\r\n";
    assert_eq!(call(server.address, known, "request", "{}").await.status, 200);
    let server = start(|server| server.with_bearer_token("")).await;
    for headers in
        ["", "Authorization: Bearer\r\n", "Authorization: Bearer \r\n", "Authorization: Bearer  \t\r\n"]
    {
        assert_eq!(call(server.address, headers, "request", "{}").await.status, 401, "{headers:?}");
    }
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

#[tokio::test]
async fn a_router_stands_beside_other_routes_and_passes_claims_on() {
    let (registry, _) = registry();
    let tools: Router = McpServer::new(registry).expect("complete").with_path("/tools").into_router();
    let add_claims = |mut request: axum::extract::Request| {
        request.extensions_mut().insert(Claims("admin"));
        request
    };
    let app =
        tools.layer(tower::util::MapRequestLayer::new(add_claims)).route("/health", get(|| async { "ok" }));
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
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(TcpStream::connect(address).await.is_err(), "a stopped server accepts no connection");
    server.signals.open.notify_one();
    let response = running.await.expect("a response");
    assert_eq!(text(&response.json()["result"]), "waited");
    timeout(PATIENCE, server.server).await.expect("the server ends").expect("no panic").expect("no error");
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
    timeout(PATIENCE, server.server).await.expect("the server ends").expect("no panic").expect("no error");
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

#[tokio::test]
async fn a_notice_of_cancellation_ends_a_call_in_a_session() {
    let server = start(|server| server).await;
    let address = server.address;
    let session = open_session(address).await;
    let running = {
        let session = session.clone();
        tokio::spawn(async move { post(address, &session, &session_call("wait")).await })
    };
    timeout(PATIENCE, server.signals.begun.notified()).await.expect("the call begins");
    // The notice of another call changes nothing.
    for (id, is_dropped) in [(6, false), (7, true)] {
        let params = json!({"requestId": id, "reason": "changed my mind"});
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        assert_eq!(post(address, &session, &notice).await.status, 202);
        let limit = if is_dropped { PATIENCE } else { Duration::from_millis(100) };
        assert_eq!(timeout(limit, server.signals.dropped.notified()).await.is_ok(), is_dropped);
    }
    let response = post(address, &session, &session_call("request")).await;
    assert_eq!(text(&response.json()["result"]), "none none old tester", "the session goes on");
    running.abort();
}

/// Serves tools with `serve_http` at the address in a variable, until a signal ends the server. The tests below start
/// this program again.
#[cfg(unix)]
#[tokio::test]
#[ignore = "the server of other tests"]
async fn serve() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let registry = ToolRegistry::from_tools(tools![slow]).expect("legal");
    let served = McpServer::new(registry).expect("complete").serve_http(address.as_str()).await;
    std::process::exit(if served.is_ok() { 7 } else { 8 });
}

#[cfg(unix)]
const ADDRESS: &str = "TOOLKIT_MCP_TEST_ADDRESS";

/// Takes some time.
#[cfg(unix)]
#[tool]
async fn slow() -> &'static str {
    tokio::time::sleep(Duration::from_millis(700)).await;
    "slow"
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_stops_the_server_after_its_running_calls() {
    for signal in ["-TERM", "-INT"] {
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = free.local_addr().expect("an address");
        drop(free);
        let mut server = tokio::process::Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "server::http::serve", "--ignored", "--nocapture"])
            .env(ADDRESS, address.to_string())
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("a process");
        let started = async {
            while TcpStream::connect(address).await.is_err() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(PATIENCE, started).await.expect("the server starts");
        let running = tokio::spawn(async move { call(address, "", "slow", "{}").await });
        tokio::time::sleep(Duration::from_millis(200)).await;
        let id = server.id().expect("it runs").to_string();
        let sent = tokio::process::Command::new("kill").args([signal, &id]).status().await;
        assert!(sent.expect("`kill` exists").success());
        let response = running.await.expect("a response");
        assert_eq!(text(&response.json()["result"]), "slow", "{signal}: a running call ends");
        let status = timeout(PATIENCE, server.wait()).await.expect("the server ends").expect("a status");
        assert_eq!(status.code(), Some(7), "{signal}: the server ends without an error");
        assert!(TcpStream::connect(address).await.is_err());
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_bound_is_an_error() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address");
    let (registry, _) = registry();
    let error = McpServer::new(registry).expect("complete").serve_http(address).await.expect_err("taken");
    assert!(matches!(&error, ServeError::Io(_)), "{error}");
}

/// A response that stays open, such as a stream of events.
struct Stream {
    stream: TcpStream,
    text: String,
}

impl Stream {
    async fn open(address: SocketAddr, method: &str, headers: &str, body: &str) -> Self {
        let request = format!(
            "{method} /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n{body}",
            body.len(),
        );
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(request.as_bytes()).await.expect("a request");
        Self { stream, text: String::new() }
    }

    /// Reads until `part` has arrived, and returns everything that was read since the last call.
    async fn until(&mut self, part: &str) -> String {
        let read = async {
            while !self.text.contains(part) {
                let mut bytes = [0; 4_096];
                let read = self.stream.read(&mut bytes).await.expect("the server is there");
                assert!(read > 0, "the stream ended before `{part}`: {}", self.text);
                self.text.push_str(std::str::from_utf8(&bytes[..read]).expect("text"));
            }
        };
        timeout(PATIENCE, read).await.unwrap_or_else(|_| panic!("`{part}` is missing: {}", self.text));
        std::mem::take(&mut self.text)
    }
}

/// Starts a server with a live registry.
async fn live() -> (SocketAddr, LiveRegistry) {
    let live =
        LiveRegistry::new(ToolRegistry::from_tools(tools![letters]).expect("legal")).expect("complete");
    let server = McpServer::new(&live).expect("complete").bind_http("127.0.0.1:0").await;
    let server = server.expect("a free port");
    let address = server.address();
    tokio::spawn(server.run_until(std::future::pending()));
    (address, live)
}

#[tokio::test]
async fn a_change_is_announced_to_a_session_over_http() {
    let (address, live) = live().await;
    let session = open_session(address).await;
    let mut events = Stream::open(address, "GET", &session, "").await;
    assert!(events.until("\r\n\r\n").await.starts_with("HTTP/1.1 200"));
    live.change(|registry| registry.unregister("letters")).expect("it changes");
    events.until("notifications/tools/list_changed").await;
}

#[tokio::test]
async fn a_change_is_announced_to_a_subscription_over_http() {
    let (address, live) = live().await;
    let headers = format!("MCP-Protocol-Version: {STATELESS}\r\nMcp-Method: subscriptions/listen\r\n");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 5, "method": "subscriptions/listen", "params": params});
    let mut events = Stream::open(address, "POST", &headers, &body.to_string()).await;
    events.until("notifications/subscriptions/acknowledged").await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    live.change(|registry| registry.unregister("letters")).expect("it changes");
    let text = events.until("notifications/tools/list_changed").await;
    assert!(text.contains(r#""io.modelcontextprotocol/subscriptionId":5"#), "{text}");
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
