//! Recordings have no secret, wherever it stood.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use toolkit_core::{ToolCall, ToolError, ToolOutput, ToolResult};
use toolkit_llm::record::Recorder;
use toolkit_llm::{
    AssistantMessage, ChatModel, Message, ModelError, ModelErrorKind, ModelOptions, ModelRequest,
    ModelResponse, ScriptedModel, StreamEvent, ToolMessage,
};

#[derive(Debug, Clone)]
enum Place {
    Instructions,
    User,
    Arguments,
    NameOfArgument,
    Output,
    ErrorOfTool,
    Extra,
    NameOfExtra,
    /// A field named as a secret, in objects (`true`) and arrays (`false`).
    SecretField(Vec<bool>),
    Answer,
    Reasoning,
    CallOfAnswer,
    /// A stream with these characters in each delta.
    Pieces(Vec<usize>),
    /// Arguments in pieces of these lengths, between those of another call.
    PiecesOfArguments(Vec<usize>),
    Error,
}

fn place() -> impl Strategy<Value = Place> {
    let plain = [
        Place::Instructions,
        Place::User,
        Place::Arguments,
        Place::NameOfArgument,
        Place::Output,
        Place::ErrorOfTool,
        Place::Extra,
        Place::NameOfExtra,
        Place::Answer,
        Place::Reasoning,
        Place::CallOfAnswer,
        Place::Error,
    ];
    prop_oneof![
        4 => prop::sample::select(plain.to_vec()),
        1 => prop::collection::vec(any::<bool>(), 0..4).prop_map(Place::SecretField),
        1 => prop::collection::vec(1..9_usize, 1..6).prop_map(Place::Pieces),
        1 => prop::collection::vec(1..9_usize, 1..6).prop_map(Place::PiecesOfArguments),
    ]
}

fn message_of(call: ToolCall) -> Message {
    AssistantMessage::default().with_calls([call]).into()
}

fn put(
    place: &Place,
    secret: &str,
    request: &mut ModelRequest,
    answer: &mut Vec<StreamEvent>,
) -> Option<ModelError> {
    let call = |arguments: &Value| ToolCall::new("1", "look", arguments.to_string());
    let mut extra = |name: &str, value: Value| {
        let options = Arc::unwrap_or_clone(std::mem::take(&mut request.options));
        request.options = options.with_extra(name, value).into();
    };
    let text = format!("It is {secret}, I think.");
    match place {
        Place::Instructions => request.instructions = text,
        Place::User => request.messages.push(Message::user(text)),
        Place::Arguments => request.messages.push(message_of(call(&json!({"a": [text]})))),
        Place::NameOfArgument => {
            request.messages.push(message_of(call(&Map::from_iter([(text, 1.into())]).into())));
        }
        Place::Output => {
            let result = ToolResult::of(&call(&json!({})), Ok(ToolOutput::json(&json!([text])).unwrap()));
            request.messages.push(Message::Tool(ToolMessage::new(vec![result])));
        }
        Place::ErrorOfTool => {
            let result = ToolResult::of(&call(&json!({})), Err(ToolError::failed(text)));
            request.messages.push(Message::Tool(ToolMessage::new(vec![result])));
        }
        Place::Extra => extra("note", json!({"a": [text]})),
        Place::NameOfExtra => extra("note", Map::from_iter([(text, 1.into())]).into()),
        Place::SecretField(levels) => {
            // It is hidden even if the recorder does not know it.
            let field = json!({"Api_Key": {"value": ["unknown to it"]}, "x-token": "unknown to it"});
            let wrap = |inner: Value, is_object: &bool| {
                if *is_object { json!({"a": inner}) } else { json!([inner]) }
            };
            extra("note", levels.iter().fold(field, wrap));
        }
        Place::Answer => answer.push(StreamEvent::Text(text)),
        Place::Reasoning => answer.push(StreamEvent::Reasoning(text)),
        Place::CallOfAnswer => answer.push(StreamEvent::Call(call(&json!({"a": text})))),
        Place::Pieces(sizes) => {
            let mut rest: Vec<char> = text.chars().collect();
            for size in sizes.iter().cycle() {
                let after = rest.split_off(rest.len().min(*size));
                answer.push(StreamEvent::Text(rest.into_iter().collect()));
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
        }
        Place::PiecesOfArguments(sizes) => {
            let mut rest: Vec<char> = json!({"a": [text]}).to_string().chars().collect();
            for size in sizes.iter().cycle() {
                let after = rest.split_off(rest.len().min(*size));
                let piece: String = rest.into_iter().collect();
                answer.push(StreamEvent::arguments("1", piece));
                answer.push(StreamEvent::arguments("2", " "));
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
        }
        Place::Error => return Some(ModelError::new(ModelErrorKind::Unauthorized, text)),
    }
    None
}

fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            found.push(name.clone());
            texts(value, found);
        }),
        _ => {}
    }
}

fn joined(deltas: &Value) -> String {
    let deltas = || deltas.as_array().into_iter().flatten();
    let texts = deltas().filter_map(|delta| delta["text"].as_str());
    let of_call = |delta: &&Value| delta["arguments"]["id"] == "1";
    let pieces = deltas().filter(of_call).filter_map(|delta| delta["arguments"]["piece"].as_str());
    texts.chain(["\n\n"]).chain(pieces).collect()
}

proptest! {
    #[test]
    fn a_recording_holds_no_secret(
        secret in "[a-z\"\\\\\n\té日]{8,16}",
        places in prop::collection::vec(place(), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let tape = folder.path().join("tape.jsonl");
        let mut request = ModelRequest::new([Message::user("hi")]).with_options(ModelOptions::new());
        let mut answer = Vec::new();
        let mut last = Ok(StreamEvent::Done(Box::new(ModelResponse::text("done"))));
        for place in &places {
            if let Some(error) = put(place, &secret, &mut request, &mut answer) {
                last = Err(error);
            }
        }
        let deltas = answer.into_iter().map(Ok).chain([last]);
        let model = Recorder::new(ScriptedModel::new().deltas(deltas), &tape).unwrap().with_secret(&secret);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut stream = model.stream(request).await.unwrap();
            while stream.next().await.is_some() {}
        });
        let recorded = std::fs::read_to_string(&tape).unwrap();
        let recorded: Value = serde_json::from_str(&recorded).unwrap();
        let mut found = vec![joined(&recorded["answer"]["deltas"])];
        texts(&recorded, &mut found);
        let in_json = Value::from(secret.as_str()).to_string();
        let in_json = &in_json[1..in_json.len() - 1];
        for text in found {
            let is_free = !text.contains(&secret) && !text.contains(in_json) && !text.contains("unknown to it");
            prop_assert!(is_free, "{text}");
        }
    }
}
