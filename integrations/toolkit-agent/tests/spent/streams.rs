//! The tokens that a provider has reported before the run itself stopped the stream.

use crate::support::{Nothing, cancelled_after};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::yield_now;
use tokio::time::sleep;
use toolkit_agent::guardrail::{Guardrail, Verdict};
use toolkit_agent::model::{BoxModel, Fallback, Retrying};
use toolkit_agent::session::{ConversationStore as _, MemoryStore};
use toolkit_agent::wire::{EventStream, Transport, WireModel};
use toolkit_agent::{
    Agent, AgentBuilder, AgentError, ChatModel, Conversation, Limit, Limits, Message, ModelError,
    ModelErrorKind, ModelResponse, ModelRetry, Price, RunOptions, ScriptedModel, Sessions, StreamEvent,
    Usage, UserMessage,
};
use toolkit_core::{ClosureTool, ToolCall, ToolRegistry};
use toolkit_llm::ApiFormat;

/// A server that reports tokens, begins an answer, and then sends nothing more.
struct Hanging;

impl Transport for Hanging {
    async fn send(&self, _: Value) -> Result<Value, ModelError> {
        Err(ModelError::new(ModelErrorKind::Other, "only streams"))
    }

    async fn stream(&self, _: Value) -> Result<EventStream, ModelError> {
        let usage = json!({"input_tokens": 600, "cache_read_input_tokens": 300, "output_tokens": 1});
        let message = json!({"id": "m", "role": "assistant", "content": [], "usage": usage});
        let events = [
            json!({"type": "message_start", "message": message}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "He"}}),
        ];
        let events = futures_util::stream::iter(events.map(Ok));
        Ok(EventStream::events(events.chain(futures_util::stream::pending())))
    }
}

/// The tokens of one answer.
fn reported() -> Usage {
    Usage::new(900, 1).with_cached_input(300)
}

fn hanging() -> WireModel<Hanging> {
    WireModel::new(ApiFormat::Anthropic, "claude", Hanging)
}

fn agent(model: BoxModel) -> AgentBuilder {
    Agent::builder(model).price(Price::per_million(1_000.0, 100_000.0)).retry(ModelRetry::new(3))
}

/// Returns the tokens and the cost of a failed run, which are also those of the conversation.
async fn spent(agent: Agent, options: RunOptions) -> (AgentError, Usage, f64) {
    let mut conversation = Conversation::new("1");
    let failed = agent.run_with(&mut conversation, "go", options).await.unwrap_err();
    let output = failed.output;
    assert_eq!(conversation.latest_run().map(|run| run.usage), Some(output.usage));
    (failed.error, output.usage, output.cost)
}

fn timeout() -> RunOptions {
    RunOptions::new().with_limits(Limits::default().with_model_timeout(Duration::from_secs(1)))
}

#[tokio::test(start_paused = true)]
async fn tokens_reported_before_a_timeout_count_in_every_attempt() {
    let (error, usage, cost) = spent(agent(hanging().boxed()).build().unwrap(), timeout()).await;
    assert!(matches!(error, AgentError::Model(_)), "{error}");
    assert_eq!(usage, Usage::new(2_700, 3).with_cached_input(900));
    assert!((cost - 3.0).abs() < 1e-9, "{cost}");
    // So the budget ends the attempts.
    let limits = Limits::default().with_model_timeout(Duration::from_secs(1)).with_max_tokens(1_000);
    let options = RunOptions::new().with_limits(limits);
    let (error, usage, _) = spent(agent(hanging().boxed()).build().unwrap(), options).await;
    assert!(matches!(error, AgentError::Limit(_)), "{error}");
    assert_eq!(usage, Usage::new(1_800, 2).with_cached_input(600));
}

#[tokio::test(start_paused = true)]
async fn tokens_reported_before_the_run_stops_count() {
    let models = [
        hanging().boxed(),
        Fallback::new(hanging()).boxed(),
        Retrying::new(hanging(), ModelRetry::new(2)).boxed(),
    ];
    let limits = Limits::default().with_max_duration(Duration::from_secs(1));
    for model in models {
        for options in
            [cancelled_after(Duration::from_secs(1)), RunOptions::new().with_limits(limits.clone())]
        {
            let (_, usage, cost) = spent(agent(model.clone()).build().unwrap(), options).await;
            assert_eq!(usage, reported());
            assert!((cost - 1.0).abs() < 1e-9, "{cost}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_reported_before_a_called_agent_is_out_of_time_count_for_the_limits() {
    let expert = agent(hanging().boxed()).name("expert").build().unwrap();
    let expert = expert.to_tool().unwrap().with_timeout(Duration::from_secs(1));
    let asking = ScriptedModel::new().fallback(|request| {
        let arguments = json!({"request": request.messages.len().to_string()});
        Ok(ModelResponse::calls([ToolCall::new("1", "expert", arguments.to_string())]))
    });
    let asking = agent(asking.boxed()).tools(ToolRegistry::from_tools([expert]).unwrap()).build().unwrap();
    let options = RunOptions::new().with_limits(Limits::default().with_max_cost(4.5));
    let (error, usage, cost) = spent(asking, options).await;
    assert!(matches!(error, AgentError::Limit(Limit::Cost(_))), "{error}");
    assert_eq!(usage, Usage::new(4_500, 5).with_cached_input(1_500));
    assert!((cost - 5.0).abs() < 1e-9, "{cost}");
}

#[tokio::test(start_paused = true)]
async fn tokens_reported_before_a_guardrail_beside_the_model_stops_it_count() {
    let verdicts: [fn() -> Verdict<UserMessage>; 2] =
        [|| Verdict::Block("no".to_owned()), || Verdict::End("no".to_owned())];
    for verdict in verdicts {
        let guard = Guardrail::new_async("slow", move |_: UserMessage, _| async move {
            sleep(Duration::from_millis(10)).await;
            verdict()
        });
        let agent = agent(hanging().boxed()).guardrail(guard.beside_model()).build().unwrap();
        let usage = match agent.run("go").await {
            Ok(output) => output.usage,
            Err(failed) => failed.output.usage,
        };
        assert_eq!(usage, reported());
    }
}

/// The tokens of a message count as soon as they are reported, so that they are in the log when a call begins.
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
                let saved = sessions.open("ada", "1").await.unwrap();
                seen.lock().unwrap().push(saved.latest_run().unwrap().usage);
            }
        })
    };
    let tools = ToolRegistry::from_tools([look.unwrap()]).unwrap();
    let agent = Agent::builder(model).tools(tools).retry(ModelRetry::new(1)).build().unwrap();
    let output = sessions.run(&agent, "ada", "1", "go").await;
    assert_eq!(*seen.lock().unwrap(), [usage]);
    let output = output.unwrap_or_else(|failed| *failed.output);
    assert_eq!(output.usage, usage);
}

/// Agents that work at the same time write what the run has spent. A sum that was counted earlier is never written later.
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
        Sessions::new(store.clone()).run(&lead, "ada", "1", "go").await.unwrap();
        let log = store.load("ada", "1").await.unwrap().unwrap().entries.join(" ");
        let mut latest = 0;
        for entry in serde_json::Deserializer::from_str(&log).into_iter::<Value>() {
            if let Some(spent) = entry.unwrap().pointer("/entry/spent/usage/output_tokens") {
                let spent = spent.as_u64().unwrap();
                assert!(spent >= latest, "run {run}: {spent} after {latest}");
                latest = spent;
            }
        }
    }
}
