//! The tools that OpenAI's Responses API defines.

use super::HostedTool;
use crate::facts::ApiFormat;
use serde_json::json;

hosted_tools! {
    OpenAiResponses:

    /// Returns the tool for searching the web.
    web_search() = {"type": "web_search"};

    /// Returns the tool for running Python code in a container of the provider.
    code_interpreter() = {"type": "code_interpreter", "container": {"type": "auto"}};

    /// Returns the tool for generating images.
    image_generation() = {"type": "image_generation"};

    /// Returns the tool for searching deferred tools.
    tool_search() = {"type": "tool_search"};

    /// Returns the tool search that the program runs: `discover_tools` of the registry's [tool
    /// search](toolkit_core::ToolRegistry::with_tool_search) answers the calls.
    ///
    /// [`Definitions::with_hosted`](crate::Definitions::with_hosted) replaces the definition of
    /// `discover_tools` by this tool, with the same description and parameters. The definition of
    /// `call_deferred` is removed, because the model calls the found tools by their names.
    client_tool_search() = {"type": "tool_search", "execution": "client"};

    /// Returns the tool for code of the model. The code can call tools that list `programmatic` among their
    /// allowed callers.
    programmatic_tool_calling() = {"type": "programmatic_tool_calling"};

    /// Returns the shell tool. The program's tool `shell` answers the calls.
    shell() = {"type": "shell", "environment": {"type": "local"}};

    /// Returns the older shell tool. The program's tool `local_shell` answers the calls.
    local_shell() = {"type": "local_shell"};

    /// Returns the tool for editing files. The program's tool `apply_patch` answers the calls.
    apply_patch() = {"type": "apply_patch"};

    /// Returns the tool for using a screen, mouse and keyboard. The program's tool `computer` answers the
    /// calls.
    computer() = {"type": "computer"};

    /// Returns the tool for searching uploaded files in the vector stores with these ids.
    file_search(vector_stores: impl IntoIterator<Item = impl Into<String>>) = {
        "type": "file_search",
        "vector_store_ids": vector_stores.into_iter().map(Into::into).collect::<Vec<String>>(),
    };

    /// Returns an entry for a remote MCP server, whose tools the provider calls without approval.
    ///
    /// To approve each call, set `require_approval` to `always`. The provider then calls the program's tool
    /// `mcp_approval` with `server_label`, `name` and `arguments` (a JSON string). `true` or
    /// `{"approve": true}` approves the MCP call. Any other result, a failure or a missing tool refuses it.
    ///
    /// ```
    /// use toolkit_ai::llm::hosted::openai;
    ///
    /// let docs = openai::mcp("docs", "https://docs.example/mcp").with("require_approval", "always");
    /// assert_eq!(docs.answered_by(), Some("mcp_approval"));
    /// ```
    mcp(label: &str, url: &str) = {
        "type": "mcp",
        "server_label": label,
        "server_url": url,
        "require_approval": "never",
    };

    /// Returns an entry for a connector, whose tools the provider calls without approval.
    ///
    /// `id` names the connector, as in `connector_gmail`, and `authorization` is the OAuth access token.
    connector(label: &str, id: &str, authorization: &str) = {
        "type": "mcp",
        "server_label": label,
        "connector_id": id,
        "authorization": authorization,
        "require_approval": "never",
    };
}
