//! Settings that no request can meet, and addresses that cannot be bound.

use toolkit_ai::ToolRegistry;
use toolkit_mcp::McpErrorKind::{Bind, Config};
use toolkit_mcp::server::McpServer;

fn server() -> McpServer {
    McpServer::new(ToolRegistry::new()).expect("complete")
}

#[tokio::test]
async fn a_setting_that_no_request_can_meet_is_an_error_before_the_server_serves() {
    let token = |token: &str| server().with_bearer_token(token);
    let host = |host: &str| server().with_allowed_hosts(["localhost", host]);
    let origin = |origin: &str| server().with_allowed_origins([origin]);
    let empty =
        "`with_bearer_token`: the bearer token is empty, so every request would be refused; set the token";
    let broken =
        "`with_bearer_token`: the bearer token has a line break or another character that no header can have";
    for (server, expected) in [
        (token(""), empty),
        (token(" \n"), empty),
        (token("Bearer s3cret"), "`with_bearer_token`: give the token without `Bearer `"),
        (token("s3\ncret"), broken),
        (
            host("https://localhost:8000/mcp"),
            "`with_allowed_hosts`: write the host `localhost:8000` without `https://`",
        ),
        (
            host("*.example.com"),
            "`with_allowed_hosts`: `*.example.com` is no host; name each host, such as `tools.example.com`",
        ),
        (
            host("example.com/mcp"),
            "`with_allowed_hosts`: `example.com/mcp` is no host; write it as `tools.example.com`",
        ),
        (
            origin("app.example.com"),
            "`with_allowed_origins`: `app.example.com` is no origin; write it as `https://app.example.com`",
        ),
        (origin("*"), "`with_allowed_origins`: `*` is no origin; write it as `https://app.example.com`"),
        (
            token("").with_allowed_hosts(["http://a"]),
            "`with_allowed_hosts`: write the host `a` without `http://`; `with_bearer_token`: the bearer token is empty, so every request would be refused; set the token",
        ),
    ] {
        let error = server.bind_http("127.0.0.1:0").await.expect_err(expected);
        assert_eq!((error.kind(), error.to_string().as_str()), (Config, expected));
    }
    for server in [
        token("").with_bearer_token("open sesame"),
        server().with_allowed_hosts(["::1", "[::1]:80", "tools.example.com:443", "Localhost "]),
        server().with_allowed_origins(["null", "http://localhost:*", "app://local"]),
    ] {
        drop(server.bind_http("127.0.0.1:0").await.expect("a legal setting"));
    }
}

#[cfg(feature = "axum-08")]
#[tokio::test]
async fn a_mounted_server_with_an_empty_token_refuses_every_request() {
    let router: axum::Router = server().with_bearer_token("").into_router();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    for headers in
        ["", "Authorization: Bearer\r\n", "Authorization: Bearer \r\n", "Authorization: Bearer  \t\r\n"]
    {
        let response = super::http::call(address, headers, "request", "{}").await;
        assert_eq!(response.status, 401, "{headers:?}");
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_bound_is_an_error_with_the_cure() {
    for address in [":8000", "http://127.0.0.1:8000", "8000"] {
        let error = server().serve_http(address).await.expect_err(address);
        let text = error.to_string();
        let cure = "; write a host and a port without `http://`, such as `127.0.0.1:8000`";
        let is_clear = text.starts_with("the address of the server cannot be read: ") && text.ends_with(cure);
        assert!(is_clear && error.kind() == Bind, "{text}");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address");
    let error = server().serve_http(address).await.expect_err("taken");
    let text = error.to_string();
    let is_clear = text.starts_with(&format!("`{address}` is in use by another program ("))
        && text.ends_with("); stop it, or take another port");
    assert!(is_clear && error.kind() == Bind, "{text}");
}
