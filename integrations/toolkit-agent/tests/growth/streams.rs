//! Streamed messages of many pieces, in the forms of the APIs.

mod events;

use super::linear::assert_linear;
use crate::support::{Script, tools};
use events::{Pieces, events};
use serde_json::Value;
use toolkit_agent::session::{ConversationStore, MemoryStore};
use toolkit_agent::wire::WireModel;
use toolkit_agent::{
    Agent, ChatModel, Conversation, Limits, Message, ModelRequest, RunOptions, Sessions, StreamEvent,
};
use toolkit_llm::ApiFormat;

const FORMATS: [ApiFormat; 6] = [
    ApiFormat::Anthropic,
    ApiFormat::OpenAiResponses,
    ApiFormat::OpenAiChat,
    ApiFormat::Gemini,
    ApiFormat::Bedrock,
    ApiFormat::GeminiInteractions,
];

const PIECES: [Pieces; 5] = [Pieces::Text, Pieces::Arguments, Pieces::Calls, Pieces::Blank, Pieces::Hosted];

#[test]
fn a_stream_of_a_provider_is_read_in_linear_time() {
    for format in FORMATS {
        for pieces in PIECES.into_iter().filter(|pieces| has(format, *pieces)) {
            assert_linear(
                &format!("read {format:?} {pieces:?}"),
                400,
                |size| WireModel::new(format, "m", Script::new([events(format, pieces, size).into()])),
                async |model| {
                    let mut stream = model.stream(ModelRequest::new([Message::user("Go.")])).await.unwrap();
                    let mut last = None;
                    while let Some(delta) = stream.next().await {
                        last = Some(delta.unwrap());
                    }
                    assert!(matches!(last, Some(StreamEvent::Done(_))), "{last:?}");
                },
            );
        }
    }
}

/// Whether an API has these pieces.
fn has(format: ApiFormat, pieces: Pieces) -> bool {
    use ApiFormat::{Anthropic, Gemini, OpenAiResponses};
    match pieces {
        Pieces::Hosted => matches!(format, Anthropic | OpenAiResponses),
        Pieces::Arguments => format != Gemini,
        _ => true,
    }
}

fn agent(model: impl ChatModel) -> Agent {
    let limits = Limits::default()
        .with_max_model_calls(u32::MAX)
        .with_max_repeated_calls(u32::MAX)
        .with_max_repeated_failures(u32::MAX);
    Agent::builder(model).tools(tools()).limits(limits).build().unwrap()
}

#[test]
fn a_streamed_run_takes_linear_time() {
    for format in FORMATS {
        for pieces in PIECES.into_iter().filter(|pieces| has(format, *pieces)) {
            for is_saved in [false, true] {
                let answer = || Value::from(events(format, Pieces::Text, 1));
                assert_linear(
                    &format!("run {format:?} {pieces:?}, saved: {is_saved}"),
                    100,
                    |size| {
                        agent(WireModel::new(
                            format,
                            "m",
                            Script::new([events(format, pieces, size).into(), answer()]),
                        ))
                    },
                    async |agent: Agent| {
                        let sessions = Sessions::default();
                        let options = RunOptions::new();
                        let options = if is_saved { options.with_autosave(&sessions) } else { options };
                        agent.run_with(&mut Conversation::new("1"), "Go.", options).await.unwrap();
                    },
                );
            }
        }
    }
}

/// Returns the size of the log of a run whose first message has this number of pieces.
async fn log_of(format: ApiFormat, pieces: Pieces, count: usize) -> usize {
    let store = MemoryStore::new();
    let sessions = Sessions::new(store.clone());
    let responses = [events(format, pieces, count), events(format, Pieces::Text, 1)].map(Value::from);
    sessions
        .run(&agent(WireModel::new(format, "m", Script::new(responses))), "ada", "1", "Go.")
        .await
        .unwrap();
    let log = store.load("ada", "1").await.unwrap().unwrap();
    log.entries.iter().map(String::len).sum()
}

#[tokio::test]
async fn the_log_of_a_stream_of_a_provider_grows_with_its_pieces() {
    for format in FORMATS {
        for pieces in PIECES.into_iter().filter(|pieces| has(format, *pieces)) {
            let short = log_of(format, pieces, 100).await;
            let long = log_of(format, pieces, 400).await;
            assert!(10 * long <= 45 * short, "{format:?}, {pieces:?}: {short} bytes, and {long}");
        }
    }
}
