//! The tools that Gemini's `generateContent` defines.

use super::HostedTool;
use crate::facts::ApiFormat;
use serde_json::json;

hosted_tools! {
    Gemini:

    /// Returns the provider's tool for searching the web.
    google_search() = {"googleSearch": {}};

    /// Returns the provider's tool for searching Google Maps.
    google_maps() = {"googleMaps": {}};

    /// Returns the provider's tool for reading the web pages whose URLs are in the prompt.
    url_context() = {"urlContext": {}};

    /// Returns the provider's tool for running Python code.
    code_execution() = {"codeExecution": {}};

    /// Returns the provider's tool for using a browser. The model calls functions such as `click_at`, and the
    /// program answers the calls with tools of the same names.
    ///
    /// The service defines these functions, so the definitions of such tools are left out. To define one yourself,
    /// exclude it with the field `excludedPredefinedFunctions`.
    computer_use() = {"computerUse": {"environment": "ENVIRONMENT_BROWSER"}};

    /// Returns the provider's tool for searching uploaded files. `stores` are the names of the file search
    /// stores.
    file_search(stores: impl IntoIterator<Item = impl Into<String>>) = {"fileSearch": {
        "fileSearchStoreNames": stores.into_iter().map(Into::into).collect::<Vec<String>>(),
    }};

    /// Returns an entry for the tools of a remote MCP server.
    mcp(name: &str, url: &str) = {"mcpServers": [{"name": name, "streamableHttpTransport": {"url": url}}]};
}
