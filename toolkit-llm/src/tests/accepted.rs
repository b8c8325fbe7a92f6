//! Rules of services about a complete history, which no message breaks alone.

use crate::ApiFormat;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashSet;
use toolkit_core::ToolResult;
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, Media, ToolOutput};

/// Returns the values of all fields `name`, in order.
fn values(value: &Value, name: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(list) => list.iter().for_each(|item| values(item, name, found)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| match value {
            Value::String(text) if key == name => found.push(text.clone()),
            _ => values(value, name, found),
        }),
        _ => {}
    }
}

/// Returns the ids of the calls and the results in a history of Anthropic or Bedrock.
fn ids(format: ApiFormat, history: &[Value]) -> (Vec<String>, Vec<String>) {
    let (call, result) = match format {
        ApiFormat::Anthropic => ("id", "tool_use_id"),
        _ => ("toolUseId", "toolUseId"),
    };
    let mut calls = Vec::new();
    let mut results = Vec::new();
    for message in history {
        if message["role"] == "assistant" {
            values(message, call, &mut calls);
        } else {
            values(message, result, &mut results);
        }
    }
    (calls, results)
}

/// Returns the turns with calls of these ids, each followed by its results.
fn conversation(format: ApiFormat, turns: &[Vec<&str>]) -> Vec<Value> {
    let mut history = Vec::new();
    for turn in turns {
        history.push(format.encode_user(&["go on".into()]));
        let calls: Vec<ToolCall> = turn.iter().map(|id| ToolCall::new(*id, "now", "{}")).collect();
        history.extend(format.history(&WireNames::default()).encode_calls(&calls));
        let answer = |call| ToolResult::of(call, Ok("done".into()));
        history.extend(format.encode_results(&calls.iter().map(answer).collect::<Vec<_>>()));
    }
    history
}

proptest! {
    /// Some servers and models count calls from zero in each turn.
    #[test]
    fn claude_gets_distinct_call_ids_in_a_whole_history(
        turns in vec(vec(prop::sample::select(vec!["call_0", "call_1", "a b"]), 1..4), 1..5),
    ) {
        for format in [ApiFormat::Anthropic, ApiFormat::Bedrock] {
            let history = conversation(format, &turns);
            let repaired = format.repair_history(history.clone());
            let (calls, results) = ids(format, &repaired);
            prop_assert_eq!(&calls, &results, "{}", format);
            let distinct: HashSet<&String> = calls.iter().collect();
            prop_assert_eq!(distinct.len(), turns.iter().map(Vec::len).sum::<usize>(), "{}", format);
            prop_assert_eq!(format.repair_history(repaired.clone()), repaired.clone(), "repairing twice");
            // The ids of earlier messages do not depend on later ones, so prompt caches stay valid.
            let earlier = format.repair_history(conversation(format, &turns[..turns.len() - 1]));
            // Bedrock joins the next user message with the last results.
            let same = earlier.len().saturating_sub(1);
            prop_assert_eq!(&repaired[..same], &earlier[..same], "{}", format);
        }
    }

    #[test]
    fn bedrock_gets_distinct_document_names_in_a_whole_history(
        turns in vec(vec(prop::sample::select(vec!["a.pdf", "A.pdf", "a pdf (2)", "b.pdf", ""]), 1..4), 1..4),
    ) {
        let format = ApiFormat::Bedrock;
        let file = |name: &&str| {
            let name = Some((*name).to_owned()).filter(|name| !name.is_empty());
            Content::from(Media { name, ..Media::new("application/pdf", b"%PDF") })
        };
        let mut history = Vec::new();
        for (at, turn) in turns.iter().enumerate() {
            history.push(format.encode_user(&turn.iter().map(file).collect::<Vec<_>>()));
            let calls: Vec<ToolCall> =
                (0..turn.len()).map(|number| ToolCall::new(format!("c_{at}_{number}"), "read", "{}")).collect();
            history.extend(format.history(&WireNames::default()).encode_calls(&calls));
            let results = calls.iter().zip(turn);
            let results = results.map(|(call, name)| ToolResult::of(call, Ok(ToolOutput::new(vec![file(name)]))));
            history.extend(format.encode_results(&results.collect::<Vec<_>>()));
        }
        let repaired = format.repair_history(history);
        let mut names = Vec::new();
        for document in documents(&json!(repaired)) {
            names.push(document["name"].as_str().unwrap_or_default().to_ascii_lowercase());
        }
        prop_assert_eq!(names.len(), 2 * turns.iter().map(Vec::len).sum::<usize>());
        prop_assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{:?}", names);
        prop_assert_eq!(format.repair_history(repaired.clone()), repaired, "repairing twice");
    }
}

fn documents(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(list) => list.iter().flat_map(documents).collect(),
        Value::Object(fields) => {
            let inner = fields
                .iter()
                .flat_map(|(name, value)| if name == "document" { vec![value] } else { documents(value) });
            inner.collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn mistral_gets_a_message_of_the_model_between_results_and_their_media() {
    let names = WireNames::default();
    let history = ApiFormat::OpenAiChat.history(&names).with_mistral(true);
    let call = ToolCall::new("D681PevKs", "read", "{}");
    let image = Content::from(Media::new("image/png", b"hi"));
    let results = [ToolResult::of(&call, Ok(ToolOutput::new(vec![image])))];
    let roles = |messages: &[Value]| {
        messages.iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(roles(&history.encode_results(&results)), ["tool", "assistant", "user"]);
    assert_eq!(roles(&history.with_mistral(false).encode_results(&results)), ["tool", "user"]);
    let cancelled =
        [history.encode_calls(std::slice::from_ref(&call)), vec![history.encode_user(&["go on".into()])]]
            .concat();
    let repaired = history.separate_results(ApiFormat::OpenAiChat.repair_history(cancelled.clone()));
    assert_eq!(roles(&repaired), ["assistant", "tool", "assistant", "user"]);
    assert_eq!(ApiFormat::OpenAiChat.repair_history(repaired.clone()), repaired);
    assert_eq!(history.separate_results(repaired.clone()), repaired, "separating twice");
    assert_eq!(history.with_mistral(false).separate_results(cancelled.clone()), cancelled);
    let plain = [ToolResult::of(&call, Ok("done".into()))];
    assert_eq!(roles(&history.encode_results(&plain)), ["tool"]);
}

#[test]
fn every_text_file_is_shown_to_claude_or_reported() {
    let format = ApiFormat::Anthropic;
    let names = WireNames::default();
    let base64 = |data: &str| {
        Content::from(Media {
            data: toolkit_core::output::MediaData::Base64(data.to_owned()),
            ..Media::new("text/csv", b"")
        })
    };
    for (content, shown) in [
        (Content::from(Media::new("text/csv", b"caf\xe9;1")), Some("caf\u{fffd};1")),
        (base64("aGkg\r\naGkg\n"), Some("hi hi ")),
        (base64("a"), None),
        (base64("!"), None),
        (Content::from(Media::new("text/csv", b" \n")), None),
    ] {
        let block = format.encode_user(std::slice::from_ref(&content))["content"][0].clone();
        assert_eq!(block.pointer("/source/data").and_then(Value::as_str), shown, "{content:?}");
        let losses = format.history(&names).user_losses(std::slice::from_ref(&content));
        assert_eq!(losses.is_empty(), shown.is_some(), "{content:?}");
        let call = ToolCall::new("a", "read", "{}");
        let result = ToolResult::of(&call, Ok(ToolOutput::new(vec![content])));
        let losses = format.history(&names).result_losses(&[result]);
        assert_eq!(losses.is_empty(), shown.is_some());
    }
}

/// An empty line that ends the last event is missing.
#[test]
fn the_error_in_an_unfinished_last_event_is_reported() {
    for (format, body) in [
        (
            ApiFormat::OpenAiChat,
            r#"data: {"error":{"code":"content_filter","message":"The response was filtered"}}"#,
        ),
        (
            ApiFormat::Anthropic,
            r#"data: {"type":"error","error":{"type":"content_filter","message":"filtered"}}"#,
        ),
        (ApiFormat::Ollama, r#"{"error":"model runner has crashed"}"#),
    ] {
        for end in ["", "\n"] {
            let mut stream = format.accumulator();
            let pushed: Vec<_> = stream.push_bytes(format!("{body}{end}").as_bytes());
            let error = pushed.into_iter().find_map(Result::err).or_else(|| stream.finish().failure);
            assert!(error.as_ref().is_some_and(|error| error.report().is_some()), "{format}: {error:?}");
        }
    }
}

/// The service limits the depth of values, but not of texts.
#[test]
fn deep_values_are_sent_to_gemini_as_text() {
    let deep = (0..200).fold(json!(1), |value, _| json!([value]));
    let call = ToolCall::new("call_1", "chart", "{}");
    let messages =
        ApiFormat::Gemini.encode_results(&[ToolResult::of(&call, Ok(ToolOutput::json(&deep).unwrap()))]);
    let response = &messages[0]["parts"][0]["functionResponse"]["response"];
    assert_eq!(*response, json!({"output": deep.to_string()}));
}
