//! Faults: garbage, floods, slow and vanishing clients.

use super::client::{Client, PATIENCE, Signals, text};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use toolkit_ai::{ClosureTool, ToolRegistry, tool, tools};
use toolkit_mcp::server::McpServer;

/// Repeats a text.
#[tool]
fn echo(text: String) -> String {
    text
}

/// Returns many megabytes.
#[tool]
fn large(megabytes: usize) -> String {
    "x".repeat(megabytes << 20)
}

/// Waits forever.
#[tool]
async fn forever(#[state] signals: Arc<Signals>) {
    signals.wait().await;
}

fn server() -> McpServer {
    McpServer::new(ToolRegistry::from_tools(tools![echo, large]).expect("legal")).expect("complete")
}

#[tokio::test]
async fn garbage_is_answered_with_errors_and_the_session_goes_on() {
    let mut client = Client::session(server(), json!({})).await;
    for (line, code, id) in [
        ("{\"jsonrpc\": \"2.0\", ", -32700, json!(null)),
        ("\u{0}\u{1}garbage", -32700, json!(null)),
        ("[]", -32600, json!(null)),
        ("{\"jsonrpc\": \"2.0\", \"id\": 5}", -32600, json!(5)),
        ("{\"jsonrpc\": \"2.0\", \"id\": 6, \"method\": \"no/such\"}", -32601, json!(6)),
    ] {
        client.send_text(line).await;
        let message = client.read().await.expect("an answer");
        assert_eq!((&message["error"]["code"], &message["id"]), (&json!(code), &id), "{line}: {message}");
    }
    client.send_text("\n\r\n").await;
    let result = client.call("echo", json!({"text": "still here"})).await.expect("a result");
    assert_eq!(text(&result), "still here");
}

#[tokio::test]
async fn a_message_beyond_the_limit_is_refused_and_skipped() {
    let mut client = Client::session(server(), json!({})).await;
    let long = "x".repeat(17 << 20);
    client.send(json!({"jsonrpc": "2.0", "id": 9, "method": "ping", "params": {"long": long}})).await;
    let message = client.read().await.expect("an answer");
    assert_eq!(message["error"]["message"], "the message is longer than 16777216 bytes");
    client.request("ping", json!({})).await.expect("the session goes on");
}

#[tokio::test]
async fn a_result_of_fifty_megabytes_arrives() {
    let mut client = Client::session(server(), json!({})).await;
    let result = client.call("large", json!({"megabytes": 50})).await.expect("a result");
    assert_eq!(text(&result).len(), 50 << 20);
}

#[tokio::test]
async fn ten_thousand_tools_are_listed_in_pages() {
    let tools = (0..10_000).map(|number| {
        ClosureTool::without_arguments(&format!("tool_{number:05}"), "Works.", move || number).expect("legal")
    });
    let registry = ToolRegistry::from_tools(tools).expect("legal");
    let mut client = Client::session(McpServer::new(registry).expect("complete"), json!({})).await;
    let mut names = Vec::new();
    let mut cursor = json!(null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let mut page = client.request("tools/list", params).await.expect("a page");
        let tools = page["tools"].as_array().expect("a list");
        names.extend(tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()));
        cursor = page["nextCursor"].take();
        if cursor.is_null() {
            break;
        }
    }
    assert!(names.is_sorted());
    assert_eq!((names.len(), names[9_999].as_str()), (10_000, "tool_09999"));
    assert_eq!(text(&client.call("tool_04321", json!({})).await.expect("a result")), "4321");
}

#[tokio::test]
async fn a_slow_client_stops_the_server_from_reading_and_loses_nothing() {
    const CALLS: usize = 3_000;
    let mut client = Client::connect_with_buffer(server(), 1 << 16);
    client.initialize(json!({})).await;
    let arguments = json!({"text": "x".repeat(1_000)});
    let mut sent = Vec::new();
    // The client only writes, until the server stops reading.
    while sent.len() < CALLS {
        let start = client.start("tools/call", json!({"name": "echo", "arguments": arguments}));
        match timeout(Duration::from_millis(500), start).await {
            Ok(id) => sent.push(id),
            Err(_) => break,
        }
    }
    assert!(sent.len() < CALLS, "the server reads on although nobody reads its responses");
    // The client ends the cut line, which the server answers with an error.
    let mut answered = 0;
    while answered < sent.len() {
        let message = client.read().await.expect("a response");
        assert_eq!(message["result"]["isError"], false);
        answered += 1;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_when_its_client_disappears() {
    let signals = Arc::new(Signals::default());
    let registry =
        ToolRegistry::from_tools(tools![forever]).expect("legal").with_shared_state(signals.clone());
    let mut client = Client::session(McpServer::new(registry).expect("complete"), json!({})).await;
    client.start("tools/call", json!({"name": "forever", "arguments": {}})).await;
    timeout(PATIENCE, signals.begun.notified()).await.expect("the call begins");
    client.close().await.expect("the server ends");
    timeout(PATIENCE, signals.dropped.notified()).await.expect("the call is dropped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_sessions_work_at_the_same_time() {
    let server = server();
    let sessions = (0..200).map(|number| {
        let server = server.clone();
        tokio::spawn(async move {
            let mut client = Client::session(server, json!({})).await;
            for round in 0..5 {
                let expected = format!("{number} {round}");
                let result = client.call("echo", json!({"text": expected})).await.expect("a result");
                assert_eq!(text(&result), expected);
            }
            client.close().await.expect("the session ends");
        })
    });
    for session in sessions.collect::<Vec<_>>() {
        session.await.expect("the session works");
    }
}

#[tokio::test]
async fn a_client_that_does_not_speak_the_protocol_is_an_error() {
    let mut client = Client::connect(server());
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let error = client.close().await.expect_err("the first message must be a request");
    assert!(error.to_string().starts_with("the client does not speak MCP"), "{error}");
    Client::connect(server()).close().await.expect("a client that says nothing is no error");
}

#[tokio::test]
async fn a_stopped_server_ends_although_its_client_does_not_read() {
    let stop = toolkit_ai::CancellationToken::new();
    let mut client = Client::connect_with_buffer(server().with_cancellation(stop.clone()), 1 << 10);
    client.initialize(json!({})).await;
    client.start("tools/call", json!({"name": "large", "arguments": {"megabytes": 1}})).await;
    // The result fills the stream.
    tokio::time::sleep(Duration::from_millis(300)).await;
    stop.cancel();
    let ended = timeout(Duration::from_secs(20), &mut client.server).await;
    ended.expect("the server ends").expect("the server does not panic").expect("no error");
}
