//! Messages of the user and the model, in the JSON of each API.

use serde_json::{Value, json};
use toolkit::name::WireNames;
use toolkit::{ApiFormat, Content, Media, ToolCall};

#[track_caller]
fn check_user(contents: &[Content], expected: [Value; ApiFormat::ALL.len()]) {
    for (format, expected) in ApiFormat::ALL.into_iter().zip(expected) {
        assert_eq!(format.encode_user(contents), expected, "{format}");
    }
}

#[test]
fn a_text_message_of_the_user_is_encoded() {
    check_user(
        &[Content::Text("hi".to_owned())],
        [
            json!({"role": "user", "content": "hi"}),
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}),
            json!({"role": "user", "content": [{"type": "text", "text": "hi"}]}),
            json!({"role": "user", "parts": [{"text": "hi"}]}),
            json!({"role": "user", "content": "hi"}),
            json!({"role": "user", "content": [{"text": "hi"}]}),
            json!({"role": "user", "content": "hi"}),
            json!({"type": "user_input", "content": [{"type": "text", "text": "hi"}]}),
        ],
    );
}

#[test]
fn an_image_of_the_user_is_encoded() {
    let picture = Media::from_url("image/png", "https://example.com/cat.png");
    check_user(
        &[Content::Text("What is it?".to_owned()), picture.into()],
        [
            json!({"role": "user", "content": [
                {"type": "text", "text": "What is it?"},
                {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}},
            ]}),
            json!({"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "What is it?"},
                {"type": "input_image", "detail": "auto", "image_url": "https://example.com/cat.png"},
            ]}),
            json!({"role": "user", "content": [
                {"type": "text", "text": "What is it?"},
                {"type": "image", "source": {"type": "url", "url": "https://example.com/cat.png"}},
            ]}),
            json!({"role": "user", "parts": [
                {"text": "What is it?"},
                {"fileData": {"mimeType": "image/png", "fileUri": "https://example.com/cat.png"}},
            ]}),
            json!({"role": "user", "content": "What is it?\n[image image/png https://example.com/cat.png]"}),
            json!({"role": "user", "content": [
                {"text": "What is it?"},
                {"text": "[image image/png https://example.com/cat.png]"},
            ]}),
            json!({"role": "user", "content": [
                {"type": "text", "text": "What is it?"},
                {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}},
            ]}),
            json!({"type": "user_input", "content": [
                {"type": "text", "text": "What is it?"},
                {"type": "image", "uri": "https://example.com/cat.png", "mime_type": "image/png"},
            ]}),
        ],
    );
}

#[test]
fn unsupported_media_are_named_in_a_text() {
    let sound = Media::new("audio/ogg", b"OggS");
    let takes_sound = [ApiFormat::Gemini, ApiFormat::GeminiInteractions];
    for format in ApiFormat::ALL.into_iter().filter(|format| !takes_sound.contains(format)) {
        let message = format.encode_user(&[sound.clone().into()]).to_string();
        assert!(message.contains("[audio audio/ogg] cannot be shown"), "{message}");
    }
}

#[test]
fn an_empty_message_is_sendable() {
    let message = ApiFormat::Anthropic.encode_user(&[]);
    assert_ne!(message["content"], json!([]), "the service refuses a message without content");
    let message = ApiFormat::Gemini.encode_user(&[]);
    assert_ne!(message["parts"], json!([]), "the service refuses a content without parts");
}

#[test]
fn an_assistant_message_with_text_and_calls_is_encoded() {
    let call = ToolCall::new("call_1", "add", r#"{"a": 1}"#);
    let said = |format: ApiFormat, text, calls: &[ToolCall]| {
        format.encode_assistant(text, calls, &WireNames::default())
    };
    let chat = said(ApiFormat::OpenAiChat, "I add.", std::slice::from_ref(&call));
    assert_eq!((&chat[0]["content"], &chat[0]["tool_calls"][0]["id"]), (&json!("I add."), &json!("call_1")));
    let items = said(ApiFormat::OpenAiResponses, "I add.", std::slice::from_ref(&call));
    assert_eq!((&items[0]["content"], &items[1]["call_id"]), (&json!("I add."), &json!("call_1")));
    let message = said(ApiFormat::Anthropic, "I add. \n", std::slice::from_ref(&call));
    assert_eq!(message[0]["content"][0], json!({"type": "text", "text": "I add."}));
    assert_eq!(message[0]["content"][1]["name"], "add");
    let content = said(ApiFormat::Gemini, "I add.", std::slice::from_ref(&call));
    assert_eq!(content[0]["parts"][0], json!({"text": "I add."}));
    assert_eq!(content[0]["parts"][1]["functionCall"]["name"], "add");

    for format in ApiFormat::ALL {
        let text_only = said(format, "done", &[]);
        assert_eq!(text_only.len(), 1, "{format}");
        assert!(format.parse_calls(&text_only[0]).is_ok_and(|calls| calls.is_empty()), "{format}");
        let calls_only = said(format, "", std::slice::from_ref(&call));
        assert_eq!(format.encode_calls(std::slice::from_ref(&call), &WireNames::default()), calls_only);
    }
}
