//! The floors: each room of a crate uses only rooms that stand before it.

use crate::{root, rust_files};
use std::path::Path;

/// The rooms of `toolkit-core`, ground floor first.
const FLOORS: &[&str] = &[
    "macros",
    "guard",
    "depth",
    "trace",
    "name",
    "error",
    "pattern",
    "foreign",
    "redaction",
    "call",
    "output",
    "events",
    "context",
    "args",
    "result",
    "definition",
    "format",
    "search",
    "registry",
    "testing",
    "middleware",
    "dispatch",
    "serve",
    "private",
];

/// The rooms of `toolkit-macros`, in the order of the pipeline.
const MACRO_FLOORS: &[&str] =
    &["diag", "item", "attr", "docs", "draft", "model", "checked", "check", "expand", "toolset", "derive"];

/// The rooms of `toolkit-llm`: the data, the parts of a codec, the models, the codecs, and what asks through them.
const LLM_FLOORS: &[&str] = &[
    "helpers",
    "json",
    "facts",
    "hosted",
    "response",
    "message",
    "call",
    "definitions",
    "stream",
    "codec",
    "model",
    "history",
    "request",
    "reading",
    "apis",
    "translate",
    "format",
    "transport",
    "record",
];

/// The rooms of `toolkit-agent`, in the order of the layers in its `docs/how-it-works.md`.
pub(crate) const AGENT_FLOORS: &[&str] = &[
    "helpers",
    "message",
    "output",
    "pending",
    "status",
    "event",
    "conversation_entry",
    "call_ids",
    "conversation",
    "compaction",
    "session",
    "place",
    "error",
    "outcome",
    "guardrail",
    "limits",
    "span",
    "options",
    "answer",
    "agent",
    "run",
    "stream",
    "team",
    "llm",
    "structured",
    "request",
    "runs",
];

const MCP_FLOORS: &[&str] = &[
    "macros",
    "numbers",
    "reports",
    "unsent",
    "mcp_error",
    "error_data",
    "line_transport",
    "request_span",
    "user_agent",
    "guarded_http",
    "client",
    "config",
    "server",
];

const MCP_CLIENT_FLOORS: &[&str] = &[
    "content",
    "settings",
    "tools",
    "event",
    "transport",
    "failures",
    "http_transport",
    "login",
    "connection",
    "call",
    "mcp_client",
    "remote_resources",
    "remote_prompts",
    "registry",
];

const MCP_SERVER_FLOORS: &[&str] = &[
    "caller",
    "protocol",
    "http_answers",
    "auth",
    "server_settings",
    "request_body",
    "calls",
    "client_requests",
    "mcp_server",
    "http_server",
];

const NATS_FLOORS: &[&str] =
    &["span", "fleet_error", "subjects", "fleet", "frames", "definitions", "ledger", "worker", "caller"];

/// The rooms of `toolkit-cli`, from what a command writes to the programs.
const CLI_FLOORS: &[&str] = &[
    "exit",
    "screen",
    "input",
    "desk",
    "facts",
    "apis",
    "flags",
    "outcome",
    "progress",
    "config_text",
    "commands",
    "command_line",
    "servers",
    "main",
];

/// The rooms of `toolkit-openapi`, whose client and server do not know each other.
const OPENAPI_FLOORS: &[&str] = &["error", "client", "server"];

/// The rooms of the client: from a document to tools, and from a call to its answer.
const OPENAPI_CLIENT_FLOORS: &[&str] =
    &["document", "operation", "schema", "reading", "request", "security", "answer", "service", "toolset"];

/// The rooms of `toolkit-frontends`, and those of a protocol: from chunks to paths.
const FRONT_END_FLOORS: &[&str] =
    &["page_error", "page_access", "page_log", "page_paths", "page_runs", "run_stream", "ai_sdk", "ag_ui"];
const AI_SDK_FLOORS: &[&str] =
    &["ui_chunk", "ui_encoder", "ui_message", "ui_history", "ui_request", "ui_stream", "ui_router"];

const AG_UI_FLOORS: &[&str] =
    &["ag_message", "ag_event", "ag_fold", "ag_shown", "ag_encoder", "ag_history", "ag_request", "ag_router"];

/// The room of a file, as `output` for `src/output.rs` and `src/output/content.rs`.
fn room(file: &Path, source: &Path) -> String {
    let inside = file.strip_prefix(source).expect("the file is in the folder");
    let first = inside.components().next().expect("a path has a first part");
    first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()
}

/// The rooms that a text names by path, `depth` levels inside the folder of the rooms. `above` is this
/// folder's path, such as `client::`.
fn rooms_named<'a>(text: &str, above: &str, depth: usize, floors: &'a [&'a str]) -> Vec<&'a str> {
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let is_end = |c: char| !c.is_alphanumeric() && c != '_';
    let mut rooms = Vec::new();
    for path in [format!("crate::{above}"), "super::".repeat(depth)] {
        // From the end, because an inner module such as tests is a level deeper.
        for (at, found) in code.rmatch_indices(&path) {
            let rest = &code[at + found.len()..];
            let names = match rest.strip_prefix('{') {
                Some(list) => list.split('}').next(),
                None => rest.split(is_end).next(),
            };
            for name in names.unwrap_or_default().split(',') {
                let name = name.trim_start().split(is_end).next();
                rooms.extend(floors.iter().copied().find(|room| Some(*room) == name));
            }
        }
    }
    rooms
}

/// Returns where rooms in a folder name later ones.
fn upward_looks(folder: &str, floors: &[&str]) -> Vec<String> {
    let source = root().join(folder);
    let above = match folder.split_once("/src/") {
        Some((_, inside)) => inside.replace('/', "::") + "::",
        None => String::new(),
    };
    let floor = |room: &str| floors.iter().position(|known| *known == room);
    let mut looks = Vec::new();
    for (path, text) in rust_files(folder) {
        let here = room(&path, &source);
        if matches!(here.as_str(), "lib" | "tests") {
            continue;
        }
        let Some(own) = floor(&here) else {
            looks.push(format!("{}: the room `{here}` has no floor", path.display()));
            continue;
        };
        let depth = path.strip_prefix(&source).expect("the file is in the folder").components().count();
        for named in rooms_named(&text, &above, depth, floors) {
            if floor(named).is_some_and(|other| other > own) {
                looks.push(format!("{}: `{here}` looks up at `{named}`", path.display()));
            }
        }
    }
    looks
}

#[test]
fn rooms_look_only_down() {
    assert_eq!(upward_looks("toolkit-core/src", FLOORS), [""; 0]);
    assert_eq!(upward_looks("toolkit-macros/src", MACRO_FLOORS), [""; 0]);
    assert_eq!(upward_looks("toolkit-llm/src", LLM_FLOORS), [""; 0]);
    assert_eq!(upward_looks("integrations/toolkit-agent/src", AGENT_FLOORS), [""; 0]);
    assert_eq!(upward_looks("integrations/toolkit-mcp/src", MCP_FLOORS), [""; 0]);
    assert_eq!(upward_looks("integrations/toolkit-mcp/src/client", MCP_CLIENT_FLOORS), [""; 0]);
    assert_eq!(upward_looks("integrations/toolkit-mcp/src/server", MCP_SERVER_FLOORS), [""; 0]);
    assert_eq!(upward_looks("integrations/toolkit-nats/src", NATS_FLOORS), [""; 0]);
    assert_eq!(upward_looks("integrations/toolkit-cli/src", CLI_FLOORS), [""; 0]);
    assert_eq!(upward_looks("integrations/toolkit-openapi/src", OPENAPI_FLOORS), [""; 0]);
    assert_eq!(upward_looks("integrations/toolkit-openapi/src/client", OPENAPI_CLIENT_FLOORS), [""; 0]);
    assert_eq!(upward_looks("integrations/toolkit-frontends/src", FRONT_END_FLOORS), [""; 0]);
    assert_eq!(upward_looks("integrations/toolkit-frontends/src/ai_sdk", AI_SDK_FLOORS), [""; 0]);
    assert_eq!(upward_looks("integrations/toolkit-frontends/src/ag_ui", AG_UI_FLOORS), [""; 0]);
}

#[test]
fn an_upward_look_would_be_found() {
    let found = rooms_named("use crate::registry::{RenderCache};\n// use crate::wire;", "", 1, FLOORS);
    assert_eq!(found, ["registry"]);
    let floors = ["tools", "event", "connection", "call"];
    let text = "use super::call::Call;\nuse super::super::event::Event;\nuse crate::client::{\n    tools::Tools,\n    \
                Client,\n    connection,\n};\nuse crate::call::Call;\nmod tests {\n    use super::super::super::tools;\n}";
    assert_eq!(rooms_named(text, "client::", 2, &floors), ["tools", "connection", "tools", "event"]);
    assert_eq!(rooms_named("super::call::run()", "client::", 1, &floors), ["call"]);
}
