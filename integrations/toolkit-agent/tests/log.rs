//! A run's log: what is saved, and its use.

mod cuts;
mod decisions;
mod past;
mod team;

use crate::support::{Nothing, question, transcript};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::sleep;
use toolkit_agent::guardrail::{Guardrail, Verdict};
use toolkit_agent::session::{ConversationKey, ConversationStore, MemoryStore};
use toolkit_agent::{Agent, AgentError, Decisions, RunEvent, Sessions};
use toolkit_core::{ClosureTool, ToolCall, ToolRegistry};
use toolkit_llm::{ModelResponse, ScriptedModel, UserMessage};

async fn log(store: &MemoryStore) -> Vec<String> {
    store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap().unwrap().entries
}

#[tokio::test]
async fn each_message_and_each_result_is_saved_once() {
    let store = MemoryStore::new();
    let look = ClosureTool::new("look", "Looks.", |_: Nothing| "A long description of a cat.");
    let model = ScriptedModel::new()
        .response(ModelResponse::calls(["1", "2", "3"].map(|id| ToolCall::new(id, "look", "{}"))))
        .text("It is a cat.");
    let tools = ToolRegistry::from_tools([look.unwrap()]).unwrap();
    let agent = Agent::builder(model).tools(tools).build().unwrap();
    agent.run("What is it?").on(Sessions::new(store.clone()).user("ada").conversation("1")).await.unwrap();
    let entries = log(&store).await;
    let text = entries.join("\n");
    assert_eq!(text.matches("A long description of a cat.").count(), 3);
    assert_eq!(text.matches("It is a cat.").count(), 1);
    assert_eq!(text.matches(r#""name":"look","arguments""#).count(), 3);
    assert!(entries.iter().all(|entry| !entry.is_empty()));
}

#[tokio::test]
async fn a_conversation_that_does_not_exist_is_not_resumed() {
    let model = ScriptedModel::new().text("Hi.");
    let agent = Agent::builder(model.clone()).build().unwrap();
    let sessions = Sessions::default();
    let error = agent.resume(sessions.user("ada").conversation("1")).await.unwrap_err();
    assert_eq!(error.to_string(), "conversation `1` is empty; begin it with an input");
    assert_eq!((model.requests().len(), sessions.user("ada").list().await.unwrap().len()), (0, 0));
}

/// A web client leaves while one call waits for a decision and another works.
#[tokio::test(start_paused = true)]
async fn a_call_can_be_decided_after_its_stream_was_dropped() {
    let ask = question("ask");
    let slow = ClosureTool::new("slow", "Waits.", |_: Nothing| sleep(Duration::from_secs(9)));
    let tools = ToolRegistry::from_tools([ask, slow.unwrap()]).unwrap();
    let calls = ["ask", "slow"].map(|name| ToolCall::new(name, name, "{}"));
    let model = ScriptedModel::new().response(ModelResponse::calls(calls)).text("Blue.");
    let agent = Agent::builder(model).tools(tools).build().unwrap();
    let sessions = Sessions::default();
    let mut events = agent.run("Paint the door.").on(sessions.user("ada").conversation("1")).stream();
    let id = loop {
        if let Some(Ok(RunEvent::CallPending { key, .. })) = events.next().await {
            break key.to_string();
        }
    };
    drop(events);
    // The last save finishes in a task of its own.
    sleep(Duration::from_millis(1)).await;
    let output = agent
        .resume(sessions.user("ada").conversation("1"))
        .decide(Decisions::new().answer(id, "blue"))
        .await
        .unwrap();
    assert_eq!(output.text, "Blue.");
    let conversation = sessions.user("ada").conversation("1").open().await.unwrap();
    let results = &transcript(conversation.messages())[2];
    assert!(
        results.starts_with("results: blue, Tool `slow` was started, but the program stopped"),
        "{results}"
    );
}

#[tokio::test]
async fn an_abandoned_run_is_not_continued() {
    let ask = question("ask");
    let tools = ToolRegistry::from_tools([ask]).unwrap();
    let model = ScriptedModel::new().call("ask", "{}");
    let agent = Agent::builder(model).tools(tools).build().unwrap();
    let sessions = Sessions::default();
    let ended = agent.run("Go.").on(sessions.user("ada").conversation("1")).await;
    assert!(matches!(ended.unwrap_err().error, AgentError::Interrupted { .. }));
    sessions.user("ada").conversation("1").abandon().await.unwrap();
    let conversation = sessions.user("ada").conversation("1").open().await.unwrap();
    assert_eq!((conversation.pending(), conversation.latest_run()), (Vec::new(), None));
    let expected = ["user: Go.", ":  calls ask", "results: The question of tool `ask` was not answered"];
    let lines = transcript(conversation.messages());
    assert!(lines.iter().zip(expected).all(|(line, end)| line.ends_with(end)), "{lines:?}");
}

/// A removed message's replacement is no way around a guardrail.
#[tokio::test]
async fn an_input_with_the_text_of_a_removed_one_is_checked() {
    let checks = Arc::<AtomicU32>::default();
    let count = checks.clone();
    let guard = Guardrail::new("count", move |_: &UserMessage, _| {
        count.fetch_add(1, Ordering::Relaxed);
        Verdict::Pass
    });
    let agent = Agent::builder(ScriptedModel::new().text("Hi.")).guardrail(guard).build().unwrap();
    agent.run("(This message was removed.)").await.unwrap();
    assert_eq!(checks.load(Ordering::Relaxed), 1);
}
