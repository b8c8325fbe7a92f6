//! Responses over HTTP as streams of events: progress, changes and cancellation.

use super::client::{PATIENCE, STATELESS, text};
use super::http::{letters, open_session, post, session_call, start, stateless};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use toolkit_ai::{LiveRegistry, ToolRegistry};
use toolkit_mcp::server::McpServer;

/// A response that stays open.
pub(super) struct Stream {
    stream: TcpStream,
    text: String,
}

impl Stream {
    pub(super) async fn open(address: SocketAddr, method: &str, headers: &str, body: &str) -> Self {
        let request = format!(
            "{method} /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n{body}",
            body.len(),
        );
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(request.as_bytes()).await.expect("a request");
        Self { stream, text: String::new() }
    }

    /// Reads until `part`, and returns everything since the last call.
    pub(super) async fn until(&mut self, part: &str) -> String {
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

async fn live() -> (SocketAddr, LiveRegistry) {
    let live =
        LiveRegistry::new(ToolRegistry::from_tools([letters::tool()]).expect("legal")).expect("complete");
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
    // Another call's notice changes nothing.
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

/// The headers and body of a call with a progress token, without and in a session.
pub(super) async fn reporting_calls(address: SocketAddr) -> [(String, String); 2] {
    let (headers, body) = stateless("report_and_wait", "{}");
    let body = body.replacen("\"_meta\":{", "\"_meta\":{\"progressToken\":\"token 1\",", 1);
    let mut in_session = session_call("report_and_wait");
    in_session["params"]["_meta"] = json!({"progressToken": "token 1"});
    [(headers, body), (open_session(address).await, in_session.to_string())]
}

fn messages(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| !data.is_empty());
    data.map(|data| serde_json::from_str(data).expect("JSON")).collect()
}

#[tokio::test]
async fn progress_arrives_while_the_call_runs_and_the_result_ends_the_stream() {
    let server = start(|server| server).await;
    for (headers, body) in reporting_calls(server.address).await {
        let mut events = Stream::open(server.address, "POST", &headers, &body).await;
        let first = events.until("half").await;
        for header in ["HTTP/1.1 200", "content-type: text/event-stream", "cache-control: no-cache"] {
            assert!(first.contains(header), "{first}");
        }
        let report = json!({"progressToken": "token 1", "progress": 50.0, "total": 100.0, "message": "half"});
        assert_eq!(messages(&first).pop().expect("a report")["params"], report);
        server.signals.open.notify_one();
        // An empty last chunk ends the stream, and the connection stays.
        let rest = messages(&events.until("\r\n0\r\n").await);
        assert_eq!(rest[0]["params"]["progress"], 100.0);
        assert_eq!((text(&rest[1]["result"]), rest.len()), ("reported", 2));
    }
}

#[tokio::test]
async fn a_long_call_without_a_session_is_answered_with_a_stream_before_it_ends() {
    let server = start(|server| server).await;
    let (headers, body) = stateless("wait", "{}");
    let mut events = Stream::open(server.address, "POST", &headers, &body).await;
    assert!(events.until("text/event-stream").await.starts_with("HTTP/1.1 200"));
    server.signals.open.notify_one();
    let rest = events.until("\r\n0\r\n").await;
    assert!(rest.contains("data: ") && rest.contains(r#""text":"waited""#), "{rest}");
}

#[tokio::test]
async fn a_call_without_a_session_ends_when_its_client_leaves_the_stream() {
    let server = start(|server| server).await;
    let [(headers, body), _] = reporting_calls(server.address).await;
    let (long_headers, long_body) = stateless("wait", "{}");
    for (headers, body, part) in [(headers, body, "half"), (long_headers, long_body, "text/event-stream")] {
        let mut events = Stream::open(server.address, "POST", &headers, &body).await;
        events.until(part).await;
        drop(events);
        timeout(PATIENCE, server.signals.dropped.notified()).await.expect("the call is dropped");
    }
}

#[tokio::test]
async fn a_stopped_server_ends_its_streams_with_their_results() {
    let server = start(|server| server).await;
    let mut streams = Vec::new();
    for (headers, body) in reporting_calls(server.address).await {
        let mut events = Stream::open(server.address, "POST", &headers, &body).await;
        events.until("half").await;
        timeout(PATIENCE, server.signals.begun.notified()).await.expect("the call begins");
        streams.push(events);
    }
    server.stop.send(()).expect("the server runs");
    server.signals.open.notify_waiters();
    for mut events in streams {
        events.until("reported").await;
    }
    timeout(PATIENCE, server.server).await.expect("the server ends").expect("no panic");
}
