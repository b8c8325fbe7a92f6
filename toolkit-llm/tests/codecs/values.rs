//! The framework's values in the JSON of the questions.

use super::Fields;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::ToolCall;
use toolkit_core::name::{ToolName, WireNames};
use toolkit_core::output::{Content, ToolOutput};
use toolkit_core::tool::{TextFormat, ToolDefinition, ToolKind, ToolMetadata};
use toolkit_llm::{ApiFormat, DefinitionOptions, Response, StreamEvent, StrictTools, Usage, WireError};
use toolkit_schema::SchemaLoss;

/// Removes the fields with empty values, which the files leave out.
fn without_empty(mut value: Value) -> Value {
    let fields = value.as_object_mut().expect("an object");
    fields.retain(|_, value| ![json!(null), json!(""), json!([]), json!({}), json!(0)].contains(value));
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

pub(crate) fn read_calls(list: &Value) -> Vec<ToolCall> {
    let read = |call: &Value| match call.as_array().map(Vec::as_slice) {
        Some([id, name, arguments]) => {
            let [id, name, arguments] = [id, name, arguments].map(|text| text.as_str().expect("a text"));
            ToolCall::new(id, name, arguments)
        }
        _ => serde_json::from_value(call.clone()).expect("a call"),
    };
    list.as_array().into_iter().flatten().map(read).collect()
}

pub(crate) fn event(event: &StreamEvent) -> Value {
    match event {
        StreamEvent::Text(text) => json!({"text": text}),
        StreamEvent::Reasoning(text) => json!({"reasoning": text}),
        StreamEvent::Refusal(text) => json!({"refusal": text}),
        StreamEvent::CallStarted { id, name } => json!({"started": [id, name]}),
        StreamEvent::Arguments { id, piece } => json!({"piece": [id, piece]}),
        StreamEvent::Call(done) => json!({"call": call(done)}),
        StreamEvent::Hosted(call) => json!({"hosted": call}),
        other => panic!("an event without a form: {other:?}"),
    }
}

pub(crate) fn error(error: &WireError) -> Value {
    json!([error.path(), error.expected()])
}

/// Writes the counts that are not zero.
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

pub(crate) fn results(list: &Value) -> Vec<ToolResult> {
    serde_json::from_value(list.clone()).expect("results")
}

/// Writes results without positions and durations of zero.
pub(crate) fn written_results(results: &[ToolResult]) -> Value {
    let write = |result: &ToolResult| {
        let mut fields = json!(result);
        let object = fields.as_object_mut().expect("an object");
        object.retain(|name, value| match name.as_str() {
            "position" => *value != 0,
            "duration" => *value != json!({"secs": 0, "nanos": 0}),
            _ => true,
        });
        fields
    };
    results.iter().map(write).collect()
}

/// Reads the contents of a message, in the JSON of the content of a result.
pub(crate) fn contents(list: &Value) -> Vec<Content> {
    let result = json!({"call_id": "", "name": "", "output": {"content": list}});
    let result: ToolResult = serde_json::from_value(result).expect("contents");
    result.output().map(ToolOutput::content).unwrap_or_default().to_vec()
}

/// Returns the spellings of the tools that the question names.
pub(crate) fn wire_names(format: ApiFormat, question: &Fields) -> WireNames {
    let names = question.get("names").and_then(Value::as_array).into_iter().flatten();
    WireNames::new(format.name_rule(), names.filter_map(Value::as_str))
}

pub(crate) fn definition(json: &Value) -> ToolDefinition {
    let text = |name: &str| json[name].as_str().unwrap_or_default();
    let list = |name: &str| json[name].as_array().cloned().unwrap_or_default();
    let name = ToolName::new(text("name")).expect("a tool name");
    let callers = list("callers").into_iter().map(|caller| caller.as_str().unwrap_or_default().to_owned());
    let mut metadata = ToolMetadata::default().with_allowed_callers(callers.collect::<Vec<_>>());
    metadata.strict = json["strict"].as_bool();
    metadata.defer = json["defer"] == true;
    metadata.input_examples = list("examples");
    metadata.meta = json["meta"].as_object().cloned().unwrap_or_default();
    let mut definition = ToolDefinition::new(name, text("description"), json["parameters"].clone());
    if let Some(format) = json.get("custom") {
        let grammar = |kind: &str| format.get(kind).and_then(Value::as_str).map(str::to_owned);
        let format =
            grammar("lark").map(TextFormat::Lark).or_else(|| grammar("regex").map(TextFormat::Regex));
        definition.kind = ToolKind::Custom(format.unwrap_or_default());
    }
    definition = definition.with_metadata(metadata);
    match json.get("output") {
        Some(schema) => definition.with_output_schema(schema.clone()),
        None => definition,
    }
}

pub(crate) fn written_definition(definition: &ToolDefinition) -> Value {
    let metadata = &definition.metadata;
    let mut written = json!({
        "name": definition.name.as_str(),
        "description": definition.description,
        "parameters": definition.parameters,
    });
    let fields = written.as_object_mut().expect("an object");
    let custom = match &definition.kind {
        ToolKind::Custom(TextFormat::Text) => json!("text"),
        ToolKind::Custom(TextFormat::Lark(grammar)) => json!({"lark": grammar}),
        ToolKind::Custom(TextFormat::Regex(pattern)) => json!({"regex": pattern}),
        _ => json!(null),
    };
    let settings = json!({
        "custom": custom,
        "strict": metadata.strict,
        "defer": metadata.defer.then_some(true),
        "examples": metadata.input_examples,
        "callers": metadata.allowed_callers,
        "meta": metadata.meta,
    });
    fields.extend(without_empty(settings).as_object().cloned().unwrap_or_default());
    fields.extend(definition.output_schema().map(|schema| ("output".to_owned(), schema.clone())));
    written
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
