//! One file of each program.

use crate::{texts, variable};
use std::fmt::Write;
use std::path::PathBuf;
use toolkit_mcp_config::{ConfigFile, Dialect, ServerTransport};

/// Describes a file's servers with variables replaced, and faults.
fn description(path: &str) -> String {
    let data = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data"));
    let file = ConfigFile::open(data.join(path)).unwrap();
    let mut text = format!("{:?}\n", file.dialect());
    for server in file.servers() {
        write!(text, "{}:", server.name).unwrap();
        match server.resolve(variable) {
            Ok(ServerTransport::Command { program, args, env, cwd, .. }) => {
                write!(text, " {program} {args:?} {env:?}").unwrap();
                write!(text, "{}", cwd.map(|cwd| format!(" in {cwd}")).unwrap_or_default()).unwrap();
            }
            Ok(ServerTransport::Http { url, headers, .. }) => write!(text, " {url} {headers:?}").unwrap(),
            Ok(other) => panic!("{other:?}"),
            Err(fault) => write!(text, " {fault}").unwrap(),
        }
        if let Some(limit) = server.call_timeout {
            write!(text, ", calls {limit:?}").unwrap();
        }
        if let Some(limit) = server.start_timeout {
            write!(text, ", start {limit:?}").unwrap();
        }
        if !server.tools.is_open() {
            let tools = ["add", "count", "fail"].into_iter().filter(|tool| server.tools.permits(tool));
            write!(text, ", tools {:?}", tools.collect::<Vec<_>>()).unwrap();
        }
        text.push_str(if server.is_disabled { ", disabled\n" } else { "\n" });
    }
    for (kind, faults) in [("issue", file.issues()), ("failure", file.failures())] {
        for fault in texts(faults) {
            writeln!(text, "{kind}: {fault}").unwrap();
        }
    }
    text.replace(&data.to_string_lossy().into_owned(), "DATA")
}

const FILES: &[(&str, &str)] = &[
    (
        "claude_desktop_config.json",
        r#"ClaudeDesktop
weather: weather-server ["--port", "8080"] {"API_KEY": "pa$$word"}
"#,
    ),
    (
        ".mcp.json",
        r#"ClaudeCode
weather: weather-server [] {"CACHE_DIR": "DATA/cache"}, calls 600s
remote: http://127.0.0.1:9/mcp {"Authorization": "Bearer t0ken"}
issue: MCP server `remote`: `headersHelper` is not supported, and has no effect (line 14, column 7)
"#,
    ),
    (
        ".cursor/mcp.json",
        r#"Cursor
weather: weather-server ["--root", "DATA/data"] {"HOME_DIR": "/home/ada", "REGION": "eu", "UNITS": "metric"}
remote: http://127.0.0.1:9/mcp {"Authorization": "Bearer t0ken"}
issue: MCP server `remote`: `auth` asks for a login, which is not supported; set a token in `headers` (line 13, column 7)
"#,
    ),
    (
        ".vscode/mcp.json",
        r#"VsCode
weather: weather-server ["--units", "metric"] {"API_KEY": "asked", "PORT": "8080"} in DATA
remote: http://127.0.0.1:9/mcp {"X-Key": "asked"}
failure: MCP server `boxed`: `sandboxEnabled` restricts the server, and is not supported; remove it (line 22, column 63)
"#,
    ),
    (
        "vscode_settings.json",
        r#"VsCode
weather: weather-server ["t0ken"] {}
"#,
    ),
    (
        "windsurf/mcp_config.json",
        r#"Windsurf
weather: weather-server ["-y"] {"API_KEY": "t0ken"}, tools ["add", "count"]
remote: http://127.0.0.1:9/mcp {"Authorization": "Bearer t0ken"}
"#,
    ),
    (
        "zed/settings.json",
        r#"Zed
weather: weather-server [] {}, calls 120s
old-weather: weather-server ["--old"] {}
remote: http://127.0.0.1:9/mcp {"Authorization": "Bearer token"}
"#,
    ),
    (
        ".gemini/settings.json",
        r#"GeminiCli
weather: weather-server ["--key", "t0ken"] {"REGION": "eu", "TOKEN": "t0ken"} in DATA, calls 30s, tools ["add"]
remote: http://127.0.0.1:9/mcp {}, calls 5s
experimental: no-such-program-anywhere [] {}, disabled
"#,
    ),
    (
        ".codex/config.toml",
        r#"Codex
weather: weather-server ["--fast"] {"REGION": "eu", "WEATHER_TOKEN": "t0ken"}, calls 45.5s, start 20s, tools ["add"]
remote: http://127.0.0.1:9/mcp {"Authorization": "Bearer t0ken", "X-Key": "k3y", "X-Region": "eu-west-1"}
off: no-such-program-anywhere [] {}, disabled
"#,
    ),
    (
        "opencode.jsonc",
        r#"OpenCode
weather: weather-server ["--fast"] {"API_KEY": "t0ken", "UNITS": "metric"}, start 10s, tools ["add"]
remote: http://127.0.0.1:9/mcp {"Authorization": "Bearer t0ken"}, tools ["add", "count", "fail"]
"#,
    ),
    (
        "amp.json",
        r#"Amp
weather: weather-server ["--headless"] {"TOKEN": "t0ken"}, tools ["add"]
remote: http://127.0.0.1:9/mcp {"Authorization": "Bearer t0ken"}, tools ["add", "count"]
"#,
    ),
    (
        "cline_mcp_settings.json",
        r#"Cline
weather: weather-server [] {"TOKEN": "t0ken"}, calls 60s
remote: http://127.0.0.1:9/mcp {"Authorization": "Bearer token"}, calls 30s
"#,
    ),
    (
        ".roo/mcp.json",
        r#"Cline
weather: weather-server ["--root", "DATA"] {}, calls 15s, tools ["add", "count"]
remote: http://127.0.0.1:9/mcp {}, disabled
"#,
    ),
    (
        "mcp-config.json",
        r#"CopilotCli
weather: weather-server ["--key=t0ken"] {"REGION": "eu"}, tools ["add", "count"]
remote: http://127.0.0.1:9/mcp {}, tools ["add", "count", "fail"]
"#,
    ),
    (
        "goose/config.yaml",
        r#"Goose
weather: weather-server ["--port", "8080", "$HOME"] {"REGION": "eu", "WEATHER_TOKEN": "t0ken"}, calls 30s
remote: http://127.0.0.1:9/mcp {"Authorization": "Bearer k3y"}, tools ["add"], disabled
issue: MCP server `developer`: is a part of Goose, and no server (line 5, column 3)
failure: MCP server `old`: the transport `sse` is no longer supported; use `http` and its URL (line 31, column 3)
"#,
    ),
    (
        "langchain.json",
        r#"LangChain
weather: weather-server ["--fast"] {}
remote: http://127.0.0.1:9/mcp {"Authorization": "Bearer token"}, calls 30s
"#,
    ),
    (
        "mcp.json",
        r#"McpServers
weather: weather-server ["eu"] {}, calls 60s
my server (1): weather-server [] {}
Weather: weather-server [] {}, disabled
issue: MCP server `weather`: `timeout` is read as seconds, because it is small; name the dialect to be sure (line 3, column 74)
issue: MCP server `weather`: `arg` is not known, and has no effect; check its spelling (line 3, column 89)
issue: `servers` is not read, because `mcpServers` is
"#,
    ),
];

#[test]
fn a_file_of_each_program_is_read_as_the_program_reads_it() {
    for (path, expected) in FILES {
        assert_eq!(description(path), *expected, "{path}");
    }
}

#[test]
fn a_file_without_servers_is_a_fault_unless_its_program_is_known() {
    let data = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data"));
    let fault = ConfigFile::open(data.join("other.json")).unwrap_err().to_string();
    assert!(fault.ends_with("the file has no servers; add them under `mcpServers`"), "{fault}");
    let other = ConfigFile::open_as(data.join("other.json"), Dialect::Codex).unwrap();
    assert_eq!((other.servers(), other.failures()), (&[][..], &[][..]));
}

#[test]
fn no_beginning_of_a_file_panics() {
    for (path, _) in FILES {
        let data = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data"));
        let text = std::fs::read_to_string(data.join(path)).unwrap();
        for (end, _) in text.char_indices() {
            let file = ConfigFile::read(&text[..end]);
            let servers = file.iter().flat_map(ConfigFile::servers);
            servers.for_each(|server| drop(server.resolve(variable)));
        }
    }
}
