//! The two APIs of OpenAI.

use super::{Answer, Body, End, Part, id, word};
use crate::tests::pieces;
use serde_json::{Value, json};

pub(super) fn openai_chat(answer: &Answer, cuts: &[usize]) -> Body {
    let reason = word(answer, ["stop", "tool_calls", "length", "content_filter"]);
    let [input, output, cached, reasoning] = answer.tokens;
    let usage = json!({"prompt_tokens": input, "completion_tokens": output,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning}});
    let mut message = json!({"role": "assistant", "content": null, "refusal": null});
    let mut deltas = vec![message.clone()];
    let mut calls = Vec::new();
    for (at, part) in answer.parts.iter().enumerate() {
        let (field, text) = match part {
            Part::Text(text) => ("content", text),
            Part::Reasoning(text) => ("reasoning_content", text),
            Part::Refusal(text) => ("refusal", text),
            Part::Call { name, arguments } => {
                let text = arguments.to_string();
                let call = |text: &str| json!({"id": id(at), "type": "function", "function": {"name": name, "arguments": text}});
                let mut begun = call("");
                begun["index"] = calls.len().into();
                deltas.push(json!({"tool_calls": [begun]}));
                deltas.extend(pieces(&text, cuts).into_iter().map(
                    |piece| json!({"tool_calls": [{"index": calls.len(), "function": {"arguments": piece}}]}),
                ));
                calls.push(call(&text));
                continue;
            }
        };
        message[field] = (message[field].as_str().unwrap_or_default().to_owned() + text).into();
        deltas.extend(pieces(text, cuts).into_iter().map(|piece| json!({field: piece})));
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let chunk = |delta: &Value, reason: Option<&str>| json!({"id": "r", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
    let mut events: Vec<Value> = deltas.iter().map(|delta| chunk(delta, None)).collect();
    events.push(chunk(&json!({}), Some(reason)));
    events.push(json!({"id": "r", "choices": [], "usage": usage}));
    let choice = json!({"index": 0, "message": message, "finish_reason": reason});
    Body { whole: json!({"id": "r", "choices": [choice], "usage": usage}), events }
}

pub(super) fn openai_responses(answer: &Answer, cuts: &[usize]) -> Body {
    let [input, output, cached, reasoning] = answer.tokens;
    let (status, details) = match answer.end {
        End::Complete => ("completed", Value::Null),
        End::Limit => ("incomplete", json!({"reason": "max_output_tokens"})),
        End::Blocked => ("incomplete", json!({"reason": "content_filter"})),
    };
    let (mut items, mut events): (Vec<Value>, _) = (Vec::new(), Vec::new());
    let mut push = |item: Value, begun: Value, deltas: Vec<Value>| {
        let at = items.len();
        events.push(json!({"type": "response.output_item.added", "output_index": at, "item": begun}));
        events.extend(deltas.into_iter().map(|mut delta| {
            delta["output_index"] = at.into();
            delta
        }));
        events.push(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
        items.push(item);
    };
    for (at, part) in answer.parts.iter().enumerate() {
        let of_message = |kind: &str, field: &str, text: &str| {
            let item = |content: Value| {
                json!({"type": "message", "id": format!("m{at}"), "role": "assistant", "status": status,
                    "content": content})
            };
            let name = if kind == "refusal" { "refusal" } else { "output_text" };
            let deltas = deltas(&format!("response.{name}"), field, &format!("m{at}"), text, cuts);
            (item(json!([{"type": kind, field: text}])), item(json!([])), deltas)
        };
        let (item, begun, deltas) = match part {
            Part::Text(text) => of_message("output_text", "text", text),
            Part::Refusal(text) => of_message("refusal", "refusal", text),
            Part::Reasoning(text) => {
                let item =
                    |summary: Value| json!({"type": "reasoning", "id": format!("m{at}"), "summary": summary});
                let deltas = deltas("response.reasoning_summary_text", "text", &format!("m{at}"), text, cuts);
                (item(json!([{"type": "summary_text", "text": text}])), item(json!([])), deltas)
            }
            Part::Call { name, arguments } => {
                let item = |text: &str, status: &str| {
                    json!({"type": "function_call", "id": format!("m{at}"), "call_id": id(at), "name": name,
                        "arguments": text, "status": status})
                };
                let text = arguments.to_string();
                let deltas =
                    deltas("response.function_call_arguments", "arguments", &format!("m{at}"), &text, cuts);
                (item(&text, "completed"), item("", "in_progress"), deltas)
            }
        };
        push(item, begun, deltas);
    }
    let whole = json!({"id": "r", "object": "response", "status": status, "incomplete_details": details,
        "output": items, "usage": {"input_tokens": input, "output_tokens": output,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens_details": {"reasoning_tokens": reasoning}}});
    events.push(json!({"type": format!("response.{status}"), "response": whole}));
    Body { whole, events }
}

/// Returns the events for the pieces of a text, and for the whole text.
fn deltas(name: &str, field: &str, item: &str, text: &str, cuts: &[usize]) -> Vec<Value> {
    let pieces = pieces(text, cuts).into_iter();
    let mut events: Vec<Value> = pieces
        .map(|piece| json!({"type": format!("{name}.delta"), "item_id": item, "delta": piece}))
        .collect();
    events.push(json!({"type": format!("{name}.done"), "item_id": item, field: text}));
    events
}
