//! Guardrails: each verdict about each value.

mod cut;
mod kept;
mod past;

use crate::support::{Hesitant, Nothing, agent, assert_sendable, events, transcript};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use toolkit_agent::guardrail::{GuardAction, GuardContext, Guardrail, Verdict};
use toolkit_agent::{
    Agent, AgentBuilder, AgentError, AgentOutput, Conversation, Decision, Decisions, RunEvent,
};
use toolkit_core::{ClosureTool, ToolCall, ToolError, ToolOutput, ToolRegistry};
use toolkit_llm::{FinishReason, Message, ModelRequest, ModelResponse, ScriptedModel, Usage, UserMessage};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    Input,
    Beside,
    Request,
    Response,
    Call,
    ToolOutput,
    Output,
}

const POINTS: [Point; 7] = [
    Point::Input,
    Point::Beside,
    Point::Request,
    Point::Response,
    Point::Call,
    Point::ToolOutput,
    Point::Output,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pass,
    Replace,
    Block,
    End,
}

impl Kind {
    fn of<T>(self, other: impl FnOnce() -> T) -> Verdict<T> {
        match self {
            Self::Pass => Verdict::Pass,
            Self::Replace => Verdict::Replace(other()),
            Self::Block => Verdict::Block("BLOCKED".to_owned()),
            Self::End => Verdict::End("REASON".to_owned()),
        }
    }
}

fn guardrail(point: Point, kind: Kind) -> Guardrail {
    let slow = move |input: UserMessage, context: GuardContext| async move {
        assert_eq!((context.agent.as_str(), input.to_text().as_str()), ("root", "secret input"));
        sleep(Duration::from_millis(5)).await;
        kind.of(|| "clean input".into())
    };
    match point {
        Point::Input => Guardrail::new_async("guard", slow),
        Point::Beside => Guardrail::new_async("guard", slow).beside_model(),
        Point::Request => Guardrail::new("guard", move |request: &ModelRequest, _: &GuardContext| {
            kind.of(|| request.clone().with_instructions("changed"))
        }),
        Point::Response => Guardrail::new("guard", move |response: &ModelResponse, _: &GuardContext| {
            if response.message.calls.is_empty() {
                return Verdict::Pass;
            }
            kind.of(|| ModelResponse::text("clean reply"))
        }),
        Point::Call => Guardrail::new("guard", move |call: &ToolCall, context: &GuardContext| {
            assert_eq!((call.name.as_str(), context.session.id()), ("pay", "1"));
            kind.of(|| ToolCall::new(call.id.clone(), call.name.clone(), r#"{"to": "clean"}"#))
        }),
        Point::ToolOutput => Guardrail::new("guard", move |_: &ToolOutput, context: &GuardContext| {
            assert_eq!(context.call.as_ref().unwrap().name, "pay");
            kind.of(|| "clean output".into())
        }),
        Point::Output => Guardrail::new("guard", move |output: &AgentOutput, _: &GuardContext| {
            kind.of(|| AgentOutput::new(output.agent.clone(), "clean answer"))
        }),
    }
}

#[derive(serde::Deserialize, toolkit_core::schemars::JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Pay {
    to: String,
}

/// A result from the program is checked like the result of a tool.
#[tokio::test]
async fn a_decided_result_is_checked() {
    for (kind, expected, error) in [
        (Kind::Pass, "secret receipt", None),
        (Kind::Replace, "clean output", None),
        (Kind::Block, "The output of tool `pay` was withheld: BLOCKED", None),
        (Kind::End, "", Some("REASON")),
    ] {
        for decision in [Decision::Answer("secret receipt".into()), Decision::Output("secret receipt".into())]
        {
            let pay = ClosureTool::new("pay", "Pays.", |_: Pay| {
                Err::<(), _>(ToolError::question("Which account?"))
            });
            let model = script();
            let guard = guardrail(Point::ToolOutput, kind);
            let tools = ToolRegistry::from_tools([pay.unwrap()]).unwrap();
            let agent =
                Agent::builder(model.clone()).name("root").tools(tools).guardrail(guard).build().unwrap();
            let mut conversation = Conversation::new("1");
            agent.run("secret input").on(&mut conversation).await.unwrap_err();
            let decisions = Decisions::new().with("1.1.0", decision);
            let ended = agent.resume(&mut conversation).decide(decisions).await.map_err(AgentError::from);
            match (ended, error) {
                (Ok(_), None) => {
                    let read = transcript(&model.requests()[1].messages);
                    assert_eq!(read.last().unwrap(), &format!("results: {expected}"), "{kind:?}");
                }
                (Err(AgentError::Blocked { reason, .. }), Some(expected)) => {
                    assert_eq!(reason, expected);
                    let kept = transcript(conversation.messages()).join(" ");
                    assert!(!kept.contains("receipt"), "{kept}");
                }
                (ended, _) => panic!("{kind:?}: {ended:?}"),
            }
            assert_sendable(&conversation);
        }
    }
}

fn pay(paid: &Arc<AtomicU32>) -> ToolRegistry {
    let paid = paid.clone();
    let pay = ClosureTool::new("pay", "Pays.", move |Pay { to }: Pay| {
        paid.fetch_add(1, Ordering::Relaxed);
        format!("secret receipt for {to}")
    });
    ToolRegistry::from_tools([pay.unwrap()]).unwrap()
}

fn script() -> ScriptedModel {
    let usage = Usage::new(10, 1);
    let call = ToolCall::new("c", "pay", r#"{"to": "secret"}"#);
    ScriptedModel::new()
        .response(ModelResponse::calls([call]).with_usage(usage))
        .response(ModelResponse::text("secret answer").with_usage(usage))
}

/// A run's answer or error, text events, guardrail events and number of payments.
type End = (Result<(String, bool), AgentError>, String, Vec<GuardAction>, u32);

async fn run(point: Point, kind: Kind, streaming: bool, slow: bool) -> (End, Conversation, ScriptedModel) {
    let paid = Arc::<AtomicU32>::default();
    let model = script();
    let builder = if slow { Agent::builder(Hesitant(model.clone())) } else { Agent::builder(model.clone()) };
    let builder =
        builder.name("root").tools(pay(&paid)).streaming(streaming).guardrail(guardrail(point, kind));
    let agent = builder.build().unwrap();
    let mut conversation = Conversation::new("1");
    let mut text = String::new();
    let mut actions = Vec::new();
    let mut ended = None;
    let mut events = agent.run("secret input").on(&mut conversation).stream();
    while let Some(event) = events.next().await {
        match event {
            Ok(RunEvent::Text { text: piece, .. }) => text.push_str(&piece),
            Ok(RunEvent::Guardrail { action, guardrail, agent, .. }) => {
                assert_eq!((guardrail.as_str(), agent.as_str()), ("guard", "root"));
                actions.push(action);
            }
            Ok(RunEvent::Message { message, .. }) if point == Point::Output && kind != Kind::Pass => {
                assert!(!message.text.contains("secret"), "{message:?}");
            }
            Ok(RunEvent::Finished { output, .. }) => {
                let is_blocked = output.finish == FinishReason::Other("blocked".to_owned());
                ended = Some(Ok((output.text, is_blocked)));
            }
            Ok(_) => {}
            Err(error) => ended = Some(Err(AgentError::from(error))),
        }
    }
    drop(events);
    ((ended.unwrap(), text, actions, paid.load(Ordering::Relaxed)), conversation, model)
}

#[tokio::test(start_paused = true)]
async fn each_verdict_about_each_value_has_its_effect() {
    for point in POINTS {
        for kind in [Kind::Pass, Kind::Replace, Kind::Block, Kind::End] {
            for (streaming, slow) in [(true, false), (true, true), (false, false), (false, true)] {
                let case = format!("{point:?} {kind:?} {streaming} {slow}");
                let ((ended, text, actions, paid), mut conversation, model) =
                    run(point, kind, streaming, slow).await;
                assert_sendable(&conversation);
                let blocked = || Ok(("BLOCKED".to_owned(), true));
                let plain = || Ok(("secret answer".to_owned(), false));
                let (expected, payments) = match (point, kind) {
                    (Point::Call | Point::Response | Point::Request, Kind::End) => (Err(()), 0),
                    (Point::Input | Point::Beside, Kind::End) => (Err(()), 0),
                    (_, Kind::End) => (Err(()), 1),
                    // The script has lost the dropped call's response.
                    (Point::Beside, Kind::Replace) => (plain(), 0),
                    (Point::Input | Point::Beside | Point::Request | Point::Response, Kind::Block) => {
                        (blocked(), 0)
                    }
                    (Point::Output, Kind::Block) => (blocked(), 1),
                    (Point::Call, Kind::Block) => (plain(), 0),
                    (Point::Response, Kind::Replace) => (Ok(("clean reply".to_owned(), false)), 0),
                    (Point::Output, Kind::Replace) => (Ok(("clean answer".to_owned(), false)), 1),
                    _ => (plain(), 1),
                };
                match (&ended, &expected) {
                    (Err(AgentError::Blocked { guardrail, agent, reason, .. }), Err(())) => {
                        assert_eq!((guardrail.as_str(), agent.as_str()), ("guard", "root"));
                        assert_eq!(reason, "REASON");
                    }
                    (Ok(ended), Ok(expected)) => assert_eq!(ended, expected, "{case}"),
                    _ => panic!("{case}: {ended:?}"),
                }
                assert_eq!(paid, payments, "{case}");
                assert_eq!(actions.is_empty(), kind == Kind::Pass, "{case}: {actions:?}");
                let history = transcript(conversation.messages()).join("\n");
                let is_input = matches!(point, Point::Input | Point::Beside);
                if is_input && kind != Kind::Pass {
                    assert!(!history.contains("secret input"), "{case}: {history}");
                }
                if point == Point::Output && kind != Kind::Pass {
                    assert!(!history.contains("secret answer"), "{case}: {history}");
                    assert!(!text.contains("secret answer"), "{case}: {text}");
                }
                if point == Point::ToolOutput && kind != Kind::Pass {
                    assert!(!history.contains("receipt"), "{case}: {history}");
                }
                if point == Point::Call && kind == Kind::Replace {
                    assert!(history.contains("receipt for clean"), "{case}: {history}");
                }
                if point == Point::Request && kind == Kind::Replace {
                    assert_eq!(model.requests()[0].instructions, "changed");
                }
                if streaming && matches!(&ended, Ok((answer, false)) if *answer == "secret answer") {
                    assert_eq!(text, "secret answer", "{case}");
                }
                let later = ScriptedModel::new().text("Hello.");
                let other = Agent::builder(later.clone()).name("root").build().unwrap();
                other.run("Hi.").on(&mut conversation).await.unwrap();
                let asked = transcript(&later.requests()[0].messages).join("\n");
                if is_input && kind != Kind::Pass {
                    assert!(!asked.contains("secret input"), "{case}: {asked}");
                }
                if point == Point::Output && kind != Kind::Pass {
                    assert!(!asked.contains("secret answer"), "{case}: {asked}");
                }
                assert_sendable(&conversation);
            }
        }
    }
}

/// Passes an input after a delay.
fn patient(delay: u64, checked: &Arc<AtomicU32>) -> Guardrail {
    let checked = checked.clone();
    Guardrail::new_async("patient", move |_: UserMessage, _| {
        let checked = checked.clone();
        async move {
            sleep(Duration::from_millis(delay)).await;
            checked.fetch_add(1, Ordering::Relaxed);
            Verdict::Pass
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_check_beside_the_model_costs_no_time_and_holds_calls_back() {
    for (delay, beside, expected) in [(50, true, 50), (50, false, 52), (1, true, 4)] {
        let checked = Arc::<AtomicU32>::default();
        let paid = Arc::<AtomicU32>::default();
        let guard = patient(delay, &checked);
        let guard = if beside { guard.beside_model() } else { guard };
        let at_call = checked.clone();
        let known = Arc::<AtomicU32>::default();
        let seen = known.clone();
        let order = Guardrail::new("order", move |_: &ToolCall, _: &GuardContext| {
            seen.store(at_call.load(Ordering::Relaxed), Ordering::Relaxed);
            Verdict::<ToolCall>::End("enough".to_owned())
        });
        let model = Hesitant(script());
        let agent =
            Agent::builder(model).tools(pay(&paid)).guardrail(guard).guardrail(order).build().unwrap();
        let begun = Instant::now();
        let ended = agent.run("go").await.map_err(AgentError::from);
        assert!(matches!(ended, Err(AgentError::Blocked { .. })), "{ended:?}");
        assert_eq!((known.load(Ordering::Relaxed), paid.load(Ordering::Relaxed)), (1, 0));
        let took = u64::try_from(begun.elapsed().as_millis()).unwrap();
        assert!(took.abs_diff(expected) <= 1, "{took}, {expected}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_input_is_checked_again_if_its_check_did_not_end() {
    for beside in [true, false] {
        let checked = Arc::<AtomicU32>::default();
        let guard = patient(50, &checked);
        let guard = if beside { guard.beside_model() } else { guard };
        let model = ScriptedModel::new().text("One.").text("Two.");
        let agent = Agent::builder(model).guardrail(guard).build().unwrap();
        let mut conversation = Conversation::new("1");
        assert!(timeout(Duration::from_millis(10), agent.run("one").on(&mut conversation)).await.is_err());
        assert_eq!(checked.load(Ordering::Relaxed), 0);
        agent.run("two").on(&mut conversation).await.unwrap();
        assert_eq!(checked.load(Ordering::Relaxed), 2, "{beside}");
        assert_sendable(&conversation);
    }
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Transfer {
    amount: u32,
}

async fn transfer(arguments: &str, guard: Guardrail) -> String {
    let tool = ClosureTool::new("transfer", "Moves money.", |Transfer { amount }: Transfer| amount);
    let tools = ToolRegistry::from_tools([tool.unwrap()]).unwrap();
    let model = ScriptedModel::new().call("transfer", arguments).text("Done.");
    let agent = Agent::builder(model).name("bank").tools(tools).guardrail(guard).build().unwrap();
    let output = agent.run("go").await.unwrap();
    output
        .messages
        .iter()
        .find_map(|message| match message {
            Message::Tool(given) => Some(given.results[0].to_text().into_owned()),
            _ => None,
        })
        .unwrap()
}

#[tokio::test]
async fn a_call_is_checked_with_the_arguments_that_its_tool_gets() {
    for written in [r#"{"amount": 500}"#, r#"{"amount": "500"}"#, "```json\n{\"amount\": 500.0}\n```"] {
        let limit = Guardrail::new("limit", |call: &ToolCall, _: &GuardContext| {
            match call.arguments.as_str() == r#"{"amount":500}"# {
                true => Verdict::<ToolCall>::Block("too much".to_owned()),
                false => Verdict::Pass,
            }
        });
        assert_eq!(transfer(written, limit).await, "Tool `transfer` was denied: too much", "{written}");
    }
}

#[tokio::test]
async fn a_call_is_not_replaced_by_a_call_of_another_tool() {
    let other = Guardrail::new("other", |_: &ToolCall, _: &GuardContext| {
        Verdict::Replace(ToolCall::new("c", "harmless", "{}"))
    });
    let expected = "Tool `transfer` was denied: a guardrail replaced it with a call of `harmless`; it can only \
                    change arguments";
    assert_eq!(transfer(r#"{"amount": 1}"#, other).await, expected);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_run_cancels_its_other_calls() {
    let slow = ClosureTool::new("slow", "Waits.", |_: Nothing| async {
        sleep(Duration::from_secs(60)).await;
        "done"
    });
    let fast = ClosureTool::new("fast", "Returns.", |_: Nothing| "done");
    let tools = ToolRegistry::from_tools([slow.unwrap(), fast.unwrap()]).unwrap();
    let guard = Guardrail::new("no fast", |call: &ToolCall, _: &GuardContext| match call.name.as_str() {
        "fast" => Verdict::End("too fast".to_owned()),
        _ => Verdict::Pass,
    });
    let model = ScriptedModel::new().call("slow", "{}").call("fast", "{}");
    let agent = Agent::builder(model).name("inner").tools(tools).guardrail(guard).build().unwrap();
    let mut conversation = Conversation::new("1");
    let begun = Instant::now();
    let ended = agent.run("go").on(&mut conversation).await.map_err(AgentError::from).unwrap_err();
    assert_eq!(ended.to_string(), "guardrail `no fast` of agent `inner` has ended the run: too fast");
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert_sendable(&conversation);
}

#[derive(Debug, PartialEq, serde::Deserialize, toolkit_core::schemars::JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Colour {
    name: String,
}

#[tokio::test]
async fn a_typed_answer_is_checked_after_it_was_read() {
    for beside_tools in [true, false] {
        for (verdict, expected) in [
            (Verdict::Pass, Ok("secret red")),
            (Verdict::Replace(AgentOutput::new("agent", r#"{"name": "blue"}"#)), Ok("blue")),
            (Verdict::Block("No colours.".to_owned()), Err("No colours.")),
            (Verdict::End("no colours".to_owned()), Err("no colours")),
        ] {
            let guard = Guardrail::new("colours", move |output: &AgentOutput, _: &GuardContext| {
                assert_eq!(output.text, r#"{"name": "secret red"}"#);
                verdict.clone()
            });
            let text = "red";
            let valid = r#"{"name": "secret red"}"#;
            let (model, tools) = if beside_tools {
                (
                    ScriptedModel::new().call("final_answer", "{}").then().call("final_answer", valid),
                    pay(&Arc::default()),
                )
            } else {
                (ScriptedModel::new().text(text).text(valid), ToolRegistry::new())
            };
            let agent = Agent::builder(model).tools(tools).guardrail(guard).build().unwrap();
            let mut conversation = Conversation::new("1");
            let ended = agent.run("Which?").on(&mut conversation).typed::<Colour>().await;
            assert_sendable(&conversation);
            let history = serde_json::to_string(&conversation).unwrap();
            match (ended, expected) {
                (Ok(answer), Ok(name)) => {
                    assert_eq!(answer.value.name, name);
                    assert_eq!(history.contains("secret"), name.contains("secret"), "{history}");
                }
                (Err(error), Err(text)) => {
                    assert!(error.to_string().contains(text), "{error}");
                    assert!(!history.contains("secret"), "{history}");
                }
                (ended, _) => panic!("{ended:?}"),
            }
        }
    }
}

#[tokio::test]
async fn text_is_not_held_back_on_request() {
    for hold in [true, false] {
        let guard = guardrail(Point::Output, Kind::Block);
        let model = ScriptedModel::new().text("secret answer");
        let agent = Agent::builder(model).guardrail(guard).hold_text(hold).build().unwrap();
        let text = events(&agent).await.into_iter().filter_map(|event| match event {
            RunEvent::Text { text, .. } => Some(text),
            _ => None,
        });
        assert_eq!(text.collect::<String>(), if hold { "BLOCKED" } else { "secret answerBLOCKED" });
    }
}

#[tokio::test]
async fn guardrails_of_one_kind_run_in_order_after_the_callbacks() {
    let model = ScriptedModel::new().text("a");
    let add = |name: &str, letter: &'static str| {
        Guardrail::new(name, move |output: &AgentOutput, _: &GuardContext| {
            Verdict::Replace(AgentOutput::new(output.agent.clone(), format!("{}{letter}", output.text)))
        })
    };
    let agent = Agent::builder(model)
        .guardrail(add("first", "c"))
        .guardrail(add("second", "d"))
        .after_model(|mut response| {
            response.message.text.push('b');
            response
        })
        .build()
        .unwrap();
    assert_eq!(agent.run("go").await.unwrap().text, "abcd");
}

/// The error names the program's code, and each call has a result.
#[tokio::test]
async fn panics_of_guardrails_and_callbacks_end_the_run() {
    type Add = fn(AgentBuilder) -> AgentBuilder;
    let cases: [(&str, Add); 8] = [
        ("guardrail `input`", |agent| {
            agent.guardrail(Guardrail::new("input", |_: &UserMessage, _: &GuardContext| panic!("oh")))
        }),
        ("guardrail `beside`", |agent| {
            let guard = Guardrail::new_async("beside", |_: UserMessage, _| async { panic!("oh") });
            agent.guardrail(guard.beside_model())
        }),
        ("guardrail `response`", |agent| {
            agent.guardrail(Guardrail::new("response", |_: &ModelResponse, _: &GuardContext| panic!("oh")))
        }),
        ("guardrail `call`", |agent| {
            agent.guardrail(Guardrail::new("call", |_: &ToolCall, _: &GuardContext| panic!("oh")))
        }),
        ("guardrail `output`", |agent| {
            agent.guardrail(Guardrail::new("output", |_: &AgentOutput, _: &GuardContext| panic!("oh")))
        }),
        ("`before_model` callback of agent `agent`", |agent| agent.before_model(|_| panic!("oh"))),
        ("`after_model` callback of agent `agent`", |agent| {
            agent.after_model(
                |response| if response.message.calls.is_empty() { panic!("oh") } else { response },
            )
        }),
        ("instructions function of agent `agent`", |agent| agent.instructions_with(|_| panic!("oh"))),
    ];
    for (name, add) in cases {
        for streaming in [true, false] {
            let model = ScriptedModel::new().call("add", r#"{"a": 1, "b": 2}"#).text("Done.");
            let agent = add(agent(model).streaming(streaming)).build().unwrap();
            let mut conversation = Conversation::default();
            let failed = agent.run("Go.").on(&mut conversation).await.unwrap_err();
            let error = failed.error.to_string();
            assert!(error.contains(name) && error.ends_with("has panicked: oh"), "{name}: {error}");
            assert_sendable(&conversation);
        }
    }
}
