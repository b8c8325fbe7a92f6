//! What is written into an entry: its keys in a dialect, with what an entry of before keeps.

use crate::dialect::Dialect;
use crate::entry::{ServerEntry, ServerTransport};
use crate::keys::Key;
use crate::node::Node;
use crate::resolve::origin;
use crate::yaml_node::quoted;
use jsonc_parser::cst::CstInputValue;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Written {
    Text(String),
    Flag(bool),
    List(Vec<String>),
    Table(BTreeMap<String, String>),
}

pub(crate) struct WrittenEntry {
    /// The keys with their values. Those that the entry has already are not written again.
    pub(crate) members: Vec<(&'static str, Written)>,
    /// The keys that are taken out.
    pub(crate) removed: Vec<String>,
}

/// What the old entry says about its server, with variables as written.
#[derive(Default)]
struct OldEntry {
    program: Option<String>,
    url: Option<String>,
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    headers: BTreeMap<String, String>,
}

impl Written {
    pub(crate) fn is(&self, node: &Node) -> bool {
        match self {
            Self::Text(text) => node.text().as_ref() == Some(text),
            Self::Flag(flag) => node.flag() == Some(*flag),
            Self::List(items) => {
                let Some(own) = node.items() else { return false };
                own.iter().map(Node::text).eq(items.iter().cloned().map(Some))
            }
            Self::Table(table) => {
                let own = node.members().unwrap_or_default();
                let is_same = own.iter().all(|own| own.value.text().as_ref() == table.get(&own.key));
                is_same && own.len() == table.len()
            }
        }
    }

    pub(crate) fn json(&self) -> CstInputValue {
        let text = |text: &String| CstInputValue::String(text.clone());
        match self {
            Self::Text(value) => text(value),
            Self::Flag(flag) => CstInputValue::Bool(*flag),
            Self::List(items) => CstInputValue::Array(items.iter().map(text).collect()),
            Self::Table(table) => {
                CstInputValue::Object(table.iter().map(|(key, value)| (key.clone(), text(value))).collect())
            }
        }
    }

    pub(crate) fn toml(&self) -> toml_edit::Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Flag(flag) => (*flag).into(),
            Self::List(items) => items.iter().collect(),
            Self::Table(table) => table.iter().map(|(key, value)| (key, value.as_str())).collect(),
        }
    }
}

impl Written {
    /// Returns the value on one line.
    pub(crate) fn yaml(&self) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Flag(flag) => flag.to_string(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
                format!("[{}]", items.join(", "))
            }
            // Its members are written one by one.
            Self::Table(_) => "{}".to_owned(),
        }
    }
}

impl WrittenEntry {
    /// Returns how `entry` is written over `old`, the value of an entry of its name.
    pub(crate) fn new(dialect: Dialect, entry: &ServerEntry, old: Option<&Node>) -> Self {
        let mut known = OldEntry::default();
        if let Some(old) = old {
            known.read(old);
        }
        let is_same = known.is_for(&entry.transport);
        let transport = if is_same { known.kept(&entry.transport) } else { entry.transport.clone() };
        let mut members = members(dialect, &transport);
        if dialect == Dialect::CopilotCli && old.is_none_or(|old| old.get("tools").is_none()) {
            // Copilot CLI uses no tool that is not listed.
            members.push(("tools", Written::List(vec!["*".to_owned()])));
        }
        if dialect == Dialect::Goose {
            // Goose leaves out an entry without one of these keys.
            let needed = [
                ("enabled", Written::Flag(true)),
                ("name", Written::Text(entry.name.clone())),
                ("description", Written::Text(String::new())),
            ];
            for (key, value) in needed {
                if old.is_none_or(|old| old.get(key).is_none()) {
                    members.push((key, value));
                }
            }
        }
        let mut removed = Vec::new();
        for member in old.and_then(Node::members).unwrap_or_default() {
            let is_removed = match Key::from_name(&member.key) {
                Some(Key::Command | Key::Args | Key::Url) => true,
                // A type with the command in it is an older form of the command.
                Some(Key::Kind) => !is_same || member.value.members().is_some(),
                Some(Key::Env | Key::Folder | Key::Headers) => !(is_same && member.value.is_off()),
                // What goes to a server belongs to it.
                Some(
                    Key::EnvFile
                    | Key::PassedVariables
                    | Key::HeaderVariables
                    | Key::TokenVariable
                    | Key::Auth,
                ) => !is_same,
                _ => false,
            };
            if is_removed && !members.iter().any(|(key, _)| *key == member.key) {
                removed.push(member.key.clone());
            }
        }
        Self { members, removed }
    }
}

impl OldEntry {
    fn read(&mut self, entry: &Node) {
        for member in entry.members().unwrap_or_default() {
            let value = &member.value;
            match Key::from_name(&member.key) {
                Some(Key::Kind | Key::Command) if value.members().is_some() => self.read(value),
                Some(Key::Command) => {
                    let first = value.items().and_then(<[Node]>::first);
                    self.program = first.unwrap_or(value).text();
                }
                Some(Key::Url) => self.url = value.text(),
                Some(Key::Env) => self.env.extend(texts(value)),
                Some(Key::Folder) => self.cwd = value.text(),
                Some(Key::Headers) => self.headers.extend(texts(value)),
                _ => {}
            }
        }
    }

    /// Returns whether a transport reaches the same server: by the same program, or at the same host.
    fn is_for(&self, transport: &ServerTransport) -> bool {
        match transport {
            ServerTransport::Command { program, .. } => self.program.as_ref() == Some(program),
            ServerTransport::Http { url, .. } => self.url.as_deref().map(origin) == Some(origin(url)),
        }
    }

    /// Returns a transport with the variables, the folder and the headers that it does not set itself.
    fn kept(self, transport: &ServerTransport) -> ServerTransport {
        let mut kept = transport.clone();
        match &mut kept {
            ServerTransport::Command { env, cwd, .. } => {
                for (name, value) in self.env {
                    env.entry(name).or_insert(value);
                }
                *cwd = cwd.take().or(self.cwd);
            }
            ServerTransport::Http { headers, .. } => {
                for (name, value) in self.headers {
                    if !headers.keys().any(|own| own.eq_ignore_ascii_case(&name)) {
                        headers.insert(name, value);
                    }
                }
            }
        }
        kept
    }
}

fn texts(table: &Node) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for member in table.members().unwrap_or_default() {
        if let Some(text) = member.value.text() {
            texts.push((member.key.clone(), text));
        }
    }
    texts
}

fn members(dialect: Dialect, transport: &ServerTransport) -> Vec<(&'static str, Written)> {
    let text = |text: &str| Written::Text(text.to_owned());
    // The key of the type, the type of a command, and the type of a URL.
    let kinds = match dialect {
        Dialect::OpenCode => Some(["type", "local", "remote"]),
        Dialect::VsCode | Dialect::ClaudeCode => Some(["type", "stdio", "http"]),
        Dialect::Cline => Some(["type", "stdio", "streamableHttp"]),
        Dialect::CopilotCli => Some(["type", "local", "http"]),
        Dialect::Goose => Some(["type", "stdio", "streamable_http"]),
        Dialect::LangChain => Some(["transport", "stdio", "streamable_http"]),
        _ => None,
    };
    let mut members = Vec::new();
    match transport {
        ServerTransport::Command { program, args, env, cwd } => {
            if let Some([key, command, _]) = kinds {
                members.push((key, text(command)));
            }
            let env = Written::Table(env.clone());
            if dialect == Dialect::OpenCode {
                let command = [std::slice::from_ref(program), args].concat();
                members.extend([("command", Written::List(command)), ("environment", env)]);
            } else {
                let args = Written::List(args.clone());
                let names = if dialect == Dialect::Goose { ["cmd", "envs"] } else { ["command", "env"] };
                members.extend([(names[0], text(program)), ("args", args), (names[1], env)]);
            }
            if let Some(folder) = cwd {
                members.push(("cwd", text(folder)));
            }
        }
        ServerTransport::Http { url, headers } => {
            if let Some([key, _, kind]) = kinds {
                members.push((key, text(kind)));
            }
            let (url_key, headers_key) = match dialect {
                Dialect::GeminiCli => ("httpUrl", "headers"),
                Dialect::Windsurf => ("serverUrl", "headers"),
                Dialect::Codex => ("url", "http_headers"),
                Dialect::Goose => ("uri", "headers"),
                _ => ("url", "headers"),
            };
            members.extend([(url_key, text(url)), (headers_key, Written::Table(headers.clone()))]);
        }
    }
    members.retain(|(_, value)| !matches!(value, Written::Table(table) if table.is_empty()));
    members
}
