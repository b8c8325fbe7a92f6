//! The cost of a turn of an agent's loop beside its model and its tools, against the same loop by hand.
//!
//! A run has two turns: the model calls the tools, all at once, and then answers. A scripted model answers at once,
//! and the tool adds two numbers, so the measured part is the loop between them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark that fails should stop")]

mod support;

use divan::{AllocProfiler, Bencher, black_box};
use support::tools::all;
use tokio::runtime::{Builder, Runtime};
use toolkit::prelude::*;
use toolkit_agent::{
    Agent, AssistantMessage, ChatModel, Conversation, Message, ModelError, ModelRequest, ModelResponse,
    RunOptions, ToolMessage,
};

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

const CALLS: [usize; 3] = [1, 10, 100];

fn main() {
    divan::main();
}

/// A model that calls `add` so often, and then answers.
struct Script(ModelResponse);

impl Script {
    fn new(calls: usize) -> Self {
        let call = |n: usize| ToolCall::new(format!("call_{n}"), "add", r#"{"a":17,"b":25}"#);
        Self(ModelResponse::calls((0..calls).map(call)))
    }
}

impl ChatModel for Script {
    fn name(&self) -> &str {
        "script"
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        Ok(match request.messages.last() {
            Some(Message::Tool(_)) => ModelResponse::text("Done."),
            _ => self.0.clone(),
        })
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

fn agent(calls: usize, streaming: bool) -> Agent {
    let tools = ToolRegistry::from_tools(all()).unwrap();
    Agent::builder(Script::new(calls)).tools(tools).streaming(streaming).build().unwrap()
}

/// The loop as one writes it in an afternoon: no limits, no events, no retries, one task for each call.
#[divan::bench(args = CALLS)]
fn floor_by_hand(bencher: Bencher<'_, '_>, calls: usize) {
    let (model, runtime) = (Script::new(calls), runtime());
    let tools = std::sync::Arc::new(ToolRegistry::from_tools(all()).unwrap());
    bencher.bench_local(|| {
        let text = runtime.block_on(async {
            let mut messages = vec![Message::user("Add.")];
            loop {
                let request = ModelRequest::new(messages.clone()).with_tools(tools.clone());
                let AssistantMessage { text, calls, .. } = model.respond(request).await.unwrap().message;
                messages.push(AssistantMessage::text(text.clone()).with_calls(calls.clone()).into());
                if calls.is_empty() {
                    break text;
                }
                let running: Vec<_> = calls
                    .into_iter()
                    .map(|call| {
                        let tools = tools.clone();
                        tokio::spawn(async move {
                            let output = tools.call(&call.name, call.arguments.as_str()).await;
                            ToolResult::of(&call, output)
                        })
                    })
                    .collect();
                let mut results = Vec::with_capacity(running.len());
                for result in running {
                    results.push(result.await.unwrap());
                }
                messages.push(Message::Tool(ToolMessage::new(results)));
            }
        });
        assert_eq!(black_box(text), "Done.");
    });
}

#[divan::bench(args = CALLS)]
fn run(bencher: Bencher<'_, '_>, calls: usize) {
    let (agent, runtime) = (agent(calls, false), runtime());
    bencher.bench_local(|| assert_eq!(runtime.block_on(agent.run("Add.")).unwrap().text, "Done."));
}

#[divan::bench(args = CALLS)]
fn run_streaming(bencher: Bencher<'_, '_>, calls: usize) {
    let (agent, runtime) = (agent(calls, true), runtime());
    bencher.bench_local(|| assert_eq!(runtime.block_on(agent.run("Add.")).unwrap().text, "Done."));
}

/// With a listener for every event.
#[divan::bench(args = CALLS)]
fn run_watched(bencher: Bencher<'_, '_>, calls: usize) {
    let (agent, runtime) = (agent(calls, true), runtime());
    bencher.bench_local(|| {
        let output = runtime.block_on(agent.run_stream("Add.").finish());
        assert_eq!(output.unwrap().text, "Done.");
    });
}

/// A turn in a conversation of a hundred turns.
#[divan::bench]
fn run_in_long_conversation(bencher: Bencher<'_, '_>) {
    let (agent, runtime) = (agent(1, true), runtime());
    let mut conversation = Conversation::new("1");
    for _ in 0..100 {
        runtime.block_on(agent.run_in(&mut conversation, "Add.")).unwrap();
    }
    bencher.with_inputs(|| conversation.clone()).bench_local_values(|mut conversation| {
        runtime.block_on(agent.run_with(&mut conversation, "Add.", RunOptions::new())).unwrap()
    });
}
