//! The body of a request.

use crate::message::Message;
use crate::model::ModelRequest;
use serde_json::{Map, Value, json};
use toolkit_core::name::WireNames;
use toolkit_wire::ApiFormat;

/// Anthropic wants a limit in every request.
const ANTHROPIC_OUTPUT_TOKENS: u32 = 8_192;

/// The names of a request's fields; an option without one does not exist in the API.
struct FieldNames {
    messages: &'static str,
    /// The object that holds the options, if it is not the body.
    options: Option<&'static str>,
    top_p: &'static str,
    max_output_tokens: &'static str,
    stop: Option<&'static str>,
    seed: Option<&'static str>,
}

const OPENAI_CHAT: FieldNames = FieldNames {
    messages: "messages",
    options: None,
    top_p: "top_p",
    max_output_tokens: "max_completion_tokens",
    stop: Some("stop"),
    seed: Some("seed"),
};

const OPENAI_RESPONSES: FieldNames = FieldNames {
    messages: "input",
    max_output_tokens: "max_output_tokens",
    stop: None,
    seed: None,
    ..OPENAI_CHAT
};

const ANTHROPIC: FieldNames =
    FieldNames { max_output_tokens: "max_tokens", stop: Some("stop_sequences"), seed: None, ..OPENAI_CHAT };

const GEMINI: FieldNames = FieldNames {
    messages: "contents",
    options: Some("generationConfig"),
    top_p: "topP",
    max_output_tokens: "maxOutputTokens",
    stop: Some("stopSequences"),
    seed: Some("seed"),
};

const OLLAMA: FieldNames =
    FieldNames { options: Some("options"), max_output_tokens: "num_predict", ..OPENAI_CHAT };

/// Writes the body of a request for this model, whole or (`stream`) for an answer in pieces.
///
/// Gemini's API has the name of the model, and whether it streams, in its address, not in the body.
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
    let names = match format {
        ApiFormat::OpenAiResponses => OPENAI_RESPONSES,
        ApiFormat::Anthropic => ANTHROPIC,
        ApiFormat::Gemini => GEMINI,
        ApiFormat::Ollama => OLLAMA,
        _ => OPENAI_CHAT,
    };
    let mut body = Map::new();
    if format != ApiFormat::Gemini {
        body.insert("model".to_owned(), model.into());
    }
    // Ollama streams unless it is told not to.
    if stream && format != ApiFormat::Gemini || format == ApiFormat::Ollama {
        body.insert("stream".to_owned(), stream.into());
    }
    let wire_names = request.tools.wire_names(&format);
    body.insert(names.messages.to_owned(), history(format, request, &wire_names).into());
    instructions(format, &request.instructions, &names, &mut body);
    match format {
        // Without it, a stream does not say what it cost.
        ApiFormat::OpenAiChat if stream => {
            body.insert("stream_options".to_owned(), json!({"include_usage": true}));
        }
        // The conversation is ours to keep; the reasoning comes along, encrypted, and goes back.
        ApiFormat::OpenAiResponses => {
            body.insert("store".to_owned(), false.into());
            body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
        }
        _ => {}
    }
    let mut options = options(format, request, &names);
    if format == ApiFormat::Ollama {
        body.extend(options.shift_remove("format").map(|schema| ("format".to_owned(), schema)));
    }
    match names.options {
        None => body.append(&mut options),
        Some(_) if options.is_empty() => {}
        Some(name) => drop(body.insert(name.to_owned(), options.into())),
    }
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.definitions(format).to_value());
        let wanted = request.tool_use.clone().with_kinds_of(request.tools.iter_definitions());
        body.extend(format.encode_tool_config(&wanted, &wire_names).fields);
    }
    body.extend(request.options.extra.clone());
    body
}

/// Returns the conversation, with a result for every call. Messages of the same API go back as they came.
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
    format.repair_history(messages.collect())
}

fn instructions(format: ApiFormat, text: &str, names: &FieldNames, body: &mut Map<String, Value>) {
    if text.is_empty() {
        return;
    }
    let (field, value) = match format {
        ApiFormat::OpenAiResponses => ("instructions", text.into()),
        ApiFormat::Anthropic => ("system", text.into()),
        ApiFormat::Gemini => ("systemInstruction", json!({"parts": [{"text": text}]})),
        _ => {
            if let Some(Value::Array(messages)) = body.get_mut(names.messages) {
                messages.insert(0, json!({"role": "system", "content": text}));
            }
            return;
        }
    };
    body.insert(field.to_owned(), value);
}

fn options(format: ApiFormat, request: &ModelRequest, names: &FieldNames) -> Map<String, Value> {
    let options = &request.options;
    let default_tokens = (format == ApiFormat::Anthropic).then_some(ANTHROPIC_OUTPUT_TOKENS);
    let stop = (!options.stop.is_empty()).then(|| options.stop.clone().into());
    let fields: [(Option<&str>, Option<Value>); 5] = [
        (Some("temperature"), options.temperature.map(Value::from)),
        (Some(names.top_p), options.top_p.map(Value::from)),
        (Some(names.max_output_tokens), options.max_output_tokens.or(default_tokens).map(Value::from)),
        (names.stop, stop),
        (names.seed, options.seed.map(Value::from)),
    ];
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name?.to_owned(), value?)));
    fields.chain(output(format, request).into_iter().map(|(name, value)| (name.to_owned(), value))).collect()
}

/// Returns the fields that ask for an answer of a given form.
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
        ApiFormat::Ollama => vec![("format", schema)],
        _ => {
            let format = json!({"name": name, "strict": true, "schema": schema});
            vec![("response_format", json!({"type": "json_schema", "json_schema": format}))]
        }
    }
}
