//! A provider's response with these calls, whole and as a stream.

use serde_json::{Value, json};
use toolkit_ai::llm::ApiFormat;

use crate::chance::Chance;

/// A call under the provider's name.
pub(crate) struct Asked {
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

pub(crate) fn whole(format: ApiFormat, calls: &[Asked]) -> Value {
    match format {
        ApiFormat::OpenAiResponses => {
            let items: Vec<Value> = calls
                .iter()
                .enumerate()
                .map(|(index, call)| responses_item(index, call, "completed", true))
                .collect();
            json!({"id": "resp_1", "object": "response", "status": "completed", "output": items})
        }
        ApiFormat::Anthropic => {
            let text = json!({"type": "text", "text": "Let me look."});
            let calls = calls.iter().enumerate().map(|(index, call)| {
                json!({"type": "tool_use", "id": id(index), "name": call.name, "input": call.arguments})
            });
            let content: Vec<Value> = std::iter::once(text).chain(calls).collect();
            json!({"id": "msg_1", "type": "message", "role": "assistant", "content": content,
                "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}})
        }
        ApiFormat::Gemini => google(calls, true),
        ApiFormat::Ollama => ollama(calls, true),
        ApiFormat::GeminiInteractions => {
            let step = |(at, call)| interaction_step(at, call, &call.arguments);
            let steps: Vec<Value> = calls.iter().enumerate().map(step).collect();
            json!({"id": "i", "status": "requires_action", "steps": steps})
        }
        ApiFormat::Cohere => {
            let calls: Vec<Value> = calls.iter().enumerate().map(|(at, call)| chat_call(at, call)).collect();
            let message = json!({"role": "assistant", "tool_plan": "Let me look.", "tool_calls": calls});
            json!({"id": "c", "finish_reason": "TOOL_CALL", "message": message})
        }
        ApiFormat::Bedrock => {
            let call = |(index, call): (usize, &Asked)| json!({"toolUse": {"toolUseId": id(index), "name": call.name, "input": call.arguments}});
            let content: Vec<Value> = std::iter::once(json!({"text": "Let me look."}))
                .chain(calls.iter().enumerate().map(call))
                .collect();
            json!({"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "tool_use"})
        }
        _ => {
            let calls: Vec<Value> = calls.iter().enumerate().map(|(at, call)| chat_call(at, call)).collect();
            let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
            json!({"id": "c", "object": "chat.completion", "choices": [
                {"index": 0, "message": message, "finish_reason": "tool_calls"},
            ]})
        }
    }
}

/// A streamed response with simultaneous calls, in random fragments and order as far as the API allows.
pub(crate) fn stream(format: ApiFormat, calls: &[Asked], chance: &mut Chance) -> Vec<u8> {
    let events = match format {
        ApiFormat::OpenAiResponses => responses_events(calls, chance),
        ApiFormat::Anthropic => anthropic_events(calls, chance),
        ApiFormat::Gemini => {
            let last = calls.len().div_ceil(2);
            calls.chunks(2).enumerate().map(|(at, calls)| google(calls, at + 1 == last)).collect()
        }
        ApiFormat::Cohere => cohere_events(calls, chance),
        ApiFormat::GeminiInteractions => interaction_events(calls, chance),
        ApiFormat::Ollama => {
            let end = [
                json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"}),
            ];
            let lines = calls.chunks(2).map(|calls| ollama(calls, false)).chain(end);
            return lines.map(|line| format!("{line}\n")).collect::<String>().into_bytes();
        }
        ApiFormat::Bedrock => {
            return bedrock_events(calls, chance).iter().flat_map(event_message).collect();
        }
        _ => chat_events(calls, chance),
    };
    let mut body = String::new();
    for event in events {
        if let Some(kind) = event["type"].as_str() {
            body.push_str(&format!("event: {kind}\n"));
        }
        body.push_str(&format!("data: {event}\n\n"));
    }
    body.into_bytes()
}

fn id(index: usize) -> String {
    format!("call_{index}")
}

fn chat_call(index: usize, call: &Asked) -> Value {
    let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
    json!({"id": id(index), "type": "function", "function": function})
}

/// A stream's event, of which the last has the finish reason, as does a whole response.
fn google(calls: &[Asked], is_last: bool) -> Value {
    let parts: Vec<Value> = calls
        .iter()
        .map(|call| json!({"functionCall": {"name": call.name, "args": call.arguments}, "thoughtSignature": "c2ln"}))
        .collect();
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if is_last {
        candidate["finishReason"] = "STOP".into();
    }
    json!({"candidates": [candidate]})
}

fn ollama(calls: &[Asked], is_done: bool) -> Value {
    let function = |call: &Asked| json!({"function": {"name": call.name, "arguments": call.arguments}});
    let calls: Vec<Value> = calls.iter().map(function).collect();
    json!({"message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": is_done})
}

fn responses_item(index: usize, call: &Asked, status: &str, complete: bool) -> Value {
    let arguments = if complete { call.arguments.to_string() } else { String::new() };
    json!({"type": "function_call", "id": format!("fc_{index}"), "call_id": id(index),
        "name": call.name, "arguments": arguments, "status": status})
}

/// The cut arguments of all calls, mixed but in order for each call.
fn fragments(calls: &[Asked], chance: &mut Chance) -> Vec<(usize, String)> {
    let mut open: Vec<(usize, Vec<String>)> = calls
        .iter()
        .enumerate()
        .map(|(index, call)| (index, chance.cut(&call.arguments.to_string())))
        .collect();
    let mut all = Vec::new();
    while !open.is_empty() {
        let at = chance.below(open.len());
        let (index, rest) = &mut open[at];
        if rest.is_empty() {
            open.remove(at);
        } else {
            all.push((*index, rest.remove(0)));
        }
    }
    all
}

fn chat_events(calls: &[Asked], chance: &mut Chance) -> Vec<Value> {
    let chunk = |delta: Value| json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
    let mut events = vec![chunk(json!({"role": "assistant", "content": null}))];
    for (index, call) in calls.iter().enumerate() {
        let function = json!({"name": call.name, "arguments": ""});
        events.push(chunk(
            json!({"tool_calls": [{"index": index, "id": id(index), "type": "function", "function": function}]}),
        ));
    }
    for (index, fragment) in fragments(calls, chance) {
        events.push(chunk(json!({"tool_calls": [{"index": index, "function": {"arguments": fragment}}]})));
    }
    events.push(json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}));
    events
}

fn responses_events(calls: &[Asked], chance: &mut Chance) -> Vec<Value> {
    let mut events = vec![json!({"type": "response.created", "response": {"id": "resp_1", "output": []}})];
    for (index, call) in calls.iter().enumerate() {
        events.push(json!({"type": "response.output_item.added", "output_index": index,
            "item": responses_item(index, call, "in_progress", false)}));
    }
    for (index, fragment) in fragments(calls, chance) {
        events.push(json!({"type": "response.function_call_arguments.delta",
            "item_id": format!("fc_{index}"), "output_index": index, "delta": fragment}));
    }
    for (index, call) in calls.iter().enumerate() {
        events
            .push(json!({"type": "response.function_call_arguments.done", "item_id": format!("fc_{index}"),
            "output_index": index, "arguments": call.arguments.to_string()}));
        events.push(json!({"type": "response.output_item.done", "output_index": index,
            "item": responses_item(index, call, "completed", true)}));
    }
    events.push(json!({"type": "response.completed", "response": whole(ApiFormat::OpenAiResponses, calls)}));
    events
}

fn anthropic_events(calls: &[Asked], chance: &mut Chance) -> Vec<Value> {
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": []});
    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (index, call) in calls.iter().enumerate() {
        let block = json!({"type": "tool_use", "id": id(index), "name": call.name, "input": {}});
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
    }
    for (index, fragment) in fragments(calls, chance) {
        events.push(json!({"type": "content_block_delta", "index": index,
            "delta": {"type": "input_json_delta", "partial_json": fragment}}));
    }
    for index in 0..calls.len() {
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
    events.push(json!({"type": "message_stop"}));
    events
}

fn interaction_step(index: usize, call: &Asked, arguments: &Value) -> Value {
    json!({"type": "function_call", "id": id(index), "name": call.name, "arguments": arguments})
}

fn interaction_events(calls: &[Asked], chance: &mut Chance) -> Vec<Value> {
    let created = json!({"id": "i", "status": "in_progress"});
    let mut events = vec![json!({"event_type": "interaction.created", "interaction": created})];
    for (index, call) in calls.iter().enumerate() {
        let step = interaction_step(index, call, &json!({}));
        events.push(json!({"event_type": "step.start", "index": index, "step": step}));
    }
    for (index, fragment) in fragments(calls, chance) {
        let delta = json!({"type": "arguments_delta", "arguments": fragment});
        events.push(json!({"event_type": "step.delta", "index": index, "delta": delta}));
    }
    for index in 0..calls.len() {
        events.push(json!({"event_type": "step.stop", "index": index}));
    }
    let completed = json!({"id": "i", "status": "requires_action"});
    events.push(json!({"event_type": "interaction.completed", "interaction": completed}));
    events
}

fn cohere_events(calls: &[Asked], chance: &mut Chance) -> Vec<Value> {
    let event = |kind: &str, index: usize, call: Value| json!({"type": kind, "index": index, "delta": {"message": {"tool_calls": call}}});
    let mut events =
        vec![json!({"type": "message-start", "id": "c", "delta": {"message": {"role": "assistant"}}})];
    for (index, call) in calls.iter().enumerate() {
        let function = json!({"name": call.name, "arguments": ""});
        let start = json!({"id": id(index), "type": "function", "function": function});
        events.push(event("tool-call-start", index, start));
    }
    for (index, fragment) in fragments(calls, chance) {
        events.push(event("tool-call-delta", index, json!({"function": {"arguments": fragment}})));
    }
    for index in 0..calls.len() {
        events.push(json!({"type": "tool-call-end", "index": index}));
    }
    events.push(json!({"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}}));
    events
}

fn bedrock_events(calls: &[Asked], chance: &mut Chance) -> Vec<Value> {
    let mut events = vec![json!({"messageStart": {"role": "assistant"}})];
    for (index, call) in calls.iter().enumerate() {
        let start = json!({"toolUse": {"toolUseId": id(index), "name": call.name}});
        events.push(json!({"contentBlockStart": {"contentBlockIndex": index, "start": start}}));
    }
    for (index, fragment) in fragments(calls, chance) {
        let delta = json!({"toolUse": {"input": fragment}});
        events.push(json!({"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}));
    }
    for index in 0..calls.len() {
        events.push(json!({"contentBlockStop": {"contentBlockIndex": index}}));
    }
    events.push(json!({"messageStop": {"stopReason": "tool_use"}}));
    events
}

/// A message of Amazon's binary event stream, with lengths, headers, payload and checksums.
fn event_message(event: &Value) -> Vec<u8> {
    let Some((kind, payload)) = event.as_object().and_then(|fields| fields.iter().next()) else {
        return Vec::new();
    };
    let mut headers = Vec::new();
    for (name, value) in [(":message-type", "event"), (":event-type", kind)] {
        headers.push(name.len() as u8);
        headers.extend(name.as_bytes());
        headers.extend([7, 0, value.len() as u8]);
        headers.extend(value.as_bytes());
    }
    let payload = payload.to_string();
    let length = 16 + headers.len() + payload.len();
    let mut message = [(length as u32).to_be_bytes(), (headers.len() as u32).to_be_bytes()].concat();
    message.extend(crc32(&message).to_be_bytes());
    message.extend([&headers[..], payload.as_bytes()].concat());
    message.extend(crc32(&message).to_be_bytes());
    message
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { 0xedb8_8320 ^ crc >> 1 } else { crc >> 1 };
    !bytes.iter().fold(!0_u32, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}
