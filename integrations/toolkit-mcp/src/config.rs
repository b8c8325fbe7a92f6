//! The configuration file of MCP servers, in the format that other programs use.
//!
//! ```
//! use toolkit_mcp::config::McpConfig;
//!
//! let config = McpConfig::parse(r#"{
//!     "mcpServers": {
//!         "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv"]},
//!         "issues": {
//!             "url": "https://example.com/mcp",
//!             "headers": {"Authorization": "Bearer ${ISSUES_TOKEN:-none}"}
//!         }
//!     }
//! }"#)?;
//! assert_eq!(config.servers.keys().collect::<Vec<_>>(), ["files", "issues"]);
//! # Ok::<(), toolkit_mcp::client::McpError>(())
//! ```

mod expand;
mod servers;

pub use servers::{McpServers, ServerFailure};

use crate::client::{McpCommand, McpEndpoint, McpError, McpErrorKind, origin};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// A configuration of MCP servers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct McpConfig {
    /// The servers by name. The name is the namespace of the tools.
    pub servers: BTreeMap<String, ServerConfig>,
    /// The unusable entries by name, each with the reason.
    pub invalid: BTreeMap<String, McpError>,
}

/// The configuration of one server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Entry")]
#[non_exhaustive]
pub struct ServerConfig {
    /// The transport for reaching the server.
    pub transport: ServerTransport,
    /// Whether the program ignores the server.
    pub disabled: bool,
    /// The time limit for a call without progress reports.
    pub timeout: Option<Duration>,
}

/// The transport of a configured server. Values may contain variables such as `${HOME}`.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerTransport {
    /// A child process.
    #[non_exhaustive]
    Command {
        /// The program to run.
        command: String,
        /// The arguments of the program.
        args: Vec<String>,
        /// The environment variables for the program, in addition to the variables that every server
        /// inherits.
        env: BTreeMap<String, String>,
        /// The working directory of the program.
        cwd: Option<String>,
    },
    /// A server behind a URL. Such a server needs the feature `client-http`.
    #[non_exhaustive]
    Url {
        /// The URL of the server.
        url: String,
        /// The headers sent with every request.
        headers: BTreeMap<String, String>,
    },
    /// An unsupported transport.
    #[non_exhaustive]
    Unsupported {
        /// The fault, and how to fix it.
        reason: String,
    },
}

/// The values of environment variables and headers are not shown, and of a URL only scheme and host are.
impl fmt::Debug for ServerTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { command, args, env, cwd } => {
                let mut debug = f.debug_struct("Command");
                debug.field("command", command).field("args", args);
                debug.field("env", &env.keys()).field("cwd", cwd).finish()
            }
            Self::Url { url, headers } => {
                f.debug_struct("Url").field("url", &origin(url)).field("headers", &headers.keys()).finish()
            }
            Self::Unsupported { reason } => f.debug_struct("Unsupported").field("reason", reason).finish(),
        }
    }
}

/// An entry as written in the file.
#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type", alias = "transport")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, Scalar>,
    #[serde(alias = "workingDirectory")]
    cwd: Option<String>,
    #[serde(alias = "serverUrl", alias = "httpUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, Scalar>,
    #[serde(default)]
    disabled: bool,
    enabled: Option<bool>,
    /// The timeout in milliseconds.
    timeout: Option<u64>,
}

/// A string. A number or a boolean is read as a string, too.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Other(Value),
}

impl From<Entry> for ServerConfig {
    fn from(entry: Entry) -> Self {
        let text = |(name, value)| match value {
            Scalar::Text(text) => (name, text),
            Scalar::Other(value) => (name, value.to_string()),
        };
        let unsupported = |reason: String| ServerTransport::Unsupported { reason };
        let transport = match (entry.command, entry.url, entry.kind.as_deref()) {
            (_, _, Some("sse")) => {
                unsupported("the transport `sse` is no longer supported; use `http` and its URL".to_owned())
            }
            (Some(command), None, None | Some("stdio" | "local")) => ServerTransport::Command {
                command,
                args: entry.args,
                env: entry.env.into_iter().map(text).collect(),
                cwd: entry.cwd,
            },
            (
                None,
                Some(url),
                None | Some("http" | "streamable-http" | "streamableHttp" | "streamable_http" | "remote"),
            ) => ServerTransport::Url { url, headers: entry.headers.into_iter().map(text).collect() },
            (Some(_), Some(_), _) => {
                unsupported("there is a `command` and a `url`; use one of them".to_owned())
            }
            (None, None, _) => unsupported("there is neither a `command` nor a `url`; add one".to_owned()),
            (_, _, kind) => {
                let kind = kind.unwrap_or_default();
                unsupported(format!(
                    "the type `{kind}` does not fit; use `stdio` with `command` or `http` with `url`"
                ))
            }
        };
        let disabled = entry.disabled || entry.enabled == Some(false);
        Self { transport, disabled, timeout: entry.timeout.map(Duration::from_millis) }
    }
}

impl McpConfig {
    /// Parses a configuration. `text` is a JSON object that either contains the servers in a member
    /// `mcpServers` or `servers`, or consists of the servers alone.
    ///
    /// An invalid entry does not affect the other entries. It is added to [`invalid`](Self::invalid).
    ///
    /// # Errors
    /// [`McpError`] if the text is not such an object.
    pub fn parse(text: &str) -> Result<Self, McpError> {
        let invalid =
            |reason: String| McpError::new(McpErrorKind::Config, format!("the configuration {reason}"));
        let value: Value =
            serde_json::from_str(text).map_err(|error| invalid(format!("is not valid JSON: {error}")))?;
        let listed = ["mcpServers", "servers"].into_iter().find_map(|key| value.get(key));
        let Value::Object(entries) = listed.unwrap_or(&value) else {
            return Err(invalid(
                "has no object `mcpServers`; add one with an entry for each server".to_owned(),
            ));
        };
        let mut config = Self::default();
        for (name, entry) in entries {
            match ServerConfig::deserialize(entry) {
                Ok(server) => {
                    config.servers.insert(name.clone(), server);
                }
                Err(error) => {
                    let error = without_value(&error.to_string());
                    let text = format!("MCP server `{name}`: the entry is invalid: {error}");
                    config.invalid.insert(name.clone(), McpError::new(McpErrorKind::Config, text));
                }
            }
        }
        Ok(config)
    }

    /// Reads a configuration file, see [`parse`](Self::parse).
    ///
    /// # Errors
    /// [`McpError`] if the file cannot be read, or is not a configuration.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, McpError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| {
            let text = format!("the configuration `{}` cannot be read: {error}", path.display());
            McpError::new(McpErrorKind::Config, text)
        })?;
        Self::parse(&text)
    }
}

/// Replaces the quoted value in a message of the parser, because the value may be a secret.
fn without_value(text: &str) -> String {
    match (text.split_once('"'), text.rsplit_once('"')) {
        (Some((before, _)), Some((_, after))) => format!("{before}…{after}"),
        _ => text.to_owned(),
    }
}

impl ServerConfig {
    /// Returns the endpoint of the server, with all variables replaced by the values that `lookup` returns.
    ///
    /// `${NAME}` and `${env:NAME}` become the value of the variable. `${NAME:-default}` becomes the default
    /// if the variable is missing or empty.
    ///
    /// ```
    /// use toolkit_mcp::config::McpConfig;
    ///
    /// let config = McpConfig::parse(r#"{"mcpServers": {"a": {"command": "${HOME}/server"}}}"#)?;
    /// let home = |name: &str| (name == "HOME").then(|| "/home/ada".to_owned());
    /// assert!(config.servers["a"].endpoint(home).is_ok());
    /// let error = config.servers["a"].endpoint(|_| None).unwrap_err();
    /// assert_eq!(error.to_string(), "the variable `HOME` is not set; set it, or write `${HOME:-default}`");
    /// # Ok::<(), toolkit_mcp::client::McpError>(())
    /// ```
    ///
    /// # Errors
    /// [`McpError`] if a variable is missing, or if the transport is not supported.
    pub fn endpoint(&self, lookup: impl Fn(&str) -> Option<String>) -> Result<McpEndpoint, McpError> {
        let expand = |text: &str| expand::expand(text, &lookup);
        match &self.transport {
            ServerTransport::Command { command, args, env, cwd } => {
                let mut process = McpCommand::new(expand(command)?);
                for argument in args {
                    process = process.arg(expand(argument)?);
                }
                for (name, value) in env {
                    process = process.env(name, expand(value)?);
                }
                if let Some(cwd) = cwd {
                    process = process.current_dir(expand(cwd)?);
                }
                Ok(process.into())
            }
            ServerTransport::Url { url, headers } => {
                let url = expand(url)?;
                let headers = headers.iter().map(|(name, value)| Ok((name.clone(), expand(value)?)));
                url_endpoint(url, headers.collect::<Result<_, McpError>>()?)
            }
            ServerTransport::Unsupported { reason } => Err(McpError::new(McpErrorKind::Config, reason)),
        }
    }
}

#[cfg(feature = "client-http")]
fn url_endpoint(url: String, headers: BTreeMap<String, String>) -> Result<McpEndpoint, McpError> {
    let mut endpoint = crate::client::McpUrl::new(url);
    for (name, value) in headers {
        // A bearer token is set as a token and not as a header, so that the client recognises a refusal of
        // the token.
        let token = value.strip_prefix("Bearer ").filter(|_| name.eq_ignore_ascii_case("authorization"));
        endpoint = match token {
            Some(token) => endpoint.with_bearer_token(token.trim()),
            None => endpoint.with_header(name, value),
        };
    }
    Ok(endpoint.into())
}

#[cfg(not(feature = "client-http"))]
fn url_endpoint(_: String, _: BTreeMap<String, String>) -> Result<McpEndpoint, McpError> {
    let text = "servers behind a URL need the feature `client-http` of `toolkit-mcp`";
    Err(McpError::new(McpErrorKind::Config, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transport(entry: &str) -> String {
        let config =
            McpConfig::parse(&format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#)).expect("a configuration");
        match config.servers.get("a") {
            Some(server) => match &server.transport {
                ServerTransport::Command { command, args, env, cwd } => {
                    format!("{command} {args:?} {env:?} {cwd:?}")
                }
                ServerTransport::Url { url, headers } => format!("{url} {headers:?}"),
                ServerTransport::Unsupported { reason } => reason.clone(),
            },
            None => config.invalid["a"].to_string(),
        }
    }

    #[test]
    fn the_usual_spellings_are_understood() {
        for (entry, expected) in [
            (r#"{"command": "x"}"#, "x [] {} None"),
            (
                r#"{"type": "stdio", "command": "x", "args": ["-y"], "env": {"A": "b", "PORT": 80}, "cwd": "/c"}"#,
                r#"x ["-y"] {"A": "b", "PORT": "80"} Some("/c")"#,
            ),
            (r#"{"url": "http://a", "headers": {"b": "c"}}"#, r#"http://a {"b": "c"}"#),
            (r#"{"type": "http", "url": "http://a"}"#, "http://a {}"),
            (r#"{"type": "streamable-http", "serverUrl": "http://a", "alwaysAllow": ["x"]}"#, "http://a {}"),
            (
                r#"{"type": "sse", "url": "http://a"}"#,
                "the transport `sse` is no longer supported; use `http` and its URL",
            ),
            (r#"{"command": "x", "url": "y"}"#, "there is a `command` and a `url`; use one of them"),
            ("{}", "there is neither a `command` nor a `url`; add one"),
            (
                r#"{"type": "ws", "url": "y"}"#,
                "the type `ws` does not fit; use `stdio` with `command` or `http` with `url`",
            ),
            (
                r#"{"command": 5}"#,
                "MCP server `a`: the entry is invalid: invalid type: integer `5`, expected a string",
            ),
        ] {
            assert_eq!(transport(entry), expected, "{entry}");
        }
    }

    #[test]
    fn servers_are_found_under_each_usual_key() {
        for text in [
            r#"{"mcpServers": {"a": {"command": "x"}}}"#,
            r#"{"servers": {"a": {"command": "x"}}}"#,
            r#"{"a": {"command": "x"}}"#,
        ] {
            assert!(McpConfig::parse(text).expect("a configuration").servers.contains_key("a"), "{text}");
        }
        for text in ["", "[]", r#"{"mcpServers": 5}"#] {
            assert_eq!(McpConfig::parse(text).expect_err("an error").kind(), McpErrorKind::Config, "{text}");
        }
        let text = r#"{"a": {"command": "x", "disabled": true}, "b": {"command": "x", "enabled": false, "timeout": 500}}"#;
        let servers = McpConfig::parse(text).expect("a configuration").servers;
        assert!(servers["a"].disabled && servers["b"].disabled);
        assert_eq!(servers["b"].timeout, Some(Duration::from_millis(500)));
    }
}
