//! The events of streamed messages in the forms of the APIs.

use serde_json::{Value, json};
use toolkit_llm::ApiFormat;

/// What a message consists of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Pieces {
    /// Pieces of one text.
    Text,
    /// Pieces of the arguments of one call.
    Arguments,
    /// Signed thinking, and calls.
    Calls,
    /// Calls without arguments.
    Blank,
    /// Calls of a tool that the provider runs.
    Hosted,
}

fn arguments(number: usize) -> String {
    format!(r#"{{"a": {number}, "b": 1}}"#)
}

/// The pieces of the arguments of one call of `add`.
fn parts(count: usize) -> Vec<String> {
    let mut parts = vec![r#"{"a": 1, "b": 1, "c": ""#.to_owned()];
    parts.extend((0..count).map(|number| format!("{number:05} ")));
    parts.push(r#""}"#.to_owned());
    parts
}

/// Returns the events of a message with `count` pieces.
pub(super) fn events(format: ApiFormat, pieces: Pieces, count: usize) -> Vec<Value> {
    match format {
        ApiFormat::Anthropic => anthropic(pieces, count),
        ApiFormat::OpenAiResponses => responses(pieces, count),
        ApiFormat::OpenAiChat => chat(pieces, count),
        ApiFormat::Gemini => gemini(pieces, count),
        ApiFormat::Bedrock => bedrock(pieces, count),
        ApiFormat::GeminiInteractions => interactions(pieces, count),
        _ => Vec::new(),
    }
}

fn anthropic(pieces: Pieces, count: usize) -> Vec<Value> {
    let mut events = vec![
        json!({"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 5}}}),
    ];
    let mut index = 0;
    let mut block = |events: &mut Vec<Value>, start: Value, deltas: Vec<Value>| {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.extend(
            deltas
                .into_iter()
                .map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
        index += 1;
    };
    let piece = |text: String| json!({"type": "input_json_delta", "partial_json": text});
    block(
        &mut events,
        json!({"type": "thinking", "thinking": "", "signature": ""}),
        vec![
            json!({"type": "thinking_delta", "thinking": "I add."}),
            json!({"type": "signature_delta", "signature": "c2lnbmVk"}),
        ],
    );
    let tool = |number: usize| json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": "add", "input": {}});
    match pieces {
        Pieces::Text => {
            let text = |number| json!({"type": "text_delta", "text": format!("piece {number} ")});
            block(&mut events, json!({"type": "text", "text": ""}), (0..count).map(text).collect());
        }
        Pieces::Arguments => block(&mut events, tool(0), parts(count).into_iter().map(piece).collect()),
        Pieces::Calls => {
            (0..count).for_each(|number| block(&mut events, tool(number), vec![piece(arguments(number))]));
        }
        Pieces::Blank => (0..count).for_each(|number| block(&mut events, tool(number), vec![])),
        Pieces::Hosted => (0..count).for_each(|number| {
            let id = format!("srvtoolu_{number}");
            block(
                &mut events,
                json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {}}),
                vec![piece(r#"{"query": "a"}"#.to_owned())],
            );
            block(
                &mut events,
                json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []}),
                vec![],
            );
        }),
    }
    let reason = if matches!(pieces, Pieces::Text | Pieces::Hosted) { "end_turn" } else { "tool_use" };
    events.push(
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}),
    );
    events.push(json!({"type": "message_stop"}));
    events
}

fn responses(pieces: Pieces, count: usize) -> Vec<Value> {
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}}),
    ];
    let mut output = Vec::new();
    let mut item = |events: &mut Vec<Value>, start: Value, deltas: Vec<(&str, Value)>, end: Value| {
        let index = output.len();
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": start}));
        let id = end["id"].clone();
        events.extend(deltas.into_iter().map(|(kind, mut delta)| {
            delta["type"] = format!("response.{kind}").into();
            delta["item_id"] = id.clone();
            delta["output_index"] = index.into();
            delta
        }));
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": end}));
        output.push(end);
    };
    let summary = json!([{"type": "summary_text", "text": "I add."}]);
    item(
        &mut events,
        json!({"type": "reasoning", "id": "rs", "summary": []}),
        vec![("reasoning_summary_text.delta", json!({"summary_index": 0, "delta": "I add."}))],
        json!({"type": "reasoning", "id": "rs", "summary": summary, "encrypted_content": "c2lnbmVk"}),
    );
    let call = |number: usize, status: &str, arguments: String| json!({"type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"), "name": "add", "arguments": arguments, "status": status});
    let mut called = |events: &mut Vec<Value>, number: usize, parts: Vec<String>| {
        let whole = parts.concat();
        let mut deltas: Vec<_> =
            parts.into_iter().map(|part| ("function_call_arguments.delta", json!({"delta": part}))).collect();
        deltas.push(("function_call_arguments.done", json!({"arguments": whole})));
        item(events, call(number, "in_progress", String::new()), deltas, call(number, "completed", whole));
    };
    match pieces {
        Pieces::Text => {
            let texts: Vec<String> = (0..count).map(|number| format!("piece {number} ")).collect();
            let whole = texts.concat();
            let message = |content: Value, status: &str| json!({"type": "message", "id": "m", "role": "assistant", "status": status, "content": content});
            let deltas = texts.into_iter().map(|text| ("output_text.delta", json!({"content_index": 0, "delta": text}))).collect();
            item(&mut events, message(json!([]), "in_progress"), deltas, message(json!([{"type": "output_text", "text": whole, "annotations": []}]), "completed"));
        }
        Pieces::Arguments => called(&mut events, 0, parts(count)),
        Pieces::Calls => (0..count).for_each(|number| called(&mut events, number, vec![arguments(number)])),
        Pieces::Blank => (0..count).for_each(|number| called(&mut events, number, vec![])),
        Pieces::Hosted => (0..count).for_each(|number| {
            let search = |status: &str| json!({"type": "web_search_call", "id": format!("ws_{number}"), "status": status, "action": {"type": "search", "query": "a"}});
            item(&mut events, search("in_progress"), vec![], search("completed"));
        }),
    }
    events.push(json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": output}}));
    events
}

fn chat(pieces: Pieces, count: usize) -> Vec<Value> {
    let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
    let call = |number: usize, text: String| {
        delta(
            json!({"tool_calls": [{"index": number, "id": format!("call_{number}"), "type": "function", "function": {"name": "add", "arguments": text}}]}),
        )
    };
    let more = |text: String| delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": text}}]}));
    let mut events: Vec<Value> = match pieces {
        Pieces::Text => {
            (0..count).map(|number| delta(json!({"content": format!("piece {number} ")}))).collect()
        }
        Pieces::Arguments => {
            [call(0, String::new())].into_iter().chain(parts(count).into_iter().map(more)).collect()
        }
        Pieces::Calls => (0..count).map(|number| call(number, arguments(number))).collect(),
        Pieces::Blank => (0..count).map(|number| call(number, String::new())).collect(),
        Pieces::Hosted => Vec::new(),
    };
    let reason = if pieces == Pieces::Text { "stop" } else { "tool_calls" };
    events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}));
    events
}

fn gemini(pieces: Pieces, count: usize) -> Vec<Value> {
    let part = |part: Value| json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]});
    let call = |number: usize| {
        part(
            json!({"functionCall": {"name": "add", "args": {"a": number, "b": 1}}, "thoughtSignature": "c2ln"}),
        )
    };
    let mut events: Vec<Value> = match pieces {
        Pieces::Text => (0..count).map(|number| part(json!({"text": format!("piece {number} ")}))).collect(),
        Pieces::Arguments | Pieces::Calls => (0..count).map(call).collect(),
        Pieces::Blank => (0..count).map(|_| part(json!({"functionCall": {"name": "add"}}))).collect(),
        Pieces::Hosted => Vec::new(),
    };
    events.push(json!({"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}]}));
    events
}

fn bedrock(pieces: Pieces, count: usize) -> Vec<Value> {
    let mut events = vec![json!({"messageStart": {"role": "assistant"}})];
    let mut index = 0;
    let mut block = |events: &mut Vec<Value>, start: Option<Value>, deltas: Vec<Value>| {
        events.extend(
            start.map(|start| json!({"contentBlockStart": {"contentBlockIndex": index, "start": start}})),
        );
        events.extend(
            deltas
                .into_iter()
                .map(|delta| json!({"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}})),
        );
        events.push(json!({"contentBlockStop": {"contentBlockIndex": index}}));
        index += 1;
    };
    block(
        &mut events,
        None,
        vec![
            json!({"reasoningContent": {"text": "I add."}}),
            json!({"reasoningContent": {"signature": "c2lnbmVk"}}),
        ],
    );
    let start = |number: usize| Some(json!({"toolUse": {"toolUseId": format!("t_{number}"), "name": "add"}}));
    let input = |text: String| json!({"toolUse": {"input": text}});
    match pieces {
        Pieces::Text => block(
            &mut events,
            None,
            (0..count).map(|number| json!({"text": format!("piece {number} ")})).collect(),
        ),
        Pieces::Arguments => block(&mut events, start(0), parts(count).into_iter().map(input).collect()),
        Pieces::Calls | Pieces::Hosted => {
            (0..count).for_each(|number| block(&mut events, start(number), vec![input(arguments(number))]));
        }
        Pieces::Blank => (0..count).for_each(|number| block(&mut events, start(number), vec![])),
    }
    let reason = if pieces == Pieces::Text { "end_turn" } else { "tool_use" };
    events.push(json!({"messageStop": {"stopReason": reason}}));
    events.push(json!({"metadata": {"usage": {"inputTokens": 5, "outputTokens": 9}}}));
    events
}

fn interactions(pieces: Pieces, count: usize) -> Vec<Value> {
    let mut events = vec![
        json!({"event_type": "interaction.created", "interaction": {"id": "i", "status": "in_progress"}}),
    ];
    let mut index = 0;
    let mut step = |events: &mut Vec<Value>, start: Value, deltas: Vec<Value>| {
        events.push(json!({"event_type": "step.start", "index": index, "step": start}));
        events.extend(
            deltas
                .into_iter()
                .map(|delta| json!({"event_type": "step.delta", "index": index, "delta": delta})),
        );
        events.push(json!({"event_type": "step.stop", "index": index}));
        index += 1;
    };
    step(
        &mut events,
        json!({"type": "thought"}),
        vec![
            json!({"type": "thought_summary", "content": {"type": "text", "text": "I add."}}),
            json!({"type": "thought_signature", "signature": "c2lnbmVk"}),
        ],
    );
    let call = |number: usize| json!({"type": "function_call", "id": format!("c_{number}"), "name": "add"});
    let input = |text: String| json!({"type": "arguments_delta", "arguments": text});
    match pieces {
        Pieces::Text => step(
            &mut events,
            json!({"type": "model_output"}),
            (0..count).map(|number| json!({"type": "text", "text": format!("piece {number} ")})).collect(),
        ),
        Pieces::Arguments => step(&mut events, call(0), parts(count).into_iter().map(input).collect()),
        Pieces::Calls | Pieces::Hosted => {
            (0..count).for_each(|number| step(&mut events, call(number), vec![input(arguments(number))]));
        }
        Pieces::Blank => (0..count).for_each(|number| step(&mut events, call(number), vec![])),
    }
    let status = if pieces == Pieces::Text { "completed" } else { "requires_action" };
    events.push(json!({"event_type": "interaction.completed", "interaction": {"id": "i", "status": status}}));
    events
}
