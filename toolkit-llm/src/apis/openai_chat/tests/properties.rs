//! Property tests of random payloads, calls and streams.

use crate::apis::openai_chat::FACTS;
use crate::facts::ApiFormat::OpenAiChat;
use crate::tests::{any_json, check_payload, check_round_trip, yielded_calls};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;

fn random_json() -> impl Strategy<Value = Value> {
    any_json(
        r#"choices message role content tool_calls function_call function custom name arguments input id index
        type error object allowed_tools mode tools parameters description auto required assistant call_0 {}
        {"a":"#,
    )
}

fn message() -> impl Strategy<Value = Value> {
    vec(random_json(), 0..6)
        .prop_map(|calls| Value::from(Map::from_iter([("tool_calls".to_owned(), calls.into())])))
}

fn call() -> impl Strategy<Value = ToolCall> {
    let arguments = prop_oneof![
        btree_map(any::<String>(), random_json(), 0..4)
            .prop_map(|members| Value::Object(members.into_iter().collect()).to_string()),
        Just(" { \"a\" : 1 } ".to_owned()),
    ];
    (any::<String>().prop_filter("an id", |id| !id.is_empty()), "[a-zA-Z0-9_.-]{1,90}", arguments)
        .prop_map(|(id, name, arguments)| ToolCall::new(id, name, arguments))
}

proptest! {
    #[test]
    fn calls_round_trip(calls in vec(call(), 0..6)) {
        check_round_trip(OpenAiChat, calls)?;
    }

    #[test]
    fn nothing_panics(payload in random_json()) {
        check_payload(OpenAiChat, &payload)?;
    }

    /// The history has the same ids in the same order, with legal names and arguments.
    #[test]
    fn the_history_contains_every_call(message in message()) {
        let calls = OpenAiChat.parse_calls(&message).unwrap();
        prop_assert!(calls.iter().all(|call| !call.name.is_empty()));

        let history = OpenAiChat.assistant_messages(&message).unwrap();
        let written = history[0]["tool_calls"].as_array().cloned().unwrap_or_default();
        prop_assert_eq!(written.len(), calls.len());
        for (call, written) in calls.iter().zip(&written) {
            prop_assert_eq!(&written["id"], call.id.as_str());
            let part = &written[written["type"].as_str().unwrap()];
            prop_assert!(FACTS.tools.names.accepts(part["name"].as_str().unwrap()));
            if written["type"] == "custom" {
                prop_assert!(part["input"].is_string());
            } else {
                let arguments = part["arguments"].as_str().unwrap();
                prop_assert!(serde_json::from_str::<Map<String, Value>>(arguments).is_ok());
            }
        }
        prop_assert_eq!(OpenAiChat.assistant_messages(&history[0]).unwrap(), history);
    }
}

fn chunk(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

fn cut(text: &str, places: &[prop::sample::Index]) -> Vec<String> {
    let mut bounds: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let mut cuts: Vec<usize> = places.iter().map(|place| *place.get(&bounds)).collect();
    cuts.extend([0, text.len()]);
    cuts.sort_unstable();
    bounds.clear();
    cuts.windows(2).map(|ends| text[ends[0]..ends[1]].to_owned()).collect()
}

proptest! {
    /// The stream has these calls regardless of how the response is split and its calls are interleaved.
    #[test]
    fn a_stream_has_the_calls_of_the_complete_response(
        calls in vec((call(), vec(any::<prop::sample::Index>(), 0..5)), 0..5),
        order in vec(any::<prop::sample::Index>(), 40),
        is_interleaved in any::<bool>(),
    ) {
        let names = WireNames::new(FACTS.tools.names, calls.iter().map(|(call, _)| call.name.as_str()));
        let mut calls = calls;
        for (at, (call, _)) in calls.iter_mut().enumerate() {
            call.id = format!("call_{at}").into();
            // White space after a complete object may arrive after the call was returned.
            call.arguments = call.arguments.as_str().trim_end().into();
        }
        let all: Vec<ToolCall> = calls.iter().map(|(call, _)| call.clone()).collect();
        let whole = OpenAiChat.encode_calls(&all, &names).remove(0);
        let mut pieces: Vec<std::collections::VecDeque<Value>> = Vec::new();
        for (at, call) in whole["tool_calls"].as_array().into_iter().flatten().enumerate() {
            let text = call["function"]["arguments"].as_str().unwrap();
            let mut fragments = cut(text, &calls[at].1).into_iter();
            let mut first = call.clone();
            first["index"] = at.into();
            first["function"]["arguments"] = fragments.next().unwrap().into();
            let more = fragments.map(|text| json!({"index": at, "function": {"arguments": text}}));
            pieces.push([first].into_iter().chain(more).collect());
        }
        let mut stream = OpenAiChat.accumulator();
        let mut events = Vec::new();
        let mut order = order.iter().cycle();
        while pieces.iter().any(|pieces| !pieces.is_empty()) {
            let open: Vec<usize> = (0..pieces.len()).filter(|at| !pieces[*at].is_empty()).collect();
            let at = if is_interleaved { *order.next().unwrap().get(&open) } else { open[0] };
            let piece = pieces[at].pop_front();
            events.extend(stream.push(&chunk(json!({"tool_calls": [piece]}))).unwrap());
        }
        let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
        events.extend(stream.push(&end).unwrap());
        let end = stream.finish();
        let mut yielded = yielded_calls(events.iter().chain(&end.events));
        yielded.sort_by_key(|call| call.id.as_str().to_owned());
        let expected = OpenAiChat.parse_calls(&whole).unwrap();
        prop_assert_eq!(&yielded, &expected);
        prop_assert_eq!(OpenAiChat.parse_calls(&end.body).unwrap(), expected);
    }

    #[test]
    fn any_stream_yields_each_call_once(deltas in vec(prop_oneof![random_json(), message()], 0..8)) {
        let mut stream = OpenAiChat.accumulator();
        let mut events = Vec::new();
        for delta in deltas {
            events.extend(stream.push(&chunk(delta)).unwrap_or_default());
        }
        let end = stream.finish();
        let mut yielded: Vec<_> = yielded_calls(events.iter().chain(&end.events))
            .iter().map(|call| (call.id.to_string(), call.name.clone(), call.arguments.to_string())).collect();
        let parsed = OpenAiChat.parse_calls(&end.body).unwrap_or_default();
        let mut parsed: Vec<_> = parsed
            .iter().map(|call| (call.id.to_string(), call.name.clone(), call.arguments.to_string())).collect();
        yielded.sort();
        parsed.sort();
        prop_assert_eq!(yielded, parsed);
    }

    #[test]
    fn any_history_is_repaired_once(history in vec(random_json(), 0..8)) {
        let repaired = OpenAiChat.repair_history(history);
        prop_assert_eq!(OpenAiChat.repair_history(repaired.clone()), repaired);
    }
}
