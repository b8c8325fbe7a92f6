//! What a file says about all its servers: keys beside them that restrict what they offer.

use crate::dialect::Dialect;
use crate::entry::ServerEntry;
use crate::keys::may_restrict;
use crate::node::{Member, Node, Tree};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileRule {
    /// The only servers that are used.
    AllowedServers,
    DeniedServers,
    /// The only tools that are offered.
    AllowedTools,
    DeniedTools,
    /// Tools with a flag or a decision; the last one that fits counts.
    Switches,
    /// Decisions about tools; the first one that fits counts.
    Decisions,
    /// A decision for all tools, and one for each.
    Defaults,
    /// A flag, or `all` and `none`.
    Servers,
    NoServers,
    /// Rules that permit or reject servers, which are not read.
    Rejections,
    /// Settings of other parts of the program, whose names could be those of a restriction.
    OfOtherParts,
}

/// The rules by dialect and [path](Node::at).
const RULES: &[(Dialect, &str, FileRule)] = &[
    (Dialect::Amp, "amp.tools.disable", FileRule::DeniedTools),
    (Dialect::Amp, "amp.tools.enable", FileRule::AllowedTools),
    (Dialect::Amp, "amp.permissions", FileRule::Decisions),
    (Dialect::Amp, "amp.mcpPermissions", FileRule::Rejections),
    (Dialect::ClaudeCode, "allowedMcpServers", FileRule::AllowedServers),
    (Dialect::ClaudeCode, "deniedMcpServers", FileRule::DeniedServers),
    (Dialect::ClaudeCode, "disabledMcpjsonServers", FileRule::DeniedServers),
    (Dialect::ClaudeCode, "permissions/deny", FileRule::DeniedTools),
    (Dialect::ClaudeCode, "permissions/allow", FileRule::OfOtherParts),
    (Dialect::Codex, "disable_response_storage", FileRule::OfOtherParts),
    (Dialect::Codex, "approval_policy", FileRule::OfOtherParts),
    (Dialect::Codex, "sandbox_mode", FileRule::OfOtherParts),
    (Dialect::Codex, "sandbox_workspace_write", FileRule::OfOtherParts),
    (Dialect::Codex, "tools", FileRule::OfOtherParts),
    (Dialect::GeminiCli, "mcp/allowed", FileRule::AllowedServers),
    (Dialect::GeminiCli, "mcp/excluded", FileRule::DeniedServers),
    (Dialect::GeminiCli, "allowMCPServers", FileRule::AllowedServers),
    (Dialect::GeminiCli, "excludeMCPServers", FileRule::DeniedServers),
    (Dialect::GeminiCli, "admin/mcp/enabled", FileRule::Servers),
    (Dialect::GeminiCli, "tools/exclude", FileRule::DeniedTools),
    (Dialect::GeminiCli, "excludeTools", FileRule::DeniedTools),
    (Dialect::GeminiCli, "tools/core", FileRule::OfOtherParts),
    (Dialect::GeminiCli, "tools/allowed", FileRule::OfOtherParts),
    (Dialect::GeminiCli, "coreTools", FileRule::OfOtherParts),
    (Dialect::GeminiCli, "allowedTools", FileRule::OfOtherParts),
    (Dialect::GeminiCli, "fileFiltering", FileRule::OfOtherParts),
    (Dialect::GeminiCli, "includeDirectories", FileRule::OfOtherParts),
    (Dialect::OpenCode, "tools", FileRule::Switches),
    (Dialect::OpenCode, "permission", FileRule::Switches),
    (Dialect::VsCode, "chat.mcp.access", FileRule::Servers),
    (Dialect::VsCode, "chat.mcp.enabled", FileRule::Servers),
    (Dialect::Zed, "disable_ai", FileRule::NoServers),
    (Dialect::Zed, "agent/tool_permissions", FileRule::Defaults),
    (Dialect::Zed, "file_scan_exclusions", FileRule::OfOtherParts),
    (Dialect::Zed, "file_scan_inclusions", FileRule::OfOtherParts),
];

/// What each program puts before the name of a tool: texts, separated by blanks, with `{}` for the name of
/// its server. The text `.` is nothing.
const SPELLINGS: &[(Dialect, &str)] = &[
    (Dialect::Amp, ". mcp__{}__"),
    (Dialect::ClaudeCode, "mcp__{}__"),
    (Dialect::GeminiCli, ". {}__ mcp_{}_ mcp__{}__"),
    (Dialect::OpenCode, "{}_"),
    (Dialect::Zed, "mcp:{}:"),
];

enum Effect {
    Nothing,
    NoServers,
    Servers {
        names: Vec<String>,
        are_allowed: bool,
    },
    Tools {
        rules: Vec<(String, bool)>,
        otherwise: bool,
    },
    /// The rule is not understood, so no server is used.
    Unknown,
}

/// Applies the rules of a dialect to the servers of a file. Returns the paths and the values of rules that
/// are not understood: no server may be used.
pub(crate) fn apply<'a>(
    dialect: Dialect,
    root: &'a Node,
    servers: &mut [ServerEntry],
) -> Vec<(&'static str, &'a Node)> {
    let mut unknown = Vec::new();
    for (_, path, rule) in RULES.iter().filter(|(of, ..)| *of == dialect) {
        let Some(value) = root.at(path) else { continue };
        match rule.effect(value) {
            Effect::Nothing => {}
            Effect::Unknown => unknown.push((*path, value)),
            Effect::NoServers => {
                for server in &mut *servers {
                    server.is_disabled = true;
                }
            }
            Effect::Servers { names, are_allowed } => {
                for server in &mut *servers {
                    server.is_disabled |= names.contains(&server.name) != are_allowed;
                }
            }
            Effect::Tools { rules, otherwise } => {
                for server in &mut *servers {
                    let prefixes = prefixes(dialect, &server.name);
                    let mut own_rules = Vec::new();
                    for (name, is_offered) in &rules {
                        own_rules.push((of_server(name, &prefixes), *is_offered));
                    }
                    server.tools.switch(prefixes, own_rules, otherwise);
                }
            }
        }
    }
    unknown
}

/// Returns the members beside the servers whose names are those of restrictions, and that no rule reads.
/// Tables with a rule or the servers in them are searched.
pub(crate) fn unread<'a>(dialect: Dialect, root: &'a Node, container: &str) -> Vec<(String, &'a Member)> {
    let mut read: Vec<&str> = vec![container];
    for (of, path, _) in RULES {
        if *of == dialect {
            read.push(path);
        }
    }
    let mut found = Vec::new();
    if container != "." {
        search(root, "", &read, &mut found);
    }
    found
}

fn search<'a>(table: &'a Node, above: &str, read: &[&str], found: &mut Vec<(String, &'a Member)>) {
    for member in table.members().unwrap_or_default() {
        let path = format!("{above}{}", member.key);
        let below = format!("{path}/");
        if read.contains(&path.as_str()) {
            continue;
        }
        if read.iter().any(|read| read.starts_with(&below)) {
            search(&member.value, &below, read, found);
        } else if may_restrict(&member.key, &member.value) {
            found.push((path, member));
        }
    }
}

/// Programs replace characters that a name cannot have.
fn prefixes(dialect: Dialect, server: &str) -> Vec<String> {
    let cleaned = server.replace(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_'), "_");
    let spellings = match SPELLINGS.iter().find(|(of, _)| *of == dialect) {
        Some((_, spellings)) => spellings,
        None => ".",
    };
    let mut prefixes = Vec::new();
    for spelling in spellings.split(' ') {
        for name in [server, &cleaned] {
            let prefix = if spelling == "." { String::new() } else { spelling.replace("{}", name) };
            if !prefixes.contains(&prefix) {
                prefixes.push(prefix);
            }
        }
    }
    prefixes
}

/// `mcp__` with the name of a server alone stands for all its tools.
fn of_server(name: &str, prefixes: &[String]) -> String {
    let all = format!("{name}__");
    let is_server = name.starts_with("mcp__") && prefixes.contains(&all);
    if is_server { format!("{all}*") } else { name.to_owned() }
}

impl FileRule {
    fn effect(self, value: &Node) -> Effect {
        self.known_effect(value).unwrap_or(Effect::Unknown)
    }

    /// `None` if the value does not have its form.
    fn known_effect(self, value: &Node) -> Option<Effect> {
        match self {
            Self::AllowedServers => Some(Effect::Servers { names: names(value)?, are_allowed: true }),
            Self::DeniedServers => Some(Effect::Servers { names: names(value)?, are_allowed: false }),
            Self::AllowedTools => listed_tools(value, true),
            Self::DeniedTools => listed_tools(value, false),
            Self::Switches => switches(value),
            Self::Decisions => decisions(value),
            Self::Defaults => defaults(value),
            Self::Servers => Some(if is_on(value)? { Effect::Nothing } else { Effect::NoServers }),
            Self::NoServers => Some(if is_on(value)? { Effect::NoServers } else { Effect::Nothing }),
            Self::Rejections if value.items()?.iter().all(is_allowing) => Some(Effect::Nothing),
            Self::Rejections => None,
            Self::OfOtherParts => Some(Effect::Nothing),
        }
    }
}

fn listed_tools(value: &Node, is_allowed: bool) -> Option<Effect> {
    let mut rules = Vec::new();
    for name in names(value)? {
        let tool = name.split('(').next().unwrap_or_default();
        rules.push((tool.to_owned(), is_allowed));
    }
    Some(Effect::Tools { rules, otherwise: !is_allowed })
}

/// A name may be alone in a table, as `serverName`.
fn names(value: &Node) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for item in value.items()? {
        names.push(match item.members() {
            Some([Member { key, value, .. }]) if key == "serverName" => value.text()?,
            _ => item.text()?,
        });
    }
    Some(names)
}

fn is_on(value: &Node) -> Option<bool> {
    match value.text()?.as_str() {
        "true" | "all" => Some(true),
        "false" | "none" => Some(false),
        _ => None,
    }
}

fn switches(value: &Node) -> Option<Effect> {
    let rules = match value.members() {
        Some(tools) => tools.iter().map(|tool| (tool.key.clone(), is_offered(&tool.value))).collect(),
        None if value.items().is_some() => return None,
        None => vec![("*".to_owned(), is_offered(value))],
    };
    Some(Effect::Tools { rules, otherwise: true })
}

/// An approval is a matter of the program. A decision about some arguments counts for all of them.
fn is_offered(decision: &Node) -> bool {
    match &decision.tree {
        Tree::Flag(is_on) => *is_on,
        Tree::Text(word) => matches!(word.as_str(), "allow" | "ask" | "confirm"),
        Tree::Table(parts) => parts.iter().all(|part| is_offered(&part.value)),
        Tree::Null => true,
        Tree::Number(_) | Tree::List(_) => false,
    }
}

/// Reads a list of decisions. One that depends on more than the name of the tool can only reject it.
fn decisions(value: &Node) -> Option<Effect> {
    let mut rules = Vec::new();
    for decision in value.items()? {
        let tool = decision.get("tool")?.text()?;
        let is_offered = is_offered(decision.get("action")?);
        let is_plain = decision.members()?.iter().all(|part| ["tool", "action"].contains(&part.key.as_str()));
        if is_plain || !is_offered {
            rules.push((tool, is_offered));
        }
    }
    // The last rule of a filter counts.
    rules.reverse();
    Some(Effect::Tools { rules, otherwise: true })
}

fn defaults(value: &Node) -> Option<Effect> {
    let otherwise = value.get("default").is_none_or(is_offered);
    let mut rules = Vec::new();
    for tool in value.get("tools").map_or(Some(&[][..]), Node::members)? {
        let settings = tool.value.members()?;
        let own = tool.value.get("default").map_or(otherwise, is_offered);
        let is_denied = settings.iter().any(|part| part.key == "always_deny" && !part.value.is_off());
        rules.push((tool.key.clone(), own && !is_denied));
    }
    if value.members().is_some() { Some(Effect::Tools { rules, otherwise }) } else { None }
}

fn is_allowing(rule: &Node) -> bool {
    rule.get("action").and_then(Node::text).as_deref() == Some("allow")
}
