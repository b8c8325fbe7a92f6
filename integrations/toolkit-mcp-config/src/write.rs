//! Writes an entry into a file.

use crate::config_error::ConfigError;
use crate::dialect::{Dialect, Rules};
use crate::entry::{ServerEntry, ServerTransport};
use crate::keys::Key;
use crate::node::{options, parse};
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use std::collections::BTreeMap;

/// Returns the text of a file with the entry of a server added. The rest of the file stays as it is, with its comments.
///
/// The entry is written as its program reads it. The texts of the entry are written as they are, so variables are those
/// of the dialect. If the file already has an entry of this name, its command or URL is replaced, and its other keys
/// stay. An empty text is a new file.
///
/// ```
/// use toolkit_mcp_config::{Dialect, ServerEntry, ServerTransport, write_entry};
///
/// let entry = ServerEntry::new("weather", ServerTransport::command("weather-server", ["--fast"]));
/// let text = write_entry("{\n  // Mine.\n  \"servers\": {}\n}\n", Dialect::VsCode, &entry)?;
/// assert!(text.contains("// Mine.") && text.contains("\"command\": \"weather-server\""));
/// # Ok::<(), toolkit_mcp_config::ConfigError>(())
/// ```
///
/// # Errors
/// [`ConfigError`] if the text is no file of the dialect. In a TOML file, an entry is not replaced.
pub fn write_entry(text: &str, dialect: Dialect, entry: &ServerEntry) -> Result<String, ConfigError> {
    let rules = Rules::of(dialect);
    if dialect == Dialect::Codex {
        return toml(text, entry);
    }
    let refused = |message: String| ConfigError::new(&entry.name, None, message);
    let (mark, json) = text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest));
    let json = if json.trim().is_empty() { "{}\n" } else { json };
    let root = CstRootNode::parse(json, &options())
        .map_err(|error| refused(format!("the file is not valid JSON: {}", error.kind())))?;
    let path = parse(json).ok().and_then(|node| Some(rules.servers(&node)?.0));
    let path = path.or(rules.containers.split(' ').next()).unwrap_or_default();
    let mut keys = path.split('/').filter(|key| *key != ".");
    let found = root
        .object_value_or_create()
        .and_then(|object| keys.try_fold(object, |object, key| object.object_value_or_create(key)));
    let servers = found.ok_or_else(|| refused(format!("`{path}` is not an object in the file")))?;
    let object = servers
        .object_value_or_create(&entry.name)
        .ok_or_else(|| refused("the entry in the file is not an object".to_owned()))?;
    let written = [Key::Kind, Key::Command, Key::Args, Key::Env, Key::Folder, Key::Url, Key::Headers];
    for property in object.properties() {
        let key = property.decoded_name().and_then(|name| Key::of(&name));
        if key.is_some_and(|key| written.contains(&key)) {
            property.remove();
        }
    }
    for (key, value) in members(dialect, entry) {
        if object.get(key).is_none() {
            object.append(key, value);
        }
    }
    Ok(format!("{mark}{root}"))
}

/// Returns the keys and values of an entry in a dialect.
fn members(dialect: Dialect, entry: &ServerEntry) -> Vec<(&'static str, CstInputValue)> {
    let text = |text: &str| CstInputValue::String(text.to_owned());
    let list = |items: &[String]| CstInputValue::Array(items.iter().map(|item| text(item)).collect());
    let table = |table: &BTreeMap<String, String>| {
        CstInputValue::Object(table.iter().map(|(key, value)| (key.clone(), text(value))).collect())
    };
    // The key of the type, the type of a command, and the type of a URL.
    let kinds = match dialect {
        Dialect::OpenCode => Some(["type", "local", "remote"]),
        Dialect::VsCode | Dialect::ClaudeCode => Some(["type", "stdio", "http"]),
        Dialect::Cline => Some(["type", "stdio", "streamableHttp"]),
        Dialect::CopilotCli => Some(["type", "local", "http"]),
        Dialect::LangChain => Some(["transport", "stdio", "streamable_http"]),
        _ => None,
    };
    let mut members = Vec::new();
    match &entry.transport {
        ServerTransport::Command { program, args, env, cwd } => {
            members.extend(kinds.map(|[key, command, _]| (key, text(command))));
            if dialect == Dialect::OpenCode {
                members.push(("command", list(&[std::slice::from_ref(program), args].concat())));
                members.push(("environment", table(env)));
            } else {
                members.extend([("command", text(program)), ("args", list(args)), ("env", table(env))]);
            }
            members.extend(cwd.as_deref().map(|cwd| ("cwd", text(cwd))));
        }
        ServerTransport::Http { url, headers } => {
            members.extend(kinds.map(|[key, _, kind]| (key, text(kind))));
            let (url_key, headers_key) = match dialect {
                Dialect::GeminiCli => ("httpUrl", "headers"),
                Dialect::Windsurf => ("serverUrl", "headers"),
                Dialect::Codex => ("url", "http_headers"),
                _ => ("url", "headers"),
            };
            members.extend([(url_key, text(url)), (headers_key, table(headers))]);
        }
    }
    // Copilot CLI uses no tool that is not listed.
    members.extend((dialect == Dialect::CopilotCli).then(|| ("tools", list(&["*".to_owned()]))));
    members.retain(|(_, value)| !matches!(value, CstInputValue::Object(table) if table.is_empty()));
    members
}

/// Adds a table at the end of a TOML file.
fn toml(text: &str, entry: &ServerEntry) -> Result<String, ConfigError> {
    let root = parse(text)?;
    if root.get("mcp_servers").and_then(|servers| servers.get(&entry.name)).is_some() {
        return Err(ConfigError::new(&entry.name, None, "the file already has this server; remove it first"));
    }
    let mut written = text.trim_end().to_owned();
    if !written.is_empty() {
        written.push_str("\n\n");
    }
    written += &format!("[mcp_servers.{}]\n", quoted(&entry.name));
    for (key, value) in members(Dialect::Codex, entry) {
        written += &format!("{key} = {}\n", toml_value(&value));
    }
    parse(&written).map(|_| written)
}

fn toml_value(value: &CstInputValue) -> String {
    match value {
        CstInputValue::Array(items) => {
            format!("[{}]", items.iter().map(toml_value).collect::<Vec<_>>().join(", "))
        }
        CstInputValue::Object(table) => {
            let pairs = table.iter().map(|(key, value)| format!("{} = {}", quoted(key), toml_value(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        CstInputValue::String(text) => quoted(text),
        other => format!("{other:?}"),
    }
}

/// Returns a basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted += &format!("\\u{:04X}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
