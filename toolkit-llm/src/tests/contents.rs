//! Tests of further fields in messages and texts, such as media items and citations.

use crate::ApiFormat;
use serde_json::{Value, json};
use toolkit_core::name::WireNames;

/// Returns a response with one message and further fields of its text (`of_text`) and of itself
/// (`of_message`).
fn body(format: ApiFormat, of_text: &Value, of_message: &Value) -> Value {
    let with = |mut value: Value, more: &Value| {
        let fields = more.as_object().cloned().unwrap_or_default();
        value.as_object_mut().unwrap().extend(fields);
        value
    };
    let text = with(json!({"type": "text", "text": "Hello."}), of_text);
    let part = with(json!({"text": "Hello."}), of_text);
    let message = |content: Value| with(json!({"role": "assistant", "content": content}), of_message);
    match format {
        ApiFormat::OpenAiChat => {
            let content = if of_text.is_null() { json!("Hello.") } else { json!([text]) };
            json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message(content)}]})
        }
        ApiFormat::OpenAiResponses => {
            let text = with(json!({"type": "output_text", "text": "Hello."}), of_text);
            let item = json!({"type": "message", "id": "m", "status": "completed"});
            json!({"id": "r", "status": "completed", "output": [with(message(json!([text])), &item)]})
        }
        ApiFormat::Anthropic => with(message(json!([text])), &json!({"stop_reason": "end_turn"})),
        ApiFormat::Gemini => {
            let content = with(json!({"role": "model", "parts": [part]}), of_message);
            json!({"candidates": [{"finishReason": "STOP", "content": content}]})
        }
        ApiFormat::Ollama => json!({"model": "m", "done": true, "message": message(json!("Hello."))}),
        ApiFormat::Bedrock => {
            json!({"stopReason": "end_turn", "output": {"message": message(json!([part]))}})
        }
        ApiFormat::Cohere => json!({"finish_reason": "COMPLETE", "message": message(json!([text]))}),
        ApiFormat::GeminiInteractions => {
            let step = with(json!({"type": "model_output", "content": [text]}), of_message);
            json!({"id": "i", "status": "completed", "steps": [step]})
        }
    }
}

/// Checks that the field `name` is sent back unchanged, and reported once as lost for every other API.
#[track_caller]
fn check(format: ApiFormat, body: &Value, name: &str, sent: &Value) {
    let response = format.parse_response(body).unwrap();
    assert_eq!(response.text, "Hello.", "{format}");
    let native = json!(response.native);
    let found = fields(&native, name);
    assert_eq!(found, [sent], "{format}: {:?}", response.native);
    assert_eq!(format.repair_history(response.native.clone()), response.native, "{format}");
    let names = WireNames::default();
    for &other in ApiFormat::ALL {
        let losses = other.history(&names).native_losses(format, &response.native);
        let paths: Vec<&str> = losses.iter().map(|loss| loss.path.as_str()).collect();
        assert_eq!(paths, [format!("/{name}")], "{format} to {other}");
    }
}

fn fields<'a>(value: &'a Value, name: &str) -> Vec<&'a Value> {
    match value {
        Value::Array(list) => list.iter().flat_map(|value| fields(value, name)).collect(),
        Value::Object(object) => {
            let inner = object.values().flat_map(|value| fields(value, name));
            object.get(name).into_iter().chain(inner).collect()
        }
        _ => Vec::new(),
    }
}

/// The fields are from the types of each API's SDK and from compatible servers.
#[test]
fn fields_beside_the_text_are_kept_for_the_same_api_and_reported_for_another() {
    use ApiFormat::{Anthropic, Bedrock, Cohere, GeminiInteractions, Ollama, OpenAiChat, OpenAiResponses};
    let null = Value::Null;
    let image = json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]);
    let citation = json!([{"type": "char_location", "cited_text": "x", "document_index": 0}]);
    let url =
        json!([{"type": "url_citation", "url": "https://example.com", "start_index": 0, "end_index": 1}]);
    for (format, name, value) in [
        (OpenAiChat, "images", &image),
        (OpenAiChat, "annotations", &url),
        (OpenAiChat, "provider_specific_fields", &json!({"citations": [["x"]]})),
        (Ollama, "images", &json!(["iVBORw0KGgo="])),
        (Cohere, "citations", &json!([{"start": 0, "end": 5, "text": "Hello"}])),
    ] {
        check(format, &body(format, &null, &json!({name: value})), name, value);
    }
    for (format, name, value) in [
        (Anthropic, "citations", &citation),
        (OpenAiResponses, "annotations", &url),
        (OpenAiResponses, "logprobs", &json!([{"token": "Hello", "logprob": -0.5}])),
        (GeminiInteractions, "annotations", &url),
    ] {
        check(format, &body(format, &json!({name: value}), &null), name, value);
    }
    let cited = json!({"content": [{"text": "Hello."}], "citations": [{"title": "x"}]});
    let cited = json!({"stopReason": "end_turn",
        "output": {"message": {"role": "assistant", "content": [{"citationsContent": cited}]}}});
    check(Bedrock, &cited, "citations", &json!([{"title": "x"}]));
    // Unknown fields of every API, except in messages with only a role and content.
    let new = json!({"to": 2030});
    for &format in ApiFormat::ALL {
        if !matches!(format, Ollama) {
            check(format, &body(format, &json!({"travel": new}), &null), "travel", &new);
        }
        if !matches!(format, Anthropic | Bedrock) {
            check(format, &body(format, &null, &json!({"travel": new})), "travel", &new);
        }
    }
}

#[test]
fn empty_fields_are_no_content() {
    let empty = json!({"annotations": [], "citations": null, "audio": null, "refusal": "", "prefix": false, "index": 0,
        "provider_specific_fields": {"refusal": null, "safety": [{"blocked": false, "reason": ""}]}});
    for &format in ApiFormat::ALL {
        let body = body(format, &Value::Null, &empty);
        let native = format.parse_response(&body).unwrap().native;
        assert_eq!(format.special_content(&native), [""; 0], "{format}");
    }
}

/// The service accepts only the id of earlier audio.
///
/// The text of a spoken answer is its transcript.
#[test]
fn the_sound_of_a_chat_answer_is_sent_back_by_its_id() {
    let pieces = [
        json!({"id": "audio_1", "transcript": "Hel"}),
        json!({"data": "UklG"}),
        json!({"transcript": "lo."}),
        json!({"data": "Rg==", "expires_at": 1}),
    ];
    let mut stream = ApiFormat::OpenAiChat.accumulator();
    let mut said = String::new();
    for piece in &pieces {
        let chunk = json!({"choices": [{"index": 0, "delta": {"role": "assistant", "audio": piece}}]});
        for event in stream.push(&chunk).unwrap() {
            let crate::StreamEvent::Text(text) = event else { panic!("{event:?}") };
            said.push_str(&text);
        }
    }
    stream.push(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})).unwrap();
    let end = stream.finish();
    assert_eq!(said, "Hello.");
    assert_eq!(end.body["choices"][0]["message"]["audio"]["data"], "UklGRg==");
    assert_eq!(end.response.unwrap(), ApiFormat::OpenAiChat.parse_response(&end.body).unwrap());
    check(ApiFormat::OpenAiChat, &end.body, "audio", &json!({"id": "audio_1"}));
}
