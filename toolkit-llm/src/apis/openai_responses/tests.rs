//! Property tests of random payloads, calls and streams.

use crate::apis::openai_responses::FACTS;
use crate::facts::ApiFormat::OpenAiResponses;
use crate::stream::StreamEvent;
use crate::tests::{any_json, check_payload, check_round_trip};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;

fn body(output: Value) -> Value {
    json!({"id": "resp_1", "object": "response", "status": "completed", "error": null, "output": output})
}

fn json() -> impl Strategy<Value = Value> {
    any_json(
        r#"output type function_call custom_tool_call message reasoning role assistant content summary name
        arguments input id call_id status namespace caller error object tools function custom parameters
        description format tool_choice allowed_tools mode auto function_call_output item item_id
        output_index delta response response.output_item.added response.output_item.done response.completed
        response.failed response.function_call_arguments.delta response.output_text.delta call_0 {} {"a":"#,
    )
}

fn any_call() -> impl Strategy<Value = Value> {
    (
        select(vec!["function_call", "custom_tool_call"]),
        btree_map(
            select(vec!["id", "call_id", "name", "arguments", "input", "namespace", "status"]),
            json(),
            0..6,
        ),
    )
        .prop_map(|(kind, fields)| {
            let mut item = json!({"type": kind});
            for (name, value) in fields {
                item[name] = value;
            }
            item
        })
}

fn arguments() -> impl Strategy<Value = String> {
    prop_oneof![
        btree_map(any::<String>(), json(), 0..4)
            .prop_map(|members| Value::Object(members.into_iter().collect()).to_string()),
        Just(" { \"a\" : 1 } ".to_owned()),
    ]
}

fn call() -> impl Strategy<Value = ToolCall> {
    ("[a-zA-Z0-9_-]{1,64}", "[a-zA-Z0-9_.-]{1,90}", arguments())
        .prop_map(|(id, name, arguments)| ToolCall::new(id, name, arguments))
}

/// Generates function calls, custom tool calls, and other items of a response.
fn items() -> impl Strategy<Value = Vec<Value>> {
    let item = prop_oneof![
        3 => arguments().prop_map(|text| json!({"type": "function_call", "name": "f", "arguments": text, "status": "completed"})),
        1 => any::<String>().prop_map(|text| json!({"type": "custom_tool_call", "name": "p", "input": text})),
        1 => any::<String>().prop_map(|text| json!({"type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]})),
        1 => any::<String>().prop_map(|text| json!({"type": "reasoning", "summary": [], "encrypted_content": text})),
    ];
    vec(item, 0..6).prop_map(|mut items| {
        for (number, item) in items.iter_mut().enumerate() {
            item["id"] = json!(format!("item_{number}"));
            if item["name"].is_string() {
                item["call_id"] = json!(format!("call_{number}"));
            }
        }
        items
    })
}

fn into_call(event: StreamEvent) -> Option<ToolCall> {
    match event {
        StreamEvent::Call(call) => Some(call),
        _ => None,
    }
}

/// Generates an event about one of a few items, with missing, repeated and contradictory fields.
fn any_event() -> impl Strategy<Value = Value> {
    let id = || proptest::option::of(select(vec!["x", "y"]));
    let place = || proptest::option::of(0..2u8);
    let item =
        (id(), id(), select(vec!["f", "g"]), select(vec!["function_call", "custom_tool_call", "message"]))
            .prop_map(|(id, call, name, kind)| {
                let mut item = json!({"type": kind, "name": name});
                for (field, value) in [("id", id), ("call_id", call)] {
                    if let Some(value) = value {
                        item[field] = json!(value);
                    }
                }
                item
            });
    let about = |(mut event, index): (Value, Option<u8>)| {
        if let Some(index) = index {
            event["output_index"] = json!(index);
        }
        event
    };
    let told = (select(vec!["added", "done"]), item.clone())
        .prop_map(|(name, item)| json!({"type": format!("response.output_item.{name}"), "item": item}));
    let delta = id().prop_map(
        |id| json!({"type": "response.function_call_arguments.delta", "item_id": id, "delta": "{}"}),
    );
    let end = vec(item, 0..3)
        .prop_map(|output| json!({"type": "response.completed", "response": {"output": output}}));
    prop_oneof![
        4 => (told, place()).prop_map(about),
        2 => (delta, place()).prop_map(about),
        1 => end,
        1 => json().prop_map(|value| json!({"type": "response.output_item.done", "item": value})),
    ]
}

/// Whether a server sends indices, the ends of items, and the end of the response.
type Habits = (bool, bool, bool);

/// Returns the events of one item, with its text in fragments.
fn item_events(index: usize, item: &Value, cuts: &[Index], (indices, ends, _): Habits) -> Vec<Value> {
    let field = if item["type"] == "function_call" { "arguments" } else { "input" };
    let name = if field == "input" { "custom_tool_call_input" } else { "function_call_arguments" };
    let mut begun = item.clone();
    let mut events = Vec::new();
    if let Some(text) = item[field].as_str() {
        begun[field] = json!("");
        let chars: Vec<char> = text.chars().collect();
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(chars.len() + 1)).collect();
        places.extend([0, chars.len()]);
        places.sort_unstable();
        events.extend(places.windows(2).map(|place| {
            let fragment: String = chars[place[0]..place[1]].iter().collect();
            json!({"type": format!("response.{name}.delta"), "item_id": item["id"], "delta": fragment})
        }));
    }
    events.insert(0, json!({"type": "response.output_item.added", "item": begun}));
    // Free text would count as cut off if its end were not announced.
    if ends || field == "input" {
        events.push(json!({"type": "response.output_item.done", "item": item}));
    }
    for event in &mut events {
        if indices {
            event["output_index"] = json!(index);
        }
    }
    events
}

proptest! {
    #[test]
    fn calls_round_trip(calls in vec(call(), 0..6)) {
        check_round_trip(OpenAiResponses, calls)?;
    }

    #[test]
    fn nothing_panics(payload in json(), history in vec(json(), 0..6)) {
        check_payload(OpenAiResponses, &payload)?;
        let repaired = OpenAiResponses.repair_history(history);
        prop_assert_eq!(OpenAiResponses.repair_history(repaired.clone()), repaired);
    }

    #[test]
    fn every_call_is_yielded_once(events in vec(any_event(), 0..8)) {
        let mut stream = OpenAiResponses.accumulator();
        let brought: Vec<_> = events.iter().map(|event| stream.push(event)).collect();
        let end = stream.finish();
        let brought = brought.into_iter().flatten().flatten().chain(end.events);
        let mut yielded: Vec<ToolCall> = brought.filter_map(into_call).collect();
        let mut whole = OpenAiResponses.parse_calls(&end.body).unwrap_or_default();
        for calls in [&mut yielded, &mut whole] {
            calls.sort_by_key(|call| format!("{call:?}"));
        }
        prop_assert_eq!(yielded, whole);
    }

    /// The history has all parsed calls, with legal names and arguments.
    #[test]
    fn the_history_contains_every_call(items in vec(any_call(), 1..6)) {
        let payload = body(items.into());
        let calls = OpenAiResponses.parse_calls(&payload).unwrap();
        let history = OpenAiResponses.assistant_messages(&payload).unwrap();
        prop_assert!(calls.iter().all(|call| !call.name.is_empty()));
        prop_assert_eq!(history.len(), calls.len());
        let encoded = OpenAiResponses.encode_calls(&calls, &WireNames::default());
        for (written, encoded) in history.iter().zip(&encoded) {
            prop_assert_eq!(&written["call_id"], &encoded["call_id"]);
            prop_assert!(FACTS.tools.names.accepts(written["call_id"].as_str().unwrap()));
            prop_assert!(FACTS.tools.names.accepts(written["name"].as_str().unwrap()));
            if written["type"] == "custom_tool_call" {
                prop_assert!(written["input"].is_string());
            } else {
                let arguments = written["arguments"].as_str().unwrap();
                prop_assert!(serde_json::from_str::<Map<String, Value>>(arguments).is_ok());
            }
        }
        prop_assert_eq!(OpenAiResponses.assistant_messages(&history.clone().into()).unwrap(), history);
    }

    /// Each call is yielded once, and the response is the same.
    ///
    /// Arguments are split, items are interleaved, and optional events are missing.
    #[test]
    fn a_stream_gives_the_same_response_as_one_body(
        items in items(),
        cuts in vec(any::<Index>(), 0..4),
        order in vec(any::<Index>(), 60),
        habits in any::<Habits>(),
    ) {
        let mut queues: Vec<_> = items.iter().enumerate()
            .map(|(index, item)| item_events(index, item, &cuts, habits).into_iter())
            .collect();
        let mut events: Vec<Value> = queues.iter_mut().filter_map(Iterator::next).collect();
        let mut order = order.iter().cycle();
        while !queues.is_empty() {
            let picked = order.next().unwrap().index(queues.len());
            match queues[picked].next() {
                Some(event) => events.push(event),
                None => drop(queues.remove(picked)),
            }
        }
        let response = body(items.into());
        if habits.2 {
            events.push(json!({"type": "response.completed", "response": response}));
        }
        let mut stream = OpenAiResponses.accumulator();
        let mut yielded: Vec<StreamEvent> =
            events.iter().flat_map(|event| stream.push(event).unwrap()).collect();
        yielded.extend(stream.push_bytes(b"data: [DONE]\n\n").into_iter().flatten());
        let end = stream.finish();
        yielded.extend(end.events);
        let mut yielded: Vec<ToolCall> = yielded.into_iter().filter_map(into_call).collect();
        let whole = OpenAiResponses.parse_calls(&response).unwrap();
        yielded.sort_by_key(|call| whole.iter().position(|other| other.id == call.id));
        prop_assert_eq!(&yielded, &whole);
        prop_assert_eq!(OpenAiResponses.parse_calls(&end.body).unwrap(), whole);
        if habits.2 {
            prop_assert_eq!(end.body, response);
        } else if habits.1 {
            prop_assert_eq!(&end.body["output"], &response["output"]);
        }
    }
}
