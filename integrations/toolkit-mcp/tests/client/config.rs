//! Configuration files that give a whole registry.

use super::process::command_line;
use super::within;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::Duration;
use toolkit_mcp::McpErrorKind;
use toolkit_mcp::client::{McpBackoff, McpClient, McpCommand};
use toolkit_mcp::config::{ConfigFile, McpServers};

#[tokio::test]
async fn a_configuration_gives_a_registry_with_a_namespace_for_each_server() {
    let (program, arguments, variable) = command_line();
    let entry = json!({"command": "${PROGRAM}", "args": arguments, "env": {variable: "${MODE:-good}"}});
    let with = |key: &str, value| {
        let mut entry = entry.clone();
        entry[key] = value;
        entry
    };
    let config = json!({"mcpServers": {
        "one": with("disabledTools", json!(["count", "wait"])), "My server (1)": entry, "ONE": entry,
        "empty": with("includeTools", json!(["no-such-tool"])),
        "absent": {"command": "no-such-program-anywhere"},
        "off": {"command": "no-such-program-anywhere", "disabled": true},
        "secret": {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        "strange": {"command": true, "args": 5},
    }});
    let config = ConfigFile::read(&config.to_string()).unwrap();
    let lookup = |name: &str| (name == "PROGRAM").then(|| program.to_string_lossy().into_owned());
    let servers = within(McpServers::connect_with(&config, lookup, |_, builder| builder)).await.unwrap();

    assert_eq!(
        servers.clients().keys().collect::<Vec<_>>(),
        ["My server (1)", "ONE", "absent", "empty", "one"]
    );
    let registry = servers.registry().snapshot();
    assert_eq!(registry.len(), 7 + 7 + 5);
    assert!(registry.get("one-count").is_none() && registry.get("my_server_1-count").is_some());
    for tool in ["one-add", "my_server_1-add", "one_e86b90-add"] {
        assert_eq!(within(registry.call(tool, json!({"a": 1, "b": 2}))).await.unwrap().to_text(), "3");
    }
    let failures = servers.failures();
    let kinds: Vec<(&str, McpErrorKind)> =
        failures.iter().map(|failure| (failure.server.as_str(), failure.error.kind())).collect();
    let expected = [
        ("absent", McpErrorKind::Start),
        ("empty", McpErrorKind::Config),
        ("secret", McpErrorKind::Config),
        ("strange", McpErrorKind::Config),
    ];
    assert_eq!(kinds, expected);
    let texts: Vec<String> = failures.iter().map(ToString::to_string).collect();
    assert!(texts[0].starts_with("MCP server `absent`: `no-such-program-anywhere` could not be started"));
    let expected = "MCP server `empty`: the file permits none of its tools; check its lists of tools";
    assert_eq!(texts[1], expected);
    let missing =
        "MCP server `secret`: the variable `TOKEN` is not set; set it, or write `${TOKEN:-default}`";
    assert!(texts[2].starts_with(missing), "{}", texts[2]);
    assert!(
        texts[3].starts_with("MCP server `strange`: `args` must be a list, not a number"),
        "{}",
        texts[3]
    );
    within(servers.close()).await;
}

#[cfg(unix)]
#[tokio::test]
async fn servers_are_used_while_others_start_or_cannot_start_yet() {
    let (program, arguments, variable) = command_line();
    let later = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed-later");
    let _ = fs::remove_file(&later);
    let entry =
        |program: &Path, mode: &str| json!({"command": program, "args": arguments, "env": {variable: mode}});
    let config = json!({"mcpServers": {
        "good": entry(&program, "good"), "later": entry(&later, "good"), "silent": entry(&program, "silent"),
    }});
    let config = ConfigFile::read(&config.to_string()).unwrap();
    let backoff = McpBackoff::default().with_first(Duration::from_millis(20));
    let servers =
        McpServers::start(&config, |_| None, |_, builder| builder.backoff(backoff.clone())).unwrap();
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

/// The reader's test files, and the tools that each permits of `weather`.
#[cfg(unix)]
const FILES: [(&str, usize); 16] = [
    ("claude_desktop_config.json", 7),
    (".mcp.json", 7),
    (".cursor/mcp.json", 7),
    (".vscode/mcp.json", 7),
    ("vscode_settings.json", 7),
    ("windsurf/mcp_config.json", 6),
    ("zed/settings.json", 7),
    (".gemini/settings.json", 1),
    (".codex/config.toml", 1),
    ("opencode.jsonc", 1),
    ("amp.json", 2),
    ("cline_mcp_settings.json", 7),
    (".roo/mcp.json", 6),
    ("mcp-config.json", 2),
    ("langchain.json", 7),
    ("mcp.json", 7),
];

#[cfg(unix)]
#[tokio::test]
async fn a_file_of_each_program_starts_its_server_with_the_permitted_tools() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("configurations");
    fs::create_dir_all(&folder).unwrap();
    let server = folder.join("weather-server");
    let (program, arguments, variable) = command_line();
    let script = format!("#!/bin/sh\n{variable}=good exec '{}' {}\n", program.display(), arguments.join(" "));
    fs::write(&server, script).unwrap();
    fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolkit-mcp-config/tests/data");
    for (file, tools) in FILES {
        let text = fs::read_to_string(data.join(file)).unwrap();
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text.replace("weather-server", &server.to_string_lossy())).unwrap();
        for name in ["weather.env", "units.txt"] {
            fs::copy(data.join(name), folder.join(name)).unwrap();
        }
        let known = ["HOME", "WEATHER_TOKEN", "WEATHER_KEY", "input:weather-key"];
        let lookup = |name: &str| known.contains(&name).then(|| "value".to_owned());
        let config = ConfigFile::open(&path).unwrap();
        let servers = within(McpServers::connect_with(&config, lookup, |_, builder| builder)).await.unwrap();
        let registry = servers.registry().snapshot();
        let sum = within(registry.call("weather-add", json!({"a": 1, "b": 2}))).await;
        let sum = sum.unwrap_or_else(|error| panic!("{file}: {error} {:?}", servers.failures()));
        assert_eq!(sum.to_text(), "3", "{file}");
        let offered = registry.names().filter(|name| name.starts_with("weather-")).count();
        assert_eq!(offered, tools, "{file}");
        within(servers.close()).await;
    }
}

#[tokio::test]
async fn an_illegal_namespace_is_an_error_at_connect() {
    let client = McpClient::builder(McpCommand::new("no-such-program-anywhere")).namespace("a/b").connect();
    let error = within(client).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Config);
    assert!(error.to_string().contains("namespace `a/b` must be"), "{error}");
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let error = ConfigFile::open("no/such/file.json").unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("the configuration `no/such/file.json` cannot be read: "), "{text}");
}
