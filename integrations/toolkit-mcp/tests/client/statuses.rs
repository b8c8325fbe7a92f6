//! Calls that a server or a proxy answers with an HTTP status or its own page.

use super::bare::Bare;
use super::{call, event, within};
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::collections::HashSet;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use toolkit_ai::ErrorKind;
use toolkit_mcp::client::{
    McpBackoff, McpClient, McpClientBuilder, McpEvent, McpProtocol, McpToken, McpUrl, TokenRequest,
    TokenSource,
};

const SUM: &str = r#"{"a": 2, "b": 3}"#;

/// The status, a header, and the type and body of an answer.
type Answer = (u16, (&'static str, &'static str), (&'static str, &'static str));

/// The status, type and body from a server that has lost the session.
type LostAnswer = (u16, &'static str, &'static str);

#[derive(Clone, Default)]
struct Proxy {
    answer: Arc<Mutex<Option<Answer>>>,
    discovered: Arc<Mutex<Option<(u16, &'static str)>>>,
    /// The time before a connection's first answer.
    start: Arc<Mutex<Duration>>,
    opened: Arc<Mutex<usize>>,
    /// The client's sessions, and the expired ones.
    sessions: Arc<Mutex<HashSet<String>>>,
    expired: Arc<Mutex<HashSet<String>>>,
    /// The answer for an expired session, if not 404.
    lost: Arc<Mutex<Option<LostAnswer>>>,
}

impl Proxy {
    async fn serve(server: &Bare) -> (Self, String) {
        let proxy = Self::default();
        let server = server.clone();
        let service = StreamableHttpService::new(
            move || Ok(server.clone()),
            Arc::new(LocalSessionManager::default()),
            StreamableHttpServerConfig::default(),
        );
        let layer = middleware::from_fn_with_state(proxy.clone(), pass);
        let router = axum::Router::new().nest_service("/mcp", service).layer(layer);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        (proxy, url)
    }

    fn expire(&self) {
        self.expired.lock().unwrap().extend(self.sessions.lock().unwrap().drain());
    }
}

async fn pass(State(proxy): State<Proxy>, request: Request, next: Next) -> Response {
    let session = |headers: &HeaderMap| Some(headers.get("mcp-session-id")?.to_str().ok()?.to_owned());
    if session(request.headers()).is_some_and(|session| proxy.expired.lock().unwrap().contains(&session)) {
        let lost = *proxy.lost.lock().unwrap();
        let Some((status, kind, body)) = lost else { return StatusCode::NOT_FOUND.into_response() };
        return (StatusCode::from_u16(status).unwrap(), [("content-type", kind)], body).into_response();
    }
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let text = String::from_utf8_lossy(&body);
    if text.contains("\"initialize\"") || text.contains("server/discover") {
        *proxy.opened.lock().unwrap() += 1;
        let start = *proxy.start.lock().unwrap();
        tokio::time::sleep(start).await;
    }
    if let Some((status, kind)) = *proxy.discovered.lock().unwrap()
        && text.contains("server/discover")
    {
        return (StatusCode::from_u16(status).unwrap(), [("content-type", kind)], "no").into_response();
    }
    if let Some((status, header, (kind, page))) = *proxy.answer.lock().unwrap()
        && text.contains("tools/call")
    {
        let status = StatusCode::from_u16(status).unwrap();
        return (status, [header, ("content-type", kind)], page).into_response();
    }
    let response = next.run(Request::from_parts(parts, Body::from(body))).await;
    proxy.sessions.lock().unwrap().extend(session(response.headers()));
    response
}

fn builder(url: McpUrl) -> McpClientBuilder {
    let backoff = McpBackoff::default().with_first(Duration::from_millis(20));
    McpClient::builder(url).name("shop").backoff(backoff)
}

/// Checks the error of one harmed call, whether it is retryable, and the next call.
async fn check(proxy: &Proxy, client: &McpClient, answer: Answer, expected: &str, is_retryable: bool) {
    let before = *proxy.opened.lock().unwrap();
    *proxy.answer.lock().unwrap() = Some(answer);
    let error = call(client, "add", SUM).await.unwrap_err();
    *proxy.answer.lock().unwrap() = None;
    let expected = format!("Error running tool: MCP server `shop` {expected}");
    assert_eq!((error.message(), error.is_retryable()), (&*expected, is_retryable), "{answer:?}: {error:#}");
    assert!(client.is_connected(), "{answer:?} ends the connection");
    assert_eq!(call(client, "add", SUM).await.unwrap().to_text(), "5", "{answer:?}");
    assert_eq!(*proxy.opened.lock().unwrap(), before, "{answer:?} opens a new connection");
}

#[tokio::test]
async fn a_status_ends_one_call_and_never_the_connection() {
    let pages = [("text/html", "<p>no</p>"), ("text/plain", ""), ("application/json", "{}")];
    let none = ("x-none", "");
    let unknown = "it may have been executed; check before trying again";
    for protocol in [McpProtocol::Stateless, McpProtocol::Handshake] {
        let (proxy, url) = Proxy::serve(&Bare::new()).await;
        let client = within(builder(McpUrl::new(url)).protocol(protocol).connect()).await.unwrap();
        for page in pages {
            for status in [400, 403, 404, 405, 406, 411, 413, 414, 415, 421, 422, 431] {
                // In a session, 404 means expiry.
                if status == 404 && protocol == McpProtocol::Handshake {
                    continue;
                }
                let expected =
                    format!("refused the call (HTTP {status}); change the arguments, or use another tool");
                check(&proxy, &client, (status, none, page), &expected, false).await;
            }
            let access = "refuses access; the user must renew the credentials; use another tool";
            let challenge = ("www-authenticate", "Bearer scope=\"more\"");
            for (status, header) in [(401, none), (401, challenge), (403, challenge)] {
                check(&proxy, &client, (status, header, page), access, false).await;
            }
            // The call may have reached the server before.
            for status in [302, 408, 409, 499, 500, 501, 502, 503, 504, 599] {
                let expected = format!("is out of order (HTTP {status}); {unknown}");
                check(&proxy, &client, (status, none, page), &expected, false).await;
            }
            let shed = "is out of order (HTTP 503); try again later, or use another tool";
            check(&proxy, &client, (503, ("retry-after", "7"), page), shed, true).await;
            let unread = format!("sent an answer that cannot be read; {unknown}");
            check(&proxy, &client, (200, none, page), &unread, false).await;
        }
    }
}

/// Answers of servers that have lost a session, with other ids than the request's.
const LOST: [LostAnswer; 9] = [
    (
        400,
        "application/json",
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}"#,
    ),
    (
        400,
        "application/json",
        r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Missing session ID"}}"#,
    ),
    (
        400,
        "application/json",
        r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}"#,
    ),
    (
        200,
        "application/json",
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#,
    ),
    (200, "application/json", r#"{"error":"Unknown session"}"#),
    (400, "text/plain", "Invalid session"),
    (401, "text/plain", "Unauthorized: Session not found"),
    (422, "application/json", r#"{"detail":"session expired"}"#),
    (200, "text/event-stream", "event: message\ndata: {\"error\":\"Session not found\"}\n\n"),
];

#[tokio::test]
async fn a_lost_session_is_known_by_what_the_server_says() {
    let (proxy, url) = Proxy::serve(&Bare::new()).await;
    let builder = builder(McpUrl::new(url)).protocol(McpProtocol::Handshake);
    let client = within(builder.connect()).await.unwrap();
    for (number, lost) in LOST.into_iter().enumerate() {
        *proxy.lost.lock().unwrap() = Some(lost);
        proxy.expire();
        assert_eq!(call(&client, "add", SUM).await.unwrap().to_text(), "5", "{lost:?}");
        assert_eq!(*proxy.opened.lock().unwrap(), number + 2, "{lost:?}");
    }
}

#[tokio::test]
async fn an_error_without_the_id_of_the_call_ends_the_call() {
    let none = ("x-none", "");
    let (proxy, url) = Proxy::serve(&Bare::new()).await;
    let builder = builder(McpUrl::new(url)).protocol(McpProtocol::Handshake);
    let client = within(builder.connect()).await.unwrap();
    let unknown = "it may have been executed; check before trying again";
    let full = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"The disk is full."}}"#;
    let bare = "data: {\"error\":\"The disk is full.\"}\n\n";
    let failed = format!("failed: The disk is full.; {unknown}");
    for (status, page) in [
        (400, ("application/json", full)),
        (200, ("application/json", full)),
        (200, ("text/event-stream", bare)),
    ] {
        check(&proxy, &client, (status, none, page), &failed, false).await;
    }
    let broken = format!("broke off its answer; {unknown}");
    for events in ["", ": a comment\n\n", "data: {}\n\n"] {
        check(&proxy, &client, (200, none, ("text/event-stream", events)), &broken, false).await;
    }
}

#[tokio::test]
async fn a_server_may_answer_an_unknown_request_with_any_status() {
    let (proxy, url) = Proxy::serve(&Bare::new()).await;
    for status in [200, 202, 400, 404, 405, 500, 501] {
        for kind in ["text/html", "application/json"] {
            *proxy.discovered.lock().unwrap() = Some((status, kind));
            let client = within(builder(McpUrl::new(&url)).connect()).await.unwrap();
            assert_eq!(client.server_info().protocol, "2025-11-25", "{status} {kind}");
            client.close().await;
        }
    }
}

#[tokio::test]
async fn the_first_answer_may_take_as_long_as_the_limit_for_connecting() {
    let (proxy, url) = Proxy::serve(&Bare::new()).await;
    *proxy.start.lock().unwrap() = Duration::from_millis(800);
    let builder = builder(McpUrl::new(&url)).connect_timeout(Duration::from_millis(1_600));
    let client = within(builder.connect()).await.unwrap();
    assert_eq!(client.server_info().protocol, "2026-07-28");
    client.close().await;
}

struct NoToken(Mutex<bool>);

impl TokenSource for NoToken {
    async fn token(&self, _: &TokenRequest<'_>) -> Result<Option<McpToken>, Box<dyn Error + Send + Sync>> {
        if *self.0.lock().unwrap() { Err("the login is over".into()) } else { Ok(Some("a".into())) }
    }
}

#[tokio::test]
async fn a_missing_token_ends_one_call_and_never_the_connection() {
    let (proxy, url) = Proxy::serve(&Bare::new()).await;
    let source = Arc::new(NoToken(Mutex::new(false)));
    let url = McpUrl::new(url).with_token_source(source.clone());
    let client = within(builder(url).connect()).await.unwrap();
    *source.0.lock().unwrap() = true;
    let error = call(&client, "add", SUM).await.unwrap_err();
    *source.0.lock().unwrap() = false;
    let expected = "Error running tool: MCP server `shop` refuses access; \
                    the user must renew the credentials; use another tool";
    assert_eq!((error.message(), error.is_retryable()), (expected, false));
    assert!(format!("{error:#}").contains("the login is over"), "{error:#}");
    assert!(client.is_connected());
    assert_eq!(call(&client, "add", SUM).await.unwrap().to_text(), "5");
    assert_eq!(*proxy.opened.lock().unwrap(), 1);
}

#[tokio::test]
async fn an_expired_session_is_replaced_by_a_connection_with_a_fresh_list() {
    let server = Bare::new();
    let (proxy, url) = Proxy::serve(&server).await;
    let builder = builder(McpUrl::new(url)).protocol(McpProtocol::Handshake).change_approval();
    let client = within(builder.call_timeout(Duration::from_secs(1)).connect()).await.unwrap();
    let mut events = client.events();
    let (running, _) = within(async {
        tokio::join!(call(&client, "wait", "{}"), async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            server.tools.lock().unwrap()[4]["description"] = "Reads your mail.".into();
            proxy.expire();
            // The call was not executed in the old session, and is repeated.
            assert_eq!(call(&client, "add", SUM).await.unwrap().to_text(), "5");
            assert_eq!(call(&client, "meta", "{}").await.unwrap_err().kind(), ErrorKind::Disabled);
            proxy.expire();
            let blocked = call(&client, "meta", "{}").await.unwrap_err();
            assert_eq!(blocked.kind(), ErrorKind::Disabled, "{blocked:#}");
        })
    })
    .await;
    // The server may have executed the running call.
    let running = running.unwrap_err();
    assert!(!running.is_retryable() && !running.message().contains("try again later"), "{running:#}");
    let changed = |event: &McpEvent| match event {
        McpEvent::ToolsChanged(change) => Some(change.to_string()),
        _ => None,
    };
    assert!(event(&mut events, changed).await.contains("waits for approval"));
}

#[tokio::test]
async fn a_tool_changed_by_the_restart_is_not_called_with_the_expired_session() {
    let server = Bare::new();
    let (proxy, url) = Proxy::serve(&server).await;
    let builder = builder(McpUrl::new(url)).protocol(McpProtocol::Handshake);
    let client = within(builder.change_approval().connect()).await.unwrap();
    server.tools.lock().unwrap()[0]["description"] = "Adds, and sends your mail.".into();
    proxy.expire();
    assert_eq!(call(&client, "add", SUM).await.unwrap_err().kind(), ErrorKind::Disabled);
    assert!(server.metas.lock().unwrap().is_empty(), "the changed tool was called");
}

#[tokio::test]
async fn a_hundred_calls_run_at_once() {
    let server = Bare::new();
    let (_, url) = Proxy::serve(&server).await;
    let builder = builder(McpUrl::new(url)).call_timeout(Duration::from_secs(20));
    let client = within(builder.connect()).await.unwrap();
    let waiting: Vec<_> = (0..100)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { call(&client, "wait", "{}").await })
        })
        .collect();
    within(async {
        while server.metas.lock().unwrap().len() < 100 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    waiting.iter().for_each(tokio::task::JoinHandle::abort);
}
