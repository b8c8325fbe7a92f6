//! Tests of responses in every format, complete and streamed.

mod cut;
mod usage;

use crate::facts::ApiFormat;
use crate::response::Response;
use serde_json::{Value, json};
use toolkit_core::name::WireNames;

#[track_caller]
fn parse(format: ApiFormat, body: &Value) -> Response {
    format.parse_response(body).unwrap()
}

fn bodies() -> [(ApiFormat, Value); ApiFormat::ALL.len()] {
    [
        (
            ApiFormat::OpenAiChat,
            json!({
                "choices": [{"index": 0, "finish_reason": "stop", "message": {
                    "role": "assistant", "content": "Let me add.", "reasoning_content": "Sum.",
                    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "add", "arguments": "{\"x\":1}"}}],
                }}],
                "usage": {"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 3},
                    "completion_tokens_details": {"reasoning_tokens": 2}},
            }),
        ),
        (
            ApiFormat::OpenAiResponses,
            json!({
                "status": "completed",
                "output": [
                    {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Sum."}]},
                    {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [
                        {"type": "output_text", "text": "Let me add.", "annotations": []},
                    ]},
                    {"type": "function_call", "id": "fc", "call_id": "a", "name": "add", "arguments": "{\"x\":1}",
                        "status": "completed"},
                ],
                "usage": {"input_tokens": 9, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 3},
                    "output_tokens_details": {"reasoning_tokens": 2}},
            }),
        ),
        (
            ApiFormat::Anthropic,
            json!({
                "type": "message", "role": "assistant", "stop_reason": "tool_use",
                "content": [
                    {"type": "thinking", "thinking": "Sum.", "signature": "s"},
                    {"type": "text", "text": "Let me add."},
                    {"type": "tool_use", "id": "a", "name": "add", "input": {"x": 1}},
                ],
                "usage": {"input_tokens": 4, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2,
                    "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 2}},
            }),
        ),
        (
            ApiFormat::Gemini,
            json!({
                "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [
                    {"text": "Sum.", "thought": true},
                    {"text": "Let me add."},
                    {"functionCall": {"id": "a", "name": "add", "args": {"x": 1}}, "thoughtSignature": "s"},
                ]}}],
                "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3, "thoughtsTokenCount": 2,
                    "cachedContentTokenCount": 3},
            }),
        ),
        (
            ApiFormat::Ollama,
            json!({
                "model": "m", "done": true, "done_reason": "stop",
                "message": {"role": "assistant", "content": "Let me add.", "thinking": "Sum.", "tool_calls": [
                    {"id": "a", "function": {"index": 0, "name": "add", "arguments": {"x": 1}}},
                ]},
                "prompt_eval_count": 9, "prompt_eval_cached_count": 3, "eval_count": 5,
            }),
        ),
        (
            ApiFormat::Bedrock,
            json!({
                "output": {"message": {"role": "assistant", "content": [
                    {"reasoningContent": {"reasoningText": {"text": "Sum.", "signature": "s"}}},
                    {"text": "Let me add."},
                    {"toolUse": {"toolUseId": "a", "name": "add", "input": {"x": 1}}},
                ]}},
                "stopReason": "tool_use",
                "usage": {"inputTokens": 4, "outputTokens": 5, "totalTokens": 14, "cacheReadInputTokens": 3,
                    "cacheWriteInputTokens": 2},
                "metrics": {"latencyMs": 7},
            }),
        ),
        (
            ApiFormat::Cohere,
            json!({
                "id": "c", "finish_reason": "TOOL_CALL",
                "message": {"role": "assistant", "tool_plan": "Sum.",
                    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "add", "arguments": "{\"x\":1}"}}],
                    "content": [{"type": "text", "text": "Let me add."}]},
                "usage": {"tokens": {"input_tokens": 9, "output_tokens": 5}, "cached_tokens": 3},
            }),
        ),
        (
            ApiFormat::GeminiInteractions,
            json!({
                "id": "i", "status": "requires_action",
                "steps": [
                    {"type": "thought", "summary": [{"type": "text", "text": "Sum."}], "signature": "s"},
                    {"type": "model_output", "content": [{"type": "text", "text": "Let me add."}]},
                    {"type": "function_call", "id": "a", "name": "add", "arguments": {"x": 1}},
                ],
                "usage": {"total_input_tokens": 9, "total_output_tokens": 3, "total_thought_tokens": 2,
                    "total_cached_tokens": 3},
            }),
        ),
    ]
}

fn events(format: ApiFormat, body: &Value) -> Vec<Value> {
    match format {
        ApiFormat::OpenAiChat => {
            let choice = &body["choices"][0];
            let mut delta = choice["message"].clone();
            delta["tool_calls"][0]["index"] = json!(0);
            vec![
                json!({"choices": [{"index": 0, "delta": delta}]}),
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}),
                json!({"choices": [], "usage": body["usage"]}),
            ]
        }
        ApiFormat::OpenAiResponses => vec![json!({"type": "response.completed", "response": body})],
        ApiFormat::Anthropic => vec![body.clone(), json!({"type": "message_stop"})],
        ApiFormat::Ollama => {
            let message = &body["message"];
            let mut end = body.clone();
            end["message"] = json!({"role": "assistant", "content": ""});
            vec![
                json!({"model": "m", "message": {"role": "assistant", "content": "", "thinking": "Sum."}, "done": false}),
                json!({"model": "m", "message": {"role": "assistant", "content": "Let me "}, "done": false}),
                json!({"model": "m", "message": {"role": "assistant", "content": "add."}, "done": false}),
                json!({"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": message["tool_calls"]}, "done": false}),
                end,
            ]
        }
        ApiFormat::Gemini => vec![body.clone()],
        ApiFormat::Cohere => cohere(body),
        ApiFormat::GeminiInteractions => interaction(body),
        ApiFormat::Bedrock => {
            let start = |at: u8, start: Value| json!({"contentBlockStart": {"contentBlockIndex": at, "start": start}});
            let delta = |at: u8, delta: Value| json!({"contentBlockDelta": {"contentBlockIndex": at, "delta": delta}});
            let stop = |at: u8| json!({"contentBlockStop": {"contentBlockIndex": at}});
            vec![
                json!({"messageStart": {"role": "assistant"}}),
                delta(0, json!({"reasoningContent": {"text": "Su"}})),
                delta(0, json!({"reasoningContent": {"text": "m."}})),
                delta(0, json!({"reasoningContent": {"signature": "s"}})),
                stop(0),
                delta(1, json!({"text": "Let me "})),
                delta(1, json!({"text": "add."})),
                stop(1),
                start(2, json!({"toolUse": {"toolUseId": "a", "name": "add"}})),
                delta(2, json!({"toolUse": {"input": "{\"x\""}})),
                delta(2, json!({"toolUse": {"input": ": 1}"}})),
                stop(2),
                json!({"messageStop": {"stopReason": "tool_use"}}),
                json!({"metadata": {"usage": body["usage"], "metrics": body["metrics"]}}),
            ]
        }
    }
}

fn interaction(body: &Value) -> Vec<Value> {
    let start = |at: u8, step: Value| json!({"event_type": "step.start", "index": at, "step": step});
    let delta = |at: u8, delta: Value| json!({"event_type": "step.delta", "index": at, "delta": delta});
    let stop = |at: u8| json!({"event_type": "step.stop", "index": at});
    let summary = |text: &str| json!({"type": "thought_summary", "content": {"type": "text", "text": text}});
    let begun = json!({"type": "function_call", "id": "a", "name": "add", "arguments": {}});
    vec![
        json!({"event_type": "interaction.created", "interaction": {"id": "i", "status": "in_progress"}}),
        start(0, json!({"type": "thought"})),
        delta(0, summary("Su")),
        delta(0, summary("m.")),
        delta(0, json!({"type": "thought_signature", "signature": "s"})),
        stop(0),
        start(1, json!({"type": "model_output", "content": [{"type": "text", "text": "Let "}]})),
        delta(1, json!({"type": "text", "text": "me add."})),
        stop(1),
        start(2, begun),
        delta(2, json!({"type": "arguments_delta", "arguments": "{\"x\""})),
        delta(2, json!({"type": "arguments_delta", "arguments": ": 1}"})),
        stop(2),
        json!({"event_type": "interaction.completed", "interaction": {"id": "i", "status": "requires_action",
            "usage": body["usage"]}}),
    ]
}

fn cohere(body: &Value) -> Vec<Value> {
    let event = |kind: &str, message: Value| json!({"type": kind, "index": 0, "delta": {"message": message}});
    let call = |piece: Value| json!({"tool_calls": piece});
    let begun = json!({"id": "a", "type": "function", "function": {"name": "add", "arguments": ""}});
    let empty =
        json!({"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []});
    vec![
        json!({"id": body["id"], "type": "message-start", "delta": {"message": empty}}),
        event("tool-plan-delta", json!({"tool_plan": "Su"})),
        event("tool-plan-delta", json!({"tool_plan": "m."})),
        event("content-start", json!({"content": {"type": "text", "text": ""}})),
        event("content-delta", json!({"content": {"text": "Let me "}})),
        event("content-delta", json!({"content": {"text": "add."}})),
        json!({"type": "content-end", "index": 0}),
        event("tool-call-start", call(begun)),
        event("tool-call-delta", call(json!({"function": {"arguments": "{\"x\""}}))),
        event("tool-call-delta", call(json!({"function": {"arguments": ":1}"}}))),
        json!({"type": "tool-call-end", "index": 0}),
        json!({"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": body["usage"]}}),
    ]
}

fn encode(format: ApiFormat, event: &Value) -> Vec<u8> {
    match format {
        ApiFormat::Bedrock => crate::stream::event_stream::tests::encode_event(event),
        ApiFormat::Ollama => format!("{event}\n").into_bytes(),
        _ => format!("data: {event}\n\n").into_bytes(),
    }
}

#[test]
fn a_stream_ends_with_the_response_of_its_whole_body_wherever_it_is_cut() {
    for (format, body) in bodies() {
        let bytes: Vec<u8> = events(format, &body).iter().flat_map(|event| encode(format, event)).collect();
        let mut expected = parse(format, &body);
        // Chat Completions sends the index of a call only in streams.
        if format == ApiFormat::OpenAiChat {
            expected.calls[0].index = None;
        }
        for at in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(at);
            let mut stream = format.accumulator();
            for news in
                [head, tail].into_iter().flat_map(|bytes| stream.push_bytes(bytes)).collect::<Vec<_>>()
            {
                news.unwrap();
            }
            let end = stream.finish();
            assert!(end.is_complete, "{format}");
            assert_eq!(end.response.as_ref(), Ok(&expected), "{format} cut at {at}");
            assert_eq!(format.parse_response(&end.body).as_ref(), Ok(&expected), "{format}");
        }
    }
}

#[test]
fn text_reasoning_and_calls_are_no_losses_for_another_api() {
    let names = WireNames::default();
    for (format, body) in bodies() {
        let native = parse(format, &body).native;
        for &other in ApiFormat::ALL {
            assert_eq!(other.history(&names).native_losses(format, &native), [], "{format} to {other}");
        }
    }
}
