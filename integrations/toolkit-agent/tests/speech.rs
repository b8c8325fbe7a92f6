//! Answers of providers, as their APIs write them.

use serde_json::{Value, json};
use toolkit_llm::ApiFormat;

#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Pieces of a text.
    Text(Vec<String>),
    /// Signed thinking.
    Thinking,
    /// A call of `add`, with pieces of arguments.
    Call { id: String, arguments: Vec<String> },
    /// A call of the provider's own tool, with its result.
    Search(String),
}

fn has_calls(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::Call { .. }))
}

/// Returns a stream's events: before the parts, of each, and after them.
pub(crate) fn events(format: ApiFormat, parts: &[Part]) -> Vec<Vec<Value>> {
    let mut index = 0;
    let mut events = vec![start(format)];
    for part in parts {
        let of_part = match format {
            ApiFormat::OpenAiChat => chat(part, index),
            ApiFormat::OpenAiResponses => responses(part, index),
            ApiFormat::Anthropic => anthropic(part, index),
            ApiFormat::Gemini => gemini(part),
            ApiFormat::Ollama => ollama(part),
            ApiFormat::Bedrock => bedrock(part, index),
            _ => interactions(part, index),
        };
        index += match part {
            Part::Search(_) if format == ApiFormat::Anthropic => 2,
            _ => usize::from(!of_part.is_empty()),
        };
        events.push(of_part);
    }
    events.push(end(format, parts));
    events
}

fn start(format: ApiFormat) -> Vec<Value> {
    let usage = json!({"input_tokens": 3, "output_tokens": 1});
    let event = match format {
        ApiFormat::OpenAiChat => chunk(json!({"role": "assistant", "content": null}), None),
        ApiFormat::OpenAiResponses => {
            json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}})
        }
        ApiFormat::Anthropic => {
            let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
                "stop_reason": null, "usage": usage});
            json!({"type": "message_start", "message": message})
        }
        ApiFormat::Bedrock => json!({"messageStart": {"role": "assistant"}}),
        ApiFormat::GeminiInteractions => {
            json!({"event_type": "interaction.created", "interaction": {"id": "i", "status": "in_progress"}})
        }
        _ => return Vec::new(),
    };
    vec![event]
}

fn end(format: ApiFormat, parts: &[Part]) -> Vec<Value> {
    let of =
        |with_calls: &'static str, without: &'static str| if has_calls(parts) { with_calls } else { without };
    match format {
        ApiFormat::OpenAiChat => {
            let mut last = chunk(json!({}), Some(of("tool_calls", "stop")));
            last["usage"] = json!({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5});
            vec![last]
        }
        ApiFormat::OpenAiResponses => {
            vec![json!({"type": "response.completed", "response": whole(format, parts)})]
        }
        ApiFormat::Anthropic => vec![
            json!({"type": "message_delta", "delta": {"stop_reason": of("tool_use", "end_turn")},
                "usage": {"output_tokens": 2}}),
            json!({"type": "message_stop"}),
        ],
        ApiFormat::Gemini => vec![candidate(json!([]), Some("STOP"))],
        ApiFormat::Ollama => vec![said(json!({"content": ""}), true)],
        ApiFormat::Bedrock => vec![
            json!({"messageStop": {"stopReason": of("tool_use", "end_turn")}}),
            json!({"metadata": {"usage": {"inputTokens": 3, "outputTokens": 2}}}),
        ],
        _ => {
            let interaction = json!({"id": "i", "status": of("requires_action", "completed")});
            vec![json!({"event_type": "interaction.completed", "interaction": interaction})]
        }
    }
}

/// Returns a whole answer of Chat Completions, Responses, Messages, Gemini or Ollama.
pub(crate) fn whole(format: ApiFormat, parts: &[Part]) -> Value {
    let text: String = parts
        .iter()
        .map(|part| if let Part::Text(it) = part { it.concat() } else { String::new() })
        .collect();
    let calls = |call: &dyn Fn(&str, Value) -> Value| -> Vec<Value> {
        let calls = parts.iter().filter_map(|part| match part {
            Part::Call { id, arguments } => {
                Some(call(id, serde_json::from_str(&arguments.concat()).unwrap()))
            }
            _ => None,
        });
        calls.collect()
    };
    match format {
        ApiFormat::OpenAiChat => {
            let calls = calls(&|id, arguments| {
                let function = json!({"name": "add", "arguments": arguments.to_string()});
                json!({"id": id, "type": "function", "function": function})
            });
            let mut message = json!({"role": "assistant", "content": text});
            if has_calls(parts) {
                message = json!({"role": "assistant", "content": null, "tool_calls": calls});
            }
            let finish = if has_calls(parts) { "tool_calls" } else { "stop" };
            let choice = json!({"index": 0, "message": message, "finish_reason": finish});
            json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice],
                "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}})
        }
        ApiFormat::OpenAiResponses => {
            let output: Vec<Value> =
                parts.iter().enumerate().map(|(index, part)| item(part, index, "completed")).collect();
            json!({"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "m",
                "output": output, "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}})
        }
        ApiFormat::Anthropic => {
            let mut content =
                calls(&|id, input| json!({"type": "tool_use", "id": id, "name": "add", "input": input}));
            if !has_calls(parts) {
                content = vec![json!({"type": "text", "text": text})];
            }
            let reason = if has_calls(parts) { "tool_use" } else { "end_turn" };
            json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
                "stop_reason": reason, "usage": {"input_tokens": 3, "output_tokens": 2}})
        }
        ApiFormat::Gemini => {
            let mut content = calls(&|_, args| json!({"functionCall": {"name": "add", "args": args}}));
            if !has_calls(parts) {
                content = vec![json!({"text": text})];
            }
            candidate(content.into(), Some("STOP"))
        }
        _ => {
            let calls = calls(
                &|id, arguments| json!({"id": id, "function": {"name": "add", "arguments": arguments}}),
            );
            let mut message = json!({"content": text});
            if has_calls(parts) {
                message["tool_calls"] = calls.into();
            }
            said(message, true)
        }
    }
}

fn chunk(delta: Value, finish: Option<&str>) -> Value {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    json!({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]})
}

fn chat(part: &Part, index: usize) -> Vec<Value> {
    let of_call = |mut call: Value| {
        call["index"] = index.into();
        chunk(json!({"tool_calls": [call]}), None)
    };
    match part {
        Part::Text(pieces) => pieces.iter().map(|piece| chunk(json!({"content": piece}), None)).collect(),
        Part::Call { id, arguments } => {
            let first = json!({"id": id, "type": "function", "function": {"name": "add", "arguments": ""}});
            let more = arguments.iter().map(|piece| json!({"function": {"arguments": piece}}));
            [first].into_iter().chain(more).map(of_call).collect()
        }
        Part::Thinking | Part::Search(_) => Vec::new(),
    }
}

fn item(part: &Part, index: usize, status: &str) -> Value {
    let is_done = status == "completed";
    match part {
        Part::Text(pieces) => {
            let content = json!([{"type": "output_text", "text": pieces.concat(), "annotations": []}]);
            json!({"type": "message", "id": format!("item_{index}"), "role": "assistant", "status": status,
                "content": if is_done { content } else { json!([]) }})
        }
        Part::Thinking if is_done => {
            let summary = json!([{"type": "summary_text", "text": "I add."}]);
            json!({"type": "reasoning", "id": format!("item_{index}"), "summary": summary,
                "encrypted_content": "c2lnbmVk"})
        }
        Part::Thinking => json!({"type": "reasoning", "id": format!("item_{index}"), "summary": []}),
        Part::Call { id, arguments } => {
            let arguments = if is_done { arguments.concat() } else { String::new() };
            json!({"type": "function_call", "id": format!("item_{index}"), "call_id": id, "name": "add",
                "arguments": arguments, "status": status})
        }
        Part::Search(_) => {
            json!({"type": "web_search_call", "id": format!("item_{index}"), "status": status,
                "action": {"type": "search", "query": "a"}})
        }
    }
}

fn responses(part: &Part, index: usize) -> Vec<Value> {
    let event = |kind: &str, field: &str, value: Value| {
        json!({"type": format!("response.{kind}"), "item_id": format!("item_{index}"), "output_index": index,
            "content_index": 0, field: value})
    };
    let mut events = vec![event("output_item.added", "item", item(part, index, "in_progress"))];
    match part {
        Part::Text(pieces) => {
            let part = json!({"type": "output_text", "text": "", "annotations": []});
            events.push(event("content_part.added", "part", part));
            events.extend(pieces.iter().map(|piece| event("output_text.delta", "delta", json!(piece))));
            events.push(event("output_text.done", "text", json!(pieces.concat())));
        }
        Part::Thinking => {
            let mut delta = event("reasoning_summary_text.delta", "delta", json!("I add."));
            delta["summary_index"] = json!(0);
            events.push(delta);
        }
        Part::Call { arguments, .. } => {
            let delta = "function_call_arguments.delta";
            events.extend(arguments.iter().map(|piece| event(delta, "delta", json!(piece))));
            events.push(event("function_call_arguments.done", "arguments", json!(arguments.concat())));
        }
        Part::Search(_) => {}
    }
    events.push(event("output_item.done", "item", item(part, index, "completed")));
    events
}

fn anthropic(part: &Part, index: usize) -> Vec<Value> {
    let block = |index: usize, start: Value, deltas: Vec<Value>| {
        let start = json!({"type": "content_block_start", "index": index, "content_block": start});
        let deltas = deltas
            .into_iter()
            .map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta}));
        let mut events: Vec<Value> = [start].into_iter().chain(deltas).collect();
        events.push(json!({"type": "content_block_stop", "index": index}));
        events
    };
    let input = |piece: &String| json!({"type": "input_json_delta", "partial_json": piece});
    match part {
        Part::Text(pieces) => {
            let text = |piece: &String| json!({"type": "text_delta", "text": piece});
            block(index, json!({"type": "text", "text": ""}), pieces.iter().map(text).collect())
        }
        Part::Thinking => block(
            index,
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            vec![
                json!({"type": "thinking_delta", "thinking": "I add."}),
                json!({"type": "signature_delta", "signature": "c2lnbmVk"}),
            ],
        ),
        Part::Call { id, arguments } => {
            let start = json!({"type": "tool_use", "id": id, "name": "add", "input": {}});
            block(index, start, arguments.iter().map(input).collect())
        }
        Part::Search(id) => {
            let start = json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {}});
            let result = json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []});
            let query = input(&r#"{"query": "a"}"#.to_owned());
            [block(index, start, vec![query]), block(index + 1, result, vec![])].concat()
        }
    }
}

fn candidate(parts: Value, finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    json!({"candidates": [candidate], "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2}})
}

fn gemini(part: &Part) -> Vec<Value> {
    match part {
        Part::Text(pieces) => pieces.iter().map(|piece| candidate(json!([{"text": piece}]), None)).collect(),
        Part::Call { arguments, .. } => {
            let mut call = json!({"name": "add"});
            if let Ok(arguments) = serde_json::from_str::<Value>(&arguments.concat()) {
                call["args"] = arguments;
            }
            vec![candidate(json!([{"functionCall": call}]), None)]
        }
        Part::Thinking | Part::Search(_) => Vec::new(),
    }
}

fn said(mut message: Value, is_done: bool) -> Value {
    message["role"] = json!("assistant");
    let mut body =
        json!({"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": is_done});
    if is_done {
        body["done_reason"] = json!("stop");
        body["prompt_eval_count"] = json!(3);
        body["eval_count"] = json!(2);
    }
    body
}

fn ollama(part: &Part) -> Vec<Value> {
    match part {
        Part::Text(pieces) => pieces.iter().map(|piece| said(json!({"content": piece}), false)).collect(),
        Part::Call { id, arguments } => {
            let arguments: Value = serde_json::from_str(&arguments.concat()).unwrap_or_default();
            let call = json!({"id": id, "function": {"name": "add", "arguments": arguments}});
            vec![said(json!({"content": "", "tool_calls": [call]}), false)]
        }
        Part::Thinking | Part::Search(_) => Vec::new(),
    }
}

fn bedrock(part: &Part, index: usize) -> Vec<Value> {
    let delta = |delta: Value| json!({"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}});
    let mut events = match part {
        Part::Text(pieces) => pieces.iter().map(|piece| delta(json!({"text": piece}))).collect(),
        Part::Thinking => [json!({"text": "I add."}), json!({"signature": "c2lnbmVk"})]
            .map(|thinking| delta(json!({"reasoningContent": thinking})))
            .to_vec(),
        Part::Call { id, arguments } => {
            let start = json!({"toolUse": {"toolUseId": id, "name": "add"}});
            let start = json!({"contentBlockStart": {"contentBlockIndex": index, "start": start}});
            let input = arguments.iter().map(|piece| delta(json!({"toolUse": {"input": piece}})));
            [start].into_iter().chain(input).collect()
        }
        Part::Search(_) => return Vec::new(),
    };
    events.push(json!({"contentBlockStop": {"contentBlockIndex": index}}));
    events
}

fn interactions(part: &Part, index: usize) -> Vec<Value> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let (step, deltas) = match part {
        Part::Text(pieces) => {
            (json!({"type": "model_output"}), pieces.iter().map(|piece| text(piece)).collect::<Vec<_>>())
        }
        Part::Thinking => {
            let summary = json!({"type": "thought_summary", "content": text("I add.")});
            let signature = json!({"type": "thought_signature", "signature": "c2lnbmVk"});
            (json!({"type": "thought"}), vec![summary, signature])
        }
        Part::Call { id, arguments } => {
            let input = arguments.iter().map(|piece| json!({"type": "arguments_delta", "arguments": piece}));
            (json!({"type": "function_call", "id": id, "name": "add"}), input.collect())
        }
        Part::Search(_) => return Vec::new(),
    };
    let mut events = vec![json!({"event_type": "step.start", "index": index, "step": step})];
    let delta = |delta| json!({"event_type": "step.delta", "index": index, "delta": delta});
    events.extend(deltas.into_iter().map(delta));
    events.push(json!({"event_type": "step.stop", "index": index}));
    events
}
