//! The framework's values in the JSON of the questions.

use super::Fields;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::ToolCall;
use toolkit_core::definition::{TextFormat, ToolDefinition, ToolKind, ToolMetadata};
use toolkit_core::name::{ToolName, WireNames};
use toolkit_core::output::{Content, ToolOutput};
use toolkit_llm::{ApiFormat, DefinitionOptions, Response, StreamEvent, StrictTools, Usage, WireError};
use toolkit_schema::SchemaLoss;

pub(crate) fn parse<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|error| format!("{error}: {value}"))
}

fn without_empty(mut value: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, value| ![json!(null), json!(""), json!([]), json!({}), json!(0)].contains(value));
    }
    value
}

/// Writes a call as `[id, name, arguments]`, or as an object if it has an index or extras.
pub(crate) fn call(call: &ToolCall) -> Value {
    if call.index.is_none() && call.extras.is_empty() {
        json!([call.id, call.name, call.arguments])
    } else {
        json!(call)
    }
}

pub(crate) fn calls(list: &[ToolCall]) -> Value {
    list.iter().map(call).collect()
}

pub(crate) fn parse_calls(list: &Value) -> Result<Vec<ToolCall>, String> {
    let parse_call = |json: &Value| match parse::<[String; 3]>(json) {
        Ok([id, name, arguments]) => Ok(ToolCall::new(id, name, arguments)),
        Err(_) => parse(json),
    };
    list.as_array().into_iter().flatten().map(parse_call).collect()
}

pub(crate) fn event(event: &StreamEvent) -> Value {
    match event {
        StreamEvent::Text(text) => json!({"text": text}),
        StreamEvent::Reasoning(text) => json!({"reasoning": text}),
        StreamEvent::Refusal(text) => json!({"refusal": text}),
        StreamEvent::CallStarted { id, name, .. } => json!({"started": [id, name]}),
        StreamEvent::Arguments { id, piece, .. } => json!({"piece": [id, piece]}),
        StreamEvent::Call(done) => json!({"call": call(done)}),
        StreamEvent::Hosted(call) => json!({"hosted": call}),
        other => json!(format!("{other:?}")),
    }
}

pub(crate) fn error(error: &WireError) -> Value {
    json!([error.path(), error.expected()])
}

pub(crate) fn usage(usage: &Usage) -> Value {
    without_empty(json!(usage))
}

pub(crate) fn response(response: &Response) -> Value {
    without_empty(json!({
        "text": response.text,
        "reasoning": response.reasoning,
        "refusal": response.refusal,
        "calls": calls(&response.calls),
        "hosted": response.hosted,
        "finish": response.finish,
        "usage": usage(&response.usage),
        "native": response.native,
        "id": response.id,
        "container": response.container,
        "container_expires_at": response.container_expires_at,
    }))
}

/// Writes losses as pairs of path and keyword.
pub(crate) fn losses<'a>(losses: impl IntoIterator<Item = &'a SchemaLoss>) -> Value {
    losses.into_iter().map(|loss| json!([loss.path, loss.keyword])).collect()
}

/// Writes results without positions and durations of zero.
pub(crate) fn results(list: &[ToolResult]) -> Value {
    let write = |result: &ToolResult| {
        let mut written = json!(result);
        if let Some(fields) = written.as_object_mut() {
            fields.retain(|name, value| match name.as_str() {
                "position" => *value != 0,
                "duration" => *value != json!({"secs": 0, "nanos": 0}),
                _ => true,
            });
        }
        written
    };
    list.iter().map(write).collect()
}

/// Reads the contents of a message, in the JSON of a result.
pub(crate) fn parse_contents(list: &Value) -> Result<Vec<Content>, String> {
    let result: ToolResult = parse(&json!({"call_id": "", "name": "", "output": {"content": list}}))?;
    Ok(result.output().map(ToolOutput::content).unwrap_or_default().to_vec())
}

/// Returns the spellings of the tools that the question names.
pub(crate) fn wire_names(format: ApiFormat, question: &Fields) -> WireNames {
    let names = question.get("names").and_then(Value::as_array).into_iter().flatten();
    WireNames::new(format.name_rule(), names.filter_map(Value::as_str))
}

pub(crate) fn parse_definition(json: &Value) -> Result<ToolDefinition, String> {
    let text = |name: &str| json[name].as_str().unwrap_or_default();
    let list = |name: &str| json[name].as_array().cloned().unwrap_or_default();
    let callers = list("callers");
    let callers: Vec<&str> = callers.iter().filter_map(Value::as_str).collect();
    let mut metadata =
        ToolMetadata::default().with_allowed_callers(callers).with_input_examples(list("examples"));
    metadata.strict = json["strict"].as_bool();
    metadata.defer = json["defer"] == true;
    metadata.meta = json["meta"].as_object().cloned().unwrap_or_default();
    let name = ToolName::new(text("name")).map_err(|error| error.to_string())?;
    let mut definition = ToolDefinition::new(name, text("description"), json["parameters"].clone());
    if let Some(format) = json.get("custom") {
        let grammar = |kind: &str| format.get(kind).and_then(Value::as_str).map(str::to_owned);
        let format =
            grammar("lark").map(TextFormat::Lark).or_else(|| grammar("regex").map(TextFormat::Regex));
        definition.kind = ToolKind::Custom(format.unwrap_or_default());
    }
    definition = definition.with_metadata(metadata);
    Ok(match json.get("output") {
        Some(schema) => definition.with_output_schema(schema.clone()),
        None => definition,
    })
}

/// Writes a definition without empty settings.
pub(crate) fn definition(definition: &ToolDefinition) -> Value {
    let metadata = &definition.metadata;
    let custom = match &definition.kind {
        ToolKind::Custom(TextFormat::Text) => json!("text"),
        ToolKind::Custom(TextFormat::Lark(grammar)) => json!({"lark": grammar}),
        ToolKind::Custom(TextFormat::Regex(pattern)) => json!({"regex": pattern}),
        _ => Value::Null,
    };
    let settings = without_empty(json!({
        "custom": custom,
        "strict": metadata.strict,
        "defer": metadata.defer.then_some(true),
        "examples": metadata.input_examples,
        "callers": metadata.allowed_callers,
        "meta": metadata.meta,
    }));
    let mut written = Fields::from_iter([
        ("name".to_owned(), definition.name.as_str().into()),
        ("description".to_owned(), definition.description.as_str().into()),
        ("parameters".to_owned(), definition.parameters.clone()),
    ]);
    written.extend(settings.as_object().cloned().unwrap_or_default());
    written.extend(definition.output_schema().map(|schema| ("output".to_owned(), schema.clone())));
    written.into()
}

pub(crate) fn options(json: &Value) -> DefinitionOptions {
    let mut options = DefinitionOptions::default();
    if json["strict"] == true {
        options = options.with_strict(StrictTools::All);
    }
    options
        .with_json_schema(json["json_schema"] == true)
        .with_output_schemas(json["output_schemas"] == true)
        .with_inline_references(json["inline_references"] == true)
}
