//! Peers over HTTP that are slow, hang up, flood or send garbage.

use super::client::{PATIENCE, text};
use super::http::{call, open_session, post, session_call, start, stateless};
use crate::memory::{alone, resident};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The claimed size of a body.
const CLAIMED: usize = 4 << 20;

fn head(address: SocketAddr, more: &str) -> String {
    let (headers, _) = stateless("request", "{}");
    let host = if more.contains("Host:") { String::new() } else { format!("Host: {address}\r\n") };
    let kind = if more.contains("Content-Type:") { "" } else { "Content-Type: application/json\r\n" };
    format!(
        "POST /mcp HTTP/1.1\r\n{host}{kind}Accept: application/json, text/event-stream\r\n\
         Content-Length: {CLAIMED}\r\n{headers}{more}\r\n"
    )
}

/// Sends bytes, and returns the server's until the connection closes.
async fn exchange(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let mut answer = Vec::new();
    let exchange = async {
        // The server may close before it has read everything.
        let _ = stream.write_all(bytes).await;
        let _ = stream.read_to_end(&mut answer).await;
    };
    timeout(PATIENCE, exchange).await.expect("the server closes the connection");
    String::from_utf8_lossy(&answer).into_owned()
}

async fn assert_served(address: SocketAddr) {
    let response = call(address, "Authorization: Bearer secret\r\n", "request", "{}").await;
    assert_eq!(text(&response.json()["result"]), "none none tester");
}

#[tokio::test]
async fn a_request_is_refused_before_its_body_is_read() {
    let server = start(|server| server.with_bearer_token("secret")).await;
    let known = "Authorization: Bearer secret\r\n";
    for (more, status) in [
        (format!("{known}Host: evil.example\r\n"), 403),
        (format!("{known}Origin: https://evil.example\r\n"), 403),
        (format!("{known}Content-Type: text/plain\r\n"), 415),
        (format!("{known}Host: {0}\r\nHost: {0}\r\n", server.address), 400),
        (String::new(), 401),
    ] {
        let answer = exchange(server.address, head(server.address, &more).as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{more}{answer}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_and_idle_connections_are_closed_and_others_are_served() {
    const CONNECTIONS: usize = 100;
    let _alone = alone().await;
    let limit = Duration::from_millis(700);
    let server = start(|server| server.with_bearer_token("secret").with_read_timeout(limit)).await;
    let address = server.address;
    let known = head(address, "Authorization: Bearer secret\r\n");
    let half_body = format!("{known}{}", " ".repeat(CLAIMED / 2));
    let (headers, body) = stateless("request", "{}");
    let whole = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nAuthorization: Bearer secret\r\n{headers}\r\n{body}",
        body.len()
    );
    for (bytes, answer) in [
        (String::new(), ""),
        (known[..known.len() / 2].to_owned(), ""),
        (half_body, "HTTP/1.1 408"),
        (whole, "HTTP/1.1 200"),
    ] {
        let before = resident();
        let start = Instant::now();
        let peers = (0..CONNECTIONS).map(|_| {
            let bytes = bytes.clone();
            tokio::spawn(async move { exchange(address, bytes.as_bytes()).await })
        });
        let peers: Vec<_> = peers.collect();
        assert_served(address).await;
        for peer in peers {
            let received = peer.await.expect("the peer ends");
            assert!(received.starts_with(answer), "{received}");
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        assert!(resident() < before + CONNECTIONS * (CLAIMED >> 20) + 100, "{before} {}", resident());
    }
}

#[tokio::test]
async fn a_call_and_its_response_may_take_longer_than_a_request_to_arrive() {
    let limit = Duration::from_millis(300);
    let server = start(|server| server.with_read_timeout(limit)).await;
    let address = server.address;
    let session = open_session(address).await;
    let [stateless, in_session] = [
        tokio::spawn(async move { call(address, "", "wait", "{}").await }),
        tokio::spawn(async move { post(address, &session, &session_call("wait")).await }),
    ];
    tokio::time::sleep(limit * 6).await;
    server.signals.open.notify_waiters();
    for response in [stateless, in_session] {
        assert_eq!(text(&response.await.expect("a response").json()["result"]), "waited");
    }
}

#[tokio::test]
async fn a_body_that_is_not_valid_or_ends_early_is_not_too_large() {
    let server = start(|server| server).await;
    let head =
        head(server.address, "").replace(&format!("Content-Length: {CLAIMED}"), "Transfer-Encoding: chunked");
    let answer = exchange(server.address, format!("{head}5\r\nhello\r\nnot a size\r\n").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    let mut peer = TcpStream::connect(server.address).await.expect("a connection");
    peer.write_all(format!("{head}5\r\nhello\r\n").as_bytes()).await.expect("a server that reads");
    peer.shutdown().await.expect("an open connection");
    let mut answer = String::new();
    let _ =
        timeout(PATIENCE, peer.read_to_string(&mut answer)).await.expect("the server closes the connection");
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
}

#[tokio::test]
async fn garbage_ends_its_connection_and_nothing_else() {
    let server = start(|server| server.with_read_timeout(Duration::from_millis(500))).await;
    let long = format!("GET /mcp HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    let twice = head(server.address, "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n");
    for garbage in [
        &b"\0\x01\xff\xfe garbage \r\n\r\n"[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
        b"POST /mcp HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /mcp HTTP/9.9\r\n\r\n",
        long.as_bytes(),
        twice.as_bytes(),
    ] {
        let answer = exchange(server.address, garbage).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
        assert_served(server.address).await;
    }
}

#[tokio::test]
async fn a_peer_that_reads_no_response_is_not_read_any_further() {
    let server = start(|server| server).await;
    let (headers, body) = stateless("letters", "{\"count\":100000}");
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        server.address,
        body.len()
    );
    let mut peer = TcpStream::connect(server.address).await.expect("a connection");
    let mut sent = 0;
    while let Ok(written) = timeout(Duration::from_millis(500), peer.write_all(request.as_bytes())).await {
        written.expect("an open connection");
        sent += request.len();
        assert!(sent < 64 << 20, "the server reads on although nobody reads its responses");
    }
    assert_served(server.address).await;
}
