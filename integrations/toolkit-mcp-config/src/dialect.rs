//! The dialects: where each program writes its servers, and how it reads them.

use crate::node::Node;
use std::path::Path;

/// The form of a configuration file, named after its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// The form that most programs share: `mcpServers`, or the servers alone.
    McpServers,
    /// `claude_desktop_config.json`.
    ClaudeDesktop,
    /// `.mcp.json` and `~/.claude.json`.
    ClaudeCode,
    /// `.cursor/mcp.json`.
    Cursor,
    /// `.vscode/mcp.json`, and `mcp.servers` in the settings.
    VsCode,
    /// `~/.codeium/windsurf/mcp_config.json`.
    Windsurf,
    /// `context_servers` in the settings.
    Zed,
    /// `.gemini/settings.json`.
    GeminiCli,
    /// `.codex/config.toml`.
    Codex,
    /// `opencode.json`.
    OpenCode,
    /// `amp.mcpServers` in the settings.
    Amp,
    /// `cline_mcp_settings.json`, and `.roo/mcp.json` of Roo Code.
    Cline,
    /// `~/.copilot/mcp-config.json`.
    CopilotCli,
    /// `extensions` in `~/.config/goose/config.yaml`.
    Goose,
    /// The connections of LangChain's `MultiServerMCPClient`.
    LangChain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Syntax {
    /// Not at all.
    #[default]
    Literal,
    /// `${NAME}`, `${NAME:-default}`, `${env:NAME}` and other references in `${…}`.
    Braces,
    /// `$NAME` as well.
    Dollars,
    /// `{env:NAME}` and `{file:path}`.
    Curly,
}

/// What a number in `timeout` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    Milliseconds,
    Seconds,
    /// Seconds below 1,000, otherwise milliseconds: the program is not known.
    Guessed,
    ForStart,
}

pub(crate) struct Rules {
    pub(crate) dialect: Dialect,
    pub(crate) name: &'static str,
    /// The [paths](Node::at) to the table of servers.
    pub(crate) containers: &'static str,
    /// The ends of the paths of its files.
    files: &'static str,
    /// The keys, perhaps with a value, by which the dialect is told from others with the same container.
    /// Without marks, the container suffices.
    marks: &'static str,
    pub(crate) syntax: Syntax,
    pub(crate) timeout: TimeUnit,
}

const fn rules(
    (dialect, name): (Dialect, &'static str),
    containers: &'static str,
    files: &'static str,
    marks: &'static str,
    (syntax, timeout): (Syntax, TimeUnit),
) -> Rules {
    Rules { dialect, name, containers, files, marks, syntax, timeout }
}

type Reading = (Syntax, TimeUnit);
const LITERAL: Reading = (Syntax::Literal, TimeUnit::Milliseconds);
const LITERAL_SECONDS: Reading = (Syntax::Literal, TimeUnit::Seconds);
const BRACES: Reading = (Syntax::Braces, TimeUnit::Milliseconds);
const BRACES_SECONDS: Reading = (Syntax::Braces, TimeUnit::Seconds);
const BRACES_GUESSED: Reading = (Syntax::Braces, TimeUnit::Guessed);
const DOLLARS: Reading = (Syntax::Dollars, TimeUnit::Milliseconds);
const DOLLARS_SECONDS: Reading = (Syntax::Dollars, TimeUnit::Seconds);
const CURLY: Reading = (Syntax::Curly, TimeUnit::ForStart);

const SERVERS: &str = "mcpServers";
const OF_SETTINGS: &str = "servers mcp/servers mcp.servers";
const OPENCODE: &str = "$schema=https://opencode.ai/config.json type=local type=remote";
const GEMINI: &str =
    "httpUrl trust includeTools excludeTools authProviderType mcp security general selectedAuthType";
const DESKTOP_FILE: &str = "claude_desktop_config.json";
const DESKTOP: &str = "preferences globalShortcut";
const CLAUDE: &str =
    "projects numStartups headersHelper alwaysLoad allowedMcpServers deniedMcpServers disabledMcpjsonServers";
const CLINE_FILES: &str = "cline_mcp_settings.json mcp_settings.json .roo/mcp.json";
const CLINE: &str = "alwaysAllow watchPaths remoteConfigured";
const COPILOT: &str = "type=local isDefaultServer";
const GOOSE_FILES: &str = "goose/config.yaml goose/config/config.yaml";
const GOOSE: &str = "GOOSE_PROVIDER cmd type=builtin type=platform type=streamable_http";
const ALONE: &str = "command url serverUrl httpUrl";

/// In the order in which they are tried.
pub(crate) const RULES: &[Rules] = &[
    rules((Dialect::Zed, "Zed"), "context_servers", "", "", LITERAL_SECONDS),
    rules((Dialect::Codex, "Codex"), "mcp_servers", ".codex/config.toml", "", LITERAL_SECONDS),
    rules((Dialect::Amp, "Amp"), "amp.mcpServers", "", "", BRACES),
    rules(
        (Dialect::OpenCode, "opencode"),
        "mcp/servers mcp",
        "opencode.json opencode.jsonc",
        OPENCODE,
        CURLY,
    ),
    rules((Dialect::GeminiCli, "Gemini CLI"), SERVERS, ".gemini/settings.json", GEMINI, DOLLARS),
    rules((Dialect::ClaudeDesktop, "Claude Desktop"), SERVERS, DESKTOP_FILE, DESKTOP, LITERAL),
    rules((Dialect::ClaudeCode, "Claude Code"), SERVERS, ".mcp.json .claude.json", CLAUDE, BRACES),
    rules((Dialect::Cursor, "Cursor"), SERVERS, ".cursor/mcp.json", "envFile", BRACES),
    rules((Dialect::Windsurf, "Windsurf"), SERVERS, "windsurf/mcp_config.json", "serverUrl", BRACES),
    rules((Dialect::Cline, "Cline"), SERVERS, CLINE_FILES, CLINE, BRACES_SECONDS),
    rules((Dialect::CopilotCli, "Copilot CLI"), SERVERS, "mcp-config.json", COPILOT, DOLLARS),
    rules((Dialect::Goose, "Goose"), "extensions", GOOSE_FILES, GOOSE, DOLLARS_SECONDS),
    rules((Dialect::McpServers, "this form"), SERVERS, "", "", BRACES_GUESSED),
    rules((Dialect::VsCode, "VS Code"), OF_SETTINGS, ".vscode/mcp.json", "", BRACES),
    rules((Dialect::LangChain, "LangChain"), ".", "", "transport", BRACES_SECONDS),
    rules((Dialect::McpServers, "this form"), ".", "", ALONE, BRACES_GUESSED),
];

impl Rules {
    pub(crate) fn for_dialect(dialect: Dialect) -> &'static Self {
        RULES.iter().find(|rules| rules.dialect == dialect).unwrap_or(&RULES[0])
    }

    /// Returns the rules of the program that owns the path, or those that fit the content.
    pub(crate) fn recognise(root: &Node, path: Option<&Path>) -> Option<&'static Self> {
        let mut owner = None;
        if let Some(path) = path {
            owner = RULES.iter().find(|rules| rules.owns(path));
        }
        if let Some(rules) = owner
            && rules.servers(root).is_some()
        {
            return owner;
        }
        RULES.iter().find(|rules| rules.fits(root)).or(owner)
    }

    fn owns(&self, path: &Path) -> bool {
        self.files.split_whitespace().any(|file| path.ends_with(file))
    }

    pub(crate) fn servers<'a>(&self, root: &'a Node) -> Option<(&'static str, &'a Node)> {
        for path in self.containers.split(' ') {
            if let Some(servers) = root.at(path) {
                return Some((path, servers));
            }
        }
        None
    }

    fn fits(&self, root: &Node) -> bool {
        let Some((path, servers)) = self.servers(root) else { return false };
        if self.marks.is_empty() || (path != "." && self.is_marked(root)) {
            return true;
        }
        servers.members().unwrap_or_default().iter().any(|member| self.is_marked(&member.value))
    }

    fn is_marked(&self, table: &Node) -> bool {
        for mark in self.marks.split(' ') {
            let is_present = match mark.split_once('=') {
                Some((key, value)) => table.at(key).and_then(Node::text).as_deref() == Some(value),
                None => table.at(mark).is_some(),
            };
            if is_present {
                return true;
            }
        }
        false
    }
}
