//! Requests on their way: proxies, redirects, compression, logins in URLs, kept connections, resumed streams.

use super::bare::Bare;
use super::{call, within};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use toolkit_mcp::McpErrorKind;
use toolkit_mcp::client::{McpClient, McpProtocol, McpUrl};

const SUM: &str = r#"{"a": 2, "b": 3}"#;

const URL: &str = "TOOLKIT_MCP_TEST_URL";

async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

/// Returns the official SDK's server, at `/mcp`.
fn bare() -> Router {
    let service = StreamableHttpService::new(
        || Ok(Bare::new()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    Router::new().nest_service("/mcp", service)
}

/// Connects and prints the error, if started by the test below.
#[tokio::test]
#[ignore = "the client of another test"]
async fn connect() {
    let Ok(url) = std::env::var(URL) else { return };
    let error = McpClient::builder(McpUrl::new(url)).name("shop").connect().await.unwrap_err();
    println!("{error}");
}

/// Connects in a process with one more variable, and returns its output.
async fn connect_with(url: &str, name: &str, value: &str) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "client::http_requests::connect", "--ignored", "--nocapture"]);
    for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        command.env_remove(proxy).env_remove(proxy.to_lowercase());
    }
    let output = command.env(URL, url).env(name, value).output().await.unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn requests_go_through_the_proxy_of_the_environment() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://ada:s3cret@{}", listener.local_addr().unwrap());
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = heads.clone();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = vec![0; 4_096];
            let length = stream.read(&mut head).await.unwrap();
            seen.lock().unwrap().push(String::from_utf8_lossy(&head[..length]).to_lowercase());
            let answer =
                b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            stream.write_all(answer).await.unwrap();
        }
    });
    let authorization = "proxy-authorization: basic ywrhonmzy3jlda==\r\n";
    for (url, name, request, expected) in [
        ("http://shop.invalid/mcp", "HTTP_PROXY", "post http://shop.invalid/mcp ", "HTTP 503"),
        ("https://shop.invalid/mcp", "HTTPS_PROXY", "connect shop.invalid:443 ", "cannot be reached"),
        ("https://shop.invalid/mcp", "ALL_PROXY", "connect shop.invalid:443 ", "cannot be reached"),
    ] {
        let output = within(connect_with(url, name, &proxy)).await;
        assert!(output.contains(expected) && !output.contains("s3cret"), "{name}: {output}");
        let heads = std::mem::take(&mut *heads.lock().unwrap());
        assert!(heads[0].starts_with(request) && heads[0].contains(authorization), "{name}: {heads:?}");
    }
    for scheme in ["socks5", "https"] {
        let proxy = proxy.replace("http:", &format!("{scheme}:"));
        let output = within(connect_with("http://shop.invalid/mcp", "ALL_PROXY", &proxy)).await;
        let expected = format!(
            "MCP server `shop`: the proxy of the environment has the scheme `{scheme}`; only `http` is supported\n"
        );
        assert!(output.contains(&expected), "{output}");
    }
    let output = within(connect_with("http://shop.invalid/mcp", "NO_PROXY", "*")).await;
    assert!(output.contains("failed to lookup address information"), "{output}");
    assert_eq!(*heads.lock().unwrap(), [""; 0]);
}

#[tokio::test]
async fn a_redirect_is_followed_to_no_server() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let location = format!("http://{}/mcp", elsewhere.local_addr().unwrap());
    for status in [301, 302, 303, 307, 308] {
        for location in [location.clone(), "/other".to_owned()] {
            let redirect = move |request: Request| async move {
                assert_eq!(request.uri().path(), "/mcp");
                (StatusCode::from_u16(status).unwrap(), [("location", location)]).into_response()
            };
            let address = serve(Router::new().fallback(redirect)).await;
            let url = McpUrl::new(format!("http://{address}/mcp")).with_bearer_token("secret");
            let error = within(McpClient::builder(url).connect()).await.unwrap_err();
            assert_eq!(error.kind(), McpErrorKind::Connection);
            assert!(
                error.to_string().contains("redirects are not followed, so use the final URL"),
                "{error}"
            );
        }
    }
    let none = tokio::time::timeout(std::time::Duration::from_millis(50), elsewhere.accept()).await;
    assert!(none.is_err(), "a connection was opened");
}

#[tokio::test]
async fn no_compression_is_accepted() {
    let compress = |request: Request, next: Next| async move {
        assert_eq!(request.headers()["accept-encoding"], "identity");
        let is_agent = request.headers()["user-agent"].to_str().unwrap().starts_with("toolkit-mcp/");
        assert!(is_agent);
        let mut response = next.run(request).await;
        response.headers_mut().insert("content-encoding", "gzip".parse().unwrap());
        response
    };
    let address = serve(bare().layer(middleware::from_fn(compress))).await;
    for protocol in [McpProtocol::Stateless, McpProtocol::Handshake] {
        let client = McpClient::builder(McpUrl::new(format!("http://{address}/mcp"))).protocol(protocol);
        let error = within(client.connect()).await.unwrap_err();
        assert_eq!(error.kind(), McpErrorKind::Protocol, "{error}");
        assert!(error.to_string().contains("the content encoding \"gzip\""), "{error}");
        assert!(error.to_string().contains("turn compression off in the server"), "{error}");
    }
}

#[tokio::test]
async fn the_login_in_a_url_is_sent_to_its_server() {
    let check = |request: Request, next: Next| async move {
        match request.headers().get("authorization") {
            Some(value) if value == "Basic YWRhOnBhc3M=" => next.run(request).await,
            _ => StatusCode::UNAUTHORIZED.into_response(),
        }
    };
    let address = serve(bare().layer(middleware::from_fn(check))).await;
    let url = McpUrl::new(format!("http://ada:pass@{address}/mcp"));
    let client = within(McpClient::builder(url.clone()).connect()).await.unwrap();
    assert_eq!(client.name(), "127.0.0.1");
    assert_eq!(call(&client, "add", SUM).await.unwrap().to_text(), "5");
    let error = within(McpClient::builder(url.with_bearer_token("other")).connect()).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Unauthorized);
    assert!(!error.to_string().contains("pass"), "{error}");
}

#[tokio::test]
async fn calls_one_after_the_other_share_a_connection() {
    let server = serve(bare()).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let opened = Arc::new(AtomicUsize::new(0));
    let count = opened.clone();
    tokio::spawn(async move {
        loop {
            let (mut near, _) = listener.accept().await.unwrap();
            count.fetch_add(1, Ordering::Relaxed);
            let mut far = TcpStream::connect(&server).await.unwrap();
            tokio::spawn(async move { copy_bidirectional(&mut near, &mut far).await });
        }
    });
    let client = McpClient::builder(McpUrl::new(url)).protocol(McpProtocol::Stateless);
    let client = within(client.connect()).await.unwrap();
    for _ in 0..20 {
        assert_eq!(call(&client, "add", SUM).await.unwrap().to_text(), "5");
    }
    // Without sharing, there are 21. A call that comes before the end of the stream before it opens another.
    assert!(opened.load(Ordering::Relaxed) < 18, "{opened:?} connections");
}

/// A call's answer, which comes on a later stream.
static KEPT: Mutex<String> = Mutex::new(String::new());

/// Ends the stream before the answer, after an event without a message.
async fn interrupt(request: Request, next: Next) -> Response {
    let events = |text: String| ([("content-type", "text/event-stream")], text).into_response();
    if request.method() == "GET" && request.headers().get("last-event-id").is_some_and(|id| id == "7") {
        return events(format!("id: 8\ndata: {}\n\n", KEPT.lock().unwrap()));
    }
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let is_call = String::from_utf8_lossy(&body).contains("tools/call");
    let response = next.run(Request::from_parts(parts, Body::from(body))).await;
    if !is_call {
        return response;
    }
    let answer = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let answer = String::from_utf8(answer.to_vec()).unwrap();
    let message = answer.lines().find(|line| line.contains("jsonrpc")).unwrap();
    *KEPT.lock().unwrap() = message.trim_start_matches("data: ").to_owned();
    events("id: 7\nretry: 10\ndata:\n\n".to_owned())
}

#[tokio::test]
async fn a_broken_answer_is_resumed_after_its_last_event() {
    let address = serve(bare().layer(middleware::from_fn(interrupt))).await;
    for protocol in [McpProtocol::Stateless, McpProtocol::Handshake] {
        let url = McpUrl::new(format!("http://{address}/mcp"));
        let client = within(McpClient::builder(url).protocol(protocol).connect()).await.unwrap();
        assert_eq!(call(&client, "add", SUM).await.unwrap().to_text(), "5", "{protocol:?}");
        within(client.close()).await;
    }
}
