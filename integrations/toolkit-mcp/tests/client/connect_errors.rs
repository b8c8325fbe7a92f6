//! The texts of failed connections: the fault, and the remedy.

use super::process::server;
use super::within;
use toolkit_mcp::McpErrorKind;
use toolkit_mcp::client::{McpClient, McpCommand, McpEndpoint};

/// Checks a connection's error, with `…` for a platform's text.
async fn check(endpoint: impl Into<McpEndpoint>, kind: McpErrorKind, expected: &str) {
    let builder = McpClient::builder(endpoint).name("shop");
    let error = within(builder.connect()).await.unwrap_err();
    let text = error.to_string();
    assert!(!text.contains("rmcp") && !text.contains("Transport"), "{text}");
    let text = text.strip_prefix("MCP server `shop`: ").expect("the name of the server");
    let fits = match expected.split_once('…') {
        Some((start, end)) => text.starts_with(start) && text.ends_with(end) && text.len() > expected.len(),
        None => text == expected,
    };
    assert!(fits && error.kind() == kind, "{:?}: {text}\nexpected {kind:?}: {expected}", error.kind());
}

#[tokio::test]
async fn a_process_that_does_not_serve_is_an_error_with_its_reason() {
    use McpErrorKind::{Connection, Start, TimedOut};
    let missing = McpCommand::new("no-such-program-anywhere");
    let text = "`no-such-program-anywhere` could not be started: …; check the command and `PATH`";
    check(missing, Start, text).await;
    let elsewhere = server("good").current_dir("/no/such/folder");
    check(elsewhere, Start, "the working directory `/no/such/folder` does not exist").await;
    let crashed = "the process ended (exit status: 3); its last output: starting in mode crash";
    check(server("crash"), Connection, crashed).await;
    let text = "`no-such-program-anywhere -y x` could not be started: …; the command is the program alone, and its arguments go into `args`";
    check(McpCommand::new("no-such-program-anywhere -y x"), Start, text).await;
    let silent = McpClient::builder(server("silent")).connect_timeout(std::time::Duration::from_secs(2));
    let error = within(silent.name("shop").connect()).await.unwrap_err();
    let text =
        "MCP server `shop`: the server did not connect within 2 s; its last output: starting in mode silent";
    assert_eq!((error.kind(), error.to_string().as_str()), (TimedOut, text));
}

#[cfg(feature = "client-http")]
#[tokio::test]
async fn a_url_that_does_not_serve_is_an_error_with_its_reason() {
    use McpErrorKind::{Config, Connection, Protocol, Unauthorized};
    use axum::body::Bytes;
    use axum::extract::Path;
    use axum::http::StatusCode;
    use axum::routing::any;
    use tokio::net::TcpListener;
    use toolkit_mcp::client::McpUrl;

    let answer = |Path(status): Path<u16>, body: Bytes| async move {
        let body = String::from_utf8_lossy(&body).into_owned();
        let found = r#"{"jsonrpc": "2.0", "id": 2147483645, "result": {"supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}}, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}}"#;
        let json = ("content-type", "application/json");
        let page = ("content-type", "text/html");
        match status {
            599 if body.contains("server/discover") => (StatusCode::OK, [json], found),
            599 => (StatusCode::BAD_GATEWAY, [page], "<p>proxy</p>"),
            status => (StatusCode::from_u16(status).unwrap(), [page], "no such page"),
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new().route("/{status}", any(answer));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    for (url, kind, expected) in [
        (
            "http://127.0.0.1:9".to_owned(),
            Connection,
            "the server cannot be reached: Connection refused…; check the address, and that the server runs",
        ),
        (
            // The label is too long for a name server.
            format!("http://{}.invalid", "x".repeat(64)),
            Connection,
            "the server cannot be reached: failed to lookup address information…; check the address, and that the server runs",
        ),
        (
            format!("https://{address}"),
            Connection,
            "the server speaks no TLS at this address; write `http://` if that is meant",
        ),
        (format!("{address}/mcp"), Config, "the URL has no scheme; it needs `https://`, or `http://`"),
        (
            format!("http://{address}/404"),
            Connection,
            "the server answered with HTTP 404 Not Found: no such page; check the URL, whose path is often `/mcp`",
        ),
        (
            format!("http://{address}/405"),
            Connection,
            "the server answered with HTTP 405 Method Not Allowed: no such page; check the URL",
        ),
        (
            format!("http://{address}/307"),
            Connection,
            "the server answered with HTTP 307 Temporary Redirect: no such page; redirects are not followed, so use the final URL",
        ),
        (
            format!("http://{address}/503"),
            Connection,
            "the server answered with HTTP 503 Service Unavailable; try again later",
        ),
        (
            format!("http://{address}/401"),
            Unauthorized,
            if cfg!(feature = "auth") {
                "the server refuses access without valid credentials; set a token, or use `McpUrl::with_login`"
            } else {
                "the server refuses access without valid credentials; set a token"
            },
        ),
        (
            format!("http://{address}/403"),
            Connection,
            "the server answered with HTTP 403 Forbidden: no such page; check the credentials",
        ),
        (
            format!("http://{address}/200"),
            Protocol,
            "the server's answer is not a message of the protocol: Unexpected content type: Some(\"text/html\"); check the URL",
        ),
        (
            format!("http://{address}/599"),
            Connection,
            "the server answered with HTTP 502 Bad Gateway; try again later",
        ),
    ] {
        check(McpUrl::new(url), kind, expected).await;
    }
    let url = format!("http://{address}/404");
    for (token, expected) in [
        ("Bearer s3cret", "`with_bearer_token`: give the token without `Bearer `"),
        (
            "s3\ncret",
            "`with_bearer_token`: the token has a line break or another character that no header can have",
        ),
    ] {
        check(McpUrl::new(&url).with_bearer_token(token), Config, expected).await;
    }
}

#[cfg(all(feature = "client-http", feature = "server-http"))]
#[tokio::test]
async fn a_host_that_the_server_refuses_is_an_error_with_its_setting() {
    use toolkit_ai::ToolRegistry;
    use toolkit_mcp::client::McpUrl;
    use toolkit_mcp::server::McpServer;

    let server = McpServer::new(ToolRegistry::new()).unwrap().with_allowed_hosts(["tools.example.com"]);
    let server = server.bind_http("127.0.0.1:0").await.unwrap();
    let url = server.url();
    tokio::spawn(server.run());
    let expected = "the server answered with HTTP 403 Forbidden: the host of the request is not allowed; the server must allow the host of the URL, as with `McpServer::with_allowed_hosts`";
    check(McpUrl::new(url), McpErrorKind::Connection, expected).await;
}
