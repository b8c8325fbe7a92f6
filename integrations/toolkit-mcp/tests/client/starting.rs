//! Servers that start slowly, or refuse, ignore or do not survive a later version's request.

use super::bare::tool;
use super::process::server;
use super::{call, event, within};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};
use tokio::time::{Instant, sleep};
use toolkit_ai::{LiveRegistry, ToolProvider, ToolRegistry};
use toolkit_mcp::McpErrorKind;
use toolkit_mcp::client::{McpBackoff, McpClient, McpEndpoint, McpEvent};

/// A server's reaction to `server/discover` or `initialize`.
#[derive(Clone, Copy, PartialEq)]
enum Reaction {
    Answers,
    /// Answers the request after the next one.
    AnswersLast,
    Refuses,
    Ignores,
    Dies,
}
use Reaction::{Answers, AnswersLast, Dies, Ignores, Refuses};

/// A server, and the methods received over each connection.
#[derive(Clone)]
struct Scripted {
    on_discover: Reaction,
    on_initialize: Reaction,
    /// The time before its first read.
    start: Duration,
    received: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Scripted {
    fn new(on_discover: Reaction, on_initialize: Reaction, seconds: u64) -> Self {
        let start = Duration::from_secs(seconds);
        Self { on_discover, on_initialize, start, received: Arc::default() }
    }

    fn endpoint(&self) -> McpEndpoint {
        let server = self.clone();
        McpEndpoint::streams_from(move || {
            let (near, far) = duplex(1 << 16);
            tokio::spawn(server.clone().serve(far));
            async move { Ok(split(near)) }
        })
    }

    async fn serve(self, stream: DuplexStream) {
        let connection = {
            let mut received = self.received.lock().unwrap();
            received.push(Vec::new());
            received.len() - 1
        };
        let (reader, mut writer) = split(stream);
        sleep(self.start).await;
        let mut lines = BufReader::new(reader).lines();
        let mut last = String::new();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            let method = message["method"].as_str().unwrap();
            self.received.lock().unwrap()[connection].push(method.to_owned());
            let (reaction, result) = match method {
                "server/discover" => (
                    self.on_discover,
                    json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "resultType": "complete",
                           "ttlMs": 0, "cacheScope": "private"}),
                ),
                "initialize" => (
                    self.on_initialize,
                    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                           "serverInfo": {"name": "scripted", "version": "1"}}),
                ),
                "tools/list" => (
                    Answers,
                    json!({"tools": [tool("echo", json!({"type": "object"}))], "resultType": "complete",
                           "ttlMs": 0, "cacheScope": "private"}),
                ),
                "tools/call" if message["params"]["arguments"]["end"] == true => (Dies, Value::Null),
                "tools/call" => {
                    let text = json!([{"type": "text", "text": "echo"}]);
                    (Answers, json!({"content": text, "resultType": "complete"}))
                }
                _ => continue,
            };
            let mut answer = json!({"jsonrpc": "2.0", "id": message["id"]});
            match reaction {
                Dies => return,
                Ignores => continue,
                Answers | AnswersLast => answer["result"] = result,
                Refuses => answer["error"] = json!({"code": -32601, "message": "Method not found"}),
            }
            if reaction == AnswersLast {
                last = format!("{answer}\n");
                continue;
            }
            writer.write_all(format!("{answer}\n{}", std::mem::take(&mut last)).as_bytes()).await.unwrap();
        }
    }

    /// Returns all connections' methods without those of tools.
    fn handshakes(&self) -> Vec<String> {
        let connections = self.received.lock().unwrap();
        let is_handshake = |method: &&String| !method.starts_with("tools/");
        connections
            .iter()
            .map(|methods| methods.iter().filter(is_handshake).cloned().collect::<Vec<_>>().join(" "))
            .collect()
    }
}

const BOTH: &str = "server/discover initialize";
const ALL: &str = "server/discover initialize notifications/initialized";
const OLD: &str = "initialize notifications/initialized";

#[tokio::test(start_paused = true)]
async fn a_server_of_each_version_is_connected_and_its_version_remembered() {
    // The server, its handshakes, the seconds until connected, and a second connection's handshakes.
    for (server, first, seconds, second) in [
        (Scripted::new(Answers, Refuses, 0), vec!["server/discover"], 0, vec!["server/discover"]),
        (Scripted::new(Refuses, Answers, 0), vec![ALL], 0, vec![OLD]),
        (Scripted::new(Ignores, Answers, 0), vec![ALL], 2, vec![OLD]),
        (Scripted::new(Dies, Answers, 0), vec!["server/discover", OLD], 0, vec![OLD]),
        // The server has both requests before it reads.
        (Scripted::new(Answers, Answers, 60), vec![BOTH], 60, vec![BOTH]),
        (Scripted::new(Answers, Refuses, 60), vec![BOTH], 60, vec![BOTH]),
        (Scripted::new(Answers, Ignores, 60), vec![BOTH], 60, vec![BOTH]),
        (Scripted::new(AnswersLast, Refuses, 60), vec![BOTH], 60, vec![BOTH]),
        (Scripted::new(Refuses, Answers, 60), vec![ALL], 60, vec![OLD]),
        (Scripted::new(Ignores, Answers, 60), vec![ALL], 60, vec![OLD]),
        (Scripted::new(Dies, Answers, 40), vec!["server/discover", OLD], 80, vec![OLD]),
    ] {
        let started = Instant::now();
        let backoff = McpBackoff::default().with_first(Duration::ZERO);
        let client = McpClient::builder(server.endpoint()).backoff(backoff).connect().await.unwrap();
        assert_eq!(started.elapsed().as_secs(), seconds, "{first:?}");
        let is_new = [Answers, AnswersLast].contains(&server.on_discover);
        let expected = if is_new { "2026-07-28" } else { "2025-11-25" };
        assert_eq!(client.server_info().protocol, expected);
        // Late answers are not the call's.
        sleep(Duration::from_secs(1)).await;
        assert_eq!(call(&client, "echo", "{}").await.unwrap().to_text(), "echo");
        assert_eq!(server.handshakes(), first);
        call(&client, "echo", r#"{"end": true}"#).await.unwrap_err();
        while !client.is_connected() {
            sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(call(&client, "echo", "{}").await.unwrap().to_text(), "echo");
        assert_eq!(server.handshakes()[first.len()..], second);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_given_up_at_the_limit() {
    for (server, text) in [
        (Scripted::new(Ignores, Ignores, 0), "MCP server `mcp`: the server did not connect within 20 s"),
        (
            Scripted::new(Refuses, Refuses, 0),
            "MCP server `mcp`: the server refused `initialize`: Method not found (code -32601)",
        ),
        (Scripted::new(Dies, Dies, 0), "MCP server `mcp`: the server closed the connection"),
    ] {
        let builder = McpClient::builder(server.endpoint()).connect_timeout(Duration::from_secs(20));
        assert_eq!(builder.connect().await.unwrap_err().to_string(), text);
    }
}

#[tokio::test]
async fn a_process_that_ends_at_an_unknown_request_is_started_again() {
    let client = within(McpClient::builder(server("old")).connect()).await.unwrap();
    assert_eq!(client.server_info().protocol, "2025-06-18");
    within(client.close()).await;
}

#[tokio::test(start_paused = true)]
async fn a_started_client_connects_in_the_background_and_its_tools_join_the_registry() {
    let server = Scripted::new(Refuses, Answers, 30);
    let attempts = Arc::new(Mutex::new(0));
    let endpoint = McpEndpoint::streams_from(move || {
        *attempts.lock().unwrap() += 1;
        let is_down = *attempts.lock().unwrap() < 3;
        let (near, far) = duplex(1 << 16);
        if !is_down {
            tokio::spawn(server.clone().serve(far));
        }
        async move { if is_down { Err(std::io::ErrorKind::ConnectionRefused.into()) } else { Ok(split(near)) } }
    });
    let client = McpClient::builder(endpoint).name("slow").start().unwrap();
    let mut events = client.events();
    let registry = LiveRegistry::new(ToolRegistry::new()).unwrap();
    let _following = client.follow(&registry).unwrap();
    let failure = client.failure().unwrap().to_string();
    assert_eq!(failure, "MCP server `slow`: the server is still starting");
    assert_eq!((client.is_connected(), client.tools().len()), (false, 0));
    let failed =
        |event: &McpEvent| matches!(event, McpEvent::ReconnectFailed { attempt: 2, .. }).then_some(());
    event(&mut events, failed).await;
    assert_eq!(client.failure().unwrap().kind(), McpErrorKind::Connection);
    assert!(within(client.ready()).await);
    sleep(Duration::from_millis(10)).await;
    assert_eq!((client.failure(), registry.snapshot().len()), (None, 1));
    assert_eq!(call(&client, "echo", "{}").await.unwrap().to_text(), "echo");
    client.close().await;
}
