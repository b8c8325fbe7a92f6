//! Recorded requests, read and written again in the same format.

use crate::replay::map;
use toolkit_ai::llm::hosted::HostedTool;
use toolkit_ai::llm::translate::RequestFormat;
use toolkit_ai::llm::{ApiFormat, DefinitionOptions, WireError};
use toolkit_ai::name::WireNames;
use toolkit_ai::serde_json::{Map, Value, json};

/// Returns a request's tools, tool choice and messages as this library writes them. APIs whose requests
/// cannot be read have no tools.
///
/// Messages are pieces: the first index, the count, and the JSON in their place. User messages, and results
/// of some APIs, are not read.
pub(crate) fn write(format: ApiFormat, request: &Map<String, Value>) -> Value {
    let mut written = Map::new();
    if let Some(reader) = RequestFormat::of(format) {
        let tools = tools(reader, request).unwrap_or_else(|error| map(json!({"error": error.to_string()})));
        written.insert("tools".to_owned(), tools.into());
    }
    let name = messages_field(format);
    let messages = request.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let pieces = pieces(format, messages).unwrap_or_else(|error| json!({"error": error.to_string()}));
    written.insert("messages".to_owned(), pieces);
    let mut repaired = request.clone();
    format.repair_request(&mut repaired);
    written.insert("is_repaired".to_owned(), json!(repaired != *request));
    written.into()
}

fn messages_field(format: ApiFormat) -> &'static str {
    match format {
        ApiFormat::OpenAiResponses | ApiFormat::GeminiInteractions => "input",
        ApiFormat::Gemini => "contents",
        _ => "messages",
    }
}

fn tools(reader: RequestFormat, request: &Map<String, Value>) -> Result<Map<String, Value>, WireError> {
    let format = reader.api();
    let names = WireNames::default();
    let mut written = Map::new();
    let payload = Value::Object(request.clone());
    if !["tools", "toolConfig"].iter().any(|name| request.get(*name).is_some_and(|tools| !tools.is_null())) {
        return Ok(written);
    }
    let definitions = reader.parse_definitions(&payload)?;
    let hosted = reader.hosted_tools(&payload)?.into_iter().map(|tool| HostedTool::new(format, tool));
    let hosted: Vec<HostedTool> = hosted.collect();
    let options = DefinitionOptions::default();
    let encoded = format.encode_definitions(&definitions, &names, &options).with_hosted(&hosted);
    let wanted = reader.parse_tool_config(request, &names)?;
    format.set_tools(&mut written, &encoded, &format.encode_tool_config(&wanted, &names));
    Ok(written)
}

/// Returns the model's turns and the tools' results, read and written again.
fn pieces(format: ApiFormat, messages: &[Value]) -> Result<Value, WireError> {
    let history = WireNames::default();
    let history = format.history(&history);
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(first) = messages.get(at) {
        let kind = kind(format, first);
        let run = match format {
            ApiFormat::OpenAiResponses | ApiFormat::GeminiInteractions => {
                messages[at..].iter().take_while(|item| self::kind(format, item) == kind).count()
            }
            // A turn's results are written together.
            _ if kind == "results" => {
                messages[at..].iter().take_while(|item| self::kind(format, item) == kind).count()
            }
            _ => 1,
        };
        let received = match run {
            1 => first.clone(),
            _ => messages[at..at + run].iter().cloned().collect(),
        };
        let written = match (kind, RequestFormat::of(format)) {
            ("model", _) => Some(history.assistant_messages(&received)?),
            ("results", Some(reader)) => Some(history.encode_results(&reader.parse_results(&received)?)),
            _ => None,
        };
        if let Some(written) = written {
            pieces.push(json!({"kind": kind, "at": at, "count": run, "written": written}));
        }
        at += run;
    }
    Ok(pieces.into())
}

/// Returns the source of a message: the model, tools (`results`), or the user.
fn kind(format: ApiFormat, message: &Value) -> &'static str {
    let has = |list: &str, field: &str, value: Option<&str>| {
        let parts = message[list].as_array().into_iter().flatten();
        let mut fields = parts.filter_map(|part| part.get(field));
        fields.any(|field| value.is_none_or(|value| field == value))
    };
    let item = message["type"].as_str().unwrap_or_default();
    // The service searched for tools.
    let is_hosted = message["execution"] == "server";
    match message["role"].as_str() {
        Some("assistant" | "model") => "model",
        Some("tool" | "function") => "results",
        Some("user") if has("content", "type", Some("tool_result")) => "results",
        Some("user") if has("content", "toolResult", None) => "results",
        Some("user") if has("parts", "functionResponse", None) => "results",
        None if item == "mcp_approval_response" => "user",
        None if item.ends_with("_output") && !is_hosted || item == "function_result" => "results",
        None if format == ApiFormat::OpenAiResponses && !item.is_empty() => "model",
        // The input may also be the contents of one user message.
        None if matches!(item, "user_input" | "text" | "image" | "audio" | "document" | "video") => "user",
        None if format == ApiFormat::GeminiInteractions => "model",
        _ => "user",
    }
}
