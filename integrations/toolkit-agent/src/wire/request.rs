//! The body of a request.

use crate::message::Message;
use crate::model::ModelRequest;
use serde_json::{Map, Value, json};
use toolkit_core::ToolConfig;
use toolkit_core::name::WireNames;
use toolkit_wire::{ApiFormat, HostedTool};

/// The default output limit for Anthropic. The API requires a limit in every request.
const ANTHROPIC_OUTPUT_TOKENS: u32 = 8_192;

/// Returns the names of five fields in the JSON of an API: messages, nucleus sampling, maximum output tokens,
/// stop sequences and seed. If the API has no such field, the name is empty.
const fn field_names(format: ApiFormat) -> [&'static str; 5] {
    match format {
        ApiFormat::OpenAiResponses => ["input", "top_p", "max_output_tokens", "", ""],
        ApiFormat::Anthropic => ["messages", "top_p", "max_tokens", "stop_sequences", ""],
        ApiFormat::Gemini => ["contents", "topP", "maxOutputTokens", "stopSequences", "seed"],
        ApiFormat::Bedrock => ["messages", "topP", "maxTokens", "stopSequences", ""],
        ApiFormat::GeminiInteractions => ["input", "top_p", "max_output_tokens", "stop_sequences", "seed"],
        ApiFormat::Cohere => ["messages", "p", "max_tokens", "stop_sequences", "seed"],
        ApiFormat::Ollama => ["messages", "top_p", "num_predict", "stop", "seed"],
        _ => ["messages", "top_p", "max_completion_tokens", "stop", "seed"],
    }
}

/// Returns the JSON body of a request to a model. If `stream` is `true`, the body asks for a streamed answer.
///
/// For Gemini and Bedrock, the body contains neither `model` nor `stream`: both belong in the URL of the request.
///
/// ```
/// use toolkit_agent::{Message, ModelRequest, wire};
/// use toolkit::ApiFormat;
///
/// let request = ModelRequest::new([Message::user("hi")]).with_instructions("Be brief.");
/// let body = wire::request_body(ApiFormat::OpenAiChat, "gpt-5", &request, false);
/// assert_eq!(body["messages"][0]["content"], "Be brief.");
/// assert_eq!(body["messages"][1]["content"], "hi");
/// ```
#[must_use]
pub fn request_body(
    format: ApiFormat,
    model: &str,
    request: &ModelRequest,
    stream: bool,
) -> Map<String, Value> {
    let mut body = Map::new();
    if !matches!(format, ApiFormat::Gemini | ApiFormat::Bedrock) {
        body.insert("model".to_owned(), model.into());
        // Ollama streams unless `stream` is `false`.
        if stream || format == ApiFormat::Ollama {
            body.insert("stream".to_owned(), stream.into());
        }
    }
    let [messages, ..] = field_names(format);
    let names = request.tools.wire_names(&format);
    body.insert(messages.to_owned(), history(format, request, &names).into());
    let text = request.instructions.as_str();
    let instructions = match format {
        ApiFormat::OpenAiResponses => Some(("instructions", text.into())),
        ApiFormat::Anthropic => Some(("system", text.into())),
        ApiFormat::GeminiInteractions => Some(("system_instruction", text.into())),
        ApiFormat::Bedrock => Some(("system", json!([{"text": text}]))),
        ApiFormat::Gemini => Some(("systemInstruction", json!({"parts": [{"text": text}]}))),
        _ => None,
    };
    body.extend(instructions.filter(|_| !text.is_empty()).map(|(name, value)| (name.to_owned(), value)));
    match format {
        // Without this option, a stream does not report the token usage.
        ApiFormat::OpenAiChat if stream => {
            body.insert("stream_options".to_owned(), json!({"include_usage": true}));
        }
        // The history contains all steps, so the provider need not store them.
        ApiFormat::GeminiInteractions => {
            body.insert("store".to_owned(), false.into());
        }
        // The provider does not store the response. Instead, the response contains the encrypted reasoning,
        // and later requests send it back.
        ApiFormat::OpenAiResponses => {
            body.insert("store".to_owned(), false.into());
            body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
        }
        _ => {}
    }
    match (format, &request.options.output) {
        (ApiFormat::Ollama, Some(output)) => {
            body.insert("format".to_owned(), output.schema_for(format));
        }
        (ApiFormat::GeminiInteractions, Some(output)) => {
            let format =
                json!({"type": "text", "mime_type": "application/json", "schema": output.schema_for(format)});
            body.insert("response_format".to_owned(), format);
        }
        // The schema is a string with JSON.
        (ApiFormat::Bedrock, Some(output)) => {
            let schema = json!({"name": output.name, "schema": output.schema_for(format).to_string()});
            let format = json!({"type": "json_schema", "structure": {"jsonSchema": schema}});
            body.insert("outputConfig".to_owned(), json!({"textFormat": format}));
        }
        _ => {}
    }
    let options = options(format, request);
    match format {
        ApiFormat::Gemini | ApiFormat::GeminiInteractions | ApiFormat::Ollama | ApiFormat::Bedrock
            if options.is_empty() => {}
        ApiFormat::GeminiInteractions => {
            body.insert("generation_config".to_owned(), options.into());
        }
        ApiFormat::Bedrock => drop(body.insert("inferenceConfig".to_owned(), options.into())),
        ApiFormat::Gemini => drop(body.insert("generationConfig".to_owned(), options.into())),
        ApiFormat::Ollama => drop(body.insert("options".to_owned(), options.into())),
        _ => body.extend(options),
    }
    let hosted = &request.options.hosted;
    let definitions = match hosted.is_empty() {
        true => request.tools.definitions(format),
        false => request.tools.definitions(format).with_hosted(hosted),
    };
    let config = match request.tools.is_empty() {
        true => ToolConfig::default(),
        false => request.tool_use.clone().with_kinds_of(request.tools.iter_definitions()),
    };
    format.set_tools(&mut body, &definitions, &format.encode_tool_config(&config, &names));
    body.extend(HostedTool::request_fields(hosted, format));
    body.extend(request.options.extra.clone());
    body
}

/// Encodes the messages of a request. Calls without a result get an error result. Assistant messages that
/// came from the same API are sent back unchanged.
fn history(format: ApiFormat, request: &ModelRequest, names: &WireNames) -> Vec<Value> {
    let writer = format.history(names);
    let messages = request.messages.iter().flat_map(|message| match message {
        Message::User(message) => vec![format.encode_user(&message.content)],
        Message::Assistant(message) => match &message.native {
            Some(native) if native.format == format.name() => native.messages.clone(),
            _ => writer.encode_assistant(&message.text, &message.calls),
        },
        Message::Tool(message) => writer.encode_results(&message.results),
    });
    // Chat Completions has no field for the instructions, so they become the first message.
    let has_no_field = matches!(format, ApiFormat::OpenAiChat | ApiFormat::Ollama | ApiFormat::Cohere);
    let system = (has_no_field && !request.instructions.is_empty())
        .then(|| json!({"role": "system", "content": request.instructions}));
    system.into_iter().chain(format.repair_history(messages.collect())).collect()
}

fn options(format: ApiFormat, request: &ModelRequest) -> Map<String, Value> {
    let options = &request.options;
    let default_tokens = (format == ApiFormat::Anthropic).then_some(ANTHROPIC_OUTPUT_TOKENS);
    let [_, top_p, max_output_tokens, stop, seed] = field_names(format);
    let fields: [(&str, Option<Value>); 5] = [
        ("temperature", options.temperature.map(Value::from)),
        (top_p, options.top_p.map(Value::from)),
        (max_output_tokens, options.max_output_tokens.or(default_tokens).map(Value::from)),
        (stop, (!options.stop.is_empty()).then(|| options.stop.clone().into())),
        (seed, options.seed.map(Value::from)),
    ];
    let fields = fields.into_iter().filter(|(name, _)| !name.is_empty());
    let fields = fields.filter_map(|(name, value)| Some((name, value?))).chain(output(format, request));
    fields.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns the request fields for structured output.
fn output(format: ApiFormat, request: &ModelRequest) -> Vec<(&'static str, Value)> {
    let Some(output) = &request.options.output else { return Vec::new() };
    let (name, schema) = (&output.name, output.schema_for(format));
    match format {
        ApiFormat::OpenAiResponses => {
            let format = json!({"type": "json_schema", "name": name, "strict": true, "schema": schema});
            vec![("text", json!({"format": format}))]
        }
        ApiFormat::Anthropic => {
            vec![("output_config", json!({"format": {"type": "json_schema", "schema": schema}}))]
        }
        ApiFormat::Gemini => {
            vec![("responseMimeType", "application/json".into()), ("responseJsonSchema", schema)]
        }
        ApiFormat::Ollama | ApiFormat::Bedrock | ApiFormat::GeminiInteractions => Vec::new(),
        ApiFormat::Cohere => vec![("response_format", json!({"type": "json_object", "json_schema": schema}))],
        _ => {
            let format = json!({"name": name, "strict": true, "schema": schema});
            vec![("response_format", json!({"type": "json_schema", "json_schema": format}))]
        }
    }
}
