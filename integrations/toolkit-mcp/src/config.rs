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

use crate::client::{McpCommand, McpEndpoint, McpError, McpErrorKind};
use crate::macros::debug;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A configuration of MCP servers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct McpConfig {
    /// The servers by name. The name is the namespace of the tools.
    pub servers: BTreeMap<String, ServerConfig>,
    /// The unusable entries by name, each with the reason.
    pub invalid: BTreeMap<String, McpError>,
}

/// The entry of one server, as written in the file. Values may contain variables such as `${HOME}`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ServerConfig {
    /// The type of the transport, such as `stdio` or `http`.
    #[serde(rename = "type", alias = "transport")]
    pub kind: Option<String>,
    /// The program to run as a child process.
    pub command: Option<String>,
    /// The arguments of the program.
    #[serde(default)]
    pub args: Vec<String>,
    /// The environment variables for the program, in addition to the variables that every server inherits.
    #[serde(default, deserialize_with = "texts")]
    pub env: BTreeMap<String, String>,
    /// The working directory of the program.
    #[serde(alias = "workingDirectory")]
    pub cwd: Option<String>,
    /// The URL of the server. Such a server needs the feature `client-http`.
    #[serde(alias = "serverUrl", alias = "httpUrl")]
    pub url: Option<String>,
    /// The headers sent with every request.
    #[serde(default, deserialize_with = "texts")]
    pub headers: BTreeMap<String, String>,
    /// Whether the program ignores the server.
    #[serde(default)]
    pub disabled: bool,
    /// Whether the program uses the server, as some files say instead of `disabled`.
    pub enabled: Option<bool>,
    /// The time limit for a call without progress reports, in milliseconds.
    pub timeout: Option<u64>,
}

// The values of environment variables and headers are not shown, and neither is the URL.
debug!(ServerConfig, self, "command": self.command, "args": self.args, "env": self.env.keys(), "headers": self.headers.keys());

/// Reads strings. A number or a boolean is read as a string, too.
fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    let values = BTreeMap::<String, Value>::deserialize(deserializer)?.into_iter();
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Ok(values.map(|(name, value)| (name, text(value))).collect())
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
    /// Returns whether the program ignores the server.
    #[must_use]
    pub fn is_disabled(&self) -> bool {
        self.disabled || self.enabled == Some(false)
    }

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
        let fault = match (&self.command, &self.url, self.kind.as_deref()) {
            (_, _, Some("sse")) => "the transport `sse` is no longer supported; use `http` and its URL",
            (Some(command), None, None | Some("stdio" | "local")) => {
                let mut process = McpCommand::new(expand(command)?);
                for argument in &self.args {
                    process = process.arg(expand(argument)?);
                }
                for (name, value) in &self.env {
                    process = process.env(name, expand(value)?);
                }
                if let Some(cwd) = &self.cwd {
                    process = process.current_dir(expand(cwd)?);
                }
                return Ok(process.into());
            }
            (
                None,
                Some(url),
                None | Some("http" | "streamable-http" | "streamableHttp" | "streamable_http" | "remote"),
            ) => {
                let headers = self.headers.iter().map(|(name, value)| Ok((name.clone(), expand(value)?)));
                return url_endpoint(expand(url)?, headers.collect::<Result<_, McpError>>()?);
            }
            (Some(_), Some(_), _) => "there is a `command` and a `url`; use one of them",
            (None, None, _) => "there is neither a `command` nor a `url`; add one",
            _ => "the type does not fit; use `stdio` with `command` or `http` with `url`",
        };
        Err(McpError::new(McpErrorKind::Config, fault))
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
        match config.servers.get("a").map(|server| (server, server.endpoint(|_| None))) {
            Some((_, Err(error))) => error.to_string(),
            Some((server, Ok(_))) => match (&server.command, &server.url) {
                (Some(command), _) => {
                    format!("{command} {:?} {:?} {:?}", server.args, server.env, server.cwd)
                }
                (None, url) => format!("{} {:?}", url.as_deref().unwrap_or_default(), server.headers),
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
                "the type does not fit; use `stdio` with `command` or `http` with `url`",
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
        assert!(servers["a"].is_disabled() && servers["b"].is_disabled());
        assert_eq!(servers["b"].timeout, Some(500));
    }
}
