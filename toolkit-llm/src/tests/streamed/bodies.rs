//! An answer as one response body and as the events of a stream, as each provider writes them.

mod openai;

use super::{Answer, End, Part};
use crate::ApiFormat;
use crate::tests::pieces;
use openai::{openai_chat, openai_responses};
use serde_json::{Value, json};

pub(super) struct Body {
    pub(super) whole: Value,
    pub(super) events: Vec<Value>,
}

/// Writes an answer in the form of an API.
///
/// Streamed texts are split at `cuts`.
pub(super) fn body(format: ApiFormat, answer: &Answer, cuts: &[usize]) -> Body {
    match format {
        ApiFormat::OpenAiChat => openai_chat(answer, cuts),
        ApiFormat::OpenAiResponses => openai_responses(answer, cuts),
        ApiFormat::Anthropic => anthropic(&answer.without_refusals(), cuts),
        ApiFormat::Gemini => gemini(&answer.without_refusals().without_empty_texts(), cuts),
        ApiFormat::GeminiInteractions => gemini_interactions(&answer.without_refusals(), cuts),
        ApiFormat::Cohere => cohere(&answer.without_refusals(), cuts),
        ApiFormat::Bedrock => bedrock(&answer.without_refusals(), cuts),
        ApiFormat::Ollama => ollama(&answer.without_refusals(), cuts),
    }
}

/// Picks the word for the end of an answer.
fn word(answer: &Answer, [complete, calls, limit, blocked]: [&'static str; 4]) -> &'static str {
    match answer.end {
        End::Complete if answer.has_calls() => calls,
        End::Complete => complete,
        End::Limit => limit,
        End::Blocked => blocked,
    }
}

fn id(at: usize) -> String {
    format!("call_{at}")
}

fn anthropic(answer: &Answer, cuts: &[usize]) -> Body {
    let reason = word(answer, ["end_turn", "tool_use", "max_tokens", "refusal"]);
    let details = (answer.end == End::Blocked).then(|| json!({"type": "refusal", "explanation": "Policy."}));
    let [input, output, cached, reasoning] = answer.tokens;
    let (mut blocks, mut events): (Vec<Value>, _) = (Vec::new(), Vec::new());
    let begun =
        json!({"input_tokens": input, "cache_read_input_tokens": cached, "output_tokens": output.min(1)});
    let message = json!({"id": "r", "type": "message", "role": "assistant", "content": [], "usage": begun});
    events.push(json!({"type": "message_start", "message": message}));
    for (at, part) in answer.parts.iter().enumerate() {
        let index = blocks.len();
        let (block, begun, kind, field, text) = match part {
            Part::Text(text) | Part::Refusal(text) => {
                let block = |text: &str| json!({"type": "text", "text": text});
                (block(text), block(""), "text_delta", "text", text.clone())
            }
            Part::Reasoning(text) => {
                let block = |text: &str, signature: &str| json!({"type": "thinking", "thinking": text, "signature": signature});
                (block(text, "s"), block("", ""), "thinking_delta", "thinking", text.clone())
            }
            Part::Call { name, arguments } => {
                let block =
                    |input: &Value| json!({"type": "tool_use", "id": id(at), "name": name, "input": input});
                let text = arguments.to_string();
                (block(arguments), block(&json!({})), "input_json_delta", "partial_json", text)
            }
        };
        let delta = |delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        events.push(json!({"type": "content_block_start", "index": index, "content_block": begun}));
        events
            .extend(pieces(&text, cuts).into_iter().map(|piece| delta(json!({"type": kind, field: piece}))));
        if matches!(part, Part::Reasoning(_)) {
            events.push(delta(json!({"type": "signature_delta", "signature": "s"})));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
        blocks.push(block);
    }
    let usage = json!({"input_tokens": input, "cache_read_input_tokens": cached, "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": reasoning}});
    let end = json!({"stop_reason": reason, "stop_details": details});
    events.push(json!({"type": "message_delta", "delta": end, "usage": usage}));
    events.push(json!({"type": "message_stop"}));
    let whole = json!({"id": "r", "type": "message", "role": "assistant", "content": blocks, "usage": usage,
        "stop_reason": reason, "stop_details": details});
    Body { whole, events }
}

fn gemini(answer: &Answer, cuts: &[usize]) -> Body {
    let reason = word(answer, ["STOP", "STOP", "MAX_TOKENS", "SAFETY"]);
    let [input, output, cached, reasoning] = answer.tokens;
    let usage = json!({"promptTokenCount": input, "candidatesTokenCount": output,
        "cachedContentTokenCount": cached, "thoughtsTokenCount": reasoning});
    let event = |part: &Value| {
        json!({"responseId": "r", "usageMetadata": {"promptTokenCount": input},
            "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}]})
    };
    let (mut parts, mut events): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for (at, part) in answer.parts.iter().enumerate() {
        let (text, is_thought) = match part {
            Part::Text(text) | Part::Refusal(text) => (text, false),
            Part::Reasoning(text) => (text, true),
            Part::Call { name, arguments } => {
                parts.push(json!({"functionCall": {"id": id(at), "name": name, "args": arguments}}));
                events.extend(parts.last().map(event));
                continue;
            }
        };
        let said = |text: &str| {
            if is_thought { json!({"text": text, "thought": true}) } else { json!({"text": text}) }
        };
        parts.push(said(text));
        events.extend(pieces(text, cuts).iter().map(|piece| event(&said(piece))));
    }
    let message = (answer.end == End::Blocked).then_some("Blocked.");
    let end = json!({"index": 0, "finishReason": reason, "finishMessage": message});
    events.push(json!({"responseId": "r", "candidates": [end], "usageMetadata": usage}));
    let mut candidate = end;
    if !parts.is_empty() {
        candidate["content"] = json!({"role": "model", "parts": parts});
    }
    Body { whole: json!({"responseId": "r", "candidates": [candidate], "usageMetadata": usage}), events }
}

fn gemini_interactions(answer: &Answer, cuts: &[usize]) -> Body {
    let status = word(answer, ["completed", "requires_action", "incomplete", "failed"]);
    let [input, output, cached, reasoning] = answer.tokens;
    let usage = json!({"total_input_tokens": input, "total_output_tokens": output,
        "total_cached_tokens": cached, "total_thought_tokens": reasoning});
    let (mut steps, mut events): (Vec<Value>, _) = (Vec::new(), Vec::new());
    events.push(
        json!({"event_type": "interaction.start", "interaction": {"id": "r", "status": "in_progress"}}),
    );
    for (at, part) in answer.parts.iter().enumerate() {
        let index = steps.len();
        let block = |text: &str| json!({"type": "text", "text": text});
        let (step, begun, deltas): (_, _, Vec<Value>) = match part {
            Part::Text(text) | Part::Refusal(text) => (
                json!({"type": "model_output", "content": [block(text)]}),
                json!({"type": "model_output"}),
                pieces(text, cuts).iter().map(|piece| block(piece)).collect(),
            ),
            Part::Reasoning(text) => (
                json!({"type": "thought", "summary": [block(text)], "signature": "s"}),
                json!({"type": "thought", "signature": "s"}),
                pieces(text, cuts)
                    .iter()
                    .map(|piece| json!({"type": "thought_summary", "content": block(piece)}))
                    .collect(),
            ),
            Part::Call { name, arguments } => {
                let step = |arguments: &Value| json!({"type": "function_call", "id": id(at), "name": name, "arguments": arguments});
                let pieces = pieces(&arguments.to_string(), cuts);
                let delta = |piece: &String| json!({"type": "arguments_delta", "arguments": piece});
                (step(arguments), step(&json!({})), pieces.iter().map(delta).collect())
            }
        };
        events.push(json!({"event_type": "step.start", "index": index, "step": begun}));
        let delta = |delta| json!({"event_type": "step.delta", "index": index, "delta": delta});
        events.extend(deltas.into_iter().map(delta));
        events.push(json!({"event_type": "step.stop", "index": index}));
        steps.push(step);
    }
    let end = json!({"id": "r", "status": status, "usage": usage});
    events.push(json!({"event_type": "interaction.completed", "interaction": end}));
    let mut whole = end;
    whole["steps"] = steps.into();
    Body { whole, events }
}

fn cohere(answer: &Answer, cuts: &[usize]) -> Body {
    let reason = word(answer, ["COMPLETE", "TOOL_CALL", "MAX_TOKENS", "ERROR"]);
    let [input, output, cached, _] = answer.tokens;
    let usage = json!({"tokens": {"input_tokens": input, "output_tokens": output}, "cached_tokens": cached});
    let (mut calls, mut content): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let event = |kind: String, index: usize, message: Value| json!({"type": kind, "index": index, "delta": {"message": message}});
    let mut events =
        vec![json!({"type": "message-start", "id": "r", "delta": {"message": {"role": "assistant"}}})];
    for (at, part) in answer.parts.iter().enumerate() {
        let (kind, text) = match part {
            Part::Text(text) | Part::Refusal(text) => ("text", text),
            Part::Reasoning(text) => ("thinking", text),
            Part::Call { name, arguments } => {
                let call = |text: &str| json!({"id": id(at), "type": "function", "function": {"name": name, "arguments": text}});
                let index = calls.len();
                let text = arguments.to_string();
                let piece = |piece: &String| json!({"tool_calls": {"function": {"arguments": piece}}});
                events.push(event("tool-call-start".to_owned(), index, json!({"tool_calls": call("")})));
                events.extend(
                    pieces(&text, cuts)
                        .iter()
                        .map(piece)
                        .map(|piece| event("tool-call-delta".to_owned(), index, piece)),
                );
                events.push(json!({"type": "tool-call-end", "index": index}));
                calls.push(call(&text));
                continue;
            }
        };
        let index = content.len();
        events.push(event("content-start".to_owned(), index, json!({"content": {"type": kind, kind: ""}})));
        let piece = |piece: &String| json!({"content": {kind: piece}});
        events.extend(
            pieces(text, cuts).iter().map(piece).map(|piece| event("content-delta".to_owned(), index, piece)),
        );
        events.push(json!({"type": "content-end", "index": index}));
        content.push(json!({"type": kind, kind: text}));
    }
    events.push(json!({"type": "message-end", "delta": {"finish_reason": reason, "usage": usage}}));
    let mut message = json!({"role": "assistant"});
    for (name, list) in [("tool_calls", calls), ("content", content)] {
        if !list.is_empty() {
            message[name] = list.into();
        }
    }
    Body { whole: json!({"id": "r", "finish_reason": reason, "message": message, "usage": usage}), events }
}

fn bedrock(answer: &Answer, cuts: &[usize]) -> Body {
    let reason = word(answer, ["end_turn", "tool_use", "max_tokens", "guardrail_intervened"]);
    let [input, output, cached, _] = answer.tokens;
    let usage = json!({"inputTokens": input, "outputTokens": output, "cacheReadInputTokens": cached});
    let (mut blocks, mut events): (Vec<Value>, _) =
        (Vec::new(), vec![json!({"messageStart": {"role": "assistant"}})]);
    for (at, part) in answer.parts.iter().enumerate() {
        let index = blocks.len();
        let delta = |delta: Value| json!({"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}});
        match part {
            Part::Text(text) | Part::Refusal(text) => {
                events.extend(pieces(text, cuts).iter().map(|piece| delta(json!({"text": piece}))));
                blocks.push(json!({"text": text}));
            }
            Part::Reasoning(text) => {
                let of = |fields: Value| json!({"reasoningContent": fields});
                events.extend(pieces(text, cuts).iter().map(|piece| delta(of(json!({"text": piece})))));
                events.push(delta(of(json!({"signature": "s"}))));
                blocks.push(of(json!({"reasoningText": {"text": text, "signature": "s"}})));
            }
            Part::Call { name, arguments } => {
                let start = json!({"toolUse": {"toolUseId": id(at), "name": name}});
                events.push(json!({"contentBlockStart": {"contentBlockIndex": index, "start": start}}));
                let pieces = pieces(&arguments.to_string(), cuts);
                events.extend(pieces.iter().map(|piece| delta(json!({"toolUse": {"input": piece}}))));
                let call = json!({"toolUseId": id(at), "name": name, "input": arguments});
                blocks.push(json!({"toolUse": call}));
            }
        }
        events.push(json!({"contentBlockStop": {"contentBlockIndex": index}}));
    }
    events.push(json!({"messageStop": {"stopReason": reason}}));
    events.push(json!({"metadata": {"usage": usage}}));
    let message = json!({"role": "assistant", "content": blocks});
    Body { whole: json!({"output": {"message": message}, "stopReason": reason, "usage": usage}), events }
}

fn ollama(answer: &Answer, cuts: &[usize]) -> Body {
    let reason = word(answer, ["stop", "stop", "length", "error"]);
    let [input, output, cached, _] = answer.tokens;
    let mut events = Vec::new();
    let mut calls = Vec::new();
    for (at, part) in answer.parts.iter().enumerate() {
        let line = |fields: Value| json!({"message": fields, "done": false});
        let of = |field: &str, piece: &str| {
            let mut fields = json!({"role": "assistant", "content": ""});
            fields[field] = piece.into();
            line(fields)
        };
        match part {
            Part::Text(text) | Part::Refusal(text) => {
                events.extend(pieces(text, cuts).iter().map(|piece| of("content", piece)));
            }
            Part::Reasoning(text) => {
                events.extend(pieces(text, cuts).iter().map(|piece| of("thinking", piece)));
            }
            Part::Call { name, arguments } => {
                calls.push(json!({"id": id(at), "function": {"name": name, "arguments": arguments}}));
                let call = calls.last();
                events.push(line(json!({"role": "assistant", "content": "", "tool_calls": [call]})));
            }
        }
    }
    let end = json!({"done": true, "done_reason": reason, "prompt_eval_count": input, "eval_count": output,
        "prompt_eval_cached_count": cached});
    let mut last = end.clone();
    last["message"] = json!({"role": "assistant", "content": ""});
    events.push(last);
    let text = answer.all(|part| if let Part::Text(text) = part { Some(text) } else { None });
    let thinking = answer.all(|part| if let Part::Reasoning(text) = part { Some(text) } else { None });
    let mut message = json!({"role": "assistant", "content": text});
    if answer.parts.iter().any(|part| matches!(part, Part::Reasoning(_))) {
        message["thinking"] = thinking.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let mut whole = end;
    whole["message"] = message;
    Body { whole, events }
}
