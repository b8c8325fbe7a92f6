//! Tests of the finish reasons and the errors with which providers end a response.

use crate::ApiFormat;
use crate::response::FinishReason;
use serde_json::json;

/// The table has the finish reasons of each provider's SDK, with the parsed reason.
#[test]
fn every_reason_of_every_provider_is_read() {
    use FinishReason::{Interrupted, Length, Refused, Stop, ToolCalls};
    let other = || FinishReason::Other(String::new());
    let table: [(&str, &[&str], FinishReason); 35] = [
        ("OpenAI Chat", &["stop"], Stop),
        ("OpenAI Chat", &["tool_calls", "function_call"], ToolCalls),
        ("OpenAI Chat", &["length"], Length),
        ("OpenAI Chat", &["content_filter"], Refused),
        ("Mistral", &["stop"], Stop),
        ("Mistral", &["tool_calls"], ToolCalls),
        ("Mistral", &["length", "model_length"], Length),
        ("Mistral", &["error"], Interrupted),
        ("OpenAI Responses", &["completed"], Stop),
        ("OpenAI Responses", &["max_output_tokens"], Length),
        ("OpenAI Responses", &["content_filter"], Refused),
        ("OpenAI Responses", &["failed", "cancelled"], Interrupted),
        ("OpenAI Responses", &["incomplete"], Length),
        ("OpenAI Responses", &["in_progress", "queued", "max_messages", "steered"], other()),
        ("Zhipu", &["sensitive"], Refused),
        ("Zhipu", &["network_error"], Interrupted),
        ("Together", &["eos"], Stop),
        ("Hugging Face", &["eos_token"], Stop),
        ("Anthropic", &["end_turn", "stop_sequence"], Stop),
        ("Anthropic", &["tool_use"], ToolCalls),
        ("Anthropic", &["max_tokens", "model_context_window_exceeded"], Length),
        ("Anthropic", &["refusal"], Refused),
        ("Anthropic", &["pause_turn", "compaction"], other()),
        ("Gemini Interactions", &["idle"], Stop),
        ("Gemini Interactions", &["requires_action"], ToolCalls),
        ("Gemini Interactions", &["requires_continuation", "budget_exceeded"], Length),
        ("Gemini", &["STOP"], Stop),
        ("Gemini", &["MAX_TOKENS", "CONTINUATION"], Length),
        (
            "Gemini",
            &[
                "SAFETY",
                "RECITATION",
                "LANGUAGE",
                "BLOCKLIST",
                "PROHIBITED_CONTENT",
                "SPII",
                "IMAGE_SAFETY",
                "IMAGE_PROHIBITED_CONTENT",
                "IMAGE_RECITATION",
                "ESCALATION",
                "PUP_LIMITED_DISABLED",
                "MODEL_ARMOR",
            ],
            Refused,
        ),
        (
            "Gemini",
            &[
                "FINISH_REASON_UNSPECIFIED",
                "OTHER",
                "IMAGE_OTHER",
                "NO_IMAGE",
                "MALFORMED_FUNCTION_CALL",
                "UNEXPECTED_TOOL_CALL",
                "TOO_MANY_TOOL_CALLS",
                "MISSING_THOUGHT_SIGNATURE",
                "MALFORMED_RESPONSE",
            ],
            other(),
        ),
        ("Cohere", &["COMPLETE", "STOP_SEQUENCE"], Stop),
        ("Cohere", &["TOOL_CALL"], ToolCalls),
        ("Cohere", &["ERROR", "TIMEOUT"], Interrupted),
        ("Bedrock", &["content_filtered", "guardrail_intervened"], Refused),
        ("Bedrock", &["malformed_model_output", "malformed_tool_use"], other()),
    ];
    for (provider, words, expected) in table {
        for word in words {
            let expected = match &expected {
                FinishReason::Other(_) => FinishReason::Other((*word).to_owned()),
                known => known.clone(),
            };
            assert_eq!(FinishReason::parse(word), expected, "{provider}");
            assert_eq!(expected.is_paused(), matches!(*word, "pause_turn" | "compaction"), "{provider}");
        }
    }
}

#[test]
fn reports_of_providers_have_their_code() {
    use ApiFormat::{Anthropic, Bedrock, Cohere, Gemini, OpenAiChat, OpenAiResponses};
    for (format, event, code, is_blocked) in [
        (Gemini, json!({"promptFeedback": {"blockReason": "JAILBREAK"}}), "JAILBREAK", true),
        (Gemini, json!({"candidates": [{"finishReason": "IMAGE_RECITATION"}]}), "IMAGE_RECITATION", true),
        (Gemini, json!({"candidates": [{"finishReason": "NO_IMAGE"}]}), "NO_IMAGE", false),
        (
            Gemini,
            json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "x"}}),
            "UNAVAILABLE",
            false,
        ),
        (Gemini, json!({"error": {"code": 503, "message": "x"}}), "503", false),
        (
            Anthropic,
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}),
            "overloaded_error",
            false,
        ),
        (
            OpenAiChat,
            json!({"error": {"code": "context_length_exceeded", "type": "y", "message": "x"}}),
            "context_length_exceeded",
            false,
        ),
        (
            OpenAiChat,
            json!({"error": {"code": null, "type": "server_error", "message": "x"}}),
            "server_error",
            false,
        ),
        (
            OpenAiResponses,
            json!({"type": "error", "code": "rate_limit_exceeded", "message": "x"}),
            "rate_limit_exceeded",
            false,
        ),
        (
            OpenAiResponses,
            json!({"type": "response.failed", "response": {"id": "r", "status": "failed",
            "error": {"code": "server_error", "message": "x"}}}),
            "server_error",
            false,
        ),
        (
            OpenAiChat,
            json!({"object": "error", "message": "x", "type": "BadRequestError", "param": null, "code": 400}),
            "BadRequestError",
            false,
        ),
        (OpenAiChat, json!({"object": "error", "message": "x", "code": 429}), "429", false),
        (OpenAiChat, json!({"error": {"code": 429, "message": "x"}}), "429", false),
        (OpenAiChat, json!({"error": {"code": "", "type": "x_error", "message": "x"}}), "x_error", false),
        (OpenAiChat, json!({"error": {"status": 503, "message": "x"}}), "503", false),
        (OpenAiResponses, json!({"type": "error", "code": 429, "message": "x"}), "429", false),
        (Anthropic, json!({"type": "error", "message": "x"}), "", false),
        (OpenAiChat, json!({"error": {"code": "content_filter", "message": "x"}}), "content_filter", true),
        (
            OpenAiResponses,
            json!({"type": "response.failed", "response": {"id": "r", "status": "failed",
            "error": {"code": "image_content_policy_violation", "message": "x"}}}),
            "image_content_policy_violation",
            true,
        ),
        (
            Anthropic,
            json!({"type": "error", "error": {"type": "invalid_request_error",
                "message": "Output blocked by content filtering policy"}}),
            "invalid_request_error",
            true,
        ),
        (
            Bedrock,
            json!({"validationException": {"message": "Output blocked by content filtering policy"}}),
            "validationException",
            true,
        ),
        (Bedrock, json!({"throttlingException": {"message": "x"}}), "throttlingException", false),
        (Cohere, json!({"error": "x"}), "", false),
    ] {
        let mut stream = format.accumulator();
        let error = stream.push(&event).unwrap_err();
        assert_eq!((error.code().unwrap_or_default(), error.is_blocked()), (code, is_blocked), "{event}");
        let report = error.report().unwrap();
        assert!(error.to_string().contains(report), "{error}");
        if let Err(end) = stream.finish().response
            && end.report().is_some()
        {
            assert_eq!(end.is_blocked(), is_blocked, "{event}");
        }
    }
    let error = OpenAiChat.parse_response(&json!({"choices": 7})).unwrap_err();
    assert_eq!((error.report(), error.code(), error.is_blocked()), (None, None, false));
}

/// Sums of wrong counts stop at the maximum.
#[test]
fn the_largest_token_counts_are_added_without_overflow() {
    for &format in ApiFormat::ALL {
        let mut body = json!({});
        let pointers = format.codec().facts().usage.pointers().into_iter();
        for pointer in pointers.chain(["/usage/cacheWriteInputTokens"]).filter(|pointer| !pointer.is_empty())
        {
            let (last, objects) = pointer[1..].rsplit_once('/').map_or((&pointer[1..], ""), |(a, b)| (b, a));
            let objects = objects.split('/').filter(|name| !name.is_empty());
            let object = objects.fold(&mut body, |object, name| &mut object[name]);
            object[last] = u64::MAX.into();
        }
        let usage = format.parse_usage(&body);
        assert_eq!((usage.input_tokens, usage.output_tokens), (u64::MAX, u64::MAX), "{format}: {body}");
        assert_eq!(usage.total(), u64::MAX, "{format}");
    }
}

/// Google writes errors over several lines, also after events that announce the end.
#[test]
fn an_error_in_lines_after_the_events_or_in_place_of_them_ends_the_answer() {
    let gemini = r#"{"candidates": [{"content": {"parts": [{"text": "First "}]}, "finishReason": "STOP"}]}"#;
    let chat = r#"{"choices": [{"index": 0, "delta": {"content": "First "}, "finish_reason": "stop"}]}"#;
    let report =
        json!({"error": {"code": 499, "message": "The operation was {cancelled}.", "status": "CANCELLED"}});
    let written = format!("{report:#}");
    for (format, event) in [(ApiFormat::Gemini, gemini), (ApiFormat::OpenAiChat, chat)] {
        let lines = [format!("data: {event}\n\n"), format!("{event}\n"), String::new()];
        for (before, end, size) in lines.iter().flat_map(|before| {
            ["", "\n", "\r\n\r\n"]
                .into_iter()
                .flat_map(move |end| [1, 7, 1_000].map(|size| (before, end, size)))
        }) {
            let body =
                format!("{before}{written}{end}").replace('\n', if end.len() > 2 { "\r\n" } else { "\n" });
            let mut stream = format.accumulator();
            let read: Vec<_> =
                body.as_bytes().chunks(size).flat_map(|bytes| stream.push_bytes(bytes)).collect();
            let ended = stream.finish();
            let errors = read.iter().filter_map(|read| read.as_ref().err()).chain(&ended.failure);
            let errors: Vec<_> = errors.filter_map(|error| error.report()).collect();
            assert_eq!(errors, ["the service reported an error: The operation was {cancelled}."], "{body}");
            assert!(!ended.is_complete);
            if !before.is_empty() {
                let response = ended.response.expect("a text");
                assert_eq!((response.text.as_str(), response.finish), ("First ", FinishReason::Interrupted));
            }
        }
    }
}

#[test]
fn an_empty_error_beside_an_answer_says_nothing() {
    for error in [json!({}), json!(""), json!(null)] {
        let mut stream = ApiFormat::OpenAiChat.accumulator();
        let piece =
            json!({"error": error, "choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]});
        assert_eq!(stream.push(&piece).map(|events| events.len()), Ok(1), "{error}");
        assert_eq!(stream.finish().response.map(|response| response.text).as_deref(), Ok("Hi"));
        let alone = json!({"error": error});
        assert_eq!(ApiFormat::OpenAiChat.accumulator().push(&alone).is_ok(), error.is_null(), "{error}");
    }
    let failed = json!({"type": "error", "error": {}});
    assert!(ApiFormat::Anthropic.accumulator().push(&failed).is_err());
}

/// Gemini names these reasons beside whole calls.
#[test]
fn calls_that_came_too_often_or_unasked_are_whole() {
    for reason in ["UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "NEW_REASON"] {
        let body = json!({"candidates": [{"finishReason": reason,
            "content": {"role": "model", "parts": [{"functionCall": {"name": "list_files", "args": {}}}]}}]});
        let response = ApiFormat::Gemini.parse_response(&body).unwrap();
        let [call] = response.calls.as_slice() else { panic!("{:?}", response.calls) };
        let is_whole = call.arguments.as_str() == "{}";
        assert_eq!(is_whole, reason != "NEW_REASON", "{reason}");
        assert_eq!(response.native[0] == body["candidates"][0]["content"], is_whole);
    }
}

#[test]
fn a_blocked_prompt_is_reported_with_its_message_alone() {
    let body = json!({"promptFeedback": {"blockReasonMessage": "Message"}});
    let error = ApiFormat::Gemini.parse_response(&body).unwrap_err();
    assert_eq!(error.report(), Some("the prompt was blocked: Message"));
    assert_eq!((error.code(), error.is_blocked()), (None, true));
}
