//! llm-rosetta's neutral form of a definition: `type`, `name`, `description`, `parameters`,
//! `required_parameters` and `metadata`. The recorded rows state definitions in it.

use serde_json::{Map, Value, json};
use toolkit_core::definition::{TextFormat, ToolKind, ToolSource};
use toolkit_core::{ToolDefinition, ToolName};

type Fields = Map<String, Value>;

pub(crate) fn read(ir: &Value) -> Result<ToolDefinition, String> {
    let fields = ir.as_object().ok_or("expected an object")?;
    let name = text(fields, "name")?.ok_or("expected a tool name at `name`")?;
    let name = ToolName::new(name).map_err(|error| error.to_string())?;
    let description = text(fields, "description")?.unwrap_or_default();
    let mut meta = optional(fields, "metadata", Value::as_object)?.cloned().unwrap_or_default();
    let mut definition = match text(fields, "type")? {
        None | Some("function" | "mcp") => ToolDefinition::new(name, description, parameters(fields)?),
        Some("custom") => {
            let format = meta.shift_remove("format").map_or(TextFormat::Text, |format| grammar(&format));
            ToolDefinition::custom(name, description, format)
        }
        Some(other) => return Err(format!("no type `{other}`")),
    };
    if fields.get("type").is_some_and(|kind| kind == "mcp") {
        definition.metadata.source = ToolSource::Mcp;
    }
    definition.metadata.meta = meta;
    Ok(definition)
}

/// Of the metadata, the form has `meta` and the source.
pub(crate) fn write(definition: &ToolDefinition) -> Value {
    let mut metadata = definition.metadata.meta.clone();
    let kind = match (&definition.kind, definition.metadata.source) {
        (ToolKind::Custom(format), _) => {
            let grammar = match format {
                TextFormat::Lark(text) => Some(("lark", text)),
                TextFormat::Regex(text) => Some(("regex", text)),
                TextFormat::Text => None,
            };
            if let Some((syntax, text)) = grammar {
                let format = json!({"type": "grammar", "syntax": syntax, "definition": text});
                metadata.insert("format".to_owned(), format);
            }
            "custom"
        }
        (_, ToolSource::Mcp) => "mcp",
        _ => "function",
    };
    let required = definition.parameters.get("required").filter(|required| required.is_array());
    json!({
        "type": kind,
        "name": definition.name.as_str(),
        "description": definition.description,
        "parameters": definition.parameters,
        "required_parameters": required.cloned().unwrap_or_else(|| json!([])),
        "metadata": metadata,
    })
}

/// Returns the parameters' schema, with `required_parameters` in `required`.
fn parameters(fields: &Fields) -> Result<Value, String> {
    let mut schema = optional(fields, "parameters", Value::as_object)?.cloned().unwrap_or_default();
    if schema.is_empty() {
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), json!({}));
    }
    let mut required = optional(&schema, "required", Value::as_array)?.cloned().unwrap_or_default();
    for name in optional(fields, "required_parameters", Value::as_array)?.into_iter().flatten() {
        if !required.contains(name) {
            required.push(name.clone());
        }
    }
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    Ok(schema.into())
}

fn grammar(format: &Value) -> TextFormat {
    let definition = format["definition"].as_str().unwrap_or_default().to_owned();
    match format["syntax"].as_str() {
        Some("lark") => TextFormat::Lark(definition),
        Some("regex") => TextFormat::Regex(definition),
        _ => TextFormat::Text,
    }
}

fn text<'a>(fields: &'a Fields, name: &str) -> Result<Option<&'a str>, String> {
    optional(fields, name, Value::as_str)
}

/// Reads an optional field, unless its type is wrong.
fn optional<'a, T>(
    fields: &'a Fields,
    name: &str,
    read: fn(&'a Value) -> Option<T>,
) -> Result<Option<T>, String> {
    let Some(value) = fields.get(name).filter(|value| !value.is_null()) else { return Ok(None) };
    read(value).map(Some).ok_or_else(|| format!("another type was expected at `{name}`"))
}
