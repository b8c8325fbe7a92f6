//! Answers of text, refusals and calls in any order, streamed in random pieces.

use super::{parse_response, stream};
use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit_agent::{FinishReason, ModelResponse};
use toolkit_llm::ApiFormat;
use toolkit_llm::ApiFormat::{Anthropic, Gemini, OpenAiChat, OpenAiResponses};

/// A part of an answer, with the pieces of its text. The arguments of a call come in such pieces, too.
#[derive(Debug, Clone)]
enum Part {
    Text(Vec<String>),
    Refusal(Vec<String>),
    Call,
}

const ARGUMENTS: [&str; 4] = ["{\"a\"", ": ", "\"é\\n\"", "}"];

fn part() -> impl Strategy<Value = Part> {
    let pieces = || prop::collection::vec("[a-c][a-c é\"\n]{0,2}", 1..4);
    prop_oneof![pieces().prop_map(Part::Text), pieces().prop_map(Part::Refusal), Just(Part::Call)]
}

fn joined(parts: &[Part], is_refusal: bool) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(pieces) if !is_refusal => Some(pieces.concat()),
        Part::Refusal(pieces) if is_refusal => Some(pieces.concat()),
        _ => None,
    });
    texts.collect()
}

/// Returns the complete body of an answer, and the events of its stream.
fn answer(format: ApiFormat, parts: &[Part]) -> (Value, Vec<Value>) {
    match format {
        OpenAiChat => chat(parts),
        OpenAiResponses => responses(parts),
        Anthropic => anthropic(parts),
        _ => gemini(parts),
    }
}

fn chat(parts: &[Part]) -> (Value, Vec<Value>) {
    let chunk = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let mut events = vec![chunk(json!({"role": "assistant"}))];
    let mut calls = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        match part {
            Part::Text(pieces) => events.extend(pieces.iter().map(|piece| chunk(json!({"content": piece})))),
            Part::Refusal(pieces) => {
                events.extend(pieces.iter().map(|piece| chunk(json!({"refusal": piece}))));
            }
            Part::Call => {
                let index = calls.len();
                let call = |arguments: &str| {
                    json!({"id": format!("c{number}"), "type": "function",
                        "function": {"name": "add", "arguments": arguments}})
                };
                calls.push(call(&ARGUMENTS.concat()));
                let mut first = call("");
                first["index"] = json!(index);
                events.push(chunk(json!({"tool_calls": [first]})));
                let piece = |piece: &&str| {
                    chunk(json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
                };
                events.extend(ARGUMENTS.iter().map(piece));
            }
        }
    }
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}));
    let text = |text: String| if text.is_empty() { Value::Null } else { text.into() };
    let mut message = json!({"role": "assistant", "content": text(joined(parts, false)),
        "refusal": text(joined(parts, true))});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    (json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}]}), events)
}

/// Each text and each refusal is a part of the last message. A message ends before a call.
fn responses(parts: &[Part]) -> (Value, Vec<Value>) {
    let mut output: Vec<Value> = Vec::new();
    let begun = json!({"id": "r", "status": "in_progress", "output": []});
    let mut events = vec![json!({"type": "response.created", "response": begun})];
    let message = |index: usize, content: Value| json!({"type": "message", "id": format!("m{index}"), "role": "assistant", "content": content});
    for part in parts {
        let (kind, field, pieces) = match part {
            Part::Text(pieces) => ("output_text", "text", pieces),
            Part::Refusal(pieces) => ("refusal", "refusal", pieces),
            Part::Call => {
                let index = output.len();
                let call = |arguments: &str| {
                    json!({"type": "function_call", "id": format!("f{index}"), "call_id": format!("c{index}"),
                        "name": "add", "arguments": arguments})
                };
                events.push(
                    json!({"type": "response.output_item.added", "output_index": index, "item": call("")}),
                );
                let delta = "response.function_call_arguments.delta";
                events.extend(ARGUMENTS.iter().map(|piece| {
                    json!({"type": delta, "item_id": format!("f{index}"), "output_index": index, "delta": piece})
                }));
                let whole = call(&ARGUMENTS.concat());
                events
                    .push(json!({"type": "response.output_item.done", "output_index": index, "item": whole}));
                output.push(whole);
                continue;
            }
        };
        if !output.last().is_some_and(|item| item["type"] == "message") {
            let item = message(output.len(), json!([]));
            events.push(
                json!({"type": "response.output_item.added", "output_index": output.len(), "item": item}),
            );
            output.push(item);
        }
        let index = output.len() - 1;
        let content = output[index]["content"].as_array_mut().unwrap();
        let place =
            json!({"item_id": format!("m{index}"), "output_index": index, "content_index": content.len()});
        let event = |kind: String, name: &str, value: Value| {
            let mut event = place.clone();
            event["type"] = kind.into();
            event[name] = value;
            event
        };
        let prefix = format!("response.{kind}");
        let whole = json!({"type": kind, field: pieces.concat()});
        events.push(event(
            "response.content_part.added".to_owned(),
            "part",
            json!({"type": kind, field: ""}),
        ));
        events.extend(pieces.iter().map(|piece| event(format!("{prefix}.delta"), "delta", json!(piece))));
        events.push(event(format!("{prefix}.done"), field, json!(pieces.concat())));
        events.push(event("response.content_part.done".to_owned(), "part", whole.clone()));
        content.push(whole);
    }
    let whole = json!({"id": "r", "status": "completed", "output": output});
    events.push(json!({"type": "response.completed", "response": whole}));
    (whole, events)
}

/// The refusal is the explanation at the end.
fn anthropic(parts: &[Part]) -> (Value, Vec<Value>) {
    let start = json!({"type": "message", "role": "assistant", "content": []});
    let mut events = vec![json!({"type": "message_start", "message": start})];
    let mut content = Vec::new();
    let mut has_calls = false;
    for part in parts {
        let index = content.len();
        let (begin, deltas, whole) = match part {
            Part::Refusal(_) => continue,
            Part::Text(pieces) => {
                let text = |text: &str| json!({"type": "text", "text": text});
                let delta = |piece: &String| json!({"type": "text_delta", "text": piece});
                (text(""), pieces.iter().map(delta).collect::<Vec<_>>(), text(&pieces.concat()))
            }
            Part::Call => {
                has_calls = true;
                let call = |input: Value| json!({"type": "tool_use", "id": format!("c{index}"), "name": "add", "input": input});
                let delta = |piece: &&str| json!({"type": "input_json_delta", "partial_json": piece});
                let input = serde_json::from_str(&ARGUMENTS.concat()).unwrap();
                (call(json!({})), ARGUMENTS.iter().map(delta).collect(), call(input))
            }
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": begin}));
        let delta = |delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        events.extend(deltas.into_iter().map(delta));
        events.push(json!({"type": "content_block_stop", "index": index}));
        content.push(whole);
    }
    let refusal = joined(parts, true);
    let end = match (refusal.is_empty(), has_calls) {
        (false, _) => {
            let details = json!({"type": "refusal", "category": "cyber", "explanation": refusal});
            json!({"stop_reason": "refusal", "stop_details": details})
        }
        (true, true) => json!({"stop_reason": "tool_use"}),
        (true, false) => json!({"stop_reason": "end_turn"}),
    };
    events.push(json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}}));
    events.push(json!({"type": "message_stop"}));
    let mut whole = json!({"type": "message", "role": "assistant", "content": content});
    whole.as_object_mut().unwrap().extend(end.as_object().unwrap().clone());
    (whole, events)
}

/// The refusal is the report at the end.
fn gemini(parts: &[Part]) -> (Value, Vec<Value>) {
    let event = |parts: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}}]});
    let mut events = Vec::new();
    let mut content = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        match part {
            Part::Text(pieces) => {
                events.extend(pieces.iter().map(|piece| event(json!([{"text": piece}]))));
                content.push(json!({"text": pieces.concat()}));
            }
            Part::Refusal(_) => {}
            Part::Call => {
                let args: Value = serde_json::from_str(&ARGUMENTS.concat()).unwrap();
                let call = json!({"functionCall": {"id": format!("c{number}"), "name": "add", "args": args}});
                events.push(event(json!([call])));
                content.push(call);
            }
        }
    }
    let refusal = joined(parts, true);
    let end = if refusal.is_empty() {
        json!({"finishReason": "STOP"})
    } else {
        json!({"finishReason": "SAFETY", "finishMessage": refusal})
    };
    let mut last = end.clone();
    last["content"] = json!({"role": "model", "parts": []});
    events.push(json!({"candidates": [last]}));
    let mut whole = end;
    whole["content"] = json!({"role": "model", "parts": content});
    (json!({"candidates": [whole]}), events)
}

/// Returns the events as pieces of a body, cut after these numbers of characters.
fn cut(events: &[Value], cuts: &[usize]) -> Value {
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let mut rest = body.chars().collect::<Vec<_>>();
    let mut pieces = Vec::new();
    for count in cuts.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let left = rest.split_off((*count).min(rest.len()));
        pieces.push(Value::String(rest.into_iter().collect()));
        rest = left;
    }
    pieces.into()
}

fn calls(response: &ModelResponse) -> Vec<(&str, &str, Value)> {
    let arguments = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    let calls = response.message.calls.iter();
    calls.map(|call| (call.id.as_str(), call.name.as_str(), arguments(call.arguments.as_str()))).collect()
}

proptest! {
    #![proptest_config(crate::support::cases(256))]

    /// The pieces of a streamed text are compared with the text in `stream`.
    #[test]
    fn a_streamed_answer_is_the_whole_answer(
        parts in prop::collection::vec(part(), 1..5),
        cuts in prop::collection::vec(1..60_usize, 1..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        for format in [OpenAiChat, OpenAiResponses, Anthropic, Gemini] {
            let (body, events) = answer(format, &parts);
            let whole = parse_response(format, &body);
            for events in [cut(&events, &cuts), Value::Array(events)] {
                match (&whole, runtime.block_on(stream(format, events))) {
                    (Ok(whole), Ok(streamed)) => {
                        prop_assert_eq!(&streamed.message.text, &whole.message.text, "{}", format);
                        // A whole body does not tell whether its last call was cut by the refusal.
                        let may_be_cut = whole.finish == FinishReason::Refused;
                        let count = calls(whole).len() - usize::from(may_be_cut).min(calls(whole).len());
                        prop_assert_eq!(streamed.message.calls.len(), calls(whole).len(), "{}", format);
                        prop_assert_eq!(&calls(&streamed)[..count], &calls(whole)[..count], "{}", format);
                        prop_assert_eq!(&streamed.finish, &whole.finish, "{}", format);
                    }
                    (Err(whole), Err(streamed)) => prop_assert_eq!(whole.kind, streamed.kind, "{}", format),
                    (whole, streamed) => prop_assert!(false, "{format}: {whole:?} {streamed:?}"),
                }
            }
        }
    }
}
