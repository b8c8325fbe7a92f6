//! Clients that send too much, or hold what they have opened.

use super::client::{Client, text};
use super::http::{call, initialize, open_session, post, send, start, stateless};
use crate::memory::{alone, resident};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolkit_ai::ToolRegistry;
use toolkit_mcp::server::McpServer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_body_takes_the_servers_time_or_resident() {
    let _alone = alone().await;
    let server = start(|server| server).await;
    let address = server.address;
    let most = (4 << 20) - 1_000;
    let notification =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let bodies = [
        "[".repeat(most),
        "{\"a\":".repeat(most / 5),
        stateless("request", &format!("{{\"a\": {}}}", "[".repeat(most / 2) + &"]".repeat(most / 2))).1,
        stateless("request", &format!("{{\"a\": \"{}\"}}", "x".repeat(most - 500))).1,
        stateless("request", &format!("{{{}\"z\": 1}}", "\"a\": 1,".repeat(20_000))).1,
        stateless("request", &format!("{{\"a\": {}}}", "9".repeat(most - 500))).1,
        json!(vec![notification; 20_000]).to_string(),
        " ".repeat(most),
    ];
    for body in bodies {
        let before = resident();
        let started = Instant::now();
        let sent = (0..4).map(|_| {
            let body = body.clone();
            let (headers, _) = stateless("request", "{}");
            tokio::spawn(async move { send(address, "POST", "/mcp", &headers, &body).await })
        });
        let start = body.chars().take(40).collect::<String>();
        for sent in sent.collect::<Vec<_>>() {
            let response = sent.await.expect("a response");
            let is_refused = response.status >= 400 || response.body.contains("rror");
            assert!(is_refused, "{start}: {} {:.200}", response.status, response.body);
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{start}: {:?}", started.elapsed());
        assert!(resident() < before + 400, "{start}: {before} MiB, {} MiB", resident());
        assert_eq!(text(&call(address, "", "request", "{}").await.json()["result"]), "none none tester");
    }
}

#[tokio::test]
async fn open_streams_take_the_places_of_sessions_and_of_nothing_else() {
    const PLACES: usize = 20;
    let server = start(|server| server.with_max_sessions(PLACES)).await;
    let mut streams = Vec::new();
    for _ in 0..PLACES {
        let session = open_session(server.address).await;
        let mut stream = TcpStream::connect(server.address).await.expect("a connection");
        let head = format!("GET /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n", server.address);
        stream.write_all(format!("{head}{session}\r\n").as_bytes()).await.expect("an open connection");
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 200");
        streams.push(stream);
    }
    let refused = post(server.address, "", &initialize()).await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("10")));
    assert_eq!(text(&call(server.address, "", "request", "{}").await.json()["result"]), "none none tester");
}

#[tokio::test]
async fn a_flood_of_notifications_over_a_stream_leaves_the_server_as_it_was() {
    let _alone = alone().await;
    let mut client = Client::session(McpServer::new(ToolRegistry::new()).expect("complete"), json!({})).await;
    let before = resident();
    let started = Instant::now();
    for number in 0..20_000 {
        let method = if number % 2 == 0 { "notifications/cancelled" } else { "notifications/unknown" };
        client.send(json!({"jsonrpc": "2.0", "method": method, "params": {"requestId": number}})).await;
    }
    client.request("ping", json!({})).await.expect("an answer");
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert!(resident() < before + 100, "{before} MiB, {} MiB", resident());
}
