//! The tokens of a run in its log.

use crate::support::Nothing;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::task::yield_now;
use toolkit_agent::session::{ConversationKey, ConversationStore as _, MemoryStore};
use toolkit_agent::{Agent, Sessions};
use toolkit_core::{ClosureTool, ToolCall, ToolRegistry};
use toolkit_llm::{Message, ModelResponse, ModelRetry, ScriptedModel, StreamEvent, Usage};

/// Tokens count when reported, so the log has them when a call begins.
#[tokio::test]
async fn a_process_that_dies_in_a_call_has_counted_the_tokens_of_its_message() {
    let sessions = Sessions::default();
    let usage = Usage::new(900, 1);
    let deltas = [Ok(StreamEvent::Usage(usage)), Ok(StreamEvent::Call(ToolCall::new("1", "look", "{}")))];
    let model = ScriptedModel::new().deltas(deltas).text("Done.");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let look = {
        let (sessions, seen) = (sessions.clone(), seen.clone());
        ClosureTool::new("look", "Looks.", move |_: Nothing| {
            let (sessions, seen) = (sessions.clone(), seen.clone());
            async move {
                let saved = sessions.user("ada").conversation("1").open().await.unwrap();
                seen.lock().unwrap().push(saved.latest_run().unwrap().usage);
            }
        })
    };
    let tools = ToolRegistry::from_tools([look.unwrap()]).unwrap();
    let agent = Agent::builder(model).tools(tools).retry(ModelRetry::new(1)).build().unwrap();
    let output = agent.run("go").on(sessions.user("ada").conversation("1")).await;
    assert_eq!(*seen.lock().unwrap(), [usage]);
    let output = output.unwrap_or_else(|failed| *failed.output);
    assert_eq!(output.usage, usage);
}

/// Simultaneous agents write it, but never an earlier sum later.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_a_run_has_spent_never_shrinks_in_its_log() {
    let look = ClosureTool::new("look", "Looks.", |_: Nothing| async { yield_now().await });
    let tools = ToolRegistry::from_tools([look.unwrap()]).unwrap();
    let model = ScriptedModel::new().fallback(|request| {
        let turns =
            request.messages.iter().filter(|message| matches!(message, Message::Assistant(_))).count();
        let response = match turns {
            0..3 => ModelResponse::calls([ToolCall::new("1", "look", "{}")]),
            _ => ModelResponse::text("done"),
        };
        Ok(response.with_usage(Usage::new(1, 1)))
    });
    let expert = Agent::builder(model).name("expert").tools(tools).build().unwrap();
    let tools = ToolRegistry::from_tools([expert.to_tool().unwrap()]).unwrap();
    for run in 0..40 {
        let call = |n: u32| ToolCall::new(n.to_string(), "expert", json!({"request": "go"}).to_string());
        let lead = ScriptedModel::new().response(ModelResponse::calls((0..8).map(call))).text("done");
        let lead = Agent::builder(lead).tools(tools.clone()).build().unwrap();
        let store = MemoryStore::new();
        lead.run("go").on(Sessions::new(store.clone()).user("ada").conversation("1")).await.unwrap();
        let log =
            store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap().unwrap().entries.join(" ");
        let mut latest = 0;
        for entry in serde_json::Deserializer::from_str(&log).into_iter::<Value>() {
            if let Some(spent) = entry.unwrap().pointer("/spent/5") {
                // The output tokens.
                let spent = spent.as_u64().unwrap();
                assert!(spent >= latest, "run {run}: {spent} after {latest}");
                latest = spent;
            }
        }
    }
}
