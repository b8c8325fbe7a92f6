//! Random JSON and checks for every format, used by the tests of all codecs.

mod accepted;
mod anthropic;
mod client_tools;
mod contents;
mod cut;
mod deviations;
mod histories;
mod hosted;
mod pairs;
mod prompt_cache;
mod properties;
mod received;
mod references;
mod reports;
mod responses;
mod sampling;
mod streamed;
mod typed_answers;
mod unknown;

use crate::translate::RequestFormat;
use crate::{ApiFormat, StreamEvent};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;
use serde_json::Value;
use std::collections::HashSet;
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;

/// Returns random JSON, with field names and strings of `words`, without which a codec would recognise
/// nothing.
pub(crate) fn any_json(words: &'static str) -> impl Strategy<Value = Value> {
    let word = select(words.split_whitespace().chain([""]).collect::<Vec<_>>());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3u8).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // Not every JSON parser preserves the last bit of a number, so numbers are multiples of 1/8.
        any::<i16>().prop_map(|number| Value::from(f64::from(number) / 8.0)),
        word.clone().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(8, 64, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            btree_map(word.clone(), inner, 0..6).prop_map(|fields| {
                fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
        ]
    })
}

/// Splits the text at the characters whose indices, modulo 16, are in `cuts`.
pub(crate) fn pieces(text: &str, cuts: &[usize]) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for (at, c) in text.chars().enumerate() {
        if cuts.contains(&(at % 16)) {
            pieces.push(String::new());
        }
        pieces.last_mut().unwrap().push(c);
    }
    pieces
}

pub(crate) fn yielded_calls<'a>(events: impl IntoIterator<Item = &'a StreamEvent>) -> Vec<ToolCall> {
    let call = |event: &StreamEvent| match event {
        StreamEvent::Call(call) => Some(call.clone()),
        _ => None,
    };
    events.into_iter().filter_map(call).collect()
}

/// Checks that no parser panics on `payload`.
///
/// Its calls can be parsed if and only if its messages can be.
pub(crate) fn check_payload(format: ApiFormat, payload: &Value) -> TestCaseResult {
    if let Some(reader) = RequestFormat::of(format) {
        let _ = reader.parse_definitions(payload);
        let _ = reader.hosted_tools(payload);
        let _ = reader.parse_results(payload);
        let _ = payload.as_object().map(|request| reader.parse_tool_config(request, &WireNames::default()));
    }
    prop_assert_eq!(format.parse_calls(payload).is_ok(), format.assistant_messages(payload).is_ok());
    Ok(())
}

/// Checks that encoded calls are parsed as the same calls, with legal names.
pub(crate) fn check_round_trip(format: ApiFormat, mut calls: Vec<ToolCall>) -> TestCaseResult {
    // Equal ids within a turn are told apart on purpose.
    let mut ids = HashSet::new();
    calls.retain(|call| ids.insert(call.id.as_str().to_owned()));
    let names = WireNames::new(format.name_rule(), calls.iter().map(|call| call.name.as_str()));
    let payload = match <[Value; 1]>::try_from(format.encode_calls(&calls, &names)) {
        Ok([message]) => message,
        Err(messages) => messages.into(),
    };
    let mut parsed = format.parse_calls(&payload).unwrap();
    for call in &mut parsed {
        prop_assert!(format.name_rule().accepts(&call.name));
        call.name = names.unspell(&call.name).to_owned();
    }
    prop_assert_eq!(parsed, calls);
    Ok(())
}
