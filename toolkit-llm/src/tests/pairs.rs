//! Conversations that were sent to one API, read from its JSON, and sent to another API.

use crate::ApiFormat;
use crate::translate::RequestFormat;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use serde_json::{Value, json};
use toolkit_core::call::{ProviderExtras, ToolCall};
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, JsonText, Media, MediaData};
use toolkit_core::{ErrorKind, ToolError, ToolOutput, ToolResult};

fn content() -> impl Strategy<Value = Content> {
    let media =
        |kind: &'static str| any::<[u8; 6]>().prop_map(move |bytes| Content::from(Media::new(kind, bytes)));
    prop_oneof![
        "[a-z]{4,9}".prop_map(Content::Text),
        "[a-z]{4,9}".prop_map(|text| Content::Json(JsonText::new(&json!({"said": text})).unwrap())),
        media("image/png"),
        media("audio/wav"),
        media("video/mp4"),
        media("application/pdf"),
        "[a-z]{4,9}"
            .prop_map(|name| Media::from_url("image/png", format!("https://example.com/{name}.png")).into()),
    ]
}

/// A call with its result.
///
/// Calls of custom tools have a text in place of arguments.
#[derive(Debug, Clone)]
struct Exchange {
    id: String,
    is_custom: bool,
    outcome: Result<Vec<Content>, String>,
}

fn exchanges() -> impl Strategy<Value = Vec<Exchange>> {
    let outcome = prop_oneof![4 => vec(content(), 0..4).prop_map(Ok), 1 => "[a-z]{4,9}".prop_map(Err)];
    let id = prop_oneof!["call_[a-z0-9]{4}", "toolu_[a-z0-9]{4}", "[a-z]{3}[.:|][a-z]{3}", "[A-Za-z0-9]{60}"];
    let exchange = (id, any::<bool>(), outcome);
    vec(exchange.prop_map(|(id, is_custom, outcome)| Exchange { id, is_custom, outcome }), 0..4)
}

/// Returns the calls and the results of a turn, with distinct ids.
fn turn(number: usize, exchanges: &[Exchange]) -> (Vec<ToolCall>, Vec<ToolResult>) {
    let pairs = exchanges.iter().enumerate().map(|(index, exchange)| {
        let id = format!("{}{number}{index}", exchange.id);
        let call = if exchange.is_custom {
            ToolCall::new(id.as_str(), "patch", json!({"input": "x"}).to_string()).with_extras(
                ProviderExtras::new(
                    "openai_responses",
                    json!({"type": "custom"}).as_object().unwrap().clone(),
                ),
            )
        } else {
            ToolCall::new(id.as_str(), "add", "{\"a\":1}")
        };
        let outcome = match &exchange.outcome {
            Ok(contents) => Ok(ToolOutput::new(contents.clone())),
            Err(text) => Err(ToolError::new(ErrorKind::Failed, text.as_str())),
        };
        let result = ToolResult::of(&call, outcome);
        (call.with_index(index), result)
    });
    pairs.unzip()
}

fn texts(json: &Value) -> String {
    match json {
        Value::String(text) => format!("{text}\n"),
        Value::Array(list) => list.iter().map(texts).collect(),
        Value::Object(fields) => fields.values().map(texts).collect(),
        _ => String::new(),
    }
}

/// Checks that each content of the results is sent, or reported as a loss.
fn check_contents(format: ApiFormat, results: &[ToolResult]) -> TestCaseResult {
    let names = WireNames::default();
    let writer = format.history(&names);
    let sent = texts(&writer.encode_results(results).into());
    let losses = writer.result_losses(results);
    for (index, result) in results.iter().enumerate() {
        let Ok(output) = &result.outcome else {
            let message = result.outcome.as_ref().err().map_or("", ToolError::message);
            prop_assert!(sent.contains(message), "{}: {} in {}", format, message, sent);
            continue;
        };
        for (at, content) in output.content().iter().enumerate() {
            let is_sent = match content {
                // Gemini names media items between the lines.
                Content::Text(text) => text.lines().all(|line| sent.contains(line)),
                Content::Json(json) => {
                    sent.contains(json.to_value().unwrap()["said"].as_str().unwrap_or_default())
                }
                Content::Image(media) | Content::Audio(media) | Content::File(media) => {
                    let (MediaData::Base64(data) | MediaData::Url(data)) = &media.data;
                    sent.contains(data.as_str())
                }
                _ => true,
            };
            let is_lost = losses.iter().any(|loss| loss.path == format!("/{index}/{at}"));
            prop_assert!(
                is_sent || is_lost,
                "{}: {:?} is in neither {} nor the losses",
                format,
                content,
                sent
            );
        }
    }
    Ok(())
}

fn write(format: ApiFormat, turns: &[(String, Vec<ToolCall>, Vec<ToolResult>)]) -> Vec<Value> {
    let names = WireNames::default();
    let writer = format.history(&names);
    let written = turns.iter().flat_map(|(said, calls, results)| {
        let mut messages = vec![writer.encode_user(&[Content::text("Go on.")])];
        messages.extend(writer.encode_assistant(said, calls));
        messages.extend(writer.encode_results(results));
        messages
    });
    written.collect()
}

/// Checks that each call of a history has one result, and the other way round.
fn check_pairs(format: ApiFormat, history: &[Value], count: usize) -> TestCaseResult {
    if let Some(reader) = RequestFormat::of(format) {
        let results = reader.parse_results(&json!(history)).unwrap();
        prop_assert_eq!(results.len(), count, "{}: {:?}", format, history);
    }
    // Bedrock requires alternating roles, so a repair joins the results and the next input.
    if format != ApiFormat::Bedrock {
        prop_assert_eq!(format.repair_history(history.to_vec()), history, "{}", format);
    }
    Ok(())
}

proptest! {
    // Each case writes 36 histories.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.div_ceil(4), ..ProptestConfig::default() })]

    #[test]
    fn a_conversation_moves_to_any_other_api(
        turns in vec(("[a-z]{4,9}", exchanges()), 1..4)
    ) {
        let turns: Vec<_> = turns.iter().enumerate().map(|(number, (said, exchanges))| {
            let (calls, results) = turn(number, exchanges);
            (said.clone(), calls, results)
        }).collect();
        let count = turns.iter().map(|(_, calls, _)| calls.len()).sum();
        for &reader in RequestFormat::ALL {
            let from = reader.api();
            let names = WireNames::default();
            let writer = from.history(&names);
            let history = write(from, &turns);
            check_pairs(from, &history, count)?;
            let mut received = Vec::new();
            for (said, calls, results) in &turns {
                check_contents(from, results)?;
                let message = json!(writer.encode_assistant(said, calls));
                let message = message.get(0).filter(|_| message.as_array().is_some_and(|list| list.len() == 1));
                let message = message.cloned().unwrap_or_else(|| json!(writer.encode_assistant(said, calls)));
                let read = from.parse_calls(&message).unwrap();
                prop_assert_eq!(read.len(), calls.len(), "{}: {}", from, message);
                // Some APIs need the calls to find the ids of results.
                let both: Vec<Value> =
                    [writer.encode_assistant(said, calls), writer.encode_results(results)].concat();
                let results = reader.parse_results(&json!(both)).unwrap();
                let ids = |ids: Vec<&str>| ids.join(" ");
                prop_assert_eq!(
                    ids(read.iter().map(|call| call.id.as_str()).collect()),
                    ids(results.iter().map(|result| result.call_id.as_str()).collect()), "{}", from
                );
                received.push((said.clone(), read, results));
            }
            for &to in ApiFormat::ALL {
                check_pairs(to, &write(to, &received), count)?;
                for (_, _, results) in &received {
                    check_contents(to, results)?;
                }
            }
        }
    }
}
