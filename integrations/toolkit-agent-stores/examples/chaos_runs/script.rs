//! The agent: a model that follows the plan in the input, and tools that note each execution.
//!
//! An input is `CONVERSATION ID PLAN`. The model makes one call for each letter of the plan, with the argument `ID-STEP`,
//! so each call has its own argument in all conversations.

use serde::Deserialize;
use std::env;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::sleep;
use toolkit_agent::Agent;
use toolkit_core::middleware::{Permission, PermissionRule, Permissions};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{ClosureTool, ToolCall, ToolRegistry};
use toolkit_llm::{Message, ModelRequest, ModelResponse, ScriptedModel};

/// What each tool has done: `TOOL ID-STEP`.
pub(crate) const EFFECTS: &str = "effects.txt";
/// The requests to models: `CONVERSATION`.
pub(crate) const REQUESTS: &str = "requests.txt";
/// Set to plant a fault: the tools of which executions are counted call themselves repeatable.
const PLANTED: &str = "TOOLKIT_CHAOS_PLANTED";

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Step {
    id: String,
}

fn note(path: &Path, line: &str) {
    let mut file = File::options().create(true).append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn tool(name: &'static str, folder: &Path) -> ClosureTool {
    let path = folder.join(EFFECTS);
    let run = move |Step { id }: Step| {
        let path = path.clone();
        async move {
            note(&path, &format!("{name} {id}"));
            sleep(Duration::from_millis(4)).await;
            format!("{name} of {id} is done")
        }
    };
    let is_repeatable = name == "look" || env::var_os(PLANTED).is_some();
    let tool = ClosureTool::new(name, "Notes.", run).unwrap();
    tool.map_metadata(|metadata| metadata.with_idempotent(is_repeatable))
}

/// Returns the tool of a letter.
fn tool_of(letter: char) -> &'static str {
    match letter {
        'p' => "pay",
        'r' => "refund",
        'e' => "expert",
        's' => "send",
        _ => "look",
    }
}

/// Returns what the model says next.
fn respond(request: &ModelRequest, requests: &Path) -> ModelResponse {
    let mut input = String::new();
    let mut step = 0;
    for message in &*request.messages {
        match message {
            Message::User(_) => (input, step) = (message.to_text(), 0),
            Message::Assistant(_) => step += 1,
            _ => {}
        }
    }
    let mut words = input.split(' ');
    let (conversation, id) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let letter = words.next().and_then(|plan| plan.chars().nth(step));
    note(requests, conversation);
    let Some(letter) = letter else { return ModelResponse::text(format!("{id} is done.")) };
    let name = tool_of(letter);
    let call = format!("{id}-{step}");
    let arguments = match name {
        "expert" => serde_json::json!({"request": format!("{conversation} {call} ss")}),
        _ => serde_json::json!({"id": call}),
    };
    ModelResponse::calls([ToolCall::new(format!("call_{step}"), name, arguments.to_string())])
}

fn model(requests: PathBuf) -> ScriptedModel {
    ScriptedModel::new().fallback(move |request: &ModelRequest| Ok(respond(request, &requests)))
}

/// Returns the agent of all processes. Its tool `refund` needs approval, and `expert` is an agent with a tool of its own.
pub(crate) fn agent(folder: &Path) -> Agent {
    let requests = folder.join(REQUESTS);
    let expert = Agent::builder(model(requests.clone())).name("expert").description("Helps.");
    let expert = expert.tools(ToolRegistry::from_tools([tool("send", folder)]).unwrap()).build().unwrap();
    let tools = ["pay", "refund", "look"].map(|name| tool(name, folder));
    let mut tools = ToolRegistry::from_tools(tools).unwrap();
    tools.register(expert.to_tool().unwrap()).unwrap();
    let permissions = Permissions::new()
        .rule(PermissionRule::ask("it costs money").for_tool("refund").unwrap())
        .otherwise(Permission::Allow)
        .decide_later();
    Agent::builder(model(requests)).name("clerk").tools(tools).middleware(permissions).build().unwrap()
}
