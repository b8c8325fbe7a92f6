//! The tools of Anthropic's Messages API. [`HostedTool::with`] sets the field `type` to another version.

use super::HostedTool;
use crate::facts::ApiFormat;
use serde_json::json;

hosted_tools! {
    Anthropic:

    /// Returns the tool for searching the web.
    ///
    /// ```
    /// use toolkit_ai::llm::hosted::anthropic;
    ///
    /// let newer = anthropic::web_search().with("type", "web_search_20260318").with("max_uses", 3);
    /// assert_eq!(newer.definition["type"], "web_search_20260318");
    /// ```
    web_search() = {"type": "web_search_20250305", "name": "web_search"};

    /// Returns the tool for reading web pages.
    web_fetch() = {"type": "web_fetch_20250910", "name": "web_fetch"};

    /// Returns the tool for running code in a container. The code can call tools that list
    /// `code_execution_20250825` among their allowed callers.
    code_execution() = {"type": "code_execution_20250825", "name": "code_execution"};

    /// Returns the tool for searching deferred tools by words.
    tool_search_bm25() = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"};

    /// Returns the tool for searching deferred tools by regular expressions.
    tool_search_regex() = {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"};

    /// Returns the shell tool. The program's tool `bash` answers the calls.
    bash() = {"type": "bash_20250124", "name": "bash"};

    /// Returns the tool for editing files. The program's tool `str_replace_based_edit_tool` answers the
    /// calls.
    text_editor() = {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"};

    /// Returns the tool for notes in files. The program's tool `memory` answers the calls and stores the
    /// files.
    memory() = {"type": "memory_20250818", "name": "memory"};

    /// Returns the tool for using a screen, mouse and keyboard. The program's tool `computer` answers the
    /// calls.
    ///
    /// `width` and `height` are the size of the screen in pixels. The API requires the beta
    /// `computer-use-2025-11-24`.
    computer(width: u32, height: u32) = {
        "type": "computer_20251124",
        "name": "computer",
        "display_width_px": width,
        "display_height_px": height,
    };
}

/// Returns an entry for all tools of a remote MCP server.
///
/// Its address goes into the request field `mcp_servers`. The API requires the beta `mcp-client-2025-11-20`.
#[must_use]
pub fn mcp(name: &str, url: &str) -> HostedTool {
    let toolset = json!({"type": "mcp_toolset", "mcp_server_name": name});
    let server = json!({"type": "url", "name": name, "url": url});
    HostedTool::new(ApiFormat::Anthropic, toolset).with_request("mcp_servers", vec![server])
}
