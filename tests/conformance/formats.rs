//! Shared parts of the comparisons of provider formats.

use serde_json::{Map, Value, json};
use toolkit_core::ToolDefinition;
use toolkit_core::definition::parameter_names;
use toolkit_core::name::{NameRule, WireNames};
use toolkit_core::schema::keyword::each_subschema;
use toolkit_llm::translate::RequestFormat;
use toolkit_llm::{ApiFormat, DefinitionOptions, DefinitionReport};

use crate::vectors::{self, entry, text};

pub(crate) fn format(provider: &str) -> Result<ApiFormat, String> {
    provider.parse().map_err(|error| format!("{error}"))
}

/// The format of an API's requests.
pub(crate) fn reader(format: ApiFormat) -> Result<RequestFormat, String> {
    RequestFormat::of(format).ok_or_else(|| format!("requests of {format} cannot be read"))
}

/// A definition as in a request, and its report.
pub(crate) fn encoded(format: ApiFormat, definition: &ToolDefinition) -> (Value, DefinitionReport) {
    let names = WireNames::new(format.name_rule(), [definition.name.as_str()]);
    let tools = format.encode_definitions([definition], &names, &DefinitionOptions::default());
    let mut tool = tools.to_value()[0].clone();
    let (place, key) = places(format);
    if let Some(schema) = tool.pointer_mut(place).and_then(|fields| fields.get_mut(key)) {
        own_names(schema, &definition.parameters);
    }
    (tool, tools.report().clone())
}

/// Gives parameters the names in `own`, because providers refuse names such as `$ref`.
fn own_names(schema: &mut Value, own: &Value) {
    let names = [NameRule::SHORT_DOTS, NameRule::IDENTIFIERS].map(|rule| parameter_names(rule, own));
    let unspell =
        |name: &str| names.iter().fold(name.to_owned(), |name, names| names.unspell(&name).to_owned());
    each_subschema(schema, &mut |keywords| {
        if let Some(properties) = keywords.get_mut("properties").and_then(Value::as_object_mut) {
            *properties =
                std::mem::take(properties).into_iter().map(|(name, of)| (unspell(&name), of)).collect();
        }
        for name in keywords.get_mut("required").and_then(Value::as_array_mut).into_iter().flatten() {
            *name = unspell(name.as_str().unwrap_or_default()).into();
        }
    });
}

/// A row for each provider in the entry `by`, with its answer.
pub(crate) fn for_each_provider(file: &Value, section: &str, by: &str) -> Result<Value, String> {
    let mut rows = Vec::new();
    for row in vectors::rows(file, section)? {
        for (provider, answer) in row.get(by).and_then(Value::as_object).into_iter().flatten() {
            let mut one = vectors::without(row, &[by, "to", "roundtrip"]);
            one["provider"] = json!(provider);
            one["answer"] = answer.clone();
            rows.push(one);
        }
    }
    Ok(json!({section: rows}))
}

pub(crate) fn theirs(row: &Value, name: &str) -> Result<Result<Value, String>, String> {
    let answer = entry(row, name)?;
    match (answer.get("ok"), answer.get("error")) {
        (Some(value), _) => Ok(Ok(value.clone())),
        (None, Some(error)) => Ok(Err(text(error, "message")?.to_owned())),
        (None, None) => Err(format!("`{name}` is neither `ok` nor `error`")),
    }
}

/// The places of the schema and the fields in a tool.
fn places(format: ApiFormat) -> (&'static str, &'static str) {
    match format {
        ApiFormat::OpenAiChat | ApiFormat::Ollama | ApiFormat::Cohere => ("/function", "parameters"),
        ApiFormat::Anthropic => ("", "input_schema"),
        ApiFormat::Gemini => ("/function_declarations/0", "parameters"),
        ApiFormat::Bedrock => ("/toolSpec/inputSchema", "json"),
        _ => ("", "parameters"),
    }
}

pub(crate) fn schema_of(format: ApiFormat, tool: &Value) -> Value {
    let (place, key) = places(format);
    tool.pointer(place).and_then(|fields| fields.get(key)).cloned().unwrap_or_default()
}

/// A tool as its schema and all else. Equal spellings become one: Google's uppercase types, and a missing
/// schema.
pub(crate) fn parts(format: ApiFormat, tool: &Value) -> Value {
    let mut schema = schema_of(format, tool);
    if format == ApiFormat::Gemini {
        lower_types(&mut schema);
    }
    if schema.is_null() || schema == json!({}) || schema == json!({"type": "object"}) {
        schema = json!({"type": "object", "properties": {}});
    }
    let mut shape = tool.clone();
    let (place, key) = places(format);
    if let Some(Value::Object(fields)) = shape.pointer_mut(place) {
        fields.shift_remove(key);
    }
    json!({"shape": shape, "parameters": schema})
}

/// Writes a schema's `type` in small letters, and nothing else.
pub(crate) fn lower_types(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    if let Some(Value::String(kind)) = fields.get_mut("type") {
        *kind = kind.to_lowercase();
    }
    for (keyword, value) in fields.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => properties.values_mut().for_each(lower_types),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(lower_types);
            }
            ("items" | "additionalProperties" | "not", schema) => lower_types(schema),
            _ => {}
        }
    }
}

/// Field names in snake case, which protobuf's JSON takes like camel case.
pub(crate) fn snake_case(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| {
                let spelled: String = name
                    .chars()
                    .flat_map(|c| {
                        c.is_ascii_uppercase().then_some('_').into_iter().chain([c.to_ascii_lowercase()])
                    })
                    .collect();
                (spelled, snake_case(value))
            });
            Value::Object(fields.collect())
        }
        Value::Array(values) => values.iter().map(snake_case).collect(),
        other => other.clone(),
    }
}

/// JSON within text becomes the value, without spaces and escapes.
pub(crate) fn read_arguments(value: &Value) -> Value {
    let read = |name: &str, value: &Value| match (name, value) {
        ("arguments", Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
        _ => read_arguments(value),
    };
    match value {
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), read(name, value))).collect::<Map<_, _>>().into()
        }
        Value::Array(values) => values.iter().map(read_arguments).collect(),
        other => other.clone(),
    }
}
