//! The secrets of a program: services repeat them in all spellings and places, and nothing shows them.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod answers;
mod seen;
mod service;

use answers::{Repeated, repeated};
use proptest::prelude::*;
use seen::Seen;
use serde_json::{Value, json};
use service::serve;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::time::timeout;
use toolkit_ai::ToolRegistry;
use toolkit_ai::llm::ChatModel;
use toolkit_ai::llm::record::Recorder;
use toolkit_ai::llm_http::OpenAi;
use toolkit_ai::mcp::client::{McpBackoff, McpClient, McpCommand, McpProtocol, McpUrl};
use toolkit_ai::openapi::client::{Credentials, Namespaces, OpenApiTools};
use toolkit_nats::Fleet;

const STATUSES: [u16; 9] = [200, 201, 302, 400, 401, 403, 404, 429, 500];

fn document() -> Value {
    let schemes = json!({
        "header": {"type": "apiKey", "in": "header", "name": "X-Custom"},
        "query": {"type": "apiKey", "in": "query", "name": "q"},
        "cookie": {"type": "apiKey", "in": "cookie", "name": "session"},
        "basic": {"type": "http", "scheme": "basic"},
        "bearer": {"type": "http", "scheme": "bearer"},
    });
    let schema = json!({"type": "object", "properties": {"message": {"type": "integer"}}});
    let responses = json!({"200": {"description": "", "content": {"application/json": {"schema": schema}}}});
    let operation = |scheme: &str| json!({"post": {"operationId": scheme, "security": [{(scheme): []}], "responses": responses}});
    let names = ["header", "query", "cookie", "basic", "bearer"];
    let paths: Value = names.iter().map(|name| (format!("/{name}"), operation(name))).collect();
    json!({
        "openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": paths,
        "components": {"securitySchemes": schemes},
    })
}

async fn call_openapi(case: Repeated, seen: Seen) {
    let answer = case.http_answer();
    let url = serve(move |_, _| answer.clone()).await;
    let credentials = Credentials::new()
        .with_secret("header", &case.secret)
        .with_secret("query", &case.secret)
        .with_secret("cookie", &case.secret)
        .with_basic("basic", "ada", &case.secret)
        .with_secret("bearer", &case.secret);
    let toolset = OpenApiTools::builder().namespaces(Namespaces::None).base_url(url);
    let toolset = toolset.credentials(credentials).read_document(&document().to_string()).unwrap();
    seen.add("toolset", format!("{toolset:?}"));
    seen.call(&toolset.registry().unwrap(), case.pick(["header", "query", "cookie", "basic", "bearer"]))
        .await;
}

fn mcp_answer(case: &Repeated, body: &str) -> Vec<u8> {
    let message: Value = serde_json::from_str(body).unwrap_or_default();
    let id = message["id"].to_string();
    let text = case.json_text();
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => format!(
            r#"{{"protocolVersion": "2025-11-25", "capabilities": {{"tools": {{}}, "resources": {{}}, "prompts": {{}}}},
                "serverInfo": {{"name": "s", "title": "{text}", "version": "1"}}, "instructions": "{text}"}}"#
        ),
        "tools/list" => format!(
            r#"{{"tools": [{{"name": "look", "description": "{text}", "inputSchema": {{"type": "object", "title": "{text}"}}}},
                {{"name": "{text}", "inputSchema": 1}}]}}"#
        ),
        "tools/call" => return case.mcp_call_answer(&id),
        "resources/list" => format!(r#"{{"resources": [{{"uri": "x:{text}", "name": "{text}"}}]}}"#),
        "resources/read" => format!(r#"{{"contents": [{{"uri": "x:{text}", "text": "{text}"}}]}}"#),
        "prompts/list" => format!(r#"{{"prompts": [{{"name": "{text}", "description": "{text}"}}]}}"#),
        "prompts/get" => format!(
            r#"{{"messages": [{{"role": "user", "content": {{"type": "text", "text": "{text}"}}}}]}}"#
        ),
        _ if message.get("id").is_none() => return service::answer(202, &[], ""),
        _ => {
            let error = format!(
                r#"{{"jsonrpc": "2.0", "id": {id}, "error": {{"code": -32601, "message": "{text}"}}}}"#
            );
            return service::answer(200, &[("content-type", "application/json")], &error);
        }
    };
    let body = format!(r#"{{"jsonrpc": "2.0", "id": {id}, "result": {result}}}"#);
    service::answer(200, &[("content-type", "application/json")], &body)
}

async fn call_mcp(case: Repeated, seen: Seen) {
    let answers = case.clone();
    let url = serve(move |head, body| {
        if head.starts_with("POST") { mcp_answer(&answers, body) } else { service::answer(405, &[], "") }
    })
    .await;
    let endpoint = match case.pick([0, 1, 2]) {
        0 => McpUrl::new(url).with_bearer_token(&case.secret),
        1 => McpUrl::new(url).with_header("x-api-key", &case.secret),
        _ => McpUrl::new(format!("{url}/?api_key={}", answers::percent(&case.secret))),
    };
    seen.add("endpoint", format!("{endpoint:?}"));
    let backoff = McpBackoff::default().with_attempts(0);
    let builder = McpClient::builder(endpoint).protocol(McpProtocol::Handshake).backoff(backoff);
    let client = builder.connect().await.unwrap();
    let mut events = client.events();
    seen.add("client", format!("{client:?} {:?} {:?}", client.server_info(), client.issues()));
    let mut registry = ToolRegistry::new();
    registry.register_provider(client.clone()).unwrap();
    for tool in registry.iter_definitions() {
        seen.add("definition", format!("{tool:?}"));
    }
    seen.call(&registry, "look").await;
    seen.add("resources", format!("{:?}", client.resources().await));
    seen.add("resource", format!("{:?}", client.read_resource("x:y").await));
    seen.add("prompts", format!("{:?}", client.prompts().await));
    seen.add("prompt", format!("{:?}", client.prompt("p", []).await));
    while let Ok(Some(event)) = timeout(Duration::from_millis(1), events.next()).await {
        seen.add("event", format!("{event:?}"));
    }
    client.close().await;
}

/// Starts a process that writes its secret to both outputs, and ends.
async fn start_mcp(case: Repeated, seen: Seen) {
    let line = case.filler(4_096) + &case.text();
    let script = "cat >&2 <<END\n$LINE\nEND\ncat <<END\nnot JSON: $TEXT\nEND\nexit 3";
    let command = McpCommand::new("sh").args(["-c", script]).env("LINE", line).env("API_KEY", &case.secret);
    let command = command.env("TEXT", "_".repeat(case.before) + &case.text());
    seen.add("command", format!("{command:?}"));
    let builder = McpClient::builder(command).backoff(McpBackoff::default().with_attempts(1));
    let client = builder.start().unwrap();
    let mut events = client.events();
    while let Ok(Some(event)) = timeout(Duration::from_secs(5), events.next()).await {
        seen.add("event", format!("{event:?}"));
        if format!("{event:?}").contains("ReconnectFailed") {
            break;
        }
    }
    seen.add("error", format!("{:?}", client.resources().await));
    client.close().await;
}

async fn ask_model(case: Repeated, seen: Seen) {
    let answer = case.http_answer();
    let stream = case.stream_answer();
    let url =
        serve(move |_, body| if body.contains("\"stream\":true") { stream.clone() } else { answer.clone() })
            .await;
    let client = OpenAi::new().with_base_url(format!("{url}/v1")).with_key(&case.secret);
    let model = client.chat("m");
    seen.add("model", format!("{client:?} {model:?}"));
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("tape.jsonl");
    let model = Recorder::new(model, &tape).unwrap();
    match model.respond("Hello".into()).await {
        // What a model says is unchanged.
        Ok(response) => drop(response),
        Err(error) => {
            seen.add("error", format!("{error} {error:?} {}", serde_json::to_string(&error).unwrap()));
        }
    }
    match model.stream("Hello".into()).await {
        Ok(mut stream) => {
            while let Some(event) = stream.next().await {
                seen.add("stream", format!("{event:?}"));
            }
        }
        Err(error) => seen.add("error", format!("{error} {error:?}")),
    }
    seen.add("recording", std::fs::read_to_string(&tape).unwrap());
}

/// Joins a NATS server that repeats the secret in its refusal.
async fn join_fleet(case: Repeated, seen: Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let refusal = format!("-ERR 'Authorization Violation {}'\r\n", case.text());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let refusal = refusal.clone();
            tokio::spawn(async move {
                let (reader, mut writer) = stream.split();
                let info = r#"INFO {"version": "2.10.0", "max_payload": 1048576, "proto": 1, "auth_required": true}"#;
                writer.write_all(format!("{info}\r\n").as_bytes()).await.unwrap();
                let mut line = String::new();
                BufReader::new(reader).read_line(&mut line).await.unwrap();
                let _ = writer.write_all(refusal.as_bytes()).await;
            });
        }
    });
    let fleet = Fleet::builder(format!("nats://127.0.0.1:{port}"));
    let fleet = match case.pick([0, 1]) {
        0 => fleet.token(&case.secret),
        _ => fleet.user_and_password("ada", &case.secret),
    };
    let Err(error) = fleet.connect().await else { panic!("the server refuses") };
    seen.add("error", format!("{error} {error:?}"));
}

/// The SDK shows the first 256 bytes of an unreadable answer.
#[test]
fn an_mcp_server_cannot_show_the_beginning_of_a_cut_secret() {
    for case in Repeated::all_cut_after(220) {
        let connect = |case: Repeated, seen: Seen| async move {
            let answer = case.broken_answer();
            let url = serve(move |_, _| answer.clone()).await;
            let endpoint = McpUrl::new(url).with_bearer_token(&case.secret);
            let builder = McpClient::builder(endpoint).protocol(McpProtocol::Handshake);
            let builder = builder.backoff(McpBackoff::default().with_attempts(0));
            let Err(error) = builder.connect().await else { panic!("the answer is no message") };
            seen.add("error", format!("{error} {error:?}"));
        };
        Seen::check(&case, connect).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_service_with_a_document_cannot_show_a_secret(case in repeated()) {
        Seen::check(&case, call_openapi)?;
    }

    #[test]
    fn an_mcp_server_cannot_show_a_secret(case in repeated()) {
        Seen::check(&case, call_mcp)?;
    }

    #[test]
    fn a_provider_cannot_show_a_secret(case in repeated()) {
        Seen::check(&case, ask_model)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_process_cannot_show_a_secret(case in repeated()) {
        Seen::check(&case, start_mcp)?;
    }

    #[test]
    fn a_nats_server_cannot_show_a_secret(case in repeated()) {
        Seen::check(&case, join_fleet)?;
    }
}
