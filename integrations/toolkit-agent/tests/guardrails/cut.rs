//! Answers that a check has not seen: cut by a stop of the run, or beside the answer that was checked.

use super::Colour;
use super::kept::{blocks_secrets, history, streams};
use crate::support::{Hesitant, Nothing, assert_sendable, says};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use toolkit_agent::guardrail::{Guardrail, Verdict};
use toolkit_agent::structured::{AnswerEvent, StructuredOptions};
use toolkit_agent::{
    Agent, AgentOutput, Conversation, FinishReason, Message, ModelResponse, RunEvent, RunOptions,
    ScriptedModel, StreamEvent,
};
use toolkit_core::{CancellationToken, ClosureTool, ToolCall, ToolContext, ToolRegistry};

const SECRET: &str = r#"{"name": "secret"}"#;
const INVALID: &str = r#"{"name": 7, "note": "secret"}"#;
const RED: &str = r#"{"name": "red"}"#;

/// Every run has ended before this number of milliseconds.
const LAST: u64 = 28;

/// The responses of a model that give, or seem to give, an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Call,
    SlowCall,
    ToolOutput,
    Repaired,
    RepairedAgain,
    TextBeside,
    Transfer,
    OutputBeside,
    OutputTransfer,
    Paused,
    PausedBeforeCall,
    PausedBeforeCalls,
}

const KINDS: [Kind; 13] = [
    Kind::Text,
    Kind::Call,
    Kind::SlowCall,
    Kind::ToolOutput,
    Kind::Repaired,
    Kind::RepairedAgain,
    Kind::TextBeside,
    Kind::Transfer,
    Kind::OutputBeside,
    Kind::OutputTransfer,
    Kind::Paused,
    Kind::PausedBeforeCall,
    Kind::PausedBeforeCalls,
];

impl Kind {
    const fn is_typed(self) -> bool {
        !matches!(self, Self::Text | Self::ToolOutput | Self::OutputTransfer | Self::Paused)
    }

    /// Returns whether the answer itself passes the check.
    const fn passes(self) -> bool {
        use Kind::{PausedBeforeCall, PausedBeforeCalls, Repaired, RepairedAgain, TextBeside, Transfer};
        let is_paused = matches!(self, PausedBeforeCall | PausedBeforeCalls);
        is_paused || matches!(self, Repaired | RepairedAgain | TextBeside | Transfer)
    }

    fn model(self) -> ScriptedModel {
        let model = ScriptedModel::new();
        let paused = || ModelResponse::text("my secret").with_finish(FinishReason::parse("pause_turn"));
        match self {
            Self::Paused => model.response(paused()).text(" word"),
            Self::PausedBeforeCall => model.response(paused()).call("final_answer", RED),
            Self::PausedBeforeCalls => {
                model.response(paused()).call("final_answer", RED).call("slow", "{}").call("slower", "{}")
            }
            Self::Text => streams("the secret text"),
            Self::Call => {
                let call = ToolCall::new("c", "final_answer", SECRET);
                let done = ModelResponse::calls([call.clone()]);
                model.deltas([
                    Ok(StreamEvent::Text("my secret".to_owned())),
                    Ok(StreamEvent::CallStarted { id: "c".into(), name: "final_answer".to_owned() }),
                    Ok(StreamEvent::Arguments { id: "c".into(), piece: SECRET.to_owned() }),
                    Ok(StreamEvent::Call(call)),
                    Ok(StreamEvent::Done(Box::new(done))),
                ])
            }
            Self::SlowCall => model.call("slow", "{}").call("final_answer", SECRET),
            Self::ToolOutput => model.call("show", "{}").call("slow", "{}"),
            Self::Repaired => model.call("final_answer", INVALID).call("final_answer", RED),
            Self::RepairedAgain => model.call("final_answer", RED).call("final_answer", SECRET),
            Self::TextBeside => {
                let mut said = ModelResponse::calls([ToolCall::new("c", "final_answer", RED)]);
                said.message.text = "my secret".to_owned();
                model.response(said)
            }
            Self::Transfer => {
                let to = r#"{"agent_name": "other"}"#;
                model.call("final_answer", SECRET).call("transfer_to_agent", to)
            }
            Self::OutputBeside => model.call("show", "{}").call("final_answer", INVALID),
            Self::OutputTransfer => {
                model.call("show", "{}").call("transfer_to_agent", r#"{"agent_name": "other"}"#)
            }
        }
    }

    /// Creates an agent. Its tool `slow` notes when it has ended.
    fn agent(self, streaming: bool, waited: &Waited) -> Agent {
        let waited = waited.clone();
        let slow = ClosureTool::new("slow", "Waits.", move |_: Nothing| {
            let waited = waited.clone();
            async move {
                sleep(Duration::from_millis(7)).await;
                *waited.lock().unwrap() = Some(Instant::now());
                "waited"
            }
        });
        let slower =
            ClosureTool::new("slower", "Waits longer.", |_: Nothing| sleep(Duration::from_millis(9)));
        let show = ClosureTool::with_context("show", "Is the answer.", |_: Nothing, context: ToolContext| {
            context.actions().skip_summarization();
            "the secret output"
        });
        let tools = [slow.unwrap(), slower.unwrap(), show.unwrap()];
        let tools = ToolRegistry::from_tools(tools).unwrap();
        let wait = Guardrail::new_async("wait", |_: AgentOutput, _| async {
            sleep(Duration::from_millis(3)).await;
            Verdict::Pass
        });
        let builder = Agent::builder(Hesitant(self.model())).name("root").tools(tools).streaming(streaming);
        builder.guardrail(wait).guardrail(blocks_secrets()).sub_agent(says("other", RED)).build().unwrap()
    }

    /// Runs the agent, and returns whether the run has ended with an answer.
    async fn run(self, agent: &Agent, conversation: &mut Conversation, options: RunOptions) -> bool {
        if !self.is_typed() {
            return agent.run_with(conversation, "go", options).await.is_ok();
        }
        let form = StructuredOptions::new().with_attempts(1);
        agent.run_as_with::<Colour>(conversation, "go", options, form).await.is_ok()
    }
}

/// The end of a call.
type Waited = Arc<Mutex<Option<Instant>>>;

/// Checks that the messages contain the result of a call that has ended some time ago.
fn assert_kept(conversation: &Conversation, waited: &Waited, case: &str) {
    let ended = waited.lock().unwrap().is_some_and(|ended| ended.elapsed() >= Duration::from_millis(1));
    let shown = serde_json::to_string(conversation.messages()).unwrap();
    assert!(!ended || shown.contains("waited"), "{case}: {shown}");
    assert!(!shown.contains("secret"), "{case}: {shown}");
}

fn assert_safe(conversation: &Conversation, case: &str) {
    assert_sendable(conversation);
    let history = history(conversation);
    assert!(!history.contains("secret"), "{case}: {history}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_not_checked_is_not_kept_wherever_the_run_stops() {
    let none = Waited::default();
    for kind in KINDS {
        for streaming in [true, false] {
            for after in 0..LAST {
                let case = format!("{kind:?} {streaming} {after}");
                let mut conversation = Conversation::new("1");
                let token = CancellationToken::new();
                let options = RunOptions::new().with_cancellation(token.clone());
                let stop = tokio::spawn(async move {
                    sleep(Duration::from_millis(after)).await;
                    token.cancel();
                });
                let waited = Waited::default();
                let ended = kind.run(&kind.agent(streaming, &waited), &mut conversation, options).await;
                stop.abort();
                // A blocked answer is replaced with all outputs that it consists of.
                let is_replaced = ended && kind == Kind::ToolOutput;
                assert_kept(&conversation, if is_replaced { &none } else { &waited }, &case);
                conversation.push(Message::user("Hi."));
                assert_safe(&conversation, &case);
                assert!(after < LAST - 1 || ended == (kind.passes() || !kind.is_typed()), "{case}");

                // A dropped run leaves its turn unfinished. A program may load it and add new input.
                let mut conversation = Conversation::new("1");
                let waited = Waited::default();
                let agent = kind.agent(streaming, &waited);
                let run = kind.run(&agent, &mut conversation, RunOptions::new());
                let ended = timeout(Duration::from_millis(after), run).await.is_ok();
                let is_replaced = ended && kind == Kind::ToolOutput;
                let waited = if is_replaced { &none } else { &waited };
                let saved = serde_json::to_string(&conversation).unwrap();
                let mut shown = conversation.clone();
                if saved.contains(r#""turn":"#) {
                    // The messages do not contain the calls of an unfinished turn.
                    shown.settle();
                }
                assert_kept(&shown, waited, &case);
                assert_sendable(&shown);
                let loaded: Conversation = serde_json::from_str(&saved).unwrap();
                for mut conversation in [conversation, loaded] {
                    says("later", "Hello.").run_in(&mut conversation, "Hi.").await.unwrap();
                    assert_safe(&conversation, &case);
                    assert_kept(&conversation, waited, &case);
                }
            }
        }
    }
}

#[tokio::test]
async fn no_event_contains_what_was_not_checked() {
    // The result of a tool is emitted before it is the answer.
    for kind in KINDS.into_iter().filter(|kind| kind.is_typed() && *kind != Kind::OutputBeside) {
        for streaming in [true, false] {
            let agent = kind.agent(streaming, &Waited::default());
            let mut conversation = Conversation::new("1");
            let form = StructuredOptions::new().with_attempts(1);
            let options = RunOptions::new();
            let mut answers = agent.run_stream_as_with::<Colour>(&mut conversation, "Which?", options, form);
            let mut messages = 0;
            let mut is_answered = false;
            while let Some(event) = answers.next().await {
                let Ok(event) = event else { break };
                let text = format!("{event:?}").replace("no secrets", "");
                assert!(!text.contains("secret"), "{kind:?} {streaming}: {text}");
                match event {
                    AnswerEvent::Run(RunEvent::Message { .. }) => messages += 1,
                    AnswerEvent::Answer { .. } => is_answered = true,
                    AnswerEvent::Partial(partial) => assert_ne!(partial, json!({}), "{kind:?} {streaming}"),
                    _ => {}
                }
            }
            assert_eq!(is_answered, kind.passes(), "{kind:?} {streaming}");
            // The message with the transfer is emitted without its answer.
            let expected = i32::from(kind.passes()) + i32::from(kind == Kind::Transfer);
            assert_eq!(messages, expected, "{kind:?} {streaming}");
        }
    }
}

#[tokio::test]
async fn an_invalid_answer_beside_a_transfer_is_emitted_without_its_arguments() {
    for streaming in [true, false] {
        let to = ToolCall::new("t", "transfer_to_agent", r#"{"agent_name": "other"}"#);
        let said = ModelResponse::calls([to, ToolCall::new("c", "final_answer", INVALID)]);
        let other = Agent::builder(ScriptedModel::new().call("final_answer", RED)).name("other");
        let other = other.tools(super::pay(&Arc::default())).build().unwrap();
        let agent = Agent::builder(ScriptedModel::new().response(said)).name("root").streaming(streaming);
        let agent = agent.sub_agent(other).guardrail(blocks_secrets()).build().unwrap();
        let mut conversation = Conversation::new("1");
        let options = RunOptions::new();
        let form = StructuredOptions::new();
        let mut answers = agent.run_stream_as_with::<Colour>(&mut conversation, "Which?", options, form);
        let mut said = Vec::new();
        while let Some(event) = answers.next().await {
            let event = event.unwrap();
            assert!(!format!("{event:?}").contains("secret"), "{streaming}: {event:?}");
            if let AnswerEvent::Run(RunEvent::Message { message, .. }) = event {
                let calls = message.calls.iter().map(|call| call.arguments.as_str().to_owned());
                said.push((message.agent.clone(), calls.collect::<Vec<_>>()));
            }
        }
        let to = r#"{"agent_name": "other"}"#.to_owned();
        let expected =
            [("root".to_owned(), vec![to, "{}".to_owned()]), ("other".to_owned(), vec![RED.to_owned()])];
        assert_eq!(said, expected, "{streaming}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_answer_of_a_resumed_turn_is_withheld_if_only_the_resumed_agent_checks_answers() {
    let agent = |is_guarded: bool| {
        let slow = ClosureTool::new("slow", "Waits.", |_: Nothing| sleep(Duration::from_millis(7)));
        let slow = slow.unwrap().with_metadata(|metadata| metadata.with_read_only(true));
        let show = ClosureTool::with_context("show", "Is the answer.", |_: Nothing, context: ToolContext| {
            context.actions().skip_summarization();
            "the secret output"
        });
        let calls = [ToolCall::new("a", "show", "{}"), ToolCall::new("b", "slow", "{}")];
        let tools = ToolRegistry::from_tools([show.unwrap(), slow]).unwrap();
        let agent = Agent::builder(ScriptedModel::new().response(ModelResponse::calls(calls))).tools(tools);
        if is_guarded { agent.guardrail(blocks_secrets()) } else { agent }.build().unwrap()
    };
    let mut conversation = Conversation::new("1");
    let run = timeout(Duration::from_millis(3), agent(false).run_in(&mut conversation, "go")).await;
    assert!(run.is_err());
    for is_cancelled in [true, false] {
        let saved = serde_json::to_string(&conversation).unwrap();
        assert!(saved.contains("secret"), "{saved}");
        let mut resumed: Conversation = serde_json::from_str(&saved).unwrap();
        if is_cancelled {
            let options = crate::support::cancelled_after(Duration::from_millis(3));
            assert!(agent(true).resume(&mut resumed, options).await.is_err());
        } else {
            let resuming = agent(true);
            let run = resuming.resume(&mut resumed, RunOptions::new());
            assert!(timeout(Duration::from_millis(3), run).await.is_err());
            says("later", "Hello.").run_in(&mut resumed, "Hi.").await.unwrap();
        }
        assert_safe(&resumed, &format!("{is_cancelled}"));
    }
}

#[tokio::test(start_paused = true)]
async fn text_beside_calls_of_tools_is_kept_if_the_run_stops() {
    for streaming in [true, false] {
        let mut said = ModelResponse::calls([ToolCall::new("c", "slow", "{}")]);
        said.message.text = "I look.".to_owned();
        let deltas = [
            Ok(StreamEvent::Text("I look.".to_owned())),
            Ok(StreamEvent::Call(ToolCall::new("c", "slow", "{}"))),
            Ok(StreamEvent::Done(Box::new(said))),
        ];
        let slow = ClosureTool::new("slow", "Waits.", |_: Nothing| async {
            sleep(Duration::from_millis(50)).await;
        });
        let tools = ToolRegistry::from_tools([slow.unwrap()]).unwrap();
        let model = ScriptedModel::new().deltas(deltas);
        let agent = Agent::builder(model).tools(tools).streaming(streaming).guardrail(blocks_secrets());
        let mut conversation = Conversation::new("1");
        let options = crate::support::cancelled_after(Duration::from_millis(10));
        assert!(agent.build().unwrap().run_with(&mut conversation, "go", options).await.is_err());
        assert_eq!(crate::support::transcript(conversation.messages())[1], "agent: I look. calls slow");
    }
}

#[tokio::test]
async fn the_events_beside_an_answer_are_emitted_after_its_check() {
    let pieces = ["text", "reasoning", "call_started", "call_arguments"];
    for hold in [true, false] {
        let answer = ToolCall::new("c", "final_answer", RED);
        let slow = ToolCall::new("d", "slow", r#"{"x": 1}"#);
        let mut said = ModelResponse::calls([answer.clone(), slow.clone()]);
        said.message.text = "beside it".to_owned();
        let deltas = [
            StreamEvent::Text("beside it".to_owned()),
            StreamEvent::Reasoning("Hm.".to_owned()),
            StreamEvent::CallStarted { id: "c".into(), name: "final_answer".to_owned() },
            StreamEvent::Arguments { id: "c".into(), piece: RED.to_owned() },
            StreamEvent::Call(answer),
            StreamEvent::CallStarted { id: "d".into(), name: "slow".to_owned() },
            StreamEvent::Arguments { id: "d".into(), piece: r#"{"x": 1}"#.to_owned() },
            StreamEvent::Call(slow),
            StreamEvent::Done(Box::new(said)),
        ];
        let model = ScriptedModel::new().deltas(deltas.map(Ok));
        let slow = ClosureTool::new("slow", "Waits.", |_: Nothing| "waited").unwrap();
        let tools = ToolRegistry::from_tools([slow]).unwrap();
        let agent = Agent::builder(model).tools(tools).guardrail(blocks_secrets()).hold_text(hold);
        let agent = agent.build().unwrap();
        let mut conversation = Conversation::new("1");
        let form = StructuredOptions::new();
        let mut answers =
            agent.run_stream_as_with::<Colour>(&mut conversation, "Which?", RunOptions::new(), form);
        let mut kinds = Vec::new();
        let mut messages = Vec::new();
        while let Some(event) = answers.next().await {
            match event.unwrap() {
                AnswerEvent::Run(RunEvent::Message { message, .. }) => messages.push(message.text.clone()),
                AnswerEvent::Run(event) => kinds.push(crate::support::kind(&event)),
                _ => {}
            }
        }
        // Released text was emitted before the check. Held text was withheld.
        assert_eq!(messages, [if hold { "" } else { "beside it" }], "{hold}");
        let count = |piece: &str| kinds.iter().filter(|kind| kind.starts_with(piece)).count();
        let expected = if hold { [0, 1, 2, 1] } else { [1, 1, 2, 2] };
        assert_eq!(pieces.map(count), expected, "{hold}: {kinds:?}");
    }
}
