//! The examples of this crate, as cargo builds them beside the tests.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;
use toolkit_ai::ToolRegistry;
use toolkit_mcp::client::{McpClient, McpCommand, McpEndpoint, McpProtocol, McpUrl};

/// The time after which a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns an example's program, which `cargo test` builds unless told to build one test only.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples").join(name);
    let program = program.with_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.exists(), "{program:?} is missing; run `cargo test --workspace --all-features`");
    program
}

#[tokio::test]
async fn the_server_over_http_answers_calls_and_ends_by_itself() {
    let mut server = Command::new(example("mcp_server"))
        .args(["--http", "127.0.0.1:0", "3"])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines();
    let url = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
    for protocol in [McpProtocol::Stateless, McpProtocol::Handshake] {
        let client = McpClient::builder(McpUrl::new(&url)).protocol(protocol).connect();
        let client = timeout(PATIENCE, client).await.unwrap().unwrap();
        let mut registry = ToolRegistry::new();
        registry.register_provider(client.clone()).unwrap();
        let sum = registry.call("add", r#"{"a": 2, "b": 40}"#).await.unwrap();
        assert_eq!(sum.to_text(), "42");
        let weather = registry.call("weather", r#"{"city": "Oslo"}"#).await.unwrap();
        assert_eq!(weather.structured().unwrap()["degrees"], 21.5);
        // This client's user cannot be asked.
        let denied = registry.call("delete_notes", "{}").await.unwrap_err();
        assert!(denied.message().contains("denied"), "{denied}");
        client.close().await;
    }
    let status = timeout(PATIENCE, server.wait()).await.expect("the server ends by itself").unwrap();
    assert!(status.success(), "{status}");
}

#[tokio::test]
async fn the_client_calls_the_server_as_a_child_process_and_ends_by_itself() {
    let client = Command::new(example("mcp_client")).stdin(Stdio::null()).kill_on_drop(true).output();
    let output = timeout(PATIENCE, client).await.expect("the client ends by itself").unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    for line in ["demo-add: 42", "demo asks: Allow the tool `delete_notes` to run?", "demo-weather: "] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

async fn check_gateway(endpoint: impl Into<McpEndpoint>) {
    let client = timeout(PATIENCE, McpClient::builder(endpoint).connect()).await.unwrap().unwrap();
    let mut registry = ToolRegistry::new();
    registry.register_provider(client.clone()).unwrap();
    assert_eq!(registry.names().collect::<Vec<_>>(), ["notes-list", "orders-state", "weather-temperature"]);
    let order = registry.call("orders-state", r#"{"number": 7}"#).await.unwrap();
    assert!(order.to_text().contains("order 7 is on its way"), "{}", order.to_text());
    let notes = registry.call("notes-list", "{}").await.unwrap();
    assert!(notes.to_text().contains("groceries"), "{}", notes.to_text());
    let degrees = registry.call("weather-temperature", r#"{"city": "Oslo"}"#).await.unwrap();
    assert_eq!(degrees.to_text(), "10.0");
    client.close().await;
}

#[tokio::test]
async fn the_gateway_offers_the_permitted_tools_of_all_servers_and_ends_with_standard_input() {
    check_gateway(McpCommand::new(example("mcp_gateway"))).await;

    let mut gateway = Command::new(example("mcp_gateway"))
        .arg("--http")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(gateway.stderr.take().unwrap()).lines();
    let url = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
    check_gateway(McpUrl::new(&url)).await;
    drop(gateway.stdin.take());
    let status = timeout(PATIENCE, gateway.wait()).await.expect("the gateway ends by itself").unwrap();
    assert!(status.success(), "{status}");
}
