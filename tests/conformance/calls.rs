//! Calls of any provider, and messages that ask and answer.

use serde_json::{Value, json};
use toolkit_core::name::WireNames;
use toolkit_core::{ToolCall, ToolResult};
use toolkit_llm::ApiFormat;

use crate::formats::{for_each_provider, format, read_arguments, snake_case, theirs};
use crate::lifecycle::output;
use crate::report::{Answers, Report};
use crate::vectors::{entry, text};

/// `toolcalls_toolregistry.json`, except for results.
pub(crate) fn toolcalls_toolregistry(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    report.section(file, "parse_tool_call", &["tool_call", "id_generated"], parse_tool_call)?;
    let asking = for_each_provider(file, "assistant_messages", "assistant")?;
    report.section(&asking, "assistant_messages", &["answer"], |row| {
        let calls: Vec<ToolCall> = calls(entry(row, "tool_calls")?)?;
        both(row, |format| Ok(format.encode_calls(&calls, &WireNames::default()).into()))
    })?;
    let answering = for_each_provider(file, "result_messages", "messages")?;
    report.section(&answering, "result_messages", &["answer"], |row| {
        let responses = entry(row, "responses")?.as_object().ok_or("`responses` is not an object")?;
        let results = responses.iter().map(|(id, result)| {
            let name = if id == "call_2" { "search" } else { "add" };
            Ok(ToolResult::new(id.as_str().into(), name, Ok(output(result)?)))
        });
        let results: Vec<ToolResult> = results.collect::<Result<_, String>>()?;
        both(row, |format| Ok(format.encode_results(&results).into()))
    })?;
    report.section(file, "format_names", &["r"], |row| {
        let theirs = theirs(row, "r")?.map(|_| json!("known"));
        let ours = text(row, "api_format")?.parse::<ApiFormat>();
        Ok(Answers { theirs, ours: ours.map(|_| json!("known")).map_err(|error| error.to_string()) })
    })
}

/// They guess the format, and ours is the only one that takes the call.
fn parse_tool_call(row: &Value) -> Result<Answers, String> {
    let input = entry(row, "input")?;
    // Chat Completions and Responses read these calls, too, so they count.
    let alike = [ApiFormat::Ollama, ApiFormat::Cohere, ApiFormat::GeminiInteractions];
    let formats = ApiFormat::ALL.iter().copied().filter(|format| !alike.contains(format));
    let readings = formats.filter_map(|format| format.parse_calls(input).ok());
    let readings: Vec<Vec<ToolCall>> = readings.filter(|calls| !calls.is_empty()).collect();
    let ours = match readings.as_slice() {
        [] => Err("no format takes it".to_owned()),
        [calls] => {
            let call = &calls[0];
            let arguments = if call.arguments.as_str().is_empty() { "{}" } else { call.arguments.as_str() };
            Ok(json!({"id": call.id.as_str(), "name": call.name, "arguments": arguments}))
        }
        several => Err(format!("{} formats take it", several.len())),
    };
    let theirs = theirs(row, "tool_call")?;
    let theirs =
        theirs.map(|call| json!({"id": call["id"], "name": call["name"], "arguments": call["arguments"]}));
    let read = |answer: Result<Value, String>| answer.map(|call| read_arguments(&call));
    Ok(Answers { theirs: read(theirs), ours: read(ours) })
}

fn both(row: &Value, ours: impl Fn(ApiFormat) -> Result<Value, String>) -> Result<Answers, String> {
    let provider = text(row, "provider")?;
    let theirs = theirs(row, "answer")?;
    let format = match format(provider) {
        Ok(format) => format,
        Err(unknown) => return Ok(Answers { theirs, ours: Err(unknown) }),
    };
    let same = |value: Value| {
        let value = read_arguments(&value);
        let value = if format == ApiFormat::Gemini { snake_case(&value) } else { value };
        without_defaults(format, &value)
    };
    Ok(Answers { theirs: theirs.map(same), ours: ours(format).map(same) })
}

/// Removes fields whose absence means the same: `null` content, an item's status and id, and the model as
/// caller.
fn without_defaults(format: ApiFormat, value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let is_item = format == ApiFormat::OpenAiResponses && fields.contains_key("call_id");
            let says = |name: &str, value: &Value| match name {
                "content" => !value.is_null(),
                "id" | "status" => !is_item,
                "caller" => *value != json!({"type": "direct"}),
                _ => true,
            };
            let kept = fields.iter().filter(|(name, value)| says(name, value));
            kept.map(|(name, value)| (name.clone(), without_defaults(format, value))).collect()
        }
        Value::Array(values) => values.iter().map(|value| without_defaults(format, value)).collect(),
        other => other.clone(),
    }
}

fn calls(rows: &Value) -> Result<Vec<ToolCall>, String> {
    let rows = rows.as_array().ok_or("`tool_calls` is not a list")?;
    rows.iter()
        .map(|call| Ok(ToolCall::new(text(call, "id")?, text(call, "name")?, text(call, "arguments")?)))
        .collect()
}
