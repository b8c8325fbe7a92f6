//! Texts that servers write as other JSON values, or as lists of parts.

use crate::ApiFormat;
use serde_json::{Value, json};

/// Bodies with their text and their reasoning.
#[rustfmt::skip]
fn bodies() -> Vec<(ApiFormat, Value, &'static str, &'static str)> {
    use ApiFormat::{Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Ollama, OpenAiChat, OpenAiResponses};
    let chat = |message: Value| json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let content = |content: Value| chat(json!({"role": "assistant", "content": content}));
    let thinking = json!([{"type": "text", "text": "h"}, {"type": "text", "text": "m"}]);
    let summary = json!([{"type": "summary_text", "text": "hm", "signature": "s"}]);
    let items = |items: Value| json!({"id": "r", "status": "completed", "output": items});
    let blocks = |content: Value| json!({"role": "assistant", "content": content, "stop_reason": "end_turn"});
    let parts = |parts: Value| json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]});
    let converse = |content: Value| json!({"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "end_turn"});
    vec![
        (OpenAiChat, content(json!({"a": 1})), r#"{"a":1}"#, ""),
        (OpenAiChat, content(json!({"text": "a"})), r#"{"text":"a"}"#, ""),
        (OpenAiChat, content(json!([{"a": 1}, 2])), r#"[{"a":1},2]"#, ""),
        (OpenAiChat, content(json!(1)), "1", ""),
        (OpenAiChat, content(json!(false)), "false", ""),
        (OpenAiChat, content(json!(["a", "b"])), "ab", ""),
        (OpenAiChat, content(json!({"type": "text", "text": "a"})), "a", ""),
        (OpenAiChat, content(json!([{"type": "text", "text": 1}, {"text": "a"}, {"type": "image_url", "image_url": {}}])), "1a", ""),
        (OpenAiChat, content(json!([{"type": "reasoning", "summary": summary}, {"type": "text", "text": "hi"}])), "hi", "hm"),
        (OpenAiChat, content(json!([{"type": "thinking", "thinking": thinking}, {"type": "text", "text": "hi"}])), "hi", "hm"),
        (OpenAiChat, content(json!([{"type": "thinking", "thinking": ["h", "m"]}, "hi"])), "hi", "hm"),
        (OpenAiChat, content(json!([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "hi"}])), "hi", "hm"),
        (OpenAiChat, chat(json!({"content": "hi", "reasoning_content": thinking})), "hi", "hm"),
        (OpenAiChat, chat(json!({"content": null, "reasoning": {"a": 1}})), "", r#"{"a":1}"#),
        (OpenAiResponses, items(json!([{"type": "reasoning", "content": "hm"}, {"type": "message", "content": {"a": 1}}])), r#"{"a":1}"#, "hm"),
        (OpenAiResponses, items(json!([{"type": "reasoning", "summary": ["hm"]}, {"type": "message", "content": [{"type": "output_text", "text": 1}]}])), "1", "hm"),
        (Anthropic, blocks(json!([{"type": "thinking", "thinking": thinking}, {"type": "text", "text": 1}])), "1", "hm"),
        (Gemini, parts(json!([{"text": ["h", "m"], "thought": true}, {"text": {"a": 1}}, {"text": true}])), r#"{"a":1}true"#, "hm"),
        (GeminiInteractions, json!({"status": "completed", "steps": [{"type": "thought", "summary": "hm"}, {"type": "model_output", "content": [{"type": "text", "text": 1}]}]}), "1", "hm"),
        (Ollama, json!({"message": {"role": "assistant", "content": {"a": 1}, "thinking": ["hm"]}, "done": true}), r#"{"a":1}"#, "hm"),
        (Bedrock, converse(json!([{"reasoningContent": {"reasoningText": {"text": ["hm"]}}}, {"text": 1}])), "1", "hm"),
        (Cohere, json!({"message": {"role": "assistant", "tool_plan": "h", "content": [{"type": "thinking", "thinking": ["m"]}, {"type": "text", "text": 1}]}}), "1", "hm"),
        (Cohere, json!({"message": {"role": "assistant", "content": {"a": 1}}}), r#"{"a":1}"#, ""),
    ]
}

#[test]
fn other_json_in_place_of_a_text_is_the_text() {
    for (format, body, text, reasoning) in bodies() {
        let response = format.parse_response(&body).unwrap();
        assert_eq!((response.text.as_str(), response.reasoning.as_str()), (text, reasoning), "{body}");
    }
}

/// A request with any other JSON in these fields is refused.
#[test]
fn a_history_has_texts_and_lists_of_parts() {
    let part = json!({"type": "text", "text": "a"});
    for (format, content, written) in [
        (ApiFormat::OpenAiChat, json!({"a": 1}), json!(r#"{"a":1}"#)),
        (ApiFormat::OpenAiChat, json!(1), json!("1")),
        (ApiFormat::OpenAiChat, part.clone(), json!([part])),
        (ApiFormat::OpenAiChat, json!([part]), json!([part])),
        (ApiFormat::OpenAiChat, json!(["a", "a"]), json!([part, part])),
        (ApiFormat::Ollama, json!({"a": 1}), json!(r#"{"a":1}"#)),
        (ApiFormat::Cohere, json!(1), json!("1")),
    ] {
        let message = json!({"role": "assistant", "content": content});
        let body = match format {
            ApiFormat::OpenAiChat => json!({"choices": [{"message": message, "finish_reason": "stop"}]}),
            _ => json!({"message": message, "done": true}),
        };
        let native = format.parse_response(&body).unwrap().native;
        assert_eq!(native, [json!({"role": "assistant", "content": written})], "{format}");
    }
}

#[test]
fn parts_of_a_history_have_texts() {
    let block = |text: Value| json!({"type": "text", "text": text});
    let item = |text: Value| json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    for (format, received, written) in [
        (ApiFormat::Anthropic, block(json!(1)), json!({"role": "assistant", "content": [block(json!("1"))]})),
        (ApiFormat::Bedrock, json!({"text": 1}), json!({"role": "assistant", "content": [{"text": "1"}]})),
        (ApiFormat::OpenAiResponses, item(json!(1)), item(json!("1"))),
    ] {
        assert_eq!(format.assistant_messages(&received).unwrap(), [written], "{format}");
    }
    let body = json!({"candidates": [{"content": {"parts": [{"text": 1}]}, "finishReason": "STOP"}]});
    let written = json!({"role": "model", "parts": [{"text": "1"}]});
    assert_eq!(ApiFormat::Gemini.assistant_messages(&body).unwrap(), [written]);
}

#[test]
fn a_number_among_streamed_texts_is_text() {
    let body = r#"data: {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "See ["}}]}

data: {"choices": [{"index": 0, "delta": {"content": 1}}]}

data: {"choices": [{"index": 0, "delta": {"content": null}}]}

data: {"choices": [{"index": 0, "delta": {"content": "] for it."}}]}

data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}

data: [DONE]

"#;
    let mut stream = ApiFormat::OpenAiChat.accumulator();
    assert!(stream.push_bytes(body.as_bytes()).iter().all(Result::is_ok));
    let end = stream.finish();
    assert_eq!(end.body["choices"][0]["message"]["content"], "See [1] for it.");
    assert_eq!(end.response.unwrap().text, "See [1] for it.");
}
