//! The endpoints of configured servers.

use crate::client::{McpCommand, McpEndpoint};
use crate::mcp_error::{McpError, McpErrorKind};
use std::collections::BTreeMap;
use toolkit_mcp_config::{ServerEntry, ServerTransport};

/// Returns the endpoint of a server, with the values that `lookup` returns for variables.
///
/// # Errors
/// [`McpError`] if a variable has no value, or if the transport is not supported.
pub(super) fn endpoint(
    server: &ServerEntry,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<McpEndpoint, McpError> {
    let refused = |text: String| McpError::new(McpErrorKind::Config, text);
    match server.resolve(lookup).map_err(|fault| refused(fault.to_string()))? {
        ServerTransport::Command { program, args, env, cwd, .. } => {
            let mut command = McpCommand::new(program).args(args);
            for (name, value) in env {
                command = command.env(name, value);
            }
            if let Some(directory) = cwd {
                command = command.current_dir(directory);
            }
            Ok(command.into())
        }
        ServerTransport::Http { url, headers, .. } => {
            url_endpoint(url, headers).map_err(|error| error.of_server(&server.name))
        }
        _ => Err(refused("the transport is not supported".to_owned()).of_server(&server.name)),
    }
}

#[cfg(feature = "client-http")]
fn url_endpoint(url: String, headers: BTreeMap<String, String>) -> Result<McpEndpoint, McpError> {
    let mut endpoint = crate::client::McpUrl::new(url);
    for (name, value) in headers {
        // Only a token lets the client recognise a refusal of it.
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
    let text =
        "servers behind a URL need the feature `mcp-http` of `toolkit-ai`, or `client-http` of `toolkit-mcp`";
    Err(McpError::new(McpErrorKind::Config, text))
}
