//! Answers that no check has seen: cut by a stop, or beside the checked one.

use super::Colour;
use super::kept::{blocks_secrets, history};
use crate::support::{Configured as _, Form, Formed as _};
use crate::support::{Nothing, assert_sendable, says};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use toolkit_agent::structured::AnswerEvent;
use toolkit_agent::{Agent, Conversation, RunEvent};
use toolkit_core::{ClosureTool, ToolCall, ToolContext, ToolRegistry};
use toolkit_llm::{ModelResponse, ScriptedModel, StreamEvent};

const INVALID: &str = r#"{"name": 7, "note": "secret"}"#;
const RED: &str = r#"{"name": "red"}"#;

fn assert_safe(conversation: &Conversation, case: &str) {
    assert_sendable(conversation);
    let history = history(conversation);
    assert!(!history.contains("secret"), "{case}: {history}");
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
        let form = Form::new();
        let mut answers = agent.run("Which?").on(&mut conversation).typed::<Colour>().form(form).stream();
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
        let slow = slow.unwrap().map_metadata(|metadata| metadata.with_read_only(true));
        let show =
            ClosureTool::new_with_context("show", "Is the answer.", |_: Nothing, context: ToolContext| {
                context.actions().skip_summarization();
                "the secret output"
            });
        let calls = [ToolCall::new("a", "show", "{}"), ToolCall::new("b", "slow", "{}")];
        let tools = ToolRegistry::from_tools([show.unwrap(), slow]).unwrap();
        let agent = Agent::builder(ScriptedModel::new().response(ModelResponse::calls(calls))).tools(tools);
        if is_guarded { agent.guardrail(blocks_secrets()) } else { agent }.build().unwrap()
    };
    let mut conversation = Conversation::new("1");
    let run = timeout(Duration::from_millis(3), agent(false).run("go").on(&mut conversation)).await;
    assert!(run.is_err());
    for is_cancelled in [true, false] {
        let saved = serde_json::to_string(&conversation).unwrap();
        assert!(saved.contains("secret"), "{saved}");
        let mut resumed: Conversation = serde_json::from_str(&saved).unwrap();
        if is_cancelled {
            let options = crate::support::cancelled_after(Duration::from_millis(3));
            assert!(agent(true).resume(&mut resumed).options(options).await.is_err());
        } else {
            let resuming = agent(true);
            let run = resuming.resume(&mut resumed);
            assert!(timeout(Duration::from_millis(3), run).await.is_err());
            says("later", "Hello.").run("Hi.").on(&mut resumed).await.unwrap();
        }
        assert_safe(&resumed, &format!("{is_cancelled}"));
    }
}

#[tokio::test]
async fn the_events_beside_an_answer_are_emitted_after_its_check() {
    let pieces = ["text", "reasoning", "call_started", "call_arguments"];
    // The provider may use the answer's id again.
    for (hold, id) in [(true, "d"), (false, "d"), (true, "c")] {
        let answer = ToolCall::new("c", "final_answer", RED);
        let slow = ToolCall::new(id, "slow", r#"{"x": 1}"#);
        let mut said = ModelResponse::calls([answer.clone(), slow.clone()]);
        said.message.text = "beside it".to_owned();
        let deltas = [
            StreamEvent::Text("beside it".to_owned()),
            StreamEvent::Reasoning("Hm.".to_owned()),
            StreamEvent::call_started("c", "final_answer"),
            StreamEvent::arguments("c", RED),
            StreamEvent::Call(answer),
            StreamEvent::call_started(id, "slow"),
            StreamEvent::arguments(id, r#"{"x": 1}"#),
            StreamEvent::Call(slow),
            StreamEvent::Done(Box::new(said)),
        ];
        let model = ScriptedModel::new().deltas(deltas.map(Ok));
        let slow = ClosureTool::new("slow", "Waits.", |_: Nothing| "waited").unwrap();
        let tools = ToolRegistry::from_tools([slow]).unwrap();
        let agent = Agent::builder(model).tools(tools).guardrail(blocks_secrets()).hold_text(hold);
        let agent = agent.build().unwrap();
        let mut conversation = Conversation::new("1");
        let form = Form::new();
        let mut answers = agent.run("Which?").on(&mut conversation).typed::<Colour>().form(form).stream();
        let mut kinds = Vec::new();
        let mut messages = Vec::new();
        while let Some(event) = answers.next().await {
            match event.unwrap() {
                AnswerEvent::Run(RunEvent::Message { message, .. }) => messages.push(message.text.clone()),
                AnswerEvent::Run(event) => kinds.push(crate::support::kind(&event)),
                _ => {}
            }
        }
        // Only released text was emitted before the check.
        assert_eq!(messages, [if hold { "" } else { "beside it" }], "{hold}");
        let count = |piece: &str| kinds.iter().filter(|kind| kind.starts_with(piece)).count();
        let of_slow = usize::from(id == "d");
        let expected = if hold { [0, 1, 2, of_slow] } else { [1, 1, 2, 2] };
        assert_eq!(pieces.map(count), expected, "{hold}: {kinds:?}");
    }
}
