//! Tests of the events for pieces of arguments.

use crate::facts::ApiFormat;
use crate::stream::StreamEvent;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The formats of providers that stream arguments as text.
const FORMATS: [ApiFormat; 6] = [
    ApiFormat::OpenAiChat,
    ApiFormat::OpenAiResponses,
    ApiFormat::Anthropic,
    ApiFormat::Bedrock,
    ApiFormat::Cohere,
    ApiFormat::GeminiInteractions,
];

/// Returns a response with one call, whose arguments are `pieces`.
fn stream(format: ApiFormat, pieces: &[String]) -> Vec<Value> {
    let each = |event: &dyn Fn(&String) -> Value| pieces.iter().map(event).collect::<Vec<_>>();
    let (begin, middle, end) = match format {
        ApiFormat::OpenAiChat => {
            let choice = |call: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
            (
                vec![choice(json!({"index": 0, "id": "a", "function": {"name": "add", "arguments": ""}}))],
                each(&|piece| choice(json!({"index": 0, "function": {"arguments": piece}}))),
                vec![json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})],
            )
        }
        ApiFormat::OpenAiResponses => {
            let item = |arguments: &str| json!({"type": "function_call", "id": "i", "call_id": "a", "name": "add", "arguments": arguments});
            (
                vec![json!({"type": "response.output_item.added", "output_index": 0, "item": item("")})],
                each(&|piece| {
                    json!({"type": "response.function_call_arguments.delta", "item_id": "i", "output_index": 0,
                        "delta": piece})
                }),
                vec![
                    json!({"type": "response.function_call_arguments.done", "item_id": "i", "output_index": 0,
                        "arguments": pieces.concat()}),
                    json!({"type": "response.output_item.done", "output_index": 0, "item": item(&pieces.concat())}),
                    json!({"type": "response.completed", "response": {"id": "r", "status": "completed"}}),
                ],
            )
        }
        ApiFormat::Anthropic => (
            vec![json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "tool_use", "id": "a", "name": "add", "input": {}}})],
            each(&|piece| {
                json!({"type": "content_block_delta", "index": 0,
                    "delta": {"type": "input_json_delta", "partial_json": piece}})
            }),
            vec![
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            ],
        ),
        ApiFormat::Bedrock => (
            vec![json!({"contentBlockStart": {"contentBlockIndex": 0,
                "start": {"toolUse": {"toolUseId": "a", "name": "add"}}}})],
            each(
                &|piece| json!({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": piece}}}}),
            ),
            vec![
                json!({"contentBlockStop": {"contentBlockIndex": 0}}),
                json!({"messageStop": {"stopReason": "tool_use"}}),
            ],
        ),
        ApiFormat::Cohere => {
            let message = |kind: &str, call: Value| json!({"type": kind, "index": 0, "delta": {"message": {"tool_calls": call}}});
            (
                vec![message(
                    "tool-call-start",
                    json!({"id": "a", "type": "function", "function": {"name": "add", "arguments": ""}}),
                )],
                each(&|piece| message("tool-call-delta", json!({"function": {"arguments": piece}}))),
                vec![
                    json!({"type": "tool-call-end", "index": 0}),
                    json!({"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}}),
                ],
            )
        }
        _ => (
            vec![json!({"event_type": "step.start", "index": 0,
                "step": {"type": "function_call", "id": "a", "name": "add"}})],
            each(&|piece| {
                json!({"event_type": "step.delta", "index": 0,
                    "delta": {"type": "arguments_delta", "arguments": piece}})
            }),
            vec![
                json!({"event_type": "step.stop", "index": 0}),
                json!({"event_type": "interaction.completed", "interaction": {"status": "requires_action"}}),
            ],
        ),
    };
    begin.into_iter().chain(middle).chain(end).collect()
}

fn events(format: ApiFormat, chunks: &[Value], has_pieces: bool) -> Vec<StreamEvent> {
    let mut stream = format.accumulator();
    if has_pieces {
        stream = stream.with_argument_events();
    }
    let mut events: Vec<StreamEvent> =
        chunks.iter().flat_map(|chunk| stream.push(chunk).expect("a chunk")).collect();
    events.extend(stream.finish().events);
    events
}

/// Returns the pieces, and checks that they come between the start and the end of the call.
fn pieces(format: ApiFormat, chunks: &[Value]) -> Vec<String> {
    let found = events(format, chunks, true);
    let without: Vec<_> =
        found.iter().filter(|event| !matches!(event, StreamEvent::Arguments { .. })).cloned().collect();
    assert_eq!(without, events(format, chunks, false), "{format:?}");
    let [StreamEvent::CallStarted { .. }, middle @ .., StreamEvent::Call(_)] = found.as_slice() else {
        panic!("{format:?}: {found:?}")
    };
    let pieces = middle.iter().map(|event| match event {
        StreamEvent::Arguments { id, piece } if id == "a" => piece.clone(),
        event => panic!("{format:?}: {event:?}"),
    });
    pieces.collect()
}

fn arguments() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just("null".to_owned()),
        any::<i32>().prop_map(|number| number.to_string()),
        "[ä-ü{}:\\[\\] a-c]{0,8}".prop_map(|text| Value::String(text).to_string()),
        Just("{ \"b\" : [1 , 2.50] }".to_owned()),
    ];
    prop::collection::btree_map("[a-d]", value, 0..4).prop_map(|members| {
        let members = members.into_iter().map(|(name, value)| format!("\"{name}\" : {value}"));
        format!("{{{}}}", members.collect::<Vec<_>>().join(" ,\n"))
    })
}

/// Splits a text at the given fractions.
fn split(text: &str, at: &[usize]) -> Vec<String> {
    let mut places: Vec<usize> = at.iter().map(|at| at % (text.len() + 1)).collect();
    places.retain(|place| text.is_char_boundary(*place));
    places.extend([0, text.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| text[pair[0]..pair[1]].to_owned()).collect()
}

proptest! {
    #[test]
    fn the_pieces_are_the_arguments_as_the_model_wrote_them(
        text in arguments(),
        at in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        for format in FORMATS {
            prop_assert_eq!(pieces(format, &stream(format, &split(&text, &at))).concat(), text.clone(), "{:?}", format);
        }
    }
}
