//! Inputs that take the place of earlier ones, or follow many.

use super::owned::{KEY, Program, calls};
use serde_json::json;
use std::collections::BTreeMap;
use toolkit_agent::runs::{InputMode, RunInput, RunUpdate, Runs as _, RunsError};
use toolkit_agent::session::{ConversationStore as _, EndReason, EntryKind, ForkPoint, RunStatus};
use toolkit_agent::{Decision, RunEvent, Sessions};
use toolkit_llm::ScriptedModel;

/// Submits an input in place of an earlier one.
async fn replace(program: &Program, earlier: &str, text: &str, run: &str) {
    let input = RunInput::new(text).with_run(run).with_replaced(earlier);
    program.runs.submit(KEY, input.with_mode(InputMode::Interrupt)).await.unwrap();
    ended(program, run).await;
}

async fn ask(program: &Program, text: &str, run: &str) {
    program.begin(text, run).await;
    ended(program, run).await;
}

async fn ended(program: &Program, run: &str) {
    let is_ended =
        |status: &RunStatus| matches!(status, RunStatus::Ended { run: ended, .. } if **ended == *run);
    program.status(is_ended).await;
}

#[tokio::test]
async fn the_conversation_goes_on_before_the_input() {
    let model = ScriptedModel::new().text("One.").text("Two.").text("Three.").text("Four.");
    let program = Program::new(model.clone());
    ask(&program, "a", "1").await;
    ask(&program, "b", "2").await;
    replace(&program, "2", "c", "3").await;
    assert_eq!(program.texts().await, ["a", "One.", "c", "Three."]);
    replace(&program, "1", "d", "4").await;
    assert_eq!(program.texts().await, ["d", "Four."]);
    let requests = model.requests();
    assert_eq!(requests.last().unwrap().messages.len(), 1);

    // The log has all of it, in order, and says what was left out.
    let mut shown = Vec::new();
    for entry in program.runs.entries(KEY).await.unwrap() {
        match entry.kind {
            EntryKind::Input { message, .. } => shown.push(message.to_text()),
            EntryKind::Rewound { run, .. } => shown.push(format!("before {run}")),
            _ => {}
        }
    }
    assert_eq!(shown, ["a", "b", "before 2", "c", "before 1", "d"]);
    let list = program.runs.list("ada").await.unwrap();
    assert_eq!((&*list[0].summary.title, list[0].summary.forked_from.len()), ("d", 0));
}

#[tokio::test]
async fn the_same_replacement_is_made_once_and_an_unknown_input_is_refused() {
    let model = ScriptedModel::new().text("One.").text("Two.");
    let program = Program::new(model.clone());
    let early = program.runs.submit(KEY, RunInput::new("b").with_replaced("1")).await.unwrap_err();
    assert!(matches!(&early, RunsError::Refused(_)), "{early}");
    assert_eq!(early.to_string(), "the conversation has no input `1`");
    ask(&program, "a", "1").await;
    replace(&program, "1", "b", "2").await;
    let again = program.runs.submit(KEY, RunInput::new("b").with_run("2").with_replaced("1")).await.unwrap();
    assert!(!again.is_new);
    assert_eq!(program.texts().await, ["b", "Two."]);
    // The input that was left out is known, so it is not answered again.
    let known = program.runs.submit(KEY, RunInput::new("a").with_run("1")).await.unwrap();
    assert!(!known.is_new);
    assert!(program.store.inbox(KEY).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_waits_is_given_up_and_calls_that_ran_ask_again() {
    let model = ScriptedModel::new()
        .response(calls(["pay"]))
        .response(calls(["pay"]))
        .text("Paid.")
        .response(calls(["pay"]));
    let program = Program::new(model);
    program.begin("Pay.", "1").await;
    program.waiting().await;
    // The call that waited has not run.
    let input = RunInput::new("Pay now.").with_run("2").with_replaced("1");
    program.runs.submit(KEY, input.with_mode(InputMode::Interrupt)).await.unwrap();
    let is_second = |status: &RunStatus| matches!(status, RunStatus::Waiting { run, .. } if &**run == "2");
    let RunStatus::Waiting { calls, .. } = program.status(is_second).await else { unreachable!() };
    assert_eq!(calls[0].id, "2.1.0", "no call has the key of an earlier one");
    assert_eq!(calls[0].reason.to_string(), "waits for approval: it costs money");
    program.runs.decide(KEY, &calls[0].id, Decision::Approve, "bob").await.unwrap();
    assert_eq!(program.ended().await, EndReason::Answered);

    let input = RunInput::new("Pay again.").with_run("3").with_replaced("2");
    program.runs.submit(KEY, input).await.unwrap();
    let is_third = |status: &RunStatus| matches!(status, RunStatus::Waiting { run, .. } if &**run == "3");
    let RunStatus::Waiting { calls, .. } = program.status(is_third).await else { unreachable!() };
    assert!(calls[0].reason.to_string().contains("it may have run before"), "{}", calls[0].reason);
}

#[tokio::test]
async fn values_are_those_before_the_input_and_the_bill_is_of_all() {
    let program = Program::new(ScriptedModel::new().text("One.").text("Two.").text("Three.").text("Four."));
    let set = |text: &str, color: &str| {
        RunInput::new(text).with_values(BTreeMap::from([("color".to_owned(), json!(color))]))
    };
    program.runs.submit(KEY, set("a", "red").with_run("1")).await.unwrap();
    ended(&program, "1").await;
    program.runs.submit(KEY, set("b", "blue").with_run("2")).await.unwrap();
    ended(&program, "2").await;
    assert_eq!(program.runs.values(KEY).await.unwrap()["color"], "blue");
    replace(&program, "2", "c", "3").await;
    assert_eq!(program.runs.values(KEY).await.unwrap()["color"], "red");
    replace(&program, "1", "d", "4").await;
    assert_eq!(program.runs.values(KEY).await.unwrap().get("color"), None);
    let sessions = Sessions::new(program.store.clone());
    let saved = sessions.user("ada").conversation("1");
    assert_eq!(saved.open().await.unwrap().spent().model_calls, 4);

    // A fork of what was gone back to begins as it does.
    let fork = saved.fork("2", ForkPoint::End).await.unwrap();
    let texts: Vec<String> =
        fork.open().await.unwrap().messages().iter().map(toolkit_llm::Message::to_text).collect();
    assert_eq!(texts, ["d", "Four."]);
    let fork = saved.fork("3", "4").await.unwrap();
    assert!(fork.open().await.unwrap().messages().is_empty());
}

#[tokio::test]
async fn an_input_that_waits_to_begin_is_listed() {
    let program = Program::new(ScriptedModel::new().response(calls(["work"])).text("One.").text("Two."));
    assert!(program.runs.queued(KEY).await.unwrap().is_empty());
    program.begin("a", "1").await;
    program.status(|status| matches!(status, RunStatus::Working { .. })).await;
    program.begin("b", "2").await;
    assert_eq!(program.runs.queued(KEY).await.unwrap(), ["2"]);
    program.permits.add_permits(1);
    ended(&program, "2").await;
    assert!(program.runs.queued(KEY).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_stream_of_an_answer_does_not_grow_with_the_conversation() {
    let mut model = ScriptedModel::new();
    for _ in 0..20 {
        model = model.text("Hello.");
    }
    let program = Program::new(model);
    let mut heard = Vec::new();
    for turn in 0..20 {
        let run = format!("r{turn}");
        let input = RunInput::new("Hi.").with_run(run.as_str());
        let submitted = program.runs.submit(KEY, input).await.unwrap();
        assert_eq!(submitted.after.is_some(), turn > 0);
        let mut updates = program.runs.attach(KEY, submitted.after).await.unwrap();
        let mut events = 0;
        while let Some(update) = updates.next().await {
            let RunUpdate::Event { run: of, event, .. } = update else { panic!("{update:?}") };
            assert_eq!(*of, *run);
            if matches!(&*event, RunEvent::Finished { .. }) {
                break;
            }
            events += usize::from(matches!(&*event, RunEvent::Text { .. }));
        }
        heard.push(events);
        program.ended().await;
    }
    assert_eq!(heard, [1; 20]);
}
