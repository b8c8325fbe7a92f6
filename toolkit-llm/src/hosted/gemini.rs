//! The tools that Gemini's `generateContent` defines.

use super::HostedTool;
use crate::ApiFormat;
use crate::fields::Fields;
use serde_json::json;

fn tool(name: &str) -> HostedTool {
    let definition = Fields::from_iter([(name.to_owned(), json!({}))]);
    HostedTool::new(ApiFormat::Gemini, definition.into())
}

/// Returns the provider's tool for searching the web.
#[must_use]
pub fn google_search() -> HostedTool {
    tool("googleSearch")
}

/// Returns the provider's tool for searching Google Maps.
#[must_use]
pub fn google_maps() -> HostedTool {
    tool("googleMaps")
}

/// Returns the provider's tool for reading the web pages whose URLs are in the prompt.
#[must_use]
pub fn url_context() -> HostedTool {
    tool("urlContext")
}

/// Returns the provider's tool for running Python code.
#[must_use]
pub fn code_execution() -> HostedTool {
    tool("codeExecution")
}

/// Returns the provider's tool for searching uploaded files. `stores` are the names of the file search
/// stores.
#[must_use]
pub fn file_search<S: Into<String>>(stores: impl IntoIterator<Item = S>) -> HostedTool {
    let stores: Vec<String> = stores.into_iter().map(Into::into).collect();
    tool("fileSearch").with("fileSearchStoreNames", stores)
}

/// Returns the provider's tool for using a browser. The model calls functions such as `click_at`, and the
/// program answers the calls with tools of the same names.
///
/// The service defines these functions, so the definitions of such tools are left out. To define one yourself, exclude
/// it with the field `excludedPredefinedFunctions`.
#[must_use]
pub fn computer_use() -> HostedTool {
    tool("computerUse").with("environment", "ENVIRONMENT_BROWSER")
}

/// Returns an entry for the tools of a remote MCP server.
#[must_use]
pub fn mcp(name: &str, url: &str) -> HostedTool {
    let server = json!({"name": name, "streamableHttpTransport": {"url": url}});
    HostedTool::new(ApiFormat::Gemini, json!({"mcpServers": [server]}))
}
