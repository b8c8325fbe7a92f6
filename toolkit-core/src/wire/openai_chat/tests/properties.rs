//! What holds for every payload and every call.

use crate::call::ToolCall;
use crate::name::WireNames;
use crate::wire::ApiFormat::OpenAiChat;
use crate::wire::openai_chat::NAMES;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value};

/// Any JSON. Keys and texts are often those that mean something here, or nothing would be reached.
fn json() -> impl Strategy<Value = Value> {
    let word = proptest::sample::select(vec![
        "choices",
        "message",
        "role",
        "content",
        "tool_calls",
        "function_call",
        "function",
        "custom",
        "name",
        "arguments",
        "input",
        "id",
        "index",
        "type",
        "error",
        "object",
        "allowed_tools",
        "mode",
        "tools",
        "parameters",
        "description",
        "auto",
        "required",
        "assistant",
        "call_0",
        "{}",
        "{\"a\":",
        "",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(8, 64, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            btree_map(word.clone(), inner, 0..6).prop_map(|fields| fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

/// A message with calls of any shape.
fn message() -> impl Strategy<Value = Value> {
    vec(json(), 0..6).prop_map(|calls| Value::from(Map::from_iter([("tool_calls".to_owned(), calls.into())])))
}

fn call() -> impl Strategy<Value = ToolCall> {
    let arguments = prop_oneof![
        btree_map(any::<String>(), json(), 0..4)
            .prop_map(|members| Value::Object(members.into_iter().collect()).to_string()),
        Just(" { \"a\" : 1 } ".to_owned()),
    ];
    (any::<String>().prop_filter("an id", |id| !id.is_empty()), "[a-zA-Z0-9_.-]{1,90}", arguments)
        .prop_map(|(id, name, arguments)| ToolCall::new(id, name, arguments))
}

proptest! {
    #[test]
    fn calls_come_back_as_they_went(calls in vec(call(), 0..6)) {
        let names = WireNames::new(NAMES, calls.iter().map(|call| call.name.as_str()));
        let mut parsed = OpenAiChat.parse_calls(&OpenAiChat.encode_calls(&calls, &names)[0]).unwrap();
        for call in &mut parsed {
            prop_assert!(NAMES.accepts(&call.name));
            call.name = names.unspell(&call.name).to_owned();
        }
        prop_assert_eq!(parsed, calls);
    }

    #[test]
    fn nothing_panics(payload in json()) {
        let names = WireNames::default();
        let _ = OpenAiChat.parse_definitions(&payload);
        let _ = payload.as_object().map(|request| OpenAiChat.parse_tool_use(request, &names));
        let calls = OpenAiChat.parse_calls(&payload);
        let messages = OpenAiChat.assistant_messages(&payload);
        prop_assert_eq!(calls.is_ok(), messages.is_ok());
    }

    /// Every element of `tool_calls` gives one call, and the history has the same ids in the same
    /// order, with names and arguments that a service accepts.
    #[test]
    fn the_history_fits_the_calls(message in message()) {
        let calls = OpenAiChat.parse_calls(&message).unwrap();
        prop_assert_eq!(calls.len(), message["tool_calls"].as_array().unwrap().len());

        let history = OpenAiChat.assistant_messages(&message).unwrap();
        let written = history[0]["tool_calls"].as_array().cloned().unwrap_or_default();
        prop_assert_eq!(written.len(), calls.len());
        for (call, written) in calls.iter().zip(&written) {
            prop_assert_eq!(&written["id"], call.id.as_str());
            let part = &written[written["type"].as_str().unwrap()];
            prop_assert!(NAMES.accepts(part["name"].as_str().unwrap()));
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
