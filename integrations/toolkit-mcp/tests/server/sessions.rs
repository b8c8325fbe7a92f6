//! HTTP sessions: their number and end.

use super::client::{PATIENCE, text};
use super::http::{call, initialize, open_session, post, send, session_call, start, stateless};
use axum::http::request::Parts;
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

#[tokio::test]
async fn a_session_beyond_the_limit_is_refused_until_another_ends() {
    let server = start(|server| server.with_max_sessions(2)).await;
    let address = server.address;
    let first = open_session(address).await;
    let second = open_session(address).await;
    for _ in 0..3 {
        let refused = post(address, "", &initialize()).await;
        assert_eq!((refused.status, refused.header("retry-after")), (503, Some("10")));
        assert_eq!(
            refused.body,
            "the server has 2 open sessions, the maximum; end a session, or try again later"
        );
    }
    assert_eq!(post(address, &second, &session_call("request")).await.status, 200);
    assert_eq!(call(address, "", "request", "{}").await.status, 200);
    assert_eq!(send(address, "DELETE", "/mcp", &first, "").await.status, 204);
    open_session(address).await;
    assert_eq!(post(address, "", &initialize()).await.status, 503);
}

#[tokio::test]
async fn sessions_that_begin_at_the_same_time_keep_to_the_limit() {
    let server = start(|server| server.with_max_sessions(5)).await;
    let address = server.address;
    let begun: Vec<_> =
        (0..30).map(|_| tokio::spawn(async move { post(address, "", &initialize()).await.status })).collect();
    let mut statuses = Vec::new();
    for status in begun {
        statuses.push(status.await.expect("an answer"));
    }
    statuses.sort_unstable();
    assert_eq!((&statuses[..5], &statuses[5..]), (&[200; 5][..], &[503; 25][..]));
}

#[tokio::test]
async fn an_idle_session_ends_and_a_used_session_stays() {
    let idle = Duration::from_millis(400);
    let server = start(|server| server.with_max_sessions(3).with_session_idle(idle)).await;
    let address = server.address;
    let unused = open_session(address).await;
    let calling = open_session(address).await;
    let listening = open_session(address).await;
    let request =
        format!("GET /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n{listening}\r\n");
    let mut events = TcpStream::connect(address).await.expect("a connection");
    events.write_all(request.as_bytes()).await.expect("a request");
    let mut head = [0; 15];
    timeout(PATIENCE, events.read_exact(&mut head)).await.expect("an answer").expect("a head");
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    let running = {
        let calling = calling.clone();
        tokio::spawn(async move { post(address, &calling, &session_call("wait")).await })
    };
    timeout(PATIENCE, server.signals.begun.notified()).await.expect("the call begins");

    sleep(idle * 4).await;
    assert_eq!(post(address, &unused, &session_call("request")).await.status, 404);
    assert_eq!(post(address, &listening, &session_call("request")).await.status, 200);
    server.signals.open.notify_one();
    let result = running.await.expect("a response").json();
    assert_eq!(text(&result["result"]), "waited");

    // Unused sessions end as well and free their places.
    drop(events);
    sleep(idle * 4).await;
    for session in [&calling, &listening] {
        assert_eq!(post(address, session, &session_call("request")).await.status, 404);
    }
    for _ in 0..3 {
        open_session(address).await;
    }
}

#[tokio::test]
async fn a_session_is_found_by_its_own_client_only() {
    let identity = |request: &Parts| Some(request.headers.get("x-user")?.to_str().ok()?.to_owned());
    let server = start(|server| server.with_identity(identity)).await;
    let address = server.address;
    let response = send(address, "POST", "/mcp", "X-User: ann\r\n", &initialize().to_string()).await;
    let session = format!("Mcp-Session-Id: {}\r\n", response.header("mcp-session-id").expect("a session"));
    let ann = format!("{session}X-User: ann\r\n");
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(post(address, &ann, &initialized).await.status, 202);
    for foreign in [session.clone(), format!("{session}X-User: bob\r\n")] {
        assert_eq!(post(address, &foreign, &session_call("request")).await.status, 404);
        assert_eq!(send(address, "GET", "/mcp", &foreign, "").await.status, 404);
        assert_eq!(send(address, "DELETE", "/mcp", &foreign, "").await.status, 404);
    }
    assert_eq!(post(address, &ann, &session_call("request")).await.status, 200);
    assert_eq!(send(address, "DELETE", "/mcp", &ann, "").await.status, 204);
}

#[tokio::test]
async fn an_idle_session_makes_room_at_once() {
    // Idle sessions are searched every quarter of the time, and a new one does not wait for it.
    let idle = Duration::from_secs(1);
    let server = start(|server| server.with_max_sessions(1).with_session_idle(idle)).await;
    for _ in 0..2 {
        open_session(server.address).await;
        sleep(idle + Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_slow_client_delays_no_other_client_and_gets_its_whole_result() {
    const LENGTH: usize = 8 << 20;
    let server = start(|server| server).await;
    let address = server.address;
    let (headers, body) = stateless("letters", &format!("{{\"count\":{LENGTH}}}"));
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}",
        body.len(),
    );
    let mut slow = TcpStream::connect(address).await.expect("a connection");
    // The request comes in pieces, and the response stays unread while others call.
    for piece in request.as_bytes().chunks(request.len().div_ceil(8)) {
        slow.write_all(piece).await.expect("a server that reads");
        assert_eq!(call(address, "", "request", "{}").await.status, 200);
    }
    for _ in 0..20 {
        assert_eq!(call(address, "", "request", "{}").await.status, 200);
    }
    let mut response = Vec::new();
    timeout(PATIENCE, slow.read_to_end(&mut response)).await.expect("a response").expect("its end");
    assert_eq!(response.iter().filter(|byte| **byte == b'x').count() / LENGTH, 1);
}
