//! The providers' tools, and calls that the program runs for them.

use crate::conversation::{Conversation, Turn};
use toolkit_ai::llm::hosted::{HostedTool, anthropic, gemini, openai};
use toolkit_ai::llm::{ApiFormat, WireError};
use toolkit_ai::serde_json::json;
use toolkit_ai::{
    BuildError, Content, Media, ToolCall, ToolDefinition, ToolError, ToolMetadata, ToolName, ToolOutput,
    ToolResult,
};

/// Returns a conversation with all known hosted tools, and a deferred tool for code. Each call first
/// succeeds, then fails.
pub(crate) fn conversation() -> Result<Conversation, WireError> {
    let calls = calls()?;
    let failed = vec![Err(ToolError::failed("no disk")); calls.len()];
    let turns = vec![turn("a", &calls, outcomes()), turn("b", &calls, failed)];
    Ok(Conversation { tools: add().into_iter().collect(), turns, hosted: hosted() })
}

/// A turn with calls, whose ids get a prefix, and outcomes.
fn turn(prefix: &str, calls: &[ToolCall], outcomes: Vec<Result<ToolOutput, ToolError>>) -> Turn {
    let mut calls = calls.to_vec();
    for call in &mut calls {
        call.id = format!("{prefix}{}", call.id).into();
    }
    let results = calls.iter().zip(outcomes).map(|(call, outcome)| ToolResult::of(call, outcome)).collect();
    Turn { asks: "Look.".to_owned(), calls, results }
}

fn calls() -> Result<Vec<ToolCall>, WireError> {
    let program = json!({"type": "program", "caller_id": "prog_1"});
    let checks = json!([{"id": "sc_1", "code": "c", "message": "Look."}]);
    let items = json!([
        {"id": "a", "type": "shell_call", "call_id": "call_1", "status": "completed",
            "action": {"commands": ["ls"], "max_output_length": 4096}, "environment": {"type": "local"},
            "caller": program},
        {"id": "b", "type": "local_shell_call", "call_id": "call_2", "status": "completed",
            "action": {"type": "exec", "command": ["ls"], "env": {}}},
        {"id": "c", "type": "apply_patch_call", "call_id": "call_3", "status": "completed",
            "operation": {"type": "update_file", "path": "a.rs", "diff": "@@"}},
        {"id": "d", "type": "computer_call", "call_id": "call_4", "status": "completed",
            "action": {"type": "screenshot"}, "pending_safety_checks": checks},
        {"id": "e", "type": "tool_search_call", "call_id": "call_5", "status": "completed", "execution": "client",
            "arguments": {"query": "rust"}},
        {"id": "f", "type": "function_call", "call_id": "call_6", "status": "completed", "name": "crm_find",
            "arguments": "{}", "namespace": "crm", "caller": program},
    ]);
    ApiFormat::OpenAiResponses.parse_calls(&items)
}

fn outcomes() -> Vec<Result<ToolOutput, ToolError>> {
    let found = json!([{"name": "crm_find", "description": "Finds.", "deferred": true,
        "parameters": {"type": "object", "properties": {}}}]);
    vec![
        Ok(ToolOutput::text("a.rs")),
        Ok(ToolOutput::text("a.rs")),
        Ok(ToolOutput::text("done")),
        Ok(Content::from(Media::new("image/png", b"\x89PNG")).into()),
        ToolOutput::json(&found).map_err(ToolError::invalid_output),
        Ok(ToolOutput::text("3")),
    ]
}

fn add() -> Result<ToolDefinition, BuildError> {
    let callers = ["direct", "programmatic", "code_execution_20250825"];
    let metadata = ToolMetadata::default().with_allowed_callers(callers);
    let add =
        ToolDefinition::new(ToolName::new("add")?, "Adds.", json!({"type": "object", "properties": {}}));
    Ok(add.with_metadata(metadata))
}

fn hosted() -> Vec<HostedTool> {
    vec![
        openai::web_search(),
        openai::file_search(["vs_1"]),
        openai::code_interpreter(),
        openai::image_generation(),
        openai::mcp("docs", "https://a.example/mcp"),
        openai::connector("mail", "connector_gmail", "token"),
        openai::tool_search(),
        openai::client_tool_search(),
        openai::programmatic_tool_calling(),
        openai::shell(),
        openai::local_shell(),
        openai::apply_patch(),
        openai::computer(),
        anthropic::web_search().with("max_uses", 3),
        anthropic::web_fetch(),
        anthropic::code_execution(),
        anthropic::tool_search_bm25(),
        anthropic::tool_search_regex(),
        anthropic::mcp("docs", "https://a.example/mcp"),
        anthropic::bash(),
        anthropic::text_editor(),
        anthropic::memory(),
        anthropic::computer(1024, 768),
        gemini::google_search(),
        gemini::google_maps(),
        gemini::url_context(),
        gemini::code_execution(),
        gemini::file_search(["fileSearchStores/a"]),
        gemini::computer_use(),
        gemini::mcp("docs", "https://a.example/mcp"),
    ]
}
