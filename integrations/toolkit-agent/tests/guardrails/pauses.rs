//! Answers that the provider has paused: their beginning is checked with the rest.

use super::kept::{blocks_secrets, history};
use crate::support::{HESITATION, Hesitant, assert_sendable, cancelled_after};
use toolkit_agent::guardrail::{GuardContext, Guardrail, Verdict};
use toolkit_agent::{
    Agent, AgentBuilder, ChatModel, Conversation, FinishReason, Message, ModelError, ModelResponse,
    ModelRetry, RunEvent, RunOptions, ScriptedModel, StreamEvent,
};

/// Creates a model that pauses after each part of its answer, except for the last.
fn pausing(parts: &[&str]) -> ScriptedModel {
    let last = parts.len() - 1;
    parts.iter().enumerate().fold(ScriptedModel::new(), |model, (index, part)| {
        let finish = if index < last { "pause_turn" } else { "end_turn" };
        let done = ModelResponse::text(*part).with_finish(FinishReason::parse(finish));
        model.deltas([Ok(StreamEvent::Text((*part).to_owned())), Ok(StreamEvent::Done(Box::new(done)))])
    })
}

fn texts(messages: &[Message]) -> Vec<String> {
    messages.iter().map(Message::to_text).collect()
}

fn guarded(model: impl ChatModel, streaming: bool) -> AgentBuilder {
    Agent::builder(model).streaming(streaming).guardrail(blocks_secrets())
}

/// The events of the run that has stopped do not contain the text before the pause.
#[tokio::test]
async fn the_text_before_a_pause_is_emitted_by_the_resumed_run() {
    let passes = || Guardrail::new("passes", |_: &ModelResponse, _: &GuardContext| Verdict::Pass);
    for (streaming, checks_responses) in [(true, false), (true, true), (false, true)] {
        let agent = |model| {
            let agent = guarded(model, streaming).retry(ModelRetry::never());
            let agent = if checks_responses { agent.guardrail(passes()) } else { agent };
            agent.build().unwrap()
        };
        let paused = ModelResponse::text("my public").with_finish(FinishReason::parse("pause_turn"));
        let model = ScriptedModel::new().response(paused);
        let mut conversation = Conversation::new("1");
        agent(model.error(ModelError::from_status(400, "no")))
            .run_in(&mut conversation, "go")
            .await
            .unwrap_err();
        let resumed = agent(ScriptedModel::new().text(" word"));
        let mut texts = String::new();
        let mut messages = String::new();
        let mut events = resumed.resume_stream(&mut conversation, RunOptions::new());
        while let Some(event) = events.next().await {
            match event.unwrap() {
                RunEvent::Text { text, .. } => texts.push_str(&text),
                RunEvent::Message { message, .. } => messages.push_str(&message.text),
                _ => {}
            }
        }
        let expected = ("my public word", "my public word");
        assert_eq!((texts.as_str(), messages.as_str()), expected, "{streaming} {checks_responses}");
    }
}

/// The secret may be in any part, or divided between parts.
#[tokio::test]
async fn the_text_before_a_pause_is_checked_with_the_answer() {
    for text in ["my secret word", "my public word"] {
        let is_blocked = text.contains("secret");
        for (one, two) in (1..text.len()).flat_map(|one| (one..text.len()).map(move |two| (one, two))) {
            let parts = [&text[..one], &text[one..two], &text[two..]];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            for streaming in [true, false] {
                let case = format!("{parts:?} {streaming}");
                let agent = guarded(pausing(&parts), streaming).build().unwrap();
                let mut conversation = Conversation::new("1");
                let mut events = agent.run_stream_in(&mut conversation, "go", RunOptions::new());
                let mut streamed = String::new();
                let mut messages = 0;
                let mut output = None;
                while let Some(event) = events.next().await {
                    match event.unwrap() {
                        RunEvent::Text { text, .. } => streamed.push_str(&text),
                        RunEvent::Message { .. } => messages += 1,
                        RunEvent::Finished { output: ended, .. } => output = Some(ended),
                        _ => {}
                    }
                }
                drop(events);
                let expected = if is_blocked { vec!["go", "{}"] } else { [&["go"], &parts[..]].concat() };
                assert_eq!(texts(conversation.messages()), expected, "{case}");
                assert_eq!(messages, expected.len() - 1, "{case}");
                if is_blocked || streaming {
                    assert_eq!(streamed, expected[1..].concat(), "{case}");
                }
                assert_eq!(output.unwrap().text, *expected.last().unwrap(), "{case}");
                assert_sendable(&conversation);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_text_before_a_pause_is_hidden_if_the_run_stops_until_its_continuation_is_checked() {
    for (streaming, text) in
        [true, false].into_iter().flat_map(|s| ["secret", "public"].map(|text| (s, text)))
    {
        let model = pausing(&[&format!("my {text}"), " word"]);
        let agent = guarded(Hesitant(model.clone()), streaming).build().unwrap();
        let mut conversation = Conversation::new("1");
        // Between the pause and the rest.
        let options = cancelled_after(HESITATION * if streaming { 5 } else { 3 } / 2);
        let error = agent.run_with(&mut conversation, "go", options).await.unwrap_err();
        assert_eq!(texts(&error.output.messages), ["go"], "{streaming}");
        assert_eq!(texts(conversation.messages()), ["go"], "{streaming}");
        let mut given_up = conversation.clone();
        given_up.push(Message::user("Hi."));
        assert!(!history(&given_up).contains(text), "{streaming}: {}", history(&given_up));
        // The model continues what it has written before the pause.
        let resumed = guarded(pausing(&[" word"]), streaming).build().unwrap();
        let output = resumed.resume(&mut conversation, RunOptions::new()).await.unwrap();
        let expected: &[&str] = if text == "secret" { &["go", "{}"] } else { &["go", "my public", " word"] };
        assert_eq!(texts(&output.messages), expected, "{streaming}");
    }
}
