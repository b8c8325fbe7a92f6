//! The tools that OpenAI's Responses API defines.

use super::HostedTool;
use crate::ApiFormat;
use serde_json::{Value, json};

fn tool(definition: Value) -> HostedTool {
    HostedTool::new(ApiFormat::OpenAiResponses, definition)
}

/// Returns the provider's web search.
#[must_use]
pub fn web_search() -> HostedTool {
    tool(json!({"type": "web_search"}))
}

/// Returns the search in uploaded files. `vector_stores` are the ids of the stores.
#[must_use]
pub fn file_search<S: Into<String>>(vector_stores: impl IntoIterator<Item = S>) -> HostedTool {
    let ids: Vec<String> = vector_stores.into_iter().map(Into::into).collect();
    tool(json!({"type": "file_search", "vector_store_ids": ids}))
}

/// Returns the execution of Python code in a container that the provider creates.
#[must_use]
pub fn code_interpreter() -> HostedTool {
    tool(json!({"type": "code_interpreter", "container": {"type": "auto"}}))
}

/// Returns the generation of images.
#[must_use]
pub fn image_generation() -> HostedTool {
    tool(json!({"type": "image_generation"}))
}

/// Returns a remote MCP server, which the provider calls without approval.
///
/// Set `require_approval` to `always` to approve each call. The provider's request for approval is then a call of the
/// program's tool `mcp_approval`, with the arguments `server_label`, `name` and `arguments` (a JSON string). The call
/// is approved if the tool returns `true` or `{"approve": true}`. It is refused if the tool returns anything else,
/// fails, or does not exist.
///
/// ```
/// use toolkit::wire::hosted::openai;
///
/// let docs = openai::mcp("docs", "https://docs.example/mcp").with("require_approval", "always");
/// assert_eq!(docs.answered_by(), Some("mcp_approval"));
/// ```
#[must_use]
pub fn mcp(label: &str, url: &str) -> HostedTool {
    tool(json!({"type": "mcp", "server_label": label, "server_url": url, "require_approval": "never"}))
}

/// Returns a connector to a service such as `connector_gmail`. `authorization` is the OAuth access token.
#[must_use]
pub fn connector(label: &str, id: &str, authorization: &str) -> HostedTool {
    tool(json!({
        "type": "mcp",
        "server_label": label,
        "connector_id": id,
        "authorization": authorization,
        "require_approval": "never",
    }))
}

/// Returns the provider's search for deferred tools.
#[must_use]
pub fn tool_search() -> HostedTool {
    tool(json!({"type": "tool_search"}))
}

/// Returns the search for deferred tools that the program runs, answered by the tool `discover_tools` of the
/// registry's [tool search](toolkit_core::ToolRegistry::with_tool_search).
///
/// [`Definitions::with_hosted`](crate::Definitions::with_hosted) takes the description and the parameters from the
/// definition of `discover_tools`, which this tool replaces. It also removes `call_deferred`, because the model
/// calls the found tools by their names.
#[must_use]
pub fn client_tool_search() -> HostedTool {
    tool_search().with("execution", "client")
}

/// Returns the calling of tools from code that the model writes. Tools allow it with the caller `programmatic`.
#[must_use]
pub fn programmatic_tool_calling() -> HostedTool {
    tool(json!({"type": "programmatic_tool_calling"}))
}

/// Returns the shell that the program runs, answered by the tool `shell`.
#[must_use]
pub fn shell() -> HostedTool {
    tool(json!({"type": "shell", "environment": {"type": "local"}}))
}

/// Returns the older shell that the program runs, answered by the tool `local_shell`.
#[must_use]
pub fn local_shell() -> HostedTool {
    tool(json!({"type": "local_shell"}))
}

/// Returns the editing of files that the program runs, answered by the tool `apply_patch`.
#[must_use]
pub fn apply_patch() -> HostedTool {
    tool(json!({"type": "apply_patch"}))
}

/// Returns the use of a screen, mouse and keyboard that the program runs, answered by the tool `computer`.
#[must_use]
pub fn computer() -> HostedTool {
    tool(json!({"type": "computer"}))
}
