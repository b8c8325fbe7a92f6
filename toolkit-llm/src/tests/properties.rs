//! Properties of every payload, history and stream, in the APIs without properties of their own.

use super::{any_json, check_payload, check_round_trip, yielded_calls};
use crate::ApiFormat::{self, Bedrock, Cohere, GeminiInteractions, Ollama};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;

const FORMATS: [ApiFormat; 4] = [Bedrock, Cohere, GeminiInteractions, Ollama];

/// Returns the words of an API: the names of its fields, and the texts that it compares.
fn words(format: ApiFormat) -> &'static str {
    match format {
        Bedrock => {
            r#"role content text assistant user output message stopReason tool_use max_tokens toolUse toolUseId name
            input toolResult status error json image document format source bytes s3Location uri reasoningContent
            reasoningText signature redactedContent citationsContent citations citation type server_tool_use
            toolConfig tools toolChoice auto any tool toolSpec inputSchema cachePoint contentBlockStart
            contentBlockDelta contentBlockStop messageStart messageStop metadata usage start delta contentBlockIndex
            {} {"a": call_0"#
        }
        Cohere => {
            r#"role content text thinking type assistant tool message finish_reason TOOL_CALL MAX_TOKENS tool_calls
            tool_plan function name arguments id tool_call_id document data tools tool_choice REQUIRED NONE
            parameters citations delta index message-start message-end content-start content-delta tool-plan-delta
            tool-call-start tool-call-delta tool-call-end {} {"a": call_0"#
        }
        GeminiInteractions => {
            r#"type text content summary model_output user_input thought function_call function_result
            google_search_call id call_id name arguments result is_error signature status completed requires_action
            incomplete steps step event_type interaction interaction.completed step.start step.delta step.stop index
            delta arguments_delta thought_summary thought_signature generation_config tool_choice allowed_tools mode
            tools any auto function parameters description defer_loading image data uri mime_type {} {"a": call_0"#
        }
        _ => "role content tool_calls function name arguments message id done tool_name {} {",
    }
}

/// Generates an event that begins or continues a part of an answer, or ends the answer.
fn event(format: ApiFormat) -> impl Strategy<Value = Value> {
    let json = any_json(words(format));
    (json, 0..3_u8, "[ab]{0,1}", "[a-z{}\":1]{0,6}", 0..7_u8).prop_map(move |(json, at, id, text, kind)| {
        match format {
            Bedrock => bedrock_event(json, at, &text, kind),
            Cohere => cohere_event(json, at, &id, &text, kind),
            GeminiInteractions => interaction_event(json, at, &id, &text, kind),
            _ => json,
        }
    })
}

fn bedrock_event(json: Value, at: u8, text: &str, kind: u8) -> Value {
    let block =
        |event: &str, field: &str, value: Value| json!({event: {"contentBlockIndex": at, field: value}});
    match kind {
        0 | 1 => json,
        2 => block("contentBlockStart", "start", json),
        3 => block("contentBlockDelta", "delta", json),
        4 => block("contentBlockDelta", "delta", json!({"toolUse": {"input": text}})),
        5 => json!({"contentBlockStop": {"contentBlockIndex": at}}),
        _ => json!({"messageStop": {"stopReason": "max_tokens"}}),
    }
}

fn cohere_event(json: Value, at: u8, id: &str, text: &str, kind: u8) -> Value {
    const KINDS: [&str; 10] = [
        "message-start",
        "content-start",
        "content-delta",
        "content-end",
        "tool-plan-delta",
        "tool-call-start",
        "tool-call-delta",
        "tool-call-end",
        "citation-start",
        "message-end",
    ];
    let call = json!({"id": id, "type": "function", "function": {"name": "f", "arguments": text}});
    let message = match kind {
        0..3 => json,
        3 | 4 => json!({"tool_calls": call}),
        _ => json!({"content": {"text": text}}),
    };
    let kind = KINDS[text.bytes().map(usize::from).sum::<usize>() % KINDS.len()];
    json!({"type": kind, "index": at, "delta": {"message": message}})
}

fn interaction_event(json: Value, at: u8, id: &str, text: &str, kind: u8) -> Value {
    let step =
        |event: &str, field: &str, value: Value| json!({"event_type": event, "index": at, field: value});
    let call = json!({"type": "function_call", "id": id, "name": "f", "arguments": {}});
    match kind {
        0 => json,
        1 => step("step.start", "step", json),
        2 => step("step.start", "step", call),
        3 => step("step.delta", "delta", json),
        4 => step("step.delta", "delta", json!({"type": "arguments_delta", "arguments": text})),
        5 => step("step.stop", "usage", json!({})),
        _ => json!({"event_type": "interaction.status_update", "status": "incomplete"}),
    }
}

fn check_stream(format: ApiFormat, events: &[Value]) -> TestCaseResult {
    let mut stream = format.accumulator();
    let mut found: Vec<_> = events.iter().flat_map(|event| stream.push(event).unwrap_or_default()).collect();
    let end = stream.finish();
    found.extend(end.events);
    let Ok(response) = end.response else { return Ok(()) };
    let ids = |calls: &[ToolCall]| calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>();
    let yielded = yielded_calls(&found).len();
    // A call that comes to Ollama's stream without a message is read from the body only.
    let has_all =
        if format == Ollama { yielded <= response.calls.len() } else { yielded == response.calls.len() };
    prop_assert!(has_all, "{}: {} of {:?}", format, yielded, response.calls);
    if format != Ollama {
        prop_assert_eq!(ids(&format.parse_calls(&end.body).unwrap()), ids(&response.calls), "{}", format);
    }
    Ok(())
}

/// Returns how many calls of Ollama's messages are written again.
fn written_calls(messages: &[Value]) -> usize {
    messages.iter().map(|message| Ollama.parse_calls(message).unwrap().len()).sum()
}

proptest! {
    // Each case is of one of the four APIs.
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// No parser panics, and a second repair changes nothing.
    #[test]
    fn any_payload_is_parsed_or_refused(
        (format, payload, history) in select(&FORMATS[..]).prop_flat_map(|format| {
            (Just(format), any_json(words(format)), vec(any_json(words(format)), 0..5))
        }),
    ) {
        check_payload(format, &payload)?;
        if let (Ollama, Ok(calls), Ok(messages)) =
            (format, format.parse_calls(&payload), format.assistant_messages(&payload))
        {
            prop_assert_eq!(written_calls(&messages), calls.len());
        }
        let repaired = format.repair_history(history);
        prop_assert_eq!(&format.repair_history(repaired.clone()), &repaired, "{}", format);
    }

    /// Every call is yielded once, with its id in the response.
    #[test]
    fn every_streamed_call_is_yielded_once(
        (format, events) in select(&FORMATS[..]).prop_flat_map(|format| (Just(format), vec(event(format), 0..8))),
    ) {
        check_stream(format, &events)?;
    }
}

proptest! {
    #[test]
    fn calls_round_trip(ids in btree_set("[a-z0-9_]{1,20}", 1..4), name in "[a-zA-Z0-9_.-]{1,80}") {
        let calls: Vec<_> = ids.into_iter().map(|id| ToolCall::new(id, &*name, r#"{"a":[1]}"#)).collect();
        for format in FORMATS {
            check_round_trip(format, calls.clone())?;
        }
    }
}
