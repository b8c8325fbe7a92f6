//! Property tests of random payloads and calls, and of streams that are cut off at any point.

use crate::apis::anthropic::FACTS;
use crate::facts::ApiFormat::Anthropic;
use crate::reading::StreamEnd;
use crate::stream::StreamEvent;
use crate::tests::{any_json, check_payload, pieces};
use crate::translate::RequestFormat;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::{HashSet, VecDeque};
use toolkit_core::ToolResult;
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;
use toolkit_core::output::ToolOutput;

fn json() -> impl Strategy<Value = Value> {
    any_json(
        r#"type role content name id input error message messages tool_calls tools tool_choice text tool_use
        tool_result tool_use_id is_error source data url base64 thinking signature assistant user
        input_schema description strict custom auto any disable_parallel_tool_use index delta content_block
        content_block_start content_block_delta content_block_stop message_start message_delta message_stop
        text_delta input_json_delta partial_json usage {} {"a": call_0"#,
    )
}

fn input() -> impl Strategy<Value = Value> {
    btree_map(any::<String>(), json(), 0..4).prop_map(|input| Value::Object(input.into_iter().collect()))
}

fn block() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => ("[a-z]{1,8}", "[a-zA-Z0-9_-]{1,20}", input())
            .prop_map(|(id, name, input)| json!({"type": "tool_use", "id": id, "name": name, "input": input})),
        1 => any::<String>().prop_map(|text| json!({"type": "text", "text": text})),
        1 => (any::<String>(), "[a-z]{0,5}")
            .prop_map(|(text, sign)| json!({"type": "thinking", "thinking": text, "signature": sign})),
    ]
}

/// Generates a message with blocks of any shape, of which the first has a known type.
fn message() -> impl Strategy<Value = Value> {
    vec(prop_oneof![block(), json()], 0..6).prop_map(|mut blocks| {
        blocks.insert(0, json!({"type": "text", "text": "hm"}));
        json!({"role": "assistant", "content": blocks})
    })
}

/// Generates a message of a history, with only three ids, so that some calls and results match.
fn turn() -> impl Strategy<Value = Value> {
    let id = proptest::sample::select(vec!["a", "b", "c"]);
    let call = id.clone().prop_map(|id| json!({"type": "tool_use", "id": id, "name": "f", "input": {}}));
    let answer = id.prop_map(|id| json!({"type": "tool_result", "tool_use_id": id, "content": "1"}));
    let text = || Just(json!({"type": "text", "text": "hm"}));
    prop_oneof![
        vec(prop_oneof![call, text()], 1..4)
            .prop_map(|content| json!({"role": "assistant", "content": content})),
        vec(prop_oneof![answer, text()], 1..4)
            .prop_map(|content| json!({"role": "user", "content": content})),
        Just(json!({"role": "user", "content": "go on"})),
    ]
}

fn call() -> impl Strategy<Value = ToolCall> {
    let id = any::<String>().prop_filter("an id", |id| !id.is_empty());
    (id, "[a-zA-Z0-9_.-]{1,150}", input())
        .prop_map(|(id, name, input)| ToolCall::new(id, name, input.to_string()))
}

/// Returns the events of one content block, with its text split at `cuts`.
fn events_of(index: usize, block: &Value, cuts: &[usize], ends: bool) -> VecDeque<Value> {
    let mut start = block.clone();
    let (field, delta, piece) = match block["type"].as_str().unwrap() {
        "text" => ("text", "text_delta", "text"),
        "thinking" => ("thinking", "thinking_delta", "thinking"),
        _ => ("input", "input_json_delta", "partial_json"),
    };
    let whole = start[field].take();
    let text = whole.as_str().map_or_else(|| whole.to_string(), ToOwned::to_owned);
    if field != "input" {
        start[field] = "".into();
    }
    let mut events =
        VecDeque::from([json!({"type": "content_block_start", "index": index, "content_block": start})]);
    events.extend(pieces(&text, cuts).into_iter().map(
        |text| json!({"type": "content_block_delta", "index": index, "delta": {"type": delta, piece: text}}),
    ));
    if ends {
        events.push_back(json!({"type": "content_block_stop", "index": index}));
    }
    events
}

/// Pushes the events into a stream.
///
/// Returns the yielded calls and the end.
fn play<'a>(events: impl IntoIterator<Item = &'a Value>) -> (Vec<ToolCall>, StreamEnd) {
    let mut stream = Anthropic.accumulator();
    let mut brought: Vec<StreamEvent> =
        events.into_iter().flat_map(|event| stream.push(event).unwrap_or_default()).collect();
    let end = stream.finish();
    brought.extend(end.events.iter().cloned());
    let calls = brought.into_iter().filter_map(|event| match event {
        StreamEvent::Call(call) => Some(call),
        _ => None,
    });
    (calls.collect(), end)
}

fn sorted(mut calls: Vec<ToolCall>) -> Vec<ToolCall> {
    calls.sort_by_key(|call| (call.id.clone(), format!("{call:?}")));
    calls
}

/// Returns whether one user message with all results follows each message with calls.
fn is_sendable(history: &[Value]) -> bool {
    let ids = |message: &Value, kind: &str, id: &str| -> Vec<String> {
        let blocks = message["content"].as_array().into_iter().flatten();
        let blocks = blocks.filter(|block| block["type"] == kind);
        blocks.map(|block| block[id].as_str().unwrap().to_owned()).collect()
    };
    let mut waiting: Vec<String> = Vec::new();
    for message in history {
        for id in ids(message, "tool_result", "tool_use_id") {
            match waiting.iter().position(|waiting| *waiting == id) {
                Some(at) => waiting.remove(at),
                None => return false,
            };
        }
        if message["role"] == "assistant" {
            if !waiting.is_empty() {
                return false;
            }
            waiting = ids(message, "tool_use", "id");
        }
    }
    waiting.is_empty()
}

proptest! {
    #[test]
    fn calls_round_trip(calls in vec(call(), 0..6)) {
        let names = WireNames::new(FACTS.tools.names, calls.iter().map(|call| call.name.as_str()));
        let history = Anthropic.encode_calls(&calls, &names);
        let parsed = history.first().map(|message| Anthropic.parse_calls(message).unwrap());
        let parsed = parsed.unwrap_or_default();
        prop_assert_eq!(parsed.len(), calls.len());
        let results: Vec<ToolResult> =
            calls.iter().map(|call| ToolResult::of(call, Ok(ToolOutput::text("1")))).collect();
        let answers = RequestFormat::Anthropic.parse_results(&json!(Anthropic.encode_results(&results))).unwrap();
        let mut ids = HashSet::new();
        for ((parsed, call), answer) in parsed.iter().zip(&calls).zip(answers) {
            prop_assert!(FACTS.ids.unwrap().rule.accepts(parsed.id.as_str()) && ids.insert(parsed.id.as_str()));
            prop_assert_eq!(&parsed.id, &answer.call_id);
            prop_assert_eq!(names.unspell(&parsed.name), &call.name);
            prop_assert_eq!(&parsed.arguments, &call.arguments);
        }
    }

    #[test]
    fn nothing_panics(payload in json(), more in vec(json(), 0..4)) {
        check_payload(Anthropic, &payload)?;
        let repaired = Anthropic.repair_history(more.clone());
        prop_assert_eq!(Anthropic.repair_history(repaired.clone()), repaired);
    }

    /// Each call has a different legal id.
    ///
    /// Writing the history again changes nothing.
    #[test]
    fn the_history_contains_every_call(message in message()) {
        let calls = Anthropic.parse_calls(&message).unwrap();
        let history = Anthropic.assistant_messages(&message).unwrap();
        let blocks = history[0]["content"].as_array().unwrap();
        let written: Vec<&Value> = blocks.iter().filter(|block| block["type"] == "tool_use").collect();
        prop_assert_eq!(written.len(), calls.len());
        let mut ids = HashSet::new();
        for (call, written) in calls.iter().zip(written) {
            let id = written["id"].as_str().unwrap();
            prop_assert!(FACTS.ids.unwrap().rule.accepts(id) && ids.insert(id));
            prop_assert!(!FACTS.ids.unwrap().rule.accepts(call.id.as_str()) || id.starts_with(&call.id.as_str()[..1]));
            prop_assert!(FACTS.tools.names.accepts(written["name"].as_str().unwrap()));
            prop_assert!(written["input"].is_object());
        }
        prop_assert_eq!(Anthropic.assistant_messages(&history[0]).unwrap(), history);
    }

    /// Neither the splits nor the order of interleaved blocks matter.
    #[test]
    fn a_message_streamed_in_pieces_is_the_same_message(
        blocks in vec(block(), 0..5),
        cuts in vec(0..16usize, 0..16),
        turns in vec(0..5usize, 0..64),
        ends in any::<bool>(),
    ) {
        let whole = json!({"type": "message", "role": "assistant", "content": blocks});
        let mut queues: Vec<VecDeque<Value>> = blocks
            .iter()
            .enumerate()
            .map(|(index, block)| events_of(index, block, &cuts, ends))
            .collect();
        let mut events = Vec::new();
        for turn in turns {
            events.extend(queues.get_mut(turn).and_then(VecDeque::pop_front));
        }
        events.extend(queues.into_iter().flatten());

        let (calls, end) = play(&events);
        prop_assert_eq!(&end.body, &whole);
        prop_assert_eq!(sorted(calls), sorted(Anthropic.parse_calls(&whole).unwrap()));
    }

    /// Every call is yielded once, and the message can be sent.
    #[test]
    fn a_stream_may_end_anywhere(blocks in vec(block(), 0..4), cuts in vec(0..16usize, 0..16), kept in 0..64usize) {
        let events: Vec<Value> = blocks
            .iter()
            .enumerate()
            .flat_map(|(index, block)| events_of(index, block, &cuts, true))
            .take(kept)
            .collect();
        let (calls, end) = play(&events);
        prop_assert_eq!(sorted(calls), sorted(Anthropic.parse_calls(&end.body).unwrap()));
        for message in Anthropic.assistant_messages(&end.body).unwrap() {
            for block in message["content"].as_array().unwrap() {
                prop_assert!(block["type"] != "tool_use" || block["input"].is_object());
            }
        }
    }

    /// Invalid events do not stop the stream, whose calls are those of the response.
    #[test]
    fn any_events_give_a_consistent_response(events in vec(any_event(), 0..12)) {
        let (calls, end) = play(&events);
        let parsed = Anthropic.parse_calls(&end.body).unwrap_or_default();
        prop_assert_eq!(sorted(calls), sorted(parsed));
    }

    #[test]
    fn repaired_histories_can_be_sent(history in vec(turn(), 0..8)) {
        let repaired = Anthropic.repair_history(history.clone());
        prop_assert!(is_sendable(&repaired), "{repaired:?}");
        prop_assert_eq!(Anthropic.repair_history(repaired.clone()), repaired);
    }
}

fn any_event() -> impl Strategy<Value = Value> {
    let kinds = ["content_block_start", "content_block_delta", "content_block_stop", "message_delta", "ping"];
    let deltas = ["text_delta", "input_json_delta", "thinking_delta", "signature_delta", "of_next_year"];
    let index = prop_oneof![Just(Value::Null), (0..3u64).prop_map(Value::from)];
    let delta = (proptest::sample::select(deltas.to_vec()), "[{}\":a1 ]{0,4}").prop_map(
        |(kind, text)| json!({"type": kind, "text": text, "partial_json": text, "thinking": text, "signature": text}),
    );
    let block = prop_oneof![block(), json()];
    (proptest::sample::select(kinds.to_vec()), index, block, delta).prop_map(|(kind, index, block, delta)| {
        let mut event = Map::from_iter([("type".to_owned(), kind.into()), ("index".to_owned(), index)]);
        event.insert("content_block".to_owned(), block);
        event.insert("delta".to_owned(), delta);
        event.into()
    })
}
