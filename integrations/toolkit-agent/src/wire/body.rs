//! The body of a request.

use super::history::messages;
use crate::model::ModelRequest;
use serde_json::{Map, Value, json};
use toolkit_wire::ApiFormat;

/// Anthropic wants a limit in every request.
const ANTHROPIC_OUTPUT_TOKENS: u32 = 8_192;

/// The fields of a body. A value that is `None` is no field.
struct Body(Map<String, Value>);

impl Body {
    fn set(&mut self, field: &str, value: impl Into<Value>) {
        self.0.insert(field.to_owned(), value.into());
    }

    fn set_if(&mut self, field: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.set(field, value);
        }
    }
}

pub(super) fn request_body(
    format: ApiFormat,
    model: &str,
    request: &ModelRequest,
    stream: bool,
) -> Map<String, Value> {
    let mut body = Body(Map::new());
    if format != ApiFormat::Gemini {
        body.set("model", model);
        if stream {
            body.set("stream", true);
        }
    }
    match format {
        ApiFormat::OpenAiResponses => openai_responses(request, &mut body),
        ApiFormat::Anthropic => anthropic(request, &mut body),
        ApiFormat::Gemini => google(request, &mut body),
        _ => openai_chat(request, stream, &mut body),
    }
    tools(format, request, &mut body);
    body.0.extend(request.options.extra.clone());
    body.0
}

fn tools(format: ApiFormat, request: &ModelRequest, body: &mut Body) {
    if !request.tools.is_empty() {
        body.set("tools", request.tools.definitions(format).to_value());
        let names = request.tools.wire_names(&format);
        let tool_use = request.tool_use.clone().with_kinds_of(request.tools.iter_definitions());
        body.0.extend(format.encode_tool_config(&tool_use, &names).fields);
    }
}

fn history(format: ApiFormat, request: &ModelRequest) -> Vec<Value> {
    messages(format, request, &request.tools.wire_names(&format))
}

fn stop(request: &ModelRequest) -> Option<Value> {
    (!request.options.stop.is_empty()).then(|| request.options.stop.clone().into())
}

fn openai_chat(request: &ModelRequest, stream: bool, body: &mut Body) {
    let options = &request.options;
    let system = (!request.instructions.is_empty())
        .then(|| json!({"role": "system", "content": request.instructions}));
    let messages: Vec<Value> = system.into_iter().chain(history(ApiFormat::OpenAiChat, request)).collect();
    body.set("messages", messages);
    if stream {
        // Without it, a stream does not say what it cost.
        body.set("stream_options", json!({"include_usage": true}));
    }
    body.set_if("temperature", options.temperature);
    body.set_if("top_p", options.top_p);
    body.set_if("max_completion_tokens", options.max_output_tokens);
    body.set_if("stop", stop(request));
    body.set_if("seed", options.seed);
    if let Some(output) = &options.output {
        let schema = output.schema_for(ApiFormat::OpenAiChat);
        let format = json!({"name": output.name, "strict": true, "schema": schema});
        body.set("response_format", json!({"type": "json_schema", "json_schema": format}));
    }
}

fn openai_responses(request: &ModelRequest, body: &mut Body) {
    let options = &request.options;
    if !request.instructions.is_empty() {
        body.set("instructions", request.instructions.as_str());
    }
    body.set("input", history(ApiFormat::OpenAiResponses, request));
    // The conversation is ours to keep; the reasoning comes along, encrypted, and goes back.
    body.set("store", false);
    body.set("include", json!(["reasoning.encrypted_content"]));
    body.set_if("temperature", options.temperature);
    body.set_if("top_p", options.top_p);
    body.set_if("max_output_tokens", options.max_output_tokens);
    if let Some(output) = &options.output {
        let schema = output.schema_for(ApiFormat::OpenAiResponses);
        let format = json!({"type": "json_schema", "name": output.name, "strict": true, "schema": schema});
        body.set("text", json!({"format": format}));
    }
}

fn anthropic(request: &ModelRequest, body: &mut Body) {
    let options = &request.options;
    if !request.instructions.is_empty() {
        body.set("system", request.instructions.as_str());
    }
    body.set("messages", history(ApiFormat::Anthropic, request));
    body.set("max_tokens", options.max_output_tokens.unwrap_or(ANTHROPIC_OUTPUT_TOKENS));
    body.set_if("temperature", options.temperature);
    body.set_if("top_p", options.top_p);
    body.set_if("stop_sequences", stop(request));
    if let Some(output) = &options.output {
        let schema = output.schema_for(ApiFormat::Anthropic);
        body.set("output_config", json!({"format": {"type": "json_schema", "schema": schema}}));
    }
}

fn google(request: &ModelRequest, body: &mut Body) {
    let options = &request.options;
    if !request.instructions.is_empty() {
        body.set("systemInstruction", json!({"parts": [{"text": request.instructions}]}));
    }
    body.set("contents", history(ApiFormat::Gemini, request));
    let mut config = Body(Map::new());
    config.set_if("temperature", options.temperature);
    config.set_if("topP", options.top_p);
    config.set_if("maxOutputTokens", options.max_output_tokens);
    config.set_if("stopSequences", stop(request));
    config.set_if("seed", options.seed);
    if let Some(output) = &options.output {
        config.set("responseMimeType", "application/json");
        config.set("responseJsonSchema", output.schema_for(ApiFormat::Gemini));
    }
    if !config.0.is_empty() {
        body.set("generationConfig", config.0);
    }
}
