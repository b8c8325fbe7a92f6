//! Recording and replay.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use toolkit_agent::{Agent, AgentBuilder, AgentError, RunEvent};
use toolkit_core::{ClosureTool, ToolCall, ToolRegistry};
use toolkit_llm::record::{Recorder, Replay};
use toolkit_llm::{
    ChatModel, Message, ModelError, ModelErrorKind, ModelOptions, ModelRequest, ModelResponse, ModelRetry,
    ModelStream, ScriptedModel, StreamEvent, Usage,
};

struct Tape(PathBuf);

impl Tape {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("toolkit-{name}-{}.jsonl", std::process::id())))
    }

    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.0).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[derive(Deserialize, JsonSchema)]
struct Number {
    n: i64,
}

fn agent(model: impl ChatModel) -> AgentBuilder {
    let double = ClosureTool::new("double", "Doubles.", |number: Number| number.n * 2).unwrap();
    Agent::builder(model)
        .instructions("Use your tool.")
        .tools(ToolRegistry::from_tools([double]).unwrap())
        .retry(ModelRetry::never())
}

/// Creates a model with an interrupted stream, two parallel calls, and two deltas.
fn real() -> ScriptedModel {
    let calls = [ToolCall::new("1", "double", r#"{"n": 1}"#), ToolCall::new("2", "double", r#"{"n": 2}"#)];
    let broken = ModelError::new(ModelErrorKind::Connection, "the line broke");
    let answer = ModelResponse::text("2 and 4.").with_usage(Usage::new(7, 3));
    ScriptedModel::new()
        .deltas([
            Ok(StreamEvent::Text("I doub".to_owned())),
            Ok(StreamEvent::Call(calls[0].clone())),
            Err(broken),
        ])
        .response(ModelResponse::calls(calls))
        .deltas([
            Ok(StreamEvent::Text("2 and ".to_owned())),
            Ok(StreamEvent::Text("4.".to_owned())),
            Ok(StreamEvent::Done(Box::new(answer))),
        ])
}

/// Returns events without times and durations.
async fn events(agent: AgentBuilder, input: &str) -> Vec<String> {
    let mut events = agent.build().unwrap().run(input).stream();
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        seen.push(match event {
            Ok(RunEvent::Tool { event, .. }) => event.name().to_owned(),
            Ok(RunEvent::Text { text, .. }) => text,
            Ok(RunEvent::Result { result, .. }) => result.to_text().into_owned(),
            Ok(RunEvent::Finished { output, .. }) => format!("{} {:?}", output.text, output.usage),
            Ok(_) => continue,
            Err(error) => error.to_string(),
        });
    }
    seen
}

/// A recording in the format's first version.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/recordings/1.jsonl");

#[tokio::test]
#[ignore = "only for a new version of the format"]
async fn write_a_kept_recording() {
    events(agent(Recorder::new(real(), KEPT).unwrap()), "Double 1 and 2.").await;
}

#[tokio::test]
async fn a_recording_of_before_is_replayed() {
    let replay = Replay::open(KEPT).unwrap();
    let replayed = events(agent(replay.clone()), "Double 1 and 2.").await;
    assert_eq!(replayed, events(agent(real()), "Double 1 and 2.").await);
    assert_eq!(replay.remaining(), 0);
}

#[tokio::test]
async fn a_replayed_run_equals_the_recorded_one() {
    let tape = Tape::new("again");
    let first = events(agent(Recorder::new(real(), &tape.0).unwrap()), "Double 1 and 2.").await;
    assert!(first.iter().any(|event| event.starts_with("2 and 4. ")), "{first:?}");
    let replay = Replay::open(&tape.0).unwrap();
    assert_eq!((replay.remaining(), replay.name()), (3, "scripted"));
    assert_eq!(events(agent(replay.clone()), "Double 1 and 2.").await, first);
    assert_eq!(replay.remaining(), 0);

    let lines = tape.lines();
    assert_eq!(lines[0]["request"]["instructions"], "Use your tool.");
    assert_eq!(lines[0]["request"]["messages"][0]["content"][0]["text"], "Double 1 and 2.");
    assert_eq!(lines[0]["request"]["tools"]["double"]["description"], "Doubles.");
    assert_eq!(lines[0]["answer"]["deltas"][0]["text"], "I doub");
    assert_eq!(lines[0]["answer"]["error"]["kind"], "connection");
    assert_eq!(lines[2]["answer"]["deltas"][2]["done"]["usage"]["input_tokens"], 7);
}

#[tokio::test]
async fn responses_and_errors_are_recorded() {
    let tape = Tape::new("whole");
    let busy = ModelError::from_status(429, "busy").with_retry_after(std::time::Duration::from_secs(1));
    let recorder = Recorder::new(ScriptedModel::new().text("Hi.").error(busy.clone()), &tape.0).unwrap();
    let ask = |text: &str| ModelRequest::new([Message::user(text)]);
    recorder.respond(ask("one")).await.unwrap();
    recorder.stream(ask("two")).await.unwrap_err();

    let replay = Replay::open(&tape.0).unwrap();
    // Any order works, whole or streamed.
    assert_eq!(replay.respond(ask("two")).await.unwrap_err(), busy);
    let stream: ModelStream = replay.stream(ask("one")).await.unwrap();
    assert_eq!(stream.collect().await.unwrap().message.text, "Hi.");
    let error = replay.respond(ask("one")).await.unwrap_err();
    assert!(error.message().ends_with("the recording has ended"), "{error}");
}

#[tokio::test]
async fn another_request_is_an_error_with_its_differences() {
    let tape = Tape::new("differs");
    agent(Recorder::new(real(), &tape.0).unwrap()).build().unwrap().run("Double 1 and 2.").await.unwrap();
    let other = || {
        agent(Replay::open(&tape.0).unwrap())
            .instructions("Use no tool.")
            .options(ModelOptions::new().with_temperature(0.5))
    };
    let error = other().build().unwrap().run("Double 1 and 2.").await.unwrap_err();
    let AgentError::Model(error) = error.error else { panic!("{error}") };
    assert!(!error.is_retryable());
    for part in [
        "line 1 differs:",
        "\n- `instructions`: recorded \"Use your tool.\", asked \"Use no tool.\"",
        "\n- `options.temperature`: recorded nothing, asked 0.5",
    ] {
        assert!(error.message().contains(part), "{error}");
    }
    assert!(!error.message().contains("messages"), "{error}");

    let output = agent(Replay::open(&tape.0).unwrap().lenient())
        .instructions("Use no tool.")
        .build()
        .unwrap()
        .run("Go.")
        .await;
    assert_eq!(output.unwrap().text, "2 and 4.");
}

#[tokio::test]
async fn a_dropped_stream_is_recorded_up_to_the_drop() {
    let tape = Tape::new("dropped");
    let recorder = Recorder::new(real(), &tape.0).unwrap();
    let mut stream = recorder.stream(ModelRequest::new([])).await.unwrap();
    stream.next().await.unwrap().unwrap();
    assert!(tape.lines().is_empty());
    drop(stream);
    assert_eq!(tape.lines()[0]["answer"]["deltas"].as_array().unwrap().len(), 1);
    let replayed = Replay::open(&tape.0).unwrap().respond(ModelRequest::new([])).await;
    assert_eq!(replayed.unwrap_err().kind(), ModelErrorKind::Connection);
}

#[tokio::test]
async fn invalid_recordings_are_errors() {
    let missing = std::env::temp_dir().join("toolkit-no-such-folder").join("tape.jsonl");
    assert!(Recorder::new(real(), &missing).is_err());
    assert!(Replay::open(&missing).is_err());
    let tape = Tape::new("malformed");
    fs::write(&tape.0, "{\"model\": \"m\", \"request\": {}, \"answer\": {}}\n\noops\n").unwrap();
    let error = Replay::open(&tape.0).unwrap_err();
    assert!(error.to_string().contains("line 3"), "{error}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_unrecordable_answer_is_an_error() {
    let full = || Recorder::new(real(), "/dev/full").unwrap();
    let error = full().respond(ModelRequest::new([])).await.unwrap_err();
    assert!(error.message().contains("/dev/full"), "{error}");
    let mut stream = full().stream(ModelRequest::new([])).await.unwrap();
    let mut last = None;
    while let Some(piece) = stream.next().await {
        last = Some(piece);
    }
    assert!(last.unwrap().unwrap_err().message().contains("/dev/full"));
}
