//! Batches of messages, in protocol version 2025-03-26.

use super::client::{Client, STATELESS};
use super::http::{letters, open_session, post, start};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use toolkit_ai::{ToolRegistry, tools};
use toolkit_mcp::server::McpServer;

fn call(id: u64, name: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
}

fn notification() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
}

/// The session header of a client without a version header.
async fn session(address: std::net::SocketAddr) -> String {
    let headers = open_session(address).await;
    headers.lines().take(1).map(|line| format!("{line}\r\n")).collect()
}

#[tokio::test]
async fn a_batch_over_http_is_answered_with_one_event_for_each_request() {
    let server = start(|server| server).await;
    let session = session(server.address).await;
    let batch = json!([
        call(1, "number", json!({"big": 7})),
        notification(),
        call(2, "nothing", json!({})),
        {"jsonrpc": "2.0", "id": 3, "method": "ping"},
    ]);
    // By hand, because no JSON value holds this number.
    let batch = batch.to_string().replace("\"big\":7", "\"big\":340282366920938463463374607431768211455");
    let response = super::http::send(server.address, "POST", "/mcp", &session, &batch).await;
    assert_eq!((response.status, response.header("content-type")), (200, Some("text/event-stream")));
    let events = response.body.lines().filter_map(|line| line.strip_prefix("data: "));
    let messages = events.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let by_id: BTreeMap<u64, Value> =
        messages.map(|message| (message["id"].as_u64().expect("an id"), message)).collect();
    assert_eq!(by_id[&1]["result"]["content"][0]["text"], "340282366920938463463374607431768211455");
    assert_eq!(by_id[&2]["error"]["code"], -32_602);
    assert_eq!(by_id[&3]["result"], json!({}));
    assert_eq!(by_id.len(), 3);
    assert_eq!(post(server.address, &session, &json!([notification()])).await.status, 202);
}

#[tokio::test]
async fn a_batch_that_is_not_valid_is_refused_as_a_whole() {
    let server = start(|server| server).await;
    let session = session(server.address).await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for (headers, batch, status) in [
        (session.clone(), json!([]), 400),
        (session.clone(), json!([ping, 1]), 400),
        (session.clone(), Value::from(vec![ping.clone(); 101]), 400),
        ("Mcp-Session-Id: unknown\r\n".to_owned(), json!([ping]), 404),
        // Without a session and in later versions, there are no batches.
        (String::new(), json!([ping]), 415),
        (format!("{session}MCP-Protocol-Version: 2025-06-18\r\n"), json!([ping]), 415),
        (format!("MCP-Protocol-Version: {STATELESS}\r\nMcp-Method: ping\r\n"), json!([ping]), 415),
    ] {
        assert_eq!(post(server.address, &headers, &batch).await.status, status, "{headers}{batch}");
    }
}

#[tokio::test]
async fn the_messages_of_a_batch_over_a_stream_are_answered_one_by_one() {
    let registry = ToolRegistry::from_tools(tools![letters]).expect("legal");
    let mut client = Client::session(McpServer::new(registry).expect("complete"), json!({})).await;
    client
        .send(json!([call(31, "letters", json!({"count": 2})), 5, notification(), call(32, "no", json!({}))]))
        .await;
    let mut codes = BTreeMap::new();
    for _ in 0..3 {
        let message = client.read().await.expect("an answer");
        codes.insert(message["id"].to_string(), message["error"]["code"].clone());
    }
    let expected = [("31", Value::Null), ("32", json!(-32_602)), ("null", json!(-32_600))];
    assert_eq!(codes, expected.map(|(id, code)| (id.to_owned(), code)).into());
}
