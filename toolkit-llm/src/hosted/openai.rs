//! The tools that OpenAI's Responses API defines.

use super::HostedTool;
use crate::facts::ApiFormat;
use serde_json::json;

hosted_tools! {
    OpenAiResponses:

    /// Returns the provider's tool for searching the web.
    web_search() = {"type": "web_search"};

    /// Returns the provider's tool for running Python code in a container. The provider creates the container.
    code_interpreter() = {"type": "code_interpreter", "container": {"type": "auto"}};

    /// Returns the provider's tool for generating images.
    image_generation() = {"type": "image_generation"};

    /// Returns the provider's tool for searching deferred tools.
    tool_search() = {"type": "tool_search"};

    /// Returns the provider's tool search, in the variant that the program runs. The tool `discover_tools` of the
    /// registry's [tool search](toolkit_core::ToolRegistry::with_tool_search) answers the calls.
    ///
    /// [`Definitions::with_hosted`](crate::Definitions::with_hosted) replaces the definition of `discover_tools` by
    /// this tool. The description and the parameters of `discover_tools` are copied into this tool. The definition of
    /// `call_deferred` is removed, because the model calls the found tools by their names.
    client_tool_search() = {"type": "tool_search", "execution": "client"};

    /// Returns the provider's tool for code that calls tools. The model writes the code. The code can call the tools
    /// that list `programmatic` among their allowed callers.
    programmatic_tool_calling() = {"type": "programmatic_tool_calling"};

    /// Returns the provider's shell tool. The program runs it: the program's tool `shell` answers the calls.
    shell() = {"type": "shell", "environment": {"type": "local"}};

    /// Returns the provider's older shell tool. The program runs it: the program's tool `local_shell` answers the
    /// calls.
    local_shell() = {"type": "local_shell"};

    /// Returns the provider's tool for editing files. The program runs it: the program's tool `apply_patch`
    /// answers the calls.
    apply_patch() = {"type": "apply_patch"};

    /// Returns the provider's tool for using a screen, mouse and keyboard. The program runs it: the program's
    /// tool `computer` answers the calls.
    computer() = {"type": "computer"};

    /// Returns the provider's tool for searching uploaded files. `vector_stores` are the ids of the vector
    /// stores.
    file_search(vector_stores: impl IntoIterator<Item = impl Into<String>>) = {
        "type": "file_search",
        "vector_store_ids": vector_stores.into_iter().map(Into::into).collect::<Vec<String>>(),
    };

    /// Returns an entry for the tools of a remote MCP server. The provider calls these tools without approval.
    ///
    /// To approve each call, set `require_approval` to `always`. The provider then asks for approval by calling
    /// the program's tool `mcp_approval`. The arguments are `server_label`, `name` and `arguments` (a JSON
    /// string). The MCP call is approved if `mcp_approval` returns `true` or `{"approve": true}`. The MCP call is
    /// refused if `mcp_approval` returns anything else, fails, or does not exist.
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

    /// Returns an entry for the tools of a connector. `id` names the connector, as in `connector_gmail`, and
    /// `authorization` is the OAuth access token. The provider calls these tools without approval.
    connector(label: &str, id: &str, authorization: &str) = {
        "type": "mcp",
        "server_label": label,
        "connector_id": id,
        "authorization": authorization,
        "require_approval": "never",
    };
}
