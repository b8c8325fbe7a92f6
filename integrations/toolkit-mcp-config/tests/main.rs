//! Files of all dialects, as documented, and every spelling in an entry.
#![allow(clippy::unwrap_used, clippy::panic)]

mod programs;
mod restrictions;
mod spellings;
mod writing;

use toolkit_mcp_config::{ConfigError, ConfigFile, Dialect};

const DIALECTS: [Dialect; 15] = [
    Dialect::McpServers,
    Dialect::ClaudeDesktop,
    Dialect::ClaudeCode,
    Dialect::Cursor,
    Dialect::VsCode,
    Dialect::Windsurf,
    Dialect::Zed,
    Dialect::GeminiCli,
    Dialect::Codex,
    Dialect::OpenCode,
    Dialect::Amp,
    Dialect::Cline,
    Dialect::CopilotCli,
    Dialect::Goose,
    Dialect::LangChain,
];

fn file_with(dialect: Dialect, entry: &str) -> ConfigFile {
    let text = match dialect {
        Dialect::VsCode => format!(r#"{{"servers": {{"a": {entry}}}}}"#),
        Dialect::Zed => format!(r#"{{"context_servers": {{"a": {entry}}}}}"#),
        // Inline tables have another sign after keys.
        Dialect::Codex => format!("[mcp_servers]\na = {}", entry.replace("\": ", "\" = ")),
        Dialect::OpenCode => format!(r#"{{"mcp": {{"a": {entry}}}}}"#),
        Dialect::Amp => format!(r#"{{"amp.mcpServers": {{"a": {entry}}}}}"#),
        Dialect::Goose => format!("extensions:\n  a: {entry}"),
        Dialect::LangChain => format!(r#"{{"a": {entry}}}"#),
        _ => format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#),
    };
    ConfigFile::read_as(&text, dialect).unwrap_or_else(|fault| panic!("{dialect:?} {text}: {fault}"))
}

fn texts(faults: &[ConfigError]) -> Vec<String> {
    faults.iter().map(ToString::to_string).collect()
}

fn variable(name: &str) -> Option<String> {
    let value = match name {
        "HOME" => "/home/ada",
        "WEATHER_TOKEN" => "t0ken",
        "WEATHER_KEY" => "k3y",
        "input:weather-key" => "asked",
        "EVIL" => "evil.example/",
        "EMPTY" => "",
        "A" => "1",
        // Variables inside a variable's value are not replaced.
        "NESTED" => "${A}$A{env:A}",
        _ => return None,
    };
    Some(value.to_owned())
}
