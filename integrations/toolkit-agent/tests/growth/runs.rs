//! Runs with many calls, agents, pending calls and earlier runs.

use super::linear::assert_linear;
use super::{Clock, agent, call, steps};
use crate::support::{Nothing, tools};
use futures_util::stream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolkit_agent::compaction::Compaction;
use toolkit_agent::session::{ConversationStore, MemoryStore};
use toolkit_agent::team::ParallelAgent;
use toolkit_agent::{Agent, AgentError, Conversation, Decisions, Limits, RunOptions, Sessions};
use toolkit_core::{ClosureTool, ToolCall, ToolError, ToolRegistry};
use toolkit_llm::FinishReason;
use toolkit_llm::model::{OutputFormat, OutputLosses};
use toolkit_llm::record::{Recorder, Replay};
use toolkit_llm::{ChatModel, Message, ModelError, ModelRequest, ModelResponse, ModelStream, StreamEvent};

/// Returns `count` calls of `tool`, with the arguments of each.
fn calls(count: usize, tool: &str, arguments: impl Fn(usize) -> String) -> Vec<ToolCall> {
    (0..count).map(|number| ToolCall::new(format!("call_{number}"), tool, arguments(number))).collect()
}

/// An agent whose model makes these calls at once, and then answers.
fn calling(calls: Vec<ToolCall>, tools: ToolRegistry) -> Agent {
    let model = steps(&Clock::default(), move |number| match number {
        0 => ModelResponse::calls(calls.clone()),
        _ => ModelResponse::text("Done."),
    });
    agent(model).tools(tools).build().unwrap()
}

/// Fails if runs of an agent take much longer than four times as long for four times the size, saved or not, or if the
/// logs of saved runs grow faster.
#[track_caller]
fn assert_linear_runs(name: &str, size: usize, agent: impl Fn(usize) -> Agent) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let log = |size: usize| {
        runtime.block_on(async {
            let store = MemoryStore::new();
            Sessions::new(store.clone()).run(&agent(size), "ada", "1", "Go.").await.unwrap();
            let log = store.load("ada", "1").await.unwrap().unwrap();
            log.entries.iter().map(String::len).sum::<usize>()
        })
    };
    let short = log(size);
    let long = log(4 * size);
    assert!(long < 6 * short, "{name}: {short} bytes, and {long} for four times the size");
    for is_saved in [false, true] {
        assert_linear(&format!("{name}, saved: {is_saved}"), size, &agent, async |agent: Agent| {
            let sessions = Sessions::default();
            let options = RunOptions::new();
            let options = if is_saved { options.with_autosave(&sessions) } else { options };
            agent.run_with(&mut Conversation::new("1"), "Go.", options).await.unwrap();
        });
    }
}

fn add(number: usize) -> String {
    format!(r#"{{"a": {number}, "b": 1}}"#)
}

/// A model that streams calls, and repeats them in the opposite order at the end.
struct Reversed(Vec<ToolCall>);

impl ChatModel for Reversed {
    fn name(&self) -> &str {
        "reversed"
    }

    async fn respond(&self, _: ModelRequest) -> Result<ModelResponse, ModelError> {
        Ok(ModelResponse::text("Done."))
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        if request.messages.len() > 1 {
            return Ok(ModelResponse::text("Done.").into());
        }
        let mut deltas: Vec<_> = self.0.iter().cloned().map(|call| Ok(StreamEvent::Call(call))).collect();
        let response =
            ModelResponse::calls(self.0.iter().rev().cloned()).with_finish(FinishReason::ToolCalls);
        deltas.push(Ok(StreamEvent::Done(Box::new(response))));
        Ok(ModelStream::new(stream::iter(deltas)))
    }

    fn output_losses(&self, _: &OutputFormat) -> OutputLosses {
        OutputLosses::default()
    }
}

#[test]
fn calls_in_another_order_at_the_end_take_linear_time() {
    let model = |size| agent(Reversed(calls(size, "add", add))).build().unwrap();
    assert_linear_runs("reversed", 500, model);
}

/// A model that answers after `turns` calls of a tool, and yields before each answer.
fn patient(name: String, turns: usize) -> Agent {
    let count = AtomicUsize::new(0);
    let respond = move |_| match count.fetch_add(1, Ordering::Relaxed) {
        number if number < turns => call(number, "add", &add(number)),
        _ => ModelResponse::text("Done."),
    };
    agent(steps(&Clock::default(), respond)).name(name).build().unwrap()
}

fn group(count: usize) -> Agent {
    let agents = (0..count).map(|number| patient(format!("agent_{number}"), 5));
    let limits = Limits::default().with_max_model_calls(u32::MAX).with_max_tool_calls(u32::MAX);
    ParallelAgent::new("group", agents).with_limits(limits).into()
}

#[test]
fn a_group_takes_linear_time_in_its_agents() {
    assert_linear_runs("group", 50, group);
}

fn deferred() -> ToolRegistry {
    let job = ClosureTool::new("job", "Works.", |_: Nothing| Err::<(), _>(ToolError::deferred(17)));
    ToolRegistry::from_tools([job.unwrap()]).unwrap()
}

async fn decide_all(agent: &Agent, options: impl Fn() -> RunOptions) {
    let mut conversation = Conversation::new("1");
    let ended = agent.run_with(&mut conversation, "Go.", options()).await;
    let Err(AgentError::Interrupted { pending, .. }) = ended.map_err(AgentError::from) else {
        panic!("pending")
    };
    let decisions = pending.iter().fold(Decisions::new(), |decided, call| decided.answer(&call.id, "built"));
    agent.resume(&mut conversation, options().with_decisions(decisions)).await.unwrap();
}

#[test]
fn pending_calls_are_decided_in_linear_time() {
    let pending = |size| calling(calls(size, "job", |_| "{}".to_owned()), deferred());
    assert_linear("pending", 400, pending, async |agent| decide_all(&agent, RunOptions::new).await);
    assert_linear("saved", 400, pending, async |agent| {
        let sessions = Sessions::default();
        decide_all(&agent, || RunOptions::new().with_autosave(&sessions)).await;
    });
}

fn helper() -> Agent {
    agent(steps(&Clock::default(), |_| ModelResponse::text("I see."))).name("helper").build().unwrap()
}

#[test]
fn agents_called_at_once_take_linear_time() {
    let agents = |size| {
        let tools = ToolRegistry::from_tools([helper().to_tool().unwrap()]).unwrap();
        calling(calls(size, "helper", |_| r#"{"request": "Help."}"#.to_owned()), tools)
    };
    assert_linear_runs("agents", 100, agents);
}

#[test]
fn nested_agents_take_linear_time_in_their_depth() {
    let nested = |depth: usize| {
        (0..depth).fold(helper(), |inner, _| {
            let tool = inner.name().to_owned();
            let tools = ToolRegistry::from_tools([inner.to_tool().unwrap()]).unwrap();
            let model = steps(&Clock::default(), move |number| match number % 2 {
                0 => call(number, &tool, r#"{"request": "Help."}"#),
                _ => ModelResponse::text("Done."),
            });
            agent(model).tools(tools).name("nested").build().unwrap()
        })
    };
    assert_linear_runs("nested", 8, nested);
}

#[test]
fn transfers_take_linear_time() {
    let team = |size: usize| {
        let count = Arc::new(AtomicUsize::new(0));
        let says = |to: &'static str| {
            let count = count.clone();
            let arguments = format!(r#"{{"agent_name": "{to}"}}"#);
            steps(&Clock::default(), move |_| match count.fetch_add(1, Ordering::Relaxed) {
                number if number < size => call(number, "transfer_to_agent", &arguments),
                _ => ModelResponse::text("Done."),
            })
        };
        let helper = agent(says("root")).name("helper").transfer_to("root", "").build().unwrap();
        agent(says("helper")).name("root").sub_agent(helper).build().unwrap()
    };
    assert_linear_runs("transfers", 25, team);
}

#[test]
fn calls_that_fail_or_set_values_take_linear_time() {
    for (tool, arguments) in [
        ("fail", (|number| format!(r#"{{"number": {number}}}"#)) as fn(usize) -> String),
        ("set", |number| format!(r#"{{"key": "key {number}", "value": "v"}}"#)),
    ] {
        assert_linear_runs(tool, 200, |size| calling(calls(size, tool, arguments), tools()));
    }
}

#[test]
fn recordings_are_replayed_in_linear_time() {
    let folder = tempfile::tempdir().unwrap();
    let record = |size: usize| {
        let path = folder.path().join(size.to_string());
        if !path.exists() {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let recorder =
                Recorder::new(steps(&Clock::default(), |_| ModelResponse::text("Yes.")), &path).unwrap();
            runtime.block_on(async {
                for number in 0..size {
                    recorder.respond(ModelRequest::new([Message::user(number.to_string())])).await.unwrap();
                }
            });
        }
        (size, Replay::open(&path).unwrap())
    };
    assert_linear("replay", 2_000, record, async |(size, replay)| {
        for number in 0..size {
            replay.respond(ModelRequest::new([Message::user(number.to_string())])).await.unwrap();
        }
    });
}

#[test]
fn a_saved_conversation_is_loaded_in_linear_time() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let saved = |size: usize| {
        let store = MemoryStore::new();
        let sessions = Sessions::new(store.clone());
        runtime.block_on(async {
            let agent = helper();
            for _ in 0..size {
                sessions.run(&agent, "ada", "1", "Go.").await.unwrap();
            }
            let log = store.load("ada", "1").await.unwrap().unwrap();
            let size_of_run = log.entries.iter().map(String::len).sum::<usize>() / size;
            assert!(size_of_run < 700, "{size_of_run} bytes");
        });
        sessions
    };
    let small = saved(100);
    let large = saved(400);
    assert_linear(
        "loading",
        100,
        |size| if size == 100 { small.clone() } else { large.clone() },
        async |sessions| {
            assert!(sessions.open("ada", "1").await.unwrap().messages().len() >= 200);
        },
    );
}

#[test]
fn runs_in_one_conversation_take_linear_time() {
    for max in [None, Some(20)] {
        assert_linear(
            &format!("runs, latest {max:?}"),
            50,
            |size| (size, helper()),
            async |(size, agent)| {
                let mut conversation = Conversation::new("1");
                let sessions = Sessions::default();
                for _ in 0..size {
                    agent
                        .run_with(&mut conversation, "Go.", RunOptions::new().with_autosave(&sessions))
                        .await
                        .unwrap();
                    if let Some(max) = max {
                        conversation.keep_latest(max);
                    }
                }
            },
        );
    }
}

fn long(messages: usize) -> Conversation {
    let mut conversation = Conversation::new("1");
    for number in 0..messages / 2 {
        conversation.push(Message::user(format!("What is {number}?")));
        conversation
            .push(Message::assistant(format!("It is {number}, as I have said before, and nothing else.")));
    }
    conversation
}

#[test]
fn a_compaction_takes_linear_time_in_the_messages() {
    let builder = || {
        agent(steps(&Clock::default(), |_| ModelResponse::text("Yes."))).compaction(Compaction::new(2_000))
    };
    assert_linear(
        "compaction",
        1_000,
        |size| (long(size), builder().build().unwrap()),
        async |(mut conversation, agent)| {
            agent.run_with(&mut conversation, "Go.", RunOptions::new()).await.unwrap();
        },
    );
}

#[test]
fn the_events_of_a_run_are_written_in_linear_time() {
    let model = |size| calling(calls(size, "add", add), tools());
    assert_linear("events", 200, model, async |agent: Agent| {
        let mut events = agent.run_stream("Go.");
        let mut bytes = 0;
        while let Some(event) = events.next().await {
            bytes += serde_json::to_string(&event.unwrap()).unwrap().len();
        }
        bytes
    });
}
