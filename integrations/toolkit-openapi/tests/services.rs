//! The server as a tower service: behind hyper, below a path, and merged into an application.

use crate::served::{add, greet};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::timeout;
use toolkit_ai::prelude::*;
use toolkit_openapi::server::{HttpService, OpenApiServer};

const PATIENCE: Duration = Duration::from_secs(20);

/// Reports progress and waits for a signal.
#[tool]
async fn report_and_wait(#[state] open: Arc<Notify>, context: &ToolContext) -> &'static str {
    context.progress(0.5, "half");
    open.notified().await;
    "reported"
}

fn server() -> OpenApiServer {
    OpenApiServer::new(ToolRegistry::from_tools(tools![add, greet]).unwrap()).unwrap()
}

async fn serve_with_hyper(service: HttpService) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    address
}

async fn serve_with_axum(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

/// Sends a request, whose method and path are `line`.
async fn open(address: SocketAddr, line: &str, headers: &str, body: &str) -> TcpStream {
    let request = format!(
        "{line} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n{headers}\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn send(address: SocketAddr, line: &str, body: &str) -> String {
    let mut response = String::new();
    let mut stream = open(address, line, "", body).await;
    timeout(PATIENCE, stream.read_to_string(&mut response)).await.unwrap().unwrap();
    response
}

async fn check(address: SocketAddr, expected: &[(&str, u16)]) {
    for (line, status) in expected {
        let response = send(address, line, r#"{"name": "Ada"}"#).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{line}: {response}");
        if line.ends_with("/greet") && *status == 200 {
            assert!(response.ends_with("\r\n\r\nHello, Ada!\n"), "{line}: {response}");
            assert!(response.contains("content-length: 12\r\n"), "{line}: {response}");
        }
    }
}

#[tokio::test]
async fn hyper_serves_the_tools_the_document_and_the_page() {
    let address = serve_with_hyper(server().into_service()).await;
    let expected =
        [("POST /tools/greet", 200), ("GET /openapi.json", 200), ("GET /", 200), ("GET /other", 404)];
    check(address, &expected).await;
    let head = send(address, "HEAD /openapi.json", "").await;
    assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "{head}");
    let refused = send(address, "GET /tools/greet", "").await;
    assert!(refused.starts_with("HTTP/1.1 405 ") && refused.contains("allow: POST\r\n"), "{refused}");
    assert!(refused.contains("the path has no method `GET`; use POST"), "{refused}");
}

#[tokio::test]
async fn a_service_is_found_with_its_path_and_nested_below_it() {
    let service = || server().with_path("/tools").unwrap().into_service();
    let expected = [
        ("POST /tools/tools/greet", 200),
        ("GET /tools/openapi.json", 200),
        ("GET /tools/", 200),
        ("GET /tools/greet", 405),
    ];
    check(serve_with_hyper(service()).await, &expected).await;
    let nested = serve_with_axum(Router::new().nest_service("/tools", service())).await;
    check(nested, &expected[..3]).await;
    check(nested, &[("POST /tools/greet", 404), ("GET /openapi.json", 404)]).await;
    let document = send(nested, "GET /tools/openapi.json", "").await;
    assert!(document.contains(r#""servers":[{"url":"/tools"}]"#), "{document}");
}

#[tokio::test]
async fn a_bound_server_answers_below_its_path_only() {
    let bound = server().with_path("/api").unwrap().bind("127.0.0.1:0").await.unwrap();
    let address = bound.address();
    tokio::spawn(bound.run_until(std::future::pending()));
    let found = [("POST /api/tools/greet", 200), ("GET /api/openapi.json", 200), ("GET /api/", 200)];
    check(address, &found).await;
    check(address, &[("POST /tools/greet", 404), ("GET /openapi.json", 404), ("GET /apiopenapi.json", 404)])
        .await;
}

#[cfg(feature = "axum-08")]
#[tokio::test]
async fn a_router_stands_beside_other_routes() {
    let router: Router = server().with_path("/api").unwrap().into_router();
    let router = router.route("/health", axum::routing::get(|| async { "ok" }));
    let expected = [
        ("GET /health", 200),
        ("POST /api/tools/greet", 200),
        ("GET /api/openapi.json", 200),
        ("GET /api/", 200),
        ("POST /tools/greet", 404),
    ];
    check(serve_with_axum(router).await, &expected).await;
}

#[tokio::test]
async fn events_arrive_before_their_stream_ends_behind_hyper_and_axum() {
    for has_router in [false, true] {
        let signal = Arc::new(Notify::new());
        let registry = ToolRegistry::from_tools(tools![report_and_wait]).unwrap();
        let service = OpenApiServer::new(registry.with_shared_state(signal.clone())).unwrap().into_service();
        let address = if has_router {
            serve_with_axum(Router::new().nest_service("/api", service)).await
        } else {
            serve_with_hyper(service).await
        };
        let line = if has_router { "POST /api/tools/report_and_wait" } else { "POST /tools/report_and_wait" };
        let mut stream = open(address, line, "Accept: text/event-stream\r\n", "").await;
        let mut response = String::new();
        while !response.contains("half") {
            let mut bytes = [0; 4_096];
            let read = timeout(PATIENCE, stream.read(&mut bytes)).await.unwrap().unwrap();
            assert!(read > 0, "the stream ended before its first event: {response}");
            response.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
        }
        assert!(response.contains("content-type: text/event-stream\r\n"), "{response}");
        signal.notify_one();
        timeout(PATIENCE, stream.read_to_string(&mut response)).await.unwrap().unwrap();
        assert!(response.contains("event: result\ndata: \"reported\"\n\n"), "{response}");
    }
}
