//! Calls of a served registry over HTTP: outputs, errors, guards, events and ends.

use http::{HeaderMap, HeaderName, Request, Response};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::timeout;
use toolkit_ai::error::Pending;
use toolkit_ai::middleware::{PermissionRule, Permissions, RateLimit};
use toolkit_ai::output::Truncation;
use toolkit_ai::prelude::*;
use toolkit_ai::{CancellationToken, ErrorKind, LiveRegistry, Media};
use toolkit_openapi::server::{HttpBody, HttpCaller, OpenApiServer};
use tower::util::MapRequestLayer;
use tower::{Layer, Service, ServiceExt};

const PATIENCE: Duration = Duration::from_secs(20);

/// Add two numbers.
#[tool]
pub(crate) fn add(a: i64, #[param(range = 0..=10)] b: i64) -> i64 {
    a + b
}

#[derive(serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Weather {
    city: String,
    degrees: f64,
}

/// Get the weather.
#[tool]
pub(crate) fn weather(city: String) -> Weather {
    Weather { city, degrees: 21.5 }
}

#[tool]
pub(crate) fn greet(name: Option<String>) -> String {
    format!("Hello, {}!\n", name.unwrap_or_else(|| "you".to_owned()))
}

#[tool]
pub(crate) fn chart() -> Media {
    Media::new("image/png", b"\x89PNG\r\n")
}

#[tool]
pub(crate) fn both() -> ToolOutput {
    ToolOutput::text("see").with_content(Media::new("image/png", b"x"))
}

#[tool]
pub(crate) fn fail(kind: String) -> Result<String, ToolError> {
    Err(match kind.as_str() {
        "failed" => ToolError::failed("the order is closed"),
        "passing" => ToolError::failed("the disk is full").with_retryable(true),
        "retry" => ToolError::retry("use another path"),
        "pending" => ToolError::needs_approval("fail", "it costs money"),
        "rate" => ToolError::rate_limited("fail", Duration::from_millis(2_500)),
        "output" => ToolError::invalid_output("no number"),
        _ => panic!("{kind}"),
    })
}

#[tool]
async fn report(context: &ToolContext) -> String {
    context.progress(0.25, "first\nline");
    tokio::task::yield_now().await;
    context.progress(1.0, "last");
    "done".to_owned()
}

#[derive(Default)]
struct Signals {
    begun: Notify,
    dropped: Arc<Notify>,
}

#[tool]
async fn wait(#[state] signals: &Signals) {
    struct Dropped(Arc<Notify>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let _dropped = Dropped(signals.dropped.clone());
    signals.begun.notify_one();
    std::future::pending::<()>().await;
}

#[derive(Clone)]
struct Claims(&'static str);

struct Tenant(String);

#[tool]
fn who(#[state] caller: &HttpCaller, #[state] tenant: &Tenant) -> String {
    let claims = caller.extension::<Claims>().map_or("none", |claims| claims.0);
    format!("{claims} {}", tenant.0)
}

pub(crate) fn registry() -> ToolRegistry {
    ToolRegistry::from_tools(tools![add, weather, greet, chart, both, fail]).unwrap()
}

fn server() -> OpenApiServer {
    OpenApiServer::new(registry()).unwrap()
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

pub(crate) async fn send(server: OpenApiServer, line: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    send_to(server.into_service(), line, headers, body).await
}

/// Sends a request, whose method and path are `line`, and whose later headers replace earlier ones.
async fn send_to<S>(service: S, line: &str, headers: &[(&str, &str)], body: &str) -> Reply
where
    S: Service<Request<String>, Response = Response<HttpBody>, Error = Infallible>,
{
    let (method, path) = line.split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(path).body(body.to_owned()).unwrap();
    let usual = [("host", "localhost"), ("content-type", "application/json")];
    for (name, value) in usual.iter().chain(headers) {
        request.headers_mut().insert(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
    }
    let response = timeout(PATIENCE, service.oneshot(request)).await.unwrap().unwrap();
    let (head, body) = response.into_parts();
    let body = timeout(PATIENCE, body.collect()).await.unwrap().unwrap();
    Reply { status: head.status.as_u16(), headers: head.headers, body: body.to_bytes().to_vec() }
}

#[tokio::test]
async fn outputs_are_json_text_or_bytes() {
    let several = json!({"content": [
        {"type": "text", "text": "see"},
        {"type": "image", "media_type": "image/png", "base64": "eA=="},
    ]});
    for (tool, arguments, media_type, body) in [
        ("add", r#"{"a": 1, "b": "2"}"#, "application/json", b"3".as_slice()),
        ("weather", r#"{"city": "Rome"}"#, "application/json", br#"{"city":"Rome","degrees":21.5}"#),
        ("greet", r#"{"name": "Ada"}"#, "text/plain; charset=utf-8", b"Hello, Ada!\n"),
        ("greet", "", "text/plain; charset=utf-8", b"Hello, you!\n"),
        ("chart", "{}", "image/png", b"\x89PNG\r\n"),
        ("both", "{}", "application/json", several.to_string().as_bytes()),
    ] {
        let reply = send(server(), &format!("POST /tools/{tool}"), &[], arguments).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, media_type), "{tool}");
        assert_eq!(reply.body, body, "{tool}");
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
        assert_eq!(reply.header("content-security-policy"), "default-src 'none'; sandbox");
    }
}

#[tokio::test]
async fn errors_are_problems_with_the_status_of_their_kind() {
    let ended = CancellationToken::new();
    ended.cancel();
    for (tool, arguments, status, kind, detail) in [
        ("ad", "{}", 404, "not_found", "Tool `ad` not found; did you mean `add`?"),
        ("add", "{", 400, "invalid_json", "Error parsing JSON arguments"),
        ("add", r#"{"a": 1, "b": 11}"#, 422, "invalid_arguments", "`b`"),
        ("fail", r#"{"kind": "failed"}"#, 422, "failed", "Error running tool: the order is closed"),
        ("fail", r#"{"kind": "passing"}"#, 503, "failed", "Error running tool: the disk is full"),
        ("fail", r#"{"kind": "retry"}"#, 422, "retry", "Try again: use another path"),
        ("fail", r#"{"kind": "pending"}"#, 409, "pending", "it waits for approval (it costs money)"),
        ("fail", r#"{"kind": "rate"}"#, 429, "rate_limited", "call it again in 3 seconds"),
        ("fail", r#"{"kind": "output"}"#, 500, "invalid_output", "no number"),
        ("fail", r#"{"kind": "panic"}"#, 500, "panicked", "fail"),
    ] {
        let reply = send(server(), &format!("POST /tools/{tool}"), &[], arguments).await;
        assert_eq!(
            (reply.status, reply.header("content-type")),
            (status, "application/problem+json"),
            "{tool} {arguments}"
        );
        let problem = reply.json();
        assert_eq!((&problem["status"], &problem["kind"]), (&json!(status), &json!(kind)));
        assert!(problem["detail"].as_str().unwrap().contains(detail), "{problem}");
        assert_eq!(reply.header("retry-after"), if status == 429 { "3" } else { "" });
        match kind {
            "invalid_arguments" => {
                let detail = &problem["errors"][0]["detail"];
                assert_eq!(problem["errors"], json!([{"path": "b", "kind": "constraint", "detail": detail}]));
            }
            "pending" => {
                let pending: Pending = serde_json::from_value(problem["pending"].clone()).unwrap();
                assert!(matches!(pending, Pending::Approval { .. }));
            }
            _ => assert_eq!(problem.get("errors"), None),
        }
    }
}

#[tokio::test]
async fn permissions_limits_and_middleware_of_the_dispatcher_apply() {
    let dispatcher = || Dispatcher::new(registry()).unwrap();
    let deny = Permissions::new().rule(PermissionRule::deny("not today"));
    let denied = send(dispatcher().with_middleware(deny).into(), "POST /tools/greet", &[], "{}").await;
    assert_eq!((denied.status, &denied.json()["kind"]), (403, &json!("denied")));
    assert!(denied.text().contains("not today"), "{}", denied.text());

    let limit = RateLimit::new().for_all(1, Duration::from_secs(60));
    let service = OpenApiServer::from(dispatcher().with_middleware(limit)).into_service();
    assert_eq!(send_to(service.clone(), "POST /tools/greet", &[], "{}").await.status, 200);
    let limited = send_to(service, "POST /tools/greet", &[], "{}").await;
    assert_eq!(limited.status, 429);
    assert!((1..=60).contains(&limited.header("retry-after").parse::<u32>().unwrap()));

    let truncated = dispatcher().with_truncation(Truncation::new(5));
    let reply = send(truncated.into(), "POST /tools/greet", &[], "{}").await;
    assert!(reply.status == 200 && reply.text() != "Hello, you!\n", "{}", reply.text());
}

#[tokio::test]
async fn requests_are_checked_before_they_are_read() {
    let token = server().with_bearer_token("secret");
    let known = ("authorization", "Bearer secret");
    let large = format!("\"{}\"", "x".repeat(100));
    for (server, line, headers, body, status) in [
        (server(), "POST /tools/greet", vec![("host", "evil.example")], "{}", 403),
        (server(), "POST /tools/greet", vec![("host", "127.0.0.1:80")], "{}", 200),
        (
            server().with_allowed_hosts(["a.example"]),
            "POST /tools/greet",
            vec![("host", "a.example")],
            "{}",
            200,
        ),
        (server(), "POST /tools/greet", vec![("origin", "https://evil.example")], "{}", 403),
        (server(), "GET /openapi.json", vec![("origin", "null")], "", 403),
        (token.clone(), "POST /tools/greet", vec![], "{}", 401),
        (token.clone(), "GET /openapi.json", vec![], "", 401),
        (token.clone(), "GET /", vec![("authorization", "Bearer wrong")], "", 401),
        (token.clone(), "POST /tools/greet", vec![known], "{}", 200),
        (server().with_max_request_size(100), "POST /tools/greet", vec![], &large, 413),
        (server(), "POST /tools/greet", vec![("content-type", "text/plain")], "{}", 415),
        (server(), "GET /tools/greet", vec![], "", 405),
        (server(), "POST /other", vec![], "", 404),
    ] {
        let reply = send(server, line, &headers, body).await;
        assert_eq!(reply.status, status, "{line} {headers:?}");
        if status != 200 {
            assert_eq!(reply.header("content-type"), "application/problem+json", "{line} {headers:?}");
            assert_eq!(reply.json()["status"], status);
        }
        assert_eq!(reply.header("www-authenticate"), if status == 401 { "Bearer" } else { "" });
    }
    let origin = ("origin", "https://app.example");
    let server = token.with_allowed_origins(["https://app.example"]);
    let asked = send(server.clone(), "OPTIONS /tools/greet", &[origin], "").await;
    assert_eq!((asked.status, asked.header("access-control-allow-methods")), (204, "GET, POST"));
    let reply = send(server, "POST /tools/greet", &[origin, known], "{}").await;
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (200, "https://app.example"));
}

#[tokio::test]
async fn other_machines_need_a_named_host_and_a_token() {
    let error = server().with_bearer_token("secret").bind("0.0.0.0:0").await.unwrap_err();
    assert!(error.to_string().contains("name the accepted hosts with `with_allowed_hosts`"), "{error}");
    let server = server().with_allowed_hosts(["tools.example"]);
    let error = server.clone().bind("0.0.0.0:0").await.unwrap_err();
    assert!(error.to_string().contains("require a token with `with_bearer_token`"), "{error}");
    assert!(server.with_bearer_token("secret").bind("0.0.0.0:0").await.unwrap().address().port() > 0);
}

#[tokio::test]
async fn progress_comes_as_events_and_last_the_result() {
    let registry = ToolRegistry::from_tools(tools![report, fail, add]).unwrap();
    let server = OpenApiServer::new(registry).unwrap();
    let accept = ("accept", "application/json;q=0.5, text/event-stream");
    let reply = send(server.clone(), "POST /tools/report", &[accept], "").await;
    assert_eq!((reply.status, reply.header("content-type")), (200, "text/event-stream"));
    let expected = "event: progress\ndata: {\"fraction\":0.25,\"message\":\"first\\nline\"}\n\n\
                    event: progress\ndata: {\"fraction\":1.0,\"message\":\"last\"}\n\n\
                    event: result\ndata: \"done\"\n\n";
    assert_eq!(reply.text(), expected);
    let reply = send(server.clone(), "POST /tools/add", &[accept], r#"{"a": 1, "b": 2}"#).await;
    assert_eq!(reply.text(), "event: result\ndata: 3\n\n");
    let reply = send(server, "POST /tools/fail", &[accept], r#"{"kind": "retry"}"#).await;
    let problem = reply.text().strip_prefix("event: error\ndata: ").unwrap();
    let problem: Value = serde_json::from_str(problem).unwrap();
    assert_eq!((&problem["status"], &problem["kind"]), (&json!(422), &json!("retry")));
}

#[tokio::test]
async fn a_call_ends_when_its_client_goes_or_waits_no_longer() {
    let signals = Arc::new(Signals::default());
    let registry = ToolRegistry::from_tools(tools![wait]).unwrap().with_shared_state(signals.clone());
    let server = OpenApiServer::new(registry).unwrap().with_max_calls(1);
    let reply = send(server.clone(), "POST /tools/wait", &[("prefer", "wait=0")], "").await;
    assert_eq!((reply.status, &reply.json()["kind"]), (504, &json!("timed_out")));
    timeout(PATIENCE, signals.dropped.notified()).await.unwrap();

    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let address = bound.address();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(bound.run_until(async { drop(stopped.await) }));
    for accept in ["application/json", "text/event-stream"] {
        let begun = signals.begun.notified();
        let mut client = TcpStream::connect(address).await.unwrap();
        let head = format!("POST /tools/wait HTTP/1.1\r\nhost: localhost\r\naccept: {accept}\r\n");
        client.write_all(format!("{head}content-length: 0\r\n\r\n").as_bytes()).await.unwrap();
        timeout(PATIENCE, begun).await.unwrap();
        let mut other = TcpStream::connect(address).await.unwrap();
        other
            .write_all(format!("{head}content-length: 0\r\nconnection: close\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let mut busy = String::new();
        other.read_to_string(&mut busy).await.unwrap();
        let has_text = busy.contains("\"detail\":\"the server is busy; try again later\"");
        assert!(busy.starts_with("HTTP/1.1 503 ") && has_text, "{busy}");
        drop(client);
        timeout(PATIENCE, signals.dropped.notified()).await.unwrap();
    }
    stop.send(()).unwrap();
    timeout(PATIENCE, running).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_stopped_server_waits_no_longer_than_its_grace() {
    let signals = Arc::new(Signals::default());
    let registry = ToolRegistry::from_tools(tools![wait]).unwrap().with_shared_state(signals.clone());
    let server = OpenApiServer::new(registry).unwrap().with_grace(Duration::from_millis(20));
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let mut client = TcpStream::connect(bound.address()).await.unwrap();
    client.write_all(b"POST /tools/wait HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    timeout(PATIENCE, bound.run_until(signals.begun.notified())).await.unwrap();
    timeout(PATIENCE, signals.dropped.notified()).await.unwrap();
}

#[tokio::test]
async fn tools_read_the_request_and_the_state_of_the_call() {
    let registry = ToolRegistry::from_tools(tools![who]).unwrap().with_run_state::<Tenant>();
    let called = Arc::new(AtomicBool::new(false));
    let server = OpenApiServer::new(registry).unwrap().with_call_state(move |caller| {
        called.store(true, Ordering::Relaxed);
        match caller.header("x-tenant") {
            Some("panic") => panic!("no tenant"),
            Some(tenant) => Ok(Tenant(tenant.to_owned())),
            None => Err(ToolError::new(ErrorKind::Denied, "the request names no tenant")),
        }
    });
    let add_claims = |mut request: Request<String>| {
        request.extensions_mut().insert(Claims("admin"));
        request
    };
    let service = server.with_path("/api/").unwrap().into_service();
    let service = MapRequestLayer::new(add_claims).layer(service);
    let line = "POST /api/tools/who";
    let reply = send_to(service.clone(), line, &[("x-tenant", "acme")], "").await;
    assert_eq!(reply.text(), "admin acme");
    assert_eq!(send_to(service.clone(), line, &[], "").await.status, 403);
    assert_eq!(send_to(service, line, &[("x-tenant", "panic")], "").await.status, 500);
}

#[tokio::test]
async fn the_document_follows_a_live_registry() {
    let live = LiveRegistry::new(registry()).unwrap();
    let service = OpenApiServer::new(live.clone()).unwrap().into_service();
    let paths = async || {
        let document = send_to(service.clone(), "GET /openapi.json", &[], "").await.json();
        document["paths"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    let all = ["/tools/add", "/tools/both", "/tools/chart", "/tools/fail", "/tools/greet", "/tools/weather"];
    assert_eq!(paths().await, all);
    live.change(|registry| registry.unregister("both").map(drop)).unwrap();
    assert_eq!(
        paths().await,
        ["/tools/add", "/tools/chart", "/tools/fail", "/tools/greet", "/tools/weather"]
    );
    assert_eq!(send_to(service.clone(), "POST /tools/both", &[], "").await.status, 404);
}
