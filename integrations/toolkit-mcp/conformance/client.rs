//! A client for tests against real servers: lists the tools, calls each of them, and prints the results.
//!
//! `conformance_client stdio COMMAND ARGUMENT…` starts a server. `conformance_client URL` connects to one; this form is
//! also the command of the conformance suite, which names the scenario in `MCP_CONFORMANCE_SCENARIO`.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use serde_json::{Map, Value, json};
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;
use toolkit_core::{RunContext, ToolContext, ToolDefinition, ToolProvider, ToolRegistry};
use toolkit_mcp::client::{
    ElicitationAnswer, ElicitationKind, ElicitationRequest, Login, McpClient, McpCommand, McpEndpoint,
    McpEvent, McpProtocol, McpUrl,
};

/// The document about this client, which the suite knows.
const CLIENT_METADATA: &str = "https://conformance-test.local/client-metadata.json";

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let endpoint: McpEndpoint = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["stdio", command, arguments @ ..] => McpCommand::new(command).args(arguments).into(),
        [.., url] => McpUrl::new(*url).with_login(login()).into(),
        [] => {
            println!("usage: conformance_client (URL | stdio COMMAND ARGUMENT…)");
            return ExitCode::SUCCESS;
        }
    };
    match run(endpoint).await {
        Ok(failures) => ExitCode::from(u8::try_from(failures).unwrap_or(u8::MAX)),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the context of the scenario.
fn context() -> Value {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    serde_json::from_str(&context).unwrap_or_default()
}

/// Returns a login with the client of the scenario. The login follows the redirects of the authorization server, as a
/// browser does.
fn login() -> Login {
    let context = context();
    if let Some(assertion) = context["valid_jwt"].as_str().map(str::to_owned) {
        let id = context["client_id"].as_str().unwrap_or_default();
        return Login::workload_identity(id, move || Ok(assertion.clone()));
    }
    if let Some((id, key)) = context["client_id"].as_str().zip(context["private_key_pem"].as_str()) {
        return Login::private_key_jwt(id, key).unwrap_or(Login::new("no key"));
    }
    let client = context["client_id"].as_str().zip(context["client_secret"].as_str());
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let login = match client {
        Some((id, secret)) if scenario.contains("client-credentials") => {
            return Login::client_credentials(id, secret);
        }
        Some((id, secret)) => Login::new("conformance").with_client_id(id).with_client_secret(secret),
        None => Login::new("conformance").with_client_metadata_url(CLIENT_METADATA),
    };
    let login = login.with_timeout(Duration::from_secs(5));
    login.with_prompt(|address| {
        let address = address.to_owned();
        tokio::spawn(async move {
            let mut next = Some(address);
            while let Some(address) = next {
                next = location(&address).await;
            }
        });
    })
}

/// Requests a page, and returns the address that it redirects to.
async fn location(address: &str) -> Option<String> {
    let (host, path) = address.strip_prefix("http://")?.split_once('/')?;
    let mut stream = TcpStream::connect(host).await.ok()?;
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await.ok()?;
    let header = response.lines().find(|line| line.to_lowercase().starts_with("location:"))?;
    Some(header.split_once(':')?.1.trim().to_owned())
}

/// Accepts every question, with a fitting value for each required field without default.
async fn answer(request: ElicitationRequest) -> ElicitationAnswer {
    match request.kind {
        ElicitationKind::Form { schema, .. } => ElicitationAnswer::Accept(example(&schema)),
        _ => ElicitationAnswer::Decline,
    }
}

/// Calls every tool and returns the number of unexpected failures.
async fn run(endpoint: McpEndpoint) -> Result<usize, Failure> {
    let version = std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").unwrap_or_default();
    let protocol = match version.as_str() {
        "" => McpProtocol::Auto,
        version if version < "2026-07-28" => McpProtocol::Handshake,
        _ => McpProtocol::Stateless,
    };
    let builder = McpClient::builder(endpoint).elicitation(answer).protocol(protocol);
    let mut events = builder.events();
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            if !matches!(event, Ok(McpEvent::Log { .. } | McpEvent::Stderr { .. })) {
                println!("event: {event:?}");
            }
        }
    });
    let client = builder.call_timeout(Duration::from_secs(20)).connect().await?;
    let info = client.server_info();
    println!("{} {}, protocol {}", info.name, info.version, info.protocol);
    client.issues().iter().for_each(|issue| println!("issue: {issue}"));
    let mut registry = ToolRegistry::new();
    registry.register_provider(client.clone())?;
    let mut failures = 0;
    for (name, arguments) in calls(&client) {
        let tool = registry.get(&name).cloned();
        let Some(tool) = tool else {
            println!("{name}: not offered");
            continue;
        };
        let run = RunContext::new().on_progress(|progress| println!("progress: {}", progress.fraction));
        let context = ToolContext::new(tool.definition().name.clone()).with_run(run);
        match tool.call(&arguments.to_string(), &context).await {
            Ok(output) => println!("{name} {arguments}: {}", short(&output.to_text())),
            Err(error) => {
                println!("{name} {arguments}: FAILED: {}", short(&format!("{error:#}")));
                // The suite judges by the requests that it receives.
                failures += usize::from(std::env::var_os("MCP_CONFORMANCE_SCENARIO").is_none());
            }
        }
    }
    // Some scenarios watch for requests that must not come.
    sleep(Duration::from_millis(200)).await;
    client.close().await;
    Ok(failures)
}

/// Returns the calls of the scenario, or one call of every tool.
fn calls(client: &McpClient) -> Vec<(String, Value)> {
    if let Some(calls) = context().get("toolCalls").and_then(Value::as_array) {
        let name = |call: &Value| call["name"].as_str().unwrap_or_default().to_owned();
        return calls.iter().map(|call| (name(call), call["arguments"].clone())).collect();
    }
    let tools = client.tools();
    let call = |tool: &ToolDefinition| {
        // A tool of the suite wants to see another tool's schema as the client knows it.
        let other = tools.iter().find(|other| other.name != tool.name);
        match (tool.name.as_str(), other) {
            ("json_schema_echo", Some(other)) => json!({"schema": other.parameters}),
            _ => Value::Object(example(&tool.parameters)),
        }
    };
    tools.iter().map(|tool| (tool.name.to_string(), call(tool))).collect()
}

/// Returns an object with a value for each required property.
fn example(schema: &Value) -> Map<String, Value> {
    let is_required = |name: &String| {
        let required = schema["required"].as_array();
        required.is_some_and(|required| required.iter().any(|own| own == name))
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    let required =
        properties.filter(|(name, property)| is_required(name) && property.get("default").is_none());
    required.map(|(name, property)| (name.clone(), value(property))).collect()
}

fn value(schema: &Value) -> Value {
    let allowed = schema["enum"].as_array().or(schema["examples"].as_array());
    if let Some(first) = allowed.and_then(|values| values.first()) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => Value::Object(example(schema)),
        _ if schema["format"] == "uri" => json!("https://example.com/"),
        _ => json!("text"),
    }
}

fn short(text: &str) -> String {
    text.chars().take(160).collect()
}
