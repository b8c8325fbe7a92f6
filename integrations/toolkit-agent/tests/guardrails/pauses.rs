//! Answers that the provider has paused: their beginning is checked with the rest.

use super::kept::{blocks_secrets, history};
use crate::support::{HESITATION, Hesitant, assert_sendable, cancelled_after};
use toolkit_agent::{
    Agent, AgentBuilder, ChatModel, Conversation, FinishReason, Message, ModelDelta, ModelResponse, RunEvent,
    RunOptions, ScriptedModel,
};

/// Creates a model that pauses after each part of its answer, except for the last.
fn pausing(parts: &[&str]) -> ScriptedModel {
    let last = parts.len() - 1;
    parts.iter().enumerate().fold(ScriptedModel::new(), |model, (index, part)| {
        let finish = if index < last { "pause_turn" } else { "end_turn" };
        let done = ModelResponse::text(*part).with_finish(FinishReason::parse(finish));
        model.deltas([Ok(ModelDelta::Text((*part).to_owned())), Ok(ModelDelta::Done(Box::new(done)))])
    })
}

fn guarded(model: impl ChatModel, streaming: bool) -> AgentBuilder {
    Agent::builder(model).streaming(streaming).guardrail(blocks_secrets())
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
                let (mut streamed, mut messages, mut output) = (String::new(), 0, None);
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
                let texts: Vec<String> = conversation.messages().iter().map(Message::to_text).collect();
                assert_eq!(texts, expected, "{case}");
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
async fn the_text_before_a_pause_is_not_kept_if_the_run_stops() {
    for streaming in [true, false] {
        let agent = guarded(Hesitant(pausing(&["my secret", " word"])), streaming).build().unwrap();
        let mut conversation = Conversation::new("1");
        let options = cancelled_after(HESITATION * 3 / 2);
        assert!(agent.run_with(&mut conversation, "go", options).await.is_err());
        assert!(!history(&conversation).contains("secret"), "{streaming}: {}", history(&conversation));
    }
}
