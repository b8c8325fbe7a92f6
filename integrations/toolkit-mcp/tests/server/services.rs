//! The server as a tower service: behind hyper, below a path, with any bodies.

use super::client::text;
use super::http::{Claims, open_session, post, registry, send, session_call, stateless};
use super::streams::{Stream, reporting_calls};
use axum::Router;
use http_body_util::{BodyExt, Full};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::Value;
use std::collections::VecDeque;
use std::net::SocketAddr;
use tokio::net::TcpListener;
use toolkit_ai::{ToolRegistry, tool, tools};
use toolkit_mcp::server::{HttpBody, HttpService, McpServer, ProtectedResource, VerifiedToken};
use tower::ServiceExt;
use tower::util::MapRequestLayer;

const METADATA: &str = "/.well-known/oauth-protected-resource/tools/mcp";

/// Greets.
#[tool]
fn greet() -> &'static str {
    "Hello!"
}

fn service() -> HttpService {
    let registry = ToolRegistry::from_tools(tools![greet]).expect("legal");
    McpServer::new(registry).expect("complete").into_service()
}

fn protected() -> HttpService {
    let resource =
        ProtectedResource::new("https://tools.example.com/tools/mcp", ["https://login.example.com"]);
    let server = McpServer::new(ToolRegistry::new()).expect("complete");
    server.with_oauth(resource, async |_| None::<VerifiedToken>).into_service()
}

async fn serve_with_hyper(service: HttpService) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    address
}

async fn serve_with_axum(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

/// Checks that clients find the metadata without a challenge, and that challenges name it.
async fn check_metadata(address: SocketAddr, endpoint: &str) {
    for path in [METADATA, "/.well-known/oauth-protected-resource"] {
        let response = send(address, "GET", path, "", "").await;
        assert_eq!((response.status, response.header("access-control-allow-origin")), (200, Some("*")));
        assert_eq!(response.header("content-type"), Some("application/json"), "{path}");
        assert_eq!(response.json()["resource"], "https://tools.example.com/tools/mcp", "{path}");
        let refused = send(address, "POST", path, "", "").await;
        assert_eq!((refused.status, refused.header("allow")), (405, Some("GET,HEAD")), "{path}");
    }
    let (headers, body) = stateless("greet", "{}");
    let refused = send(address, "POST", endpoint, &headers, &body).await;
    let challenge = format!("Bearer resource_metadata=\"https://tools.example.com{METADATA}\"");
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some(challenge.as_str())));
}

#[tokio::test]
async fn hyper_serves_both_versions_of_the_protocol_at_any_path() {
    let (registry, _) = registry();
    let service = McpServer::new(registry).expect("complete").into_service();
    let address = serve_with_hyper(service).await;
    let (headers, body) = stateless("letters", r#"{"count":3}"#);
    for path in ["/", "/mcp", "/other/path"] {
        let response = send(address, "POST", path, &headers, &body).await;
        assert_eq!((response.status, text(&response.json()["result"])), (200, "xxx"), "{path}");
        assert!(response.header("content-length").is_some(), "the length of an answer is known");
    }
    let session = open_session(address).await;
    let response = post(address, &session, &session_call("request")).await;
    assert_eq!(text(&response.json()["result"]), "none none old tester");
    let foreign = send(address, "POST", "/", &format!("{headers}Host: evil.example.com\r\n"), &body).await;
    assert_eq!((foreign.status, foreign.body.as_str()), (403, "the host of the request is not allowed"));
}

#[tokio::test]
async fn events_arrive_before_their_stream_ends_behind_hyper_and_axum() {
    for has_router in [false, true] {
        let (registry, signals) = registry();
        let service = McpServer::new(registry).expect("complete").into_service();
        let address = if has_router {
            serve_with_axum(Router::new().nest_service("/mcp", service)).await
        } else {
            serve_with_hyper(service).await
        };
        for (headers, body) in reporting_calls(address).await {
            let mut events = Stream::open(address, "POST", &headers, &body).await;
            // The call waits for the signal, so its stream is open.
            assert!(events.until("half").await.contains("content-type: text/event-stream"));
            signals.open.notify_one();
            assert!(events.until("\r\n0\r\n").await.contains("reported"));
        }
    }
}

#[tokio::test]
async fn hyper_serves_the_metadata_of_oauth() {
    check_metadata(serve_with_hyper(protected()).await, "/tools/mcp").await;
}

#[tokio::test]
async fn a_nested_service_is_found_below_its_path_and_gets_extensions() {
    let (registry, _) = registry();
    let service = McpServer::new(registry).expect("complete").into_service();
    let add_claims = |mut request: axum::extract::Request| {
        request.extensions_mut().insert(Claims("admin"));
        request
    };
    let inner = Router::new().nest_service("/mcp", service).layer(MapRequestLayer::new(add_claims));
    let address = serve_with_axum(Router::new().nest("/tools", inner)).await;
    let (headers, body) = stateless("request", "{}");
    for (path, status) in [("/tools/mcp", 200), ("/tools/mcp/", 200), ("/mcp", 404), ("/tools", 404)] {
        let response = send(address, "POST", path, &headers, &body).await;
        assert_eq!(response.status, status, "{path}");
        if status == 200 {
            assert_eq!(text(&response.json()["result"]), "none admin tester");
        }
    }
}

#[tokio::test]
async fn a_router_that_nests_the_service_routes_the_metadata_to_a_clone() {
    let service = protected();
    let router = Router::new()
        .route_service(METADATA, service.clone())
        .route_service("/.well-known/oauth-protected-resource", service.clone())
        .nest_service("/tools/mcp", service);
    check_metadata(serve_with_axum(router).await, "/tools/mcp").await;
}

#[tokio::test]
async fn requests_have_bodies_of_any_type() {
    async fn answer<B>(body: B) -> Value
    where
        HttpService: tower::Service<
                http::Request<B>,
                Response = http::Response<HttpBody>,
                Error = std::convert::Infallible,
            >,
    {
        let mut request =
            http::Request::post("/").header("Host", "localhost").header("Content-Type", "application/json");
        let (headers, _) = stateless("greet", "{}");
        for (name, value) in headers.lines().filter_map(|line| line.split_once(": ")) {
            request = request.header(name, value);
        }
        let request =
            request.header("Accept", "application/json, text/event-stream").body(body).expect("legal");
        let Ok(response) = service().oneshot(request).await;
        assert_eq!(response.status(), 200);
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        serde_json::from_slice(&body).expect("JSON")
    }
    let (_, body) = stateless("greet", "{}");
    let (first, second) = body.split_at(body.len() / 2);
    let parts = [first, second].map(|part| Ok::<_, std::io::Error>(part.as_bytes().to_vec().into()));
    for answer in [
        answer(body.clone()).await,
        answer(Full::new(VecDeque::from(body.clone().into_bytes()))).await,
        answer(axum::body::Body::from(body.clone())).await,
        answer(HttpBody::from_stream(futures_util::stream::iter(parts))).await,
    ] {
        assert_eq!(text(&answer["result"]), "Hello!");
    }
}
