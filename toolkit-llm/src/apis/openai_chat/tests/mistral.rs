//! Tests of Mistral's API, which differs from Chat Completions.
//!
//! Thinking is part of the content, one tool choice has another name, and messages may have a prefix.

use crate::facts::ApiFormat::OpenAiChat;
use crate::stream::StreamEvent;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, Media, MediaData, ToolOutput};

fn thinking(text: &str) -> Value {
    json!({"type": "thinking", "thinking": [{"type": "text", "text": text}]})
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

#[test]
fn ids_of_other_providers_get_nine_characters_in_calls_and_results() {
    let names = WireNames::default();
    let history = OpenAiChat.history(&names).with_mistral(true);
    let ids = ["D681PevKs", "toolu_01A09q90qw90lq917835lq9", "call_1", "call_1"];
    let calls = ids.map(|id| ToolCall::new(id, "add", "{}"));
    let results: Vec<ToolResult> = calls.iter().map(|call| ToolResult::of(call, Ok("3".into()))).collect();
    let sent = history.encode_calls(&calls);
    let sent: Vec<&str> =
        sent[0]["tool_calls"].as_array().unwrap().iter().map(|call| call["id"].as_str().unwrap()).collect();
    assert_eq!(sent[0], ids[0]);
    assert!(sent.iter().all(|id| id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric())), "{sent:?}");
    let lost: Vec<String> = history.call_losses(&calls).into_iter().map(|loss| loss.path).collect();
    assert_eq!(lost, ["/1/id", "/2/id", "/3/id"]);
    let answered = history.encode_results(&results);
    assert!(
        answered.iter().map(|message| message["tool_call_id"].as_str().unwrap()).eq(sent.iter().copied())
    );
    // A received message gets the same ids. Without the setting, all ids stay unchanged.
    let call = |(at, id)| json!({"id": id, "type": "function", "function": {"name": "add", "arguments": at}});
    let calls = Value::from_iter(["{}", "[]", "1", "2", "3"].into_iter().zip(ids).map(call));
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    let written = history.assistant_messages(&message).unwrap();
    let received = written[0]["tool_calls"].as_array().unwrap();
    assert!(received.iter().map(|call| call["id"].as_str().unwrap()).eq(sent));
    let unchanged = OpenAiChat.history(&names).with_mistral(false).encode_results(&results[..2]);
    assert_eq!(unchanged[1]["tool_call_id"], ids[1]);
}

#[test]
fn audio_and_documents_have_mistrals_own_form() {
    let names = WireNames::default();
    let history = OpenAiChat.history(&names).with_mistral(true);
    let pdf = Media { name: Some("a.pdf".to_owned()), ..Media::new("application/pdf", b"hi") };
    let link = Media {
        media_type: "application/pdf".to_owned(),
        data: MediaData::Url("https://a.example/b.pdf".to_owned()),
        name: None,
    };
    let contents: Vec<Content> = vec![Media::new("audio/wav", b"hi").into(), pdf.into(), link.into()];
    let parts = json!([
        {"type": "input_audio", "input_audio": "aGk="},
        {"type": "document_url", "document_url": "data:application/pdf;base64,aGk=", "document_name": "a.pdf"},
        {"type": "document_url", "document_url": "https://a.example/b.pdf", "document_name": "file.pdf"},
    ]);
    assert_eq!(history.encode_user(&contents), json!({"role": "user", "content": parts}));
    assert_eq!(history.user_losses(&contents), []);
    // In tool results, they follow in a user message, after one of the model.
    let call = ToolCall::new("D681PevKs", "read", "{}");
    let result = ToolResult::of(&call, Ok(ToolOutput::new(contents)));
    let messages = history.encode_results(&[result]);
    assert_eq!(messages[2]["content"][1], parts[0]);
    let video = Media::new("video/mp4", b"hi");
    assert_eq!(history.user_losses(&[video.into()]).len(), 1);
}
