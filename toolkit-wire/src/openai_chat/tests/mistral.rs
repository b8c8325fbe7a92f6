//! Mistral's API: Chat Completions with thinking among the content, another name for a choice, and prefixes.

use crate::ApiFormat::OpenAiChat;
use crate::StreamEvent;
use serde_json::{Value, json};
use toolkit_core::call::ToolChoice;
use toolkit_core::name::WireNames;

fn thinking(text: &str) -> Value {
    json!({"type": "thinking", "thinking": [{"type": "text", "text": text}]})
}

fn body(content: Value) -> Value {
    let call = json!({"id": "D681PevKs", "function": {"name": "add", "arguments": "{\"x\": 1}"}});
    let message = json!({"role": "assistant", "content": content, "tool_calls": [call], "prefix": false});
    json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
}

#[test]
fn the_choice_any_requires_a_call() {
    let request = json!({"tool_choice": "any"});
    let parsed = OpenAiChat.parse_tool_config(request.as_object().unwrap(), &WireNames::default()).unwrap();
    assert_eq!(parsed.choice, ToolChoice::Required);
    // The same server gets its own word back.
    let encoded = OpenAiChat.encode_tool_config(&parsed, &WireNames::default());
    assert_eq!(Value::from(encoded.fields), request);
}

#[test]
fn thinking_and_prefix_are_sent_back() {
    let response = OpenAiChat
        .parse_response(&body(json!([thinking("Sum."), {"type": "text", "text": "I add."}])))
        .unwrap();
    assert_eq!((response.reasoning.as_str(), response.text.as_str()), ("Sum.", "I add."));
    assert_eq!(response.native[0]["content"][0], thinking("Sum."));
    assert_eq!(response.native[0]["prefix"], false);
    assert_eq!(response.calls[0].id.as_str(), "D681PevKs");
}

#[test]
fn thinking_is_streamed_wherever_the_stream_is_cut() {
    let chunk = |delta: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
    let call = json!({"index": 0, "id": "D681PevKs", "function": {"name": "add", "arguments": "{\"x\": 1}"}});
    let events = [
        chunk(json!({"role": "assistant", "content": ""})),
        chunk(json!({"content": [thinking("Su")]})),
        chunk(json!({"content": [thinking("m.")]})),
        chunk(json!({"content": "I "})),
        chunk(json!({"content": "add."})),
        json!({"choices": [{"index": 0, "delta": {"content": "", "tool_calls": [call]}, "finish_reason": "tool_calls"}]}),
    ];
    let text: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let text = text + "data: [DONE]\n\n";
    for at in 0..=text.len() {
        let (head, tail) = text.as_bytes().split_at(at);
        let mut stream = OpenAiChat.accumulator();
        let found: Vec<StreamEvent> = [head, tail]
            .into_iter()
            .flat_map(|bytes| stream.push_bytes(bytes))
            .collect::<Result<_, _>>()
            .unwrap();
        let response = stream.finish().response.unwrap();
        assert_eq!((response.reasoning.as_str(), response.text.as_str()), ("Sum.", "I add."), "cut at {at}");
        assert_eq!(response.native[0]["content"].as_array().unwrap().len(), 3, "{}", response.native[0]);
        assert!(found.contains(&StreamEvent::Reasoning("Su".to_owned())));
        assert!(found.contains(&StreamEvent::Call(response.calls[0].clone())));
    }
}
