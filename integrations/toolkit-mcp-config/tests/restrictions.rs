//! What a file says about all its servers is read, refused or reported, and never dropped.

use crate::{DIALECTS, texts};
use toolkit_mcp_config::{ConfigFile, Dialect};

/// A file with the servers `srv` and `other`, and members beside them.
fn file_beside(dialect: Dialect, container: &str, beside: &str) -> ConfigFile {
    let servers = r#"{"srv": {"command": "x"}, "other": {"command": "y"}}"#;
    let text = format!(r#"{{{beside}, "{container}": {servers}}}"#);
    ConfigFile::read_as(&text, dialect).unwrap_or_else(|fault| panic!("{dialect:?} {text}: {fault}"))
}

/// Describes the tools offered by each used server.
fn offered(file: &ConfigFile) -> String {
    let mut offered = Vec::new();
    for server in file.servers().iter().filter(|server| !server.is_disabled) {
        for tool in ["list", "delete"].into_iter().filter(|tool| server.tools.permits(tool)) {
            offered.push(format!("{}.{tool}", server.name));
        }
    }
    offered.join(" ")
}

const ALL: &str = "srv.list srv.delete other.list other.delete";
const NOT_DELETE: &str = "srv.list other.list other.delete";
const NOT_SRV: &str = "other.list other.delete";
const OF_SRV: &str = "srv.list srv.delete";

/// Texts of a file, each with the tools then offered.
type Cases = &'static [(&'static str, &'static str)];

/// The members beside the servers of each program, and the effect.
const RULES: &[(Dialect, &str, Cases)] = &[
    (
        Dialect::OpenCode,
        "mcp",
        &[
            (r#""permission": {"srv_delete": "deny"}"#, NOT_DELETE),
            (r#""permission": {"srv_delete": {"*": "deny"}}"#, NOT_DELETE),
            (r#""permission": {"srv_delete": {"*": "allow", "a*": "deny"}}"#, NOT_DELETE),
            (r#""permission": {"srv_*": {"*": "ask"}, "bash": {"rm *": "deny"}}"#, ALL),
            (r#""permission": {"srv_*": "deny", "srv_list": "ask"}"#, NOT_DELETE),
            (r#""permission": "deny""#, ""),
            (r#""permission": "ask""#, ALL),
            (r#""permission": {"srv_delete": "forbidden"}"#, NOT_DELETE),
            (r#""permission": {"srv_delete": ["x"]}"#, NOT_DELETE),
            (r#""permission": ["srv_delete"]"#, ""),
            (r#""tools": {"srv_del?te": false}"#, NOT_DELETE),
            (r#""tools": {"srv_?": false, "srv_delete?": false}"#, ALL),
        ],
    ),
    (
        Dialect::Amp,
        "amp.mcpServers",
        &[
            (r#""amp.tools.disable": ["mcp__srv__delete"]"#, NOT_DELETE),
            (r#""amp.tools.enable": ["mcp__srv__*"]"#, OF_SRV),
            (r#""amp.tools.enable": []"#, ""),
            (r#""amp.permissions": [{"tool": "mcp__srv__delete", "action": "reject"}]"#, NOT_DELETE),
            (
                r#""amp.permissions": [{"tool": "mcp__srv__list", "action": "ask"}, {"tool": "mcp__srv__*", "action": "reject"}]"#,
                NOT_DELETE,
            ),
            (
                r#""amp.permissions": [{"tool": "*", "action": "allow", "matches": {"id": "1"}}, {"tool": "mcp__srv__delete", "action": "reject"}]"#,
                NOT_DELETE,
            ),
            (
                r#""amp.permissions": [{"tool": "mcp__srv__delete", "action": "reject", "matches": {"id": "1"}}]"#,
                NOT_DELETE,
            ),
            (
                r#""amp.permissions": [{"tool": "mcp__srv__delete", "action": "delegate", "to": "x"}]"#,
                NOT_DELETE,
            ),
            (r#""amp.permissions": [{"tool": "*", "action": "ask"}]"#, ALL),
            (r#""amp.permissions": []"#, ALL),
            (r#""amp.permissions": [{"action": "reject"}]"#, ""),
            (r#""amp.permissions": {"mcp__srv__delete": "reject"}"#, ""),
            (r#""amp.mcpPermissions": [{"matches": {}, "action": "allow"}]"#, ALL),
            (r#""amp.mcpPermissions": [{"matches": {}, "action": "reject"}]"#, ""),
        ],
    ),
    (
        Dialect::VsCode,
        "mcp.servers",
        &[
            (r#""chat.mcp.access": "none""#, ""),
            (r#""chat.mcp.access": "registry""#, ""),
            (r#""chat.mcp.access": "all""#, ALL),
            (r#""chat.mcp.enabled": false"#, ""),
            (r#""chat.mcp.enabled": true"#, ALL),
        ],
    ),
    (
        Dialect::GeminiCli,
        "mcpServers",
        &[
            (r#""mcp": {"allowed": ["srv"]}"#, OF_SRV),
            (r#""mcp": {"allowed": []}"#, ""),
            (r#""mcp": {"allowed": 5}"#, ""),
            (r#""mcp": {"excluded": ["srv"]}"#, NOT_SRV),
            (r#""allowMCPServers": ["srv"]"#, OF_SRV),
            (r#""excludeMCPServers": ["srv"]"#, NOT_SRV),
            (r#""tools": {"exclude": ["srv__delete"], "core": ["ReadFileTool"]}"#, NOT_DELETE),
            (r#""tools": {"exclude": ["mcp_srv_delete"]}"#, NOT_DELETE),
            (r#""excludeTools": ["delete"]"#, "srv.list other.list"),
            (r#""admin": {"mcp": {"enabled": false}}"#, ""),
            (r#""admin": {"mcp": {"enabled": true}}"#, ALL),
        ],
    ),
    (
        Dialect::Zed,
        "context_servers",
        &[
            (
                r#""agent": {"tool_permissions": {"tools": {"mcp:srv:delete": {"default": "deny"}}}}"#,
                NOT_DELETE,
            ),
            (
                r#""agent": {"tool_permissions": {"tools": {"mcp:srv:delete": {"always_deny": [{"pattern": "x"}]}}}}"#,
                NOT_DELETE,
            ),
            (
                r#""agent": {"tool_permissions": {"default": "deny", "tools": {"mcp:srv:list": {"default": "confirm"}}}}"#,
                "srv.list",
            ),
            (
                r#""agent": {"tool_permissions": {"default": "allow", "tools": {"terminal": {"always_deny": [1]}}}}"#,
                ALL,
            ),
            (r#""agent": {"tool_permissions": "deny"}"#, ""),
            (r#""disable_ai": true"#, ""),
            (r#""disable_ai": false"#, ALL),
        ],
    ),
    (
        Dialect::ClaudeCode,
        "mcpServers",
        &[
            (r#""deniedMcpServers": [{"serverName": "srv"}]"#, NOT_SRV),
            (r#""deniedMcpServers": [{"serverUrl": "https://*.example/*"}]"#, ""),
            (r#""allowedMcpServers": [{"serverName": "srv"}]"#, OF_SRV),
            (r#""disabledMcpjsonServers": ["srv"]"#, NOT_SRV),
            (r#""permissions": {"deny": ["mcp__srv__delete", "Bash(rm *)"], "allow": ["Read"]}"#, NOT_DELETE),
            (r#""permissions": {"deny": ["mcp__srv"]}"#, NOT_SRV),
            (r#""permissions": {"deny": ["mcp__srv__delete(*)"]}"#, NOT_DELETE),
        ],
    ),
];

#[test]
fn a_rule_of_a_file_about_its_servers_applies_or_fails_them() {
    for (dialect, container, rules) in RULES {
        for (rule, expected) in *rules {
            let file = file_beside(*dialect, container, rule);
            assert_eq!(offered(&file), *expected, "{dialect:?} {rule}");
            assert_eq!(file.issues(), [], "{dialect:?} {rule}");
            let failed: Vec<&str> =
                file.failures().iter().map(toolkit_mcp_config::ConfigError::server).collect();
            let is_failed = failed == ["srv", "other"] && file.servers().is_empty();
            assert!(failed.is_empty() || is_failed, "{dialect:?} {rule}: {failed:?}");
        }
    }
    let file = file_beside(Dialect::VsCode, "mcp.servers", r#""chat.mcp.access": "registry""#);
    let expected = "MCP server `srv`: `chat.mcp.access` restricts the servers, and is not supported in this form; remove it (line 1, column 21)";
    assert_eq!(texts(file.failures())[0], expected);
}

#[test]
fn a_key_beside_the_servers_with_the_name_of_a_restriction_is_an_issue_in_every_dialect() {
    for dialect in DIALECTS {
        let container = match dialect {
            Dialect::VsCode => "servers",
            Dialect::Zed => "context_servers",
            Dialect::Codex => "mcp_servers",
            Dialect::OpenCode => "mcp",
            Dialect::Amp => "amp.mcpServers",
            Dialect::Goose => "extensions",
            Dialect::LangChain => continue,
            _ => "mcpServers",
        };
        for (beside, key) in [
            (r#""blockedServers": ["srv"]"#, "blockedServers"),
            (r#""onlyTools": ["list"]"#, "onlyTools"),
            (r#""allowList": []"#, "allowList"),
            (r#""allowServers": false"#, "allowServers"),
            (r#""mcpPolicy": {"srv": "deny"}"#, "mcpPolicy"),
            (r#""enabled": false"#, "enabled"),
            (r#""disabled": true"#, "disabled"),
            (r#""x.mcp.denied": {"srv": true}"#, "x.mcp.denied"),
        ] {
            let beside =
                if dialect == Dialect::Codex { beside.replace("\": ", "\" = ") } else { beside.to_owned() };
            let file = match dialect {
                Dialect::Codex => {
                    let text = format!("{beside}\n[mcp_servers.srv]\ncommand = \"x\"")
                        .replace("srv\": ", "srv\" = ");
                    ConfigFile::read_as(&text, dialect).unwrap()
                }
                _ => file_beside(dialect, container, &beside),
            };
            let place = if dialect == Dialect::Codex { "line 1, column 1" } else { "line 1, column 2" };
            let expected = format!(
                "`{key}` may restrict the servers, and has no effect; leave out what it forbids ({place})"
            );
            assert_eq!(texts(file.issues()), [expected], "{dialect:?} {beside}");
            assert!(!file.servers().is_empty() && file.failures().is_empty(), "{dialect:?} {beside}");
        }
        if dialect == Dialect::Codex {
            continue;
        }
        for harmless in [
            r#""theme": "dark""#,
            r#""blockedServers": []"#,
            r#""denyTools": null"#,
            r#""disabled": false"#,
            r#""enabled": true"#,
            r#""files.exclude": {"**/.git": true}"#,
            r#""editor.notifications.enabled": false"#,
        ] {
            assert_eq!(file_beside(dialect, container, harmless).issues(), [], "{dialect:?} {harmless}");
        }
    }
    // Other parts of a program have settings named like restrictions.
    let text = "sandbox_mode = \"read-only\"\napproval_policy = \"never\"\n[tools]\nweb_search = true\n[mcp_servers.a]\ncommand = \"x\"";
    assert_eq!(ConfigFile::read_as(text, Dialect::Codex).unwrap().issues(), []);
    // Tables with servers or a rule are searched.
    for (dialect, text, expected) in [
        (
            Dialect::VsCode,
            r#"{"mcp": {"servers": {"a": {"command": "x"}}, "allowed": ["b"]}}"#,
            "mcp/allowed",
        ),
        (
            Dialect::GeminiCli,
            r#"{"mcpServers": {"a": {"command": "x"}}, "tools": {"blockedMcp": ["b"], "core": []}}"#,
            "tools/blockedMcp",
        ),
    ] {
        let file = ConfigFile::read_as(text, dialect).unwrap();
        assert_eq!(file.issues().len(), 1, "{:?}", file.issues());
        assert!(file.issues()[0].message().starts_with(&format!("`{expected}` may restrict")), "{file:?}");
    }
}
