//! The tools that Gemini's `generateContent` defines.

use super::HostedTool;
use crate::facts::ApiFormat;
use serde_json::json;

hosted_tools! {
    Gemini:

    /// Returns the tool for searching the web.
    google_search() = {"googleSearch": {}};

    /// Returns the tool for searching Google Maps.
    google_maps() = {"googleMaps": {}};

    /// Returns the tool for reading the web pages whose URLs are in the prompt.
    url_context() = {"urlContext": {}};

    /// Returns the tool for running Python code.
    code_execution() = {"codeExecution": {}};

    /// Returns the tool for using a browser. The program answers calls of functions such as `click_at` with
    /// tools of the same names.
    ///
    /// The service defines these functions, so the definitions of such tools are left out. The field
    /// `excludedPredefinedFunctions` excludes one, so that you can define it yourself.
    computer_use() = {"computerUse": {"environment": "ENVIRONMENT_BROWSER"}};

    /// Returns the tool for searching the uploaded files in the file search stores with these names.
    file_search(stores: impl IntoIterator<Item = impl Into<String>>) = {"fileSearch": {
        "fileSearchStoreNames": stores.into_iter().map(Into::into).collect::<Vec<String>>(),
    }};

    /// Returns an entry for a remote MCP server's tools.
    mcp(name: &str, url: &str) = {"mcpServers": [{"name": name, "streamableHttpTransport": {"url": url}}]};
}
