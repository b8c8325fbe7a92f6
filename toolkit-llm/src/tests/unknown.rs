//! Tests of responses with parts whose types this library does not know.

use crate::ApiFormat;
use serde_json::json;
use toolkit_core::name::WireNames;

/// Each response has a text, and a part of a type that does not exist yet.
#[test]
fn unknown_parts_are_kept_for_the_same_api_and_reported_for_another() {
    let new = json!({"type": "time_travel", "id": "x_1", "to": 2030});
    let field = json!({"timeTravel": {"to": 2030}});
    let text = json!({"type": "text", "text": "Hello."});
    let plain = json!({"text": "Hello."});
    let bodies = [
        (
            ApiFormat::OpenAiResponses,
            json!({"status": "completed", "output": [new, {"type": "message", "role": "assistant", "id": "m",
                "status": "completed", "content": [{"type": "output_text", "text": "Hello.", "annotations": []}]}]}),
            "/0",
        ),
        (
            ApiFormat::GeminiInteractions,
            json!({"id": "i", "status": "completed", "steps": [new, {"type": "model_output", "content": [text]}]}),
            "/0",
        ),
        (
            ApiFormat::Anthropic,
            json!({"role": "assistant", "stop_reason": "end_turn", "content": [new, text]}),
            "/0/content/0",
        ),
        (
            ApiFormat::Anthropic,
            json!({"role": "assistant", "stop_reason": "compaction", "content": [new]}),
            "/0/content/0",
        ),
        (
            ApiFormat::Gemini,
            json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [field, plain]}}]}),
            "/0/parts/0",
        ),
        (
            ApiFormat::Bedrock,
            json!({"stopReason": "end_turn", "output": {"message": {"role": "assistant", "content": [field, plain]}}}),
            "/0/content/0",
        ),
        (
            ApiFormat::Cohere,
            json!({"id": "c", "finish_reason": "COMPLETE", "message": {"role": "assistant", "content": [new, text]}}),
            "/0/content/0",
        ),
        (
            ApiFormat::OpenAiChat,
            json!({"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": [new, text]}}]}),
            "/0/content/0",
        ),
    ];
    let names = WireNames::default();
    for (format, body, at) in bodies {
        let native = format.parse_response(&body).unwrap().native;
        let sent = json!(native);
        let expected = if sent.to_string().contains("time_travel") { &new } else { &field };
        assert_eq!(sent.pointer(at), Some(expected), "{format}: {sent}");
        assert_eq!(format.repair_history(native.clone()), native, "{format}");
        for &other in ApiFormat::ALL {
            let losses = other.history(&names).native_losses(format, &native);
            let kinds: Vec<&str> = losses.iter().map(|loss| loss.keyword.as_str()).collect();
            let kind = if *expected == new { "time_travel" } else { "timeTravel" };
            assert_eq!(kinds, [kind], "{format} to {other}");
        }
    }
}
