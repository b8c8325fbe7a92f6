//! Configuration files that give a whole registry.

use super::process::command_line;
use super::within;
use serde_json::json;
use std::time::Duration;
use toolkit_mcp::client::{McpBackoff, McpErrorKind};
use toolkit_mcp::config::{McpConfig, McpServers};

#[tokio::test]
async fn a_configuration_gives_a_registry_with_a_namespace_for_each_server() {
    let (program, arguments, variable) = command_line();
    let entry = json!({"command": "${PROGRAM}", "args": arguments, "env": {variable: "${MODE:-good}"}});
    let config = json!({"mcpServers": {
        "one": entry, "Two B": entry, "two_b": entry,
        "absent": {"command": "no-such-program-anywhere"},
        "off": {"command": "no-such-program-anywhere", "disabled": true},
        "secret": {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        "strange": {"command": 5},
    }});
    let config = McpConfig::parse(&config.to_string()).unwrap();
    let lookup = |name: &str| (name == "PROGRAM").then(|| program.to_string_lossy().into_owned());
    let servers = within(McpServers::connect_with(&config, lookup, |_, builder| builder)).await.unwrap();

    assert_eq!(servers.clients().keys().collect::<Vec<_>>(), ["Two B", "absent", "one"]);
    let registry = servers.registry().snapshot();
    assert_eq!(registry.len(), 14);
    for tool in ["one-add", "two_b-add"] {
        assert_eq!(within(registry.call(tool, json!({"a": 1, "b": 2}))).await.unwrap().to_text(), "3");
    }
    let failures = servers.failures();
    let kinds: Vec<(&str, McpErrorKind)> =
        failures.iter().map(|failure| (failure.server.as_str(), failure.error.kind())).collect();
    let expected = [
        ("absent", McpErrorKind::Start),
        ("secret", McpErrorKind::Config),
        ("strange", McpErrorKind::Config),
        ("two_b", McpErrorKind::Config),
    ];
    assert_eq!(kinds, expected);
    let texts: Vec<String> = failures.iter().map(ToString::to_string).collect();
    assert!(texts[0].starts_with("MCP server `absent`: `no-such-program-anywhere` could not be started"));
    assert_eq!(
        texts[1],
        "MCP server `secret`: the variable `TOKEN` is not set; set it, or write `${TOKEN:-default}`"
    );
    assert!(texts[3].starts_with("MCP server `two_b`: its tools collide with tools of the server `Two B`"));
    within(servers.close()).await;
}

#[cfg(unix)]
#[tokio::test]
async fn servers_are_used_while_others_start_or_cannot_start_yet() {
    let (program, arguments, variable) = command_line();
    let later = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed-later");
    let _ = std::fs::remove_file(&later);
    let entry = |program: &std::path::Path, mode: &str| json!({"command": program, "args": arguments, "env": {variable: mode}});
    let config = json!({"mcpServers": {
        "good": entry(&program, "good"), "later": entry(&later, "good"), "silent": entry(&program, "silent"),
    }});
    let config = McpConfig::parse(&config.to_string()).unwrap();
    let backoff = McpBackoff::default().with_first(Duration::from_millis(20));
    let servers =
        McpServers::start(&config, |_| None, |_, builder| builder.with_backoff(backoff.clone())).unwrap();
    let tools = async |count: usize| {
        while servers.registry().snapshot().len() < count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within(tools(7)).await;
    let sum = servers.registry().snapshot().call("good-add", json!({"a": 1, "b": 2})).await.unwrap();
    assert_eq!(sum.to_text(), "3");
    within(async {
        while servers.failures()[0].error.kind() != McpErrorKind::Start {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert!(
        servers.failures()[0].to_string().starts_with("MCP server `later`: "),
        "{:?}",
        servers.failures()
    );
    std::os::unix::fs::symlink(program, later).unwrap();
    within(tools(14)).await;
    let texts: Vec<String> = servers.failures().iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["MCP server `silent`: the server is still starting"]);
    within(servers.close()).await;
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let error = McpConfig::read("no/such/file.json").unwrap_err();
    assert!(
        error.to_string().starts_with("the configuration `no/such/file.json` cannot be read: "),
        "{error}"
    );
}
