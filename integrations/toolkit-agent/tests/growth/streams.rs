//! Streamed messages of many pieces, in the forms of the APIs.

use super::linear::assert_linear;
use crate::speech::{self, Part};
use crate::support::{Script, tools};
use serde_json::Value;
use toolkit_agent::session::{ConversationStore, MemoryStore};
use toolkit_agent::{Agent, Conversation, Limits, RunOptions, Sessions};
use toolkit_llm::ApiFormat;
use toolkit_llm::transport::WireModel;
use toolkit_llm::{ChatModel, Message, ModelRequest, StreamEvent};

const FORMATS: [ApiFormat; 6] = [
    ApiFormat::Anthropic,
    ApiFormat::OpenAiResponses,
    ApiFormat::OpenAiChat,
    ApiFormat::Gemini,
    ApiFormat::Bedrock,
    ApiFormat::GeminiInteractions,
];

/// What a message consists of.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Pieces {
    /// Pieces of one text.
    Text,
    /// Pieces of the arguments of one call.
    Arguments,
    /// Signed thinking, and calls.
    Calls,
    /// Calls without arguments.
    Blank,
    /// Calls of a tool that the provider runs.
    Hosted,
}

/// Returns the events of a message with `count` pieces.
fn events(format: ApiFormat, pieces: Pieces, count: usize) -> Vec<Value> {
    let call = |number: usize, arguments: Vec<String>| Part::Call { id: format!("call_{number}"), arguments };
    let words = (0..count).map(|number| format!("piece {number:05} "));
    let parts = match pieces {
        Pieces::Text => vec![Part::Text(words.collect())],
        Pieces::Arguments => {
            let begin = r#"{"a": 1, "b": 1, "c": ""#.to_owned();
            vec![call(0, [begin].into_iter().chain(words).chain([r#""}"#.to_owned()]).collect())]
        }
        Pieces::Calls => {
            let arguments = |number: usize| vec![format!(r#"{{"a": {number}, "b": 1}}"#)];
            (0..count).map(|number| call(number, arguments(number))).collect()
        }
        Pieces::Blank => (0..count).map(|number| call(number, Vec::new())).collect(),
        Pieces::Hosted => (0..count).map(|number| Part::Search(format!("srvtoolu_{number}"))).collect(),
    };
    let parts: Vec<Part> = [Part::Thinking].into_iter().chain(parts).collect();
    speech::events(format, &parts).concat()
}

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
