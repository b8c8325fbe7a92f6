//! The tools that Anthropic's Messages API defines. To use another version of a tool, set its field `type`
//! with [`HostedTool::with`].

use super::HostedTool;
use crate::ApiFormat;
use serde_json::json;

fn tool(kind: &str, name: &str) -> HostedTool {
    HostedTool::new(ApiFormat::Anthropic, json!({"type": kind, "name": name}))
}

/// Returns the provider's tool for searching the web.
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

/// Returns the provider's tool for reading web pages.
#[must_use]
pub fn web_fetch() -> HostedTool {
    tool("web_fetch_20250910", "web_fetch")
}

/// Returns the provider's tool for running code in a container. The code can call the tools that list
/// `code_execution_20250825` among their allowed callers.
#[must_use]
pub fn code_execution() -> HostedTool {
    tool("code_execution_20250825", "code_execution")
}

/// Returns the provider's tool for searching deferred tools by words.
#[must_use]
pub fn tool_search_bm25() -> HostedTool {
    tool("tool_search_tool_bm25_20251119", "tool_search_tool_bm25")
}

/// Returns the provider's tool for searching deferred tools by regular expressions.
#[must_use]
pub fn tool_search_regex() -> HostedTool {
    tool("tool_search_tool_regex_20251119", "tool_search_tool_regex")
}

/// Returns an entry for all tools of a remote MCP server. The server's address goes into the request field
/// `mcp_servers`. The API requires the beta `mcp-client-2025-11-20`.
#[must_use]
pub fn mcp(name: &str, url: &str) -> HostedTool {
    let toolset = json!({"type": "mcp_toolset", "mcp_server_name": name});
    let server = json!({"type": "url", "name": name, "url": url});
    HostedTool::new(ApiFormat::Anthropic, toolset).with_request("mcp_servers", vec![server])
}

/// Returns the provider's shell tool. The program runs it: the program's tool `bash` answers the calls.
#[must_use]
pub fn bash() -> HostedTool {
    tool("bash_20250124", "bash")
}

/// Returns the provider's tool for editing files. The program runs it: the program's tool
/// `str_replace_based_edit_tool` answers the calls.
#[must_use]
pub fn text_editor() -> HostedTool {
    tool("text_editor_20250728", "str_replace_based_edit_tool")
}

/// Returns the provider's tool for notes that the model keeps in files. The program stores the files: the
/// program's tool `memory` answers the calls.
#[must_use]
pub fn memory() -> HostedTool {
    tool("memory_20250818", "memory")
}

/// Returns the provider's tool for using a screen, mouse and keyboard. The program runs it: the program's
/// tool `computer` answers the calls.
///
/// `width` and `height` are the size of the screen in pixels. The API requires the beta
/// `computer-use-2025-11-24`.
#[must_use]
pub fn computer(width: u32, height: u32) -> HostedTool {
    tool("computer_20251124", "computer").with("display_width_px", width).with("display_height_px", height)
}
