//! Servers behind a URL, on the loopback interface.

use super::bare::Bare;
use super::{call, event, within};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use toolkit_ai::ToolProvider;
use toolkit_mcp::McpErrorKind;
use toolkit_mcp::client::{
    McpBackoff, McpClient, McpClientBuilder, McpEvent, McpLimits, McpProtocol, McpToken, McpUrl,
    TokenRequest, TokenSource,
};
use toolkit_mcp::config::{ConfigFile, McpServers};

struct Served {
    url: String,
    task: JoinHandle<()>,
    /// The required token, if any.
    token: Arc<Mutex<Option<String>>>,
    headers: Arc<Mutex<HeaderMap>>,
    /// The status of responses, unless `OK`.
    status: Arc<Mutex<StatusCode>>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Gate = (Arc<Mutex<Option<String>>>, Arc<Mutex<HeaderMap>>, Arc<Mutex<StatusCode>>);

async fn gate(State((token, headers, status)): State<Gate>, request: Request, next: Next) -> Response {
    *headers.lock().unwrap() = request.headers().clone();
    let status = *status.lock().unwrap();
    if status != StatusCode::OK {
        return (status, [("retry-after", "7")]).into_response();
    }
    let expected = token.lock().unwrap().as_ref().map(|token| format!("Bearer {token}"));
    let sent = request.headers().get("authorization").and_then(|value| value.to_str().ok());
    if expected.is_some() && sent != expected.as_deref() {
        return (StatusCode::UNAUTHORIZED, [("www-authenticate", "Bearer")]).into_response();
    }
    next.run(request).await
}

async fn serve(server: &Bare) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    serve_on(server, listener)
}

fn serve_on(server: &Bare, listener: TcpListener) -> Served {
    let token = Arc::default();
    let headers = Arc::default();
    let status = Arc::new(Mutex::new(StatusCode::OK));
    let server = server.clone();
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let gate =
        middleware::from_fn_with_state((Arc::clone(&token), Arc::clone(&headers), Arc::clone(&status)), gate);
    let router = axum::Router::new().nest_service("/mcp", service).layer(gate);
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    Served { url, task, token, headers, status }
}

fn builder(url: McpUrl) -> McpClientBuilder {
    let backoff = McpBackoff::default().with_first(Duration::from_millis(20));
    McpClient::builder(url).backoff(backoff)
}

const SUM: &str = r#"{"a": 2, "b": 3}"#;

#[tokio::test]
async fn tools_are_called_over_http_in_both_versions() {
    for protocol in [McpProtocol::Auto, McpProtocol::Handshake] {
        let server = Bare::new();
        let served = serve(&server).await;
        let url = McpUrl::new(&served.url).with_header("x-tenant", "a");
        let client = within(builder(url).protocol(protocol).connect()).await.unwrap();
        assert_eq!((client.name(), client.tools().len()), ("127.0.0.1", 7));
        assert_eq!(call(&client, "add", SUM).await.unwrap().to_text(), "5");
        {
            let headers = served.headers.lock().unwrap();
            assert_eq!(headers["x-tenant"], "a");
            // This crate's server answers such calls without the SDK's HTTP service.
            assert_eq!(headers["accept"], "text/event-stream, application/json");
            assert_eq!(headers["content-type"], "application/json");
            let version = if protocol == McpProtocol::Handshake { "2025-11-25" } else { "2026-07-28" };
            assert_eq!(headers["mcp-protocol-version"], version);
            assert!(!headers.contains_key("origin"));
        }
        assert_eq!(call(&client, "ask", "{}").await.unwrap().to_text(), r#"{"action":"decline"}"#);
        within(client.close()).await;
    }
}

#[tokio::test]
async fn a_cancelled_call_over_http_is_cancelled_on_the_server() {
    for protocol in [McpProtocol::Stateless, McpProtocol::Handshake] {
        let server = Bare::new();
        let served = serve(&server).await;
        let builder = builder(McpUrl::new(&served.url)).protocol(protocol);
        let client = within(builder.call_timeout(Duration::from_millis(200)).connect()).await.unwrap();
        let error = call(&client, "wait", "{}").await.unwrap_err();
        assert_eq!(error.message(), "Tool `wait` timed out after 0.2s");
        within(async {
            while server.cancelled.lock().unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
    }
}

/// Serves over HTTP, and returns the URL and the methods of requests. A `POST` counts on arrival, a `GET`
/// when answered, after `pause`.
async fn serve_with_late_stream(pause: Duration) -> (String, Arc<Mutex<Vec<String>>>) {
    let methods = Arc::new(Mutex::new(Vec::new()));
    let seen = methods.clone();
    let record = move |request: Request, next: Next| {
        let seen = seen.clone();
        let method = request.method().to_string();
        async move {
            if method == "GET" {
                tokio::time::sleep(pause).await;
            } else {
                seen.lock().unwrap().push(method.clone());
            }
            let response = next.run(request).await;
            if method == "GET" {
                seen.lock().unwrap().push(method);
            }
            response
        }
    };
    let service = StreamableHttpService::new(
        || Ok(Bare::new()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let router = axum::Router::new().nest_service("/mcp", service).layer(middleware::from_fn(record));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (url, methods)
}

#[tokio::test]
async fn a_session_listens_before_the_first_list_so_that_no_change_is_missed() {
    let (url, methods) = serve_with_late_stream(Duration::from_millis(150)).await;
    let client = builder(McpUrl::new(&url)).protocol(McpProtocol::Handshake).connect();
    let client = within(client).await.unwrap();
    // The handshake has two messages before the list of tools.
    assert_eq!(methods.lock().unwrap()[..4], ["POST", "POST", "GET", "POST"]);
    assert_eq!(call(&client, "add", SUM).await.unwrap().to_text(), "5");
    within(client.close()).await;
}

#[tokio::test]
async fn a_server_that_never_opens_a_stream_can_be_used() {
    let (url, methods) = serve_with_late_stream(Duration::from_secs(3_600)).await;
    let started = std::time::Instant::now();
    let client = builder(McpUrl::new(&url)).protocol(McpProtocol::Handshake).connect();
    let client = within(client).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!(call(&client, "add", SUM).await.unwrap().to_text(), "5");
    assert!(methods.lock().unwrap().iter().all(|method| method == "POST"));
}

#[tokio::test]
async fn a_url_of_a_configuration_connects_with_its_headers() {
    let served = serve(&Bare::new()).await;
    *served.token.lock().unwrap() = Some("open sesame".to_owned());
    let config = json!({"mcpServers": {
        "shop": {
            "type": "http",
            "url": served.url,
            "headers": {"authorization": "Bearer ${TOKEN}", "X-Team": "${TEAM:-red}", "X-Fixed": "1"},
        },
        "refused": {"url": served.url, "headers": {"Authorization": "Bearer wrong"}},
        "anonymous": {"url": served.url},
    }});
    let config = ConfigFile::read(&config.to_string()).unwrap();
    let lookup = |name: &str| (name == "TOKEN").then(|| "open sesame".to_owned());
    let servers = within(McpServers::connect_with(&config, lookup, |_, builder| builder)).await.unwrap();
    let failures: Vec<String> = servers.failures().into_iter().map(|failure| failure.server).collect();
    assert_eq!(failures, ["anonymous", "refused"]);
    for failure in servers.failures() {
        assert_eq!(failure.error.kind(), McpErrorKind::Unauthorized, "{failure}");
        assert!(!failure.to_string().contains("wrong"), "{failure}");
    }
    let registry = servers.registry().snapshot();
    let sum = within(registry.call("shop-add", SUM)).await.unwrap();
    assert_eq!(sum.to_text(), "5");
    {
        let headers = served.headers.lock().unwrap();
        for (name, value) in [("authorization", "Bearer open sesame"), ("x-team", "red"), ("x-fixed", "1")] {
            assert_eq!(headers[name], value, "{name}");
        }
    }
    within(servers.close()).await;
}

struct Tokens(Mutex<Vec<&'static str>>);

impl TokenSource for Tokens {
    async fn token(
        &self,
        request: &TokenRequest<'_>,
    ) -> Result<Option<McpToken>, Box<dyn Error + Send + Sync>> {
        let mut tokens = self.0.lock().unwrap();
        if request.challenge().is_some() && tokens.len() > 1 {
            tokens.remove(0);
        }
        Ok(Some(tokens[0].into()))
    }
}

#[tokio::test]
async fn a_token_is_sent_and_renewed_when_it_is_refused() {
    let served = serve(&Bare::new()).await;
    *served.token.lock().unwrap() = Some("one".to_owned());
    let fixed = McpUrl::new(&served.url).with_bearer_token("one");
    let fixed = within(builder(fixed).name("shop").connect()).await.unwrap();
    let tokens = Arc::new(Tokens(Mutex::new(vec!["zero", "one", "two"])));
    let renewed = McpUrl::new(&served.url).with_token_source(tokens.clone());
    let renewed = within(builder(renewed).connect()).await.unwrap();
    *served.token.lock().unwrap() = Some("two".to_owned());
    assert_eq!(call(&renewed, "add", SUM).await.unwrap().to_text(), "5");
    assert_eq!(*tokens.0.lock().unwrap(), ["two"]);
    let error = call(&fixed, "add", SUM).await.unwrap_err();
    let expected = "Error running tool: MCP server `shop` refuses access; \
                    the user must renew the credentials; use another tool";
    assert_eq!((error.message(), error.is_retryable()), (expected, false));
}

#[tokio::test]
async fn without_a_valid_token_there_is_no_connection() {
    let served = serve(&Bare::new()).await;
    *served.token.lock().unwrap() = Some("one".to_owned());
    for url in [McpUrl::new(&served.url), McpUrl::new(&served.url).with_bearer_token("zero")] {
        let error = within(builder(url).connect()).await.unwrap_err();
        assert_eq!(error.kind(), McpErrorKind::Unauthorized, "{error}");
        assert!(!error.to_string().contains("zero"));
    }
}

#[tokio::test]
async fn a_restarted_server_is_found_again() {
    for protocol in [McpProtocol::Stateless, McpProtocol::Handshake] {
        let server = Bare::new();
        let served = serve(&server).await;
        let url = served.url.clone();
        let client = within(builder(McpUrl::new(&url)).protocol(protocol).connect()).await.unwrap();
        let mut events = client.events();
        assert_eq!(call(&client, "add", SUM).await.unwrap().to_text(), "5");
        served.task.abort();
        within(async {
            while !served.task.is_finished() {
                tokio::task::yield_now().await;
            }
        })
        .await;
        drop(served);
        // A kept connection may survive its listener for a few calls.
        within(async {
            while call(&client, "add", SUM).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        let listener = within(async {
            loop {
                match TcpListener::bind(&address).await {
                    Ok(listener) => return listener,
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        })
        .await;
        let _served = serve_on(&server, listener);
        // Without a session, nothing is restored.
        if protocol == McpProtocol::Handshake {
            event(&mut events, |event| matches!(event, McpEvent::Reconnected { .. }).then_some(())).await;
        }
        within(async {
            while call(&client, "add", SUM).await.is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
    }
}

#[tokio::test]
async fn a_result_beyond_the_limit_becomes_an_error() {
    let server = Bare::new();
    let served = serve(&server).await;
    for protocol in [McpProtocol::Stateless, McpProtocol::Handshake] {
        let limits = McpLimits::default().with_message_bytes(20_000);
        let builder = builder(McpUrl::new(&served.url)).protocol(protocol).limits(limits);
        let client = within(builder.call_timeout(Duration::from_secs(5)).connect()).await.unwrap();
        let error = call(&client, "repeat", &json!({"times": 30_000}).to_string()).await.unwrap_err();
        assert!(error.message().contains("more than 20000 bytes"), "{protocol:?}: {error:#}");
        assert_eq!(call(&client, "add", SUM).await.unwrap().to_text(), "5");
    }
}

#[tokio::test]
async fn an_unreachable_address_and_a_wrong_address_are_errors() {
    let refused = within(builder(McpUrl::new("http://127.0.0.1:9/mcp")).connect()).await.unwrap_err();
    assert_eq!(refused.kind(), McpErrorKind::Connection, "{refused}");
    for url in ["not a url", "ftp://127.0.0.1/mcp"] {
        let error = within(builder(McpUrl::new(url)).connect()).await.unwrap_err();
        assert_eq!(error.kind(), McpErrorKind::Config, "{error}");
    }
    let header = McpUrl::new("http://127.0.0.1:9/mcp").with_header("x", "secret\n");
    let error = within(builder(header).connect()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "MCP server `127.0.0.1`: the header `x` is illegal; use visible ASCII characters"
    );
    let header = McpUrl::new("http://127.0.0.1:9/mcp").with_header("Mcp-Session-Id", "1");
    let error = within(builder(header).connect()).await.unwrap_err();
    let expected = "MCP server `127.0.0.1`: the protocol sets the header `mcp-session-id`; leave it out";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn an_overloaded_server_is_called_again_later() {
    let served = serve(&Bare::new()).await;
    let client = within(builder(McpUrl::new(&served.url)).name("shop").connect()).await.unwrap();
    *served.status.lock().unwrap() = StatusCode::TOO_MANY_REQUESTS;
    let limited = call(&client, "add", SUM).await.unwrap_err();
    assert_eq!(limited.message(), "Tool `add` is called too often; call it again in 7 seconds");
    *served.status.lock().unwrap() = StatusCode::SERVICE_UNAVAILABLE;
    let down = call(&client, "add", SUM).await.unwrap_err();
    let expected = "Error running tool: MCP server `shop` is out of order (HTTP 503); \
                    try again later, or use another tool";
    assert_eq!((down.message(), down.is_retryable()), (expected, true));
    // A failing server may have executed the call.
    *served.status.lock().unwrap() = StatusCode::BAD_GATEWAY;
    let failed = call(&client, "add", SUM).await.unwrap_err();
    let expected = "Error running tool: MCP server `shop` is out of order (HTTP 502); \
                    it may have been executed; check before trying again";
    assert_eq!((failed.message(), failed.is_retryable()), (expected, false));
    *served.status.lock().unwrap() = StatusCode::OK;
    assert_eq!(call(&client, "add", SUM).await.unwrap().to_text(), "5");
}
