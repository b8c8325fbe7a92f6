//! The server as a protected resource of OAuth.

use super::client::text;
use super::http::{Response, initialize, post, send, session_call, stateless};
use serde_json::{Value, json};
use std::net::SocketAddr;
use toolkit_ai::{ToolRegistry, tool, tools};
use toolkit_mcp::server::McpServer;
use toolkit_mcp::server::{Caller, ProtectedResource, VerifiedToken};

/// Lists notes.
#[tool]
fn list(#[state] caller: &Caller) -> String {
    let token = caller.extension::<VerifiedToken>().expect("a checked token");
    format!("notes of {} from {}", token.subject, token.claims["iss"])
}

/// Deletes a note.
#[tool(meta(scopes = "notes:write notes:read"))]
fn delete() -> &'static str {
    "gone"
}

/// The tokens `ann`, `bob`, `admin`, and another issuer's `ann`.
async fn claims(token: String) -> Option<VerifiedToken> {
    let (subject, scope, issuer) = match token.as_str() {
        "ann" | "bob" => (token.as_str(), "notes:read", "login"),
        "other ann" => ("ann", "notes:read", "other login"),
        "admin" => ("admin", "notes:read notes:write", "login"),
        _ => return None,
    };
    Some(VerifiedToken::from_claims(json!({"sub": subject, "scope": scope, "iss": issuer})))
}

async fn start() -> SocketAddr {
    let resource = ProtectedResource::new("https://tools.example.com/mcp", ["https://login.example.com"]);
    let registry = ToolRegistry::from_tools(tools![list, delete]).expect("legal");
    let server = McpServer::new(registry).expect("complete");
    let server = server.with_oauth(resource.with_scopes(["notes:read"]), claims);
    let server = server.bind_http("127.0.0.1:0").await.expect("a free port");
    let address = server.address();
    tokio::spawn(server.run_until(std::future::pending()));
    address
}

async fn call(address: SocketAddr, token: &str, tool: &str) -> Response {
    let (headers, body) = stateless(tool, "{}");
    send(address, "POST", "/mcp", &format!("{headers}Authorization: Bearer {token}\r\n"), &body).await
}

#[tokio::test]
async fn the_metadata_of_the_resource_is_public() {
    let address = start().await;
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let response = send(address, "GET", path, "", "").await;
        assert_eq!((response.status, response.header("access-control-allow-origin")), (200, Some("*")));
        let expected = json!({
            "resource": "https://tools.example.com/mcp",
            "authorization_servers": ["https://login.example.com"],
            "scopes_supported": ["notes:read"],
            "bearer_methods_supported": ["header"],
        });
        assert_eq!(response.json(), expected);
    }
}

#[tokio::test]
async fn a_challenge_names_the_metadata_and_the_missing_scopes() {
    let address = start().await;
    let metadata =
        r#"Bearer resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp""#;
    for (token, tool, status, challenge) in [
        ("", "list", 401, r#", scope="notes:read""#),
        ("eve", "list", 401, r#", scope="notes:read", error="invalid_token""#),
        ("ann", "delete", 403, r#", scope="notes:write notes:read", error="insufficient_scope""#),
    ] {
        let response = call(address, token, tool).await;
        assert_eq!(response.status, status, "{token} {tool}");
        let expected = format!("{metadata}{challenge}");
        assert_eq!(response.header("www-authenticate"), Some(expected.as_str()));
    }
    assert_eq!(text(&call(address, "ann", "list").await.json()["result"]), r#"notes of ann from "login""#);
    assert_eq!(text(&call(address, "admin", "delete").await.json()["result"]), "gone");
}

#[tokio::test]
async fn a_session_belongs_to_the_subject_and_lists_what_its_scopes_allow() {
    let address = start().await;
    let authorization = |token: &str| format!("Authorization: Bearer {token}\r\n");
    let opened = post(address, &authorization("ann"), &initialize()).await;
    let session = format!("Mcp-Session-Id: {}\r\n", opened.header("mcp-session-id").expect("a session"));
    let with = |token: &str| format!("{session}{}", authorization(token));
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(post(address, &with("ann"), &initialized).await.status, 202);
    for stranger in ["bob", "other ann"] {
        assert_eq!(post(address, &with(stranger), &session_call("list")).await.status, 404, "{stranger}");
    }
    assert_eq!(post(address, &with("ann"), &session_call("delete")).await.status, 403);
    let batch = json!([session_call("list"), session_call("delete")]);
    assert_eq!(post(address, &with("ann"), &batch).await.status, 403);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let listed = post(address, &with("ann"), &list).await.json();
    let names: Vec<&Value> =
        listed["result"]["tools"].as_array().expect("tools").iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["list"]);
}
