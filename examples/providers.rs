//! One registry, eight APIs: request, response and answer of each.
//!
//! Run `cargo run --example providers`.

#![allow(clippy::print_stdout)]

use std::error::Error;
use toolkit_ai::llm::StreamEvent;
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::{Map, Value, json};
use toolkit_ai::{ToolChoice, ToolConfig};

/// Get current weather for a city.
///
/// :param city: The city, in English
#[tool(name = "weather.get")]
async fn get_weather(city: String, #[param(range = 1..=7)] days: Option<u8>) -> String {
    format!("{city}: clear, 21 °C for {} days", days.unwrap_or(1))
}

/// Returns each provider's response, with its spelling of names with dots.
fn response(format: ApiFormat) -> Value {
    let arguments = json!({"city": "Beijing", "days": 3});
    let text = arguments.to_string();
    match format {
        ApiFormat::OpenAiResponses => json!({"output": [{"type": "function_call", "id": "fc_1",
            "call_id": "call_1", "name": "weather_get", "arguments": text}]}),
        ApiFormat::Anthropic => json!({"role": "assistant", "content": [
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "toolu_1", "name": "weather_get", "input": arguments},
        ]}),
        ApiFormat::Gemini => json!({"candidates": [{"content": {"role": "model", "parts": [
            {"functionCall": {"name": "weather.get", "args": arguments}, "thoughtSignature": "c2ln"},
        ]}}]}),
        ApiFormat::Ollama => json!({"message": {"role": "assistant", "content": "", "tool_calls": [
            {"function": {"index": 0, "name": "weather_get", "arguments": arguments}},
        ]}, "done": true, "done_reason": "stop"}),
        ApiFormat::Bedrock => {
            json!({"stopReason": "tool_use", "output": {"message": {"role": "assistant", "content": [
                {"toolUse": {"toolUseId": "tooluse_1", "name": "weather_get", "input": arguments}},
            ]}}})
        }
        ApiFormat::GeminiInteractions => json!({"id": "v1_1", "status": "requires_action", "steps": [
            {"type": "function_call", "id": "call_1", "name": "weather.get", "arguments": arguments},
        ]}),
        ApiFormat::Cohere => {
            json!({"finish_reason": "TOOL_CALL", "message": {"role": "assistant", "tool_calls": [
                {"id": "weather_get_1", "type": "function", "function": {"name": "weather_get", "arguments": text}},
            ]}})
        }
        _ => json!({"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "weather_get", "arguments": text}},
        ]}}]}),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let dispatcher = Dispatcher::new(ToolRegistry::discover()?)?;
    let registry = dispatcher.registry();
    for &format in ApiFormat::ALL {
        println!("== {format}");
        let wanted = ToolConfig::from(ToolChoice::Required).with_parallel(false);
        let tools = registry.definitions(format);
        let mut request = Map::new();
        let config = format.encode_tool_config(&wanted, &registry.wire_names(&format));
        format.set_tools(&mut request, &tools, &config);
        println!("request:  {}", Value::Object(request));
        let mut lost: Vec<String> = config.losses.iter().map(ToString::to_string).collect();
        lost.extend((!tools.report().is_clean()).then(|| tools.report().to_string()));
        println!("lost:     {}", if lost.is_empty() { "nothing".to_owned() } else { lost.join("; ") });

        let response = response(format);
        let calls = format.parse_calls(&response)?;
        let results = dispatcher.dispatch(calls).await;
        for message in
            format.assistant_messages(&response)?.into_iter().chain(format.encode_results(&results))
        {
            println!("history:  {message}");
        }
    }

    // A streamed call runs while the model writes.
    let mut stream = ApiFormat::Anthropic.accumulator();
    let body = r#"data: {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "toolu_2", "name": "weather_get", "input": {}}}

data: {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"city\": \"Köln\"}"}}

data: {"type": "content_block_stop", "index": 0}

"#;
    println!("== a stream");
    for bytes in body.as_bytes().chunks(50) {
        for event in stream.push_bytes(bytes) {
            if let StreamEvent::Call(call) = event? {
                println!("{}", dispatcher.dispatch([call]).await[0].to_text());
            }
        }
    }
    Ok(())
}
