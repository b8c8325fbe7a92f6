//! The tools that Anthropic's Messages API defines. For another version of a tool, set its `type`.

use super::HostedTool;
use crate::ApiFormat;
use serde_json::json;

fn tool(kind: &str, name: &str) -> HostedTool {
    HostedTool::new(ApiFormat::Anthropic, json!({"type": kind, "name": name}))
}

/// Returns the provider's web search.
///
/// ```
/// use toolkit::wire::hosted::anthropic;
///
/// let newer = anthropic::web_search().with("type", "web_search_20260318").with("max_uses", 3);
/// assert_eq!(newer.definition["type"], "web_search_20260318");
/// ```
#[must_use]
pub fn web_search() -> HostedTool {
    tool("web_search_20250305", "web_search")
}

/// Returns the reading of web pages.
#[must_use]
pub fn web_fetch() -> HostedTool {
    tool("web_fetch_20250910", "web_fetch")
}

/// Returns the execution of code in a container. Tools allow calls from this code with the caller
/// `code_execution_20250825`.
#[must_use]
pub fn code_execution() -> HostedTool {
    tool("code_execution_20250825", "code_execution")
}

/// Returns the provider's search for deferred tools by words.
#[must_use]
pub fn tool_search_bm25() -> HostedTool {
    tool("tool_search_tool_bm25_20251119", "tool_search_tool_bm25")
}

/// Returns the provider's search for deferred tools by regular expressions.
#[must_use]
pub fn tool_search_regex() -> HostedTool {
    tool("tool_search_tool_regex_20251119", "tool_search_tool_regex")
}

/// Returns a remote MCP server. Its address is in the request field `mcp_servers`; the API needs the beta
/// `mcp-client-2025-11-20`.
#[must_use]
pub fn mcp(name: &str, url: &str) -> HostedTool {
    let toolset = json!({"type": "mcp_toolset", "mcp_server_name": name});
    let server = json!({"type": "url", "name": name, "url": url});
    HostedTool::new(ApiFormat::Anthropic, toolset).with_request("mcp_servers", vec![server])
}

/// Returns the shell that the program runs, answered by the tool `bash`.
#[must_use]
pub fn bash() -> HostedTool {
    tool("bash_20250124", "bash")
}

/// Returns the editing of files that the program runs, answered by the tool `str_replace_based_edit_tool`.
#[must_use]
pub fn text_editor() -> HostedTool {
    tool("text_editor_20250728", "str_replace_based_edit_tool")
}

/// Returns the files for the model's notes that the program keeps, answered by the tool `memory`.
#[must_use]
pub fn memory() -> HostedTool {
    tool("memory_20250818", "memory")
}

/// Returns the use of a screen, mouse and keyboard that the program runs, answered by the tool `computer`. The
/// size is that of the screen in pixels; the API needs the beta `computer-use-2025-11-24`.
#[must_use]
pub fn computer(width: u32, height: u32) -> HostedTool {
    tool("computer_20251124", "computer").with("display_width_px", width).with("display_height_px", height)
}
