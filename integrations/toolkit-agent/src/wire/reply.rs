//! What a response says beside its calls: text, reasoning, why it ended, what it cost.

use crate::message::{AssistantMessage, NativeMessages};
use crate::model::{FinishReason, ModelError, ModelErrorKind, ModelResponse, Usage};
use serde_json::Value;
use toolkit_wire::ApiFormat;

pub(super) fn parse_response(format: ApiFormat, body: &Value) -> Result<ModelResponse, ModelError> {
    let calls = format.parse_calls(body)?;
    let native = NativeMessages::new(format.name(), format.assistant_messages(body)?);
    let (text, reasoning) = match format {
        ApiFormat::OpenAiResponses => openai_responses(body),
        ApiFormat::Anthropic => anthropic(body),
        ApiFormat::Gemini => google(body),
        _ => openai_chat(body),
    };
    let finish = match (finish(format, body), calls.is_empty()) {
        // Some servers say `stop` beside calls.
        (FinishReason::Stop, false) => FinishReason::ToolCalls,
        (finish, _) => finish,
    };
    let message = AssistantMessage { text, reasoning, calls, native: Some(native), ..Default::default() };
    let response = ModelResponse { message, finish, usage: usage(format, body) };
    // Only the model's answer to nothing at all: one that was cut off or refused says so.
    if response.message.is_empty() && response.finish == FinishReason::Stop {
        return Err(ModelError::new(ModelErrorKind::Empty, "the API returned an empty response")
            .with_partial(response));
    }
    Ok(response)
}

/// The text at a JSON pointer; empty if there is none.
fn text_at<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn list_at<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default().iter()
}

fn is_type(value: &Value, kind: &str) -> bool {
    value.get("type").is_some_and(|named| named == kind)
}

fn openai_chat(body: &Value) -> (String, String) {
    let message = body.pointer("/choices/0/message").unwrap_or(&Value::Null);
    let mut text = text_at(message, "/content").to_owned();
    // Some servers write a list of parts.
    text.extend(list_at(message, "/content").map(|part| text_at(part, "/text")));
    if text.is_empty() {
        text.push_str(text_at(message, "/refusal"));
    }
    let reasoning = ["/reasoning_content", "/reasoning"].map(|place| text_at(message, place));
    (text, reasoning.into_iter().find(|text| !text.is_empty()).unwrap_or_default().to_owned())
}

fn openai_responses(body: &Value) -> (String, String) {
    let (mut text, mut reasoning) = (String::new(), String::new());
    for item in list_at(body, "/output") {
        if is_type(item, "message") {
            let parts = list_at(item, "/content");
            text.extend(parts.map(|part| {
                let said = text_at(part, "/text");
                if said.is_empty() { text_at(part, "/refusal") } else { said }
            }));
        } else if is_type(item, "reasoning") {
            let parts = list_at(item, "/summary").chain(list_at(item, "/content"));
            reasoning.extend(parts.map(|part| text_at(part, "/text")));
        }
    }
    (text, reasoning)
}

fn anthropic(body: &Value) -> (String, String) {
    let of = |kind: &str, place: &str| {
        list_at(body, "/content")
            .filter(|block| is_type(block, kind))
            .map(|block| text_at(block, place))
            .collect()
    };
    (of("text", "/text"), of("thinking", "/thinking"))
}

fn google(body: &Value) -> (String, String) {
    let (mut text, mut reasoning) = (String::new(), String::new());
    for part in list_at(body, "/candidates/0/content/parts") {
        let is_thought = part.get("thought").is_some_and(|thought| thought == true);
        let said = if is_thought { &mut reasoning } else { &mut text };
        said.push_str(text_at(part, "/text"));
    }
    (text, reasoning)
}

fn finish(format: ApiFormat, body: &Value) -> FinishReason {
    let said = match format {
        ApiFormat::OpenAiResponses => match text_at(body, "/status") {
            "incomplete" => text_at(body, "/incomplete_details/reason"),
            status => status,
        },
        ApiFormat::Anthropic => text_at(body, "/stop_reason"),
        ApiFormat::Gemini => text_at(body, "/candidates/0/finishReason"),
        _ => text_at(body, "/choices/0/finish_reason"),
    };
    match said {
        "" | "stop" | "STOP" | "end_turn" | "stop_sequence" | "completed" => FinishReason::Stop,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "length" | "max_tokens" | "MAX_TOKENS" | "max_output_tokens" | "model_context_window_exceeded" => {
            FinishReason::Length
        }
        "content_filter" | "refusal" | "SAFETY" | "RECITATION" | "PROHIBITED_CONTENT" | "BLOCKLIST"
        | "SPII" => FinishReason::Refused,
        other => FinishReason::Other(other.to_owned()),
    }
}

fn usage(format: ApiFormat, body: &Value) -> Usage {
    let count = |pointer: &str| body.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    let places = match format {
        ApiFormat::OpenAiResponses => [
            "/usage/input_tokens",
            "/usage/output_tokens",
            "/usage/input_tokens_details/cached_tokens",
            "/usage/output_tokens_details/reasoning_tokens",
        ],
        ApiFormat::Anthropic => [
            "/usage/input_tokens",
            "/usage/output_tokens",
            "/usage/cache_read_input_tokens",
            "/usage/output_tokens_details/reasoning_tokens",
        ],
        ApiFormat::Gemini => [
            "/usageMetadata/promptTokenCount",
            "/usageMetadata/candidatesTokenCount",
            "/usageMetadata/cachedContentTokenCount",
            "/usageMetadata/thoughtsTokenCount",
        ],
        _ => [
            "/usage/prompt_tokens",
            "/usage/completion_tokens",
            "/usage/prompt_tokens_details/cached_tokens",
            "/usage/completion_tokens_details/reasoning_tokens",
        ],
    };
    let [input_tokens, output_tokens, cached_input_tokens, reasoning_tokens] = places.map(count);
    let mut usage = Usage { input_tokens, output_tokens, cached_input_tokens, reasoning_tokens };
    match format {
        // What was read from the cache or written into it is counted apart from the input.
        ApiFormat::Anthropic => {
            usage.input_tokens += cached_input_tokens + count("/usage/cache_creation_input_tokens");
        }
        // Thoughts are counted apart from the answer.
        ApiFormat::Gemini => usage.output_tokens += reasoning_tokens,
        _ => {}
    }
    usage
}
