//! Definitions in the neutral JSON form that several libraries exchange them in.

use crate::WireError;
use serde_json::{Map, Value, json};
use toolkit_core::ToolDefinition;
use toolkit_core::name::ToolName;
use toolkit_core::tool::{TextFormat, ToolKind, ToolSource};

/// A tool of another process is one of the Model Context Protocol; `custom` tools take free text.
const TYPES: &str = "`function`, `mcp` or `custom`";

/// Reads a definition from the neutral form that tool libraries exchange: `type` (`function`, `mcp`
/// or `custom`), `name`, `description`, `parameters` (a JSON Schema), `required_parameters` (names
/// that are merged into the schema's `required`) and `metadata` (passed through as
/// [`meta`](toolkit_core::ToolMetadata::meta)). All but the name may be left out.
///
/// ```
/// use toolkit::wire::interop::definition_from_neutral;
///
/// let definition = definition_from_neutral(&serde_json::json!({
///     "type": "function",
///     "name": "get_weather",
///     "description": "The weather of a city.",
///     "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
///     "required_parameters": ["city"],
/// }))?;
/// assert_eq!(definition.parameters["required"], serde_json::json!(["city"]));
/// # Ok::<(), toolkit::WireError>(())
/// ```
///
/// # Errors
/// [`WireError`] if a field is not of its type, or if the name is not [legal](toolkit_core::name::check_name).
pub fn definition_from_neutral(neutral: &Value) -> Result<ToolDefinition, WireError> {
    let Value::Object(fields) = neutral else {
        return Err(WireError::new("", "an object with `name`, `description` and `parameters`"));
    };
    let name = name(fields)?;
    let description = text(fields, "description")?.unwrap_or_default();
    let mut meta = meta(fields)?;
    let mut definition = match text(fields, "type")? {
        None | Some("function") => ToolDefinition::new(name, description, parameters(fields)?),
        Some("mcp") => {
            let mut definition = ToolDefinition::new(name, description, parameters(fields)?);
            definition.metadata.source = ToolSource::Mcp;
            definition
        }
        Some("custom") => {
            ToolDefinition::custom(name, description, format(meta.shift_remove("format").as_ref())?)
        }
        Some(_) => return Err(WireError::new("type", TYPES)),
    };
    definition.metadata.meta = meta;
    Ok(definition)
}

/// Writes the definition in the form that [`definition_from_neutral`] reads.
///
/// The fields of [`ToolMetadata`](toolkit_core::ToolMetadata) other than `meta` and the source are not part
/// of that form.
#[must_use]
pub fn definition_to_neutral(definition: &ToolDefinition) -> Value {
    let mut metadata = definition.metadata.meta.clone();
    let kind = match (&definition.kind, definition.metadata.source) {
        (ToolKind::Custom(format), _) => {
            metadata.extend(format_ir(format).map(|format| ("format".to_owned(), format)));
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

fn name(fields: &Map<String, Value>) -> Result<ToolName, WireError> {
    let name = text(fields, "name")?.ok_or_else(|| WireError::new("name", "a tool name"))?;
    ToolName::new(name)
        .map_err(|error| WireError::new("name", format!("a tool name such as `{}`", error.suggestion())))
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, WireError> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(WireError::new(name, "a text")),
    }
}

fn meta(fields: &Map<String, Value>) -> Result<Map<String, Value>, WireError> {
    match fields.get("metadata") {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(meta)) => Ok(meta.clone()),
        Some(_) => Err(WireError::new("metadata", "an object")),
    }
}

/// Returns the schema with the required parameters in it. No schema, or an empty one, is that of no parameters.
fn parameters(fields: &Map<String, Value>) -> Result<Value, WireError> {
    let mut schema = match fields.get("parameters") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(schema)) => schema.clone(),
        Some(_) => return Err(WireError::new("parameters", "a JSON Schema object")),
    };
    if schema.is_empty() {
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), json!({}));
    }
    merge_required(&mut schema, fields)?;
    Ok(schema.into())
}

/// Adds the names that the schema does not require already, in their order.
fn merge_required(schema: &mut Map<String, Value>, fields: &Map<String, Value>) -> Result<(), WireError> {
    let names = match fields.get("required_parameters") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(names)) => names,
        Some(_) => return Err(WireError::new("required_parameters", "a list of names")),
    };
    let mut required = match schema.get("required") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(required)) => required.clone(),
        Some(_) => return Err(WireError::new("parameters.required", "a list of names")),
    };
    for (index, name) in names.iter().enumerate() {
        if !name.is_string() {
            return Err(WireError::new(format!("required_parameters[{index}]"), "the name of a parameter"));
        }
        if !required.contains(name) {
            required.push(name.clone());
        }
    }
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    Ok(())
}

fn format(format: Option<&Value>) -> Result<TextFormat, WireError> {
    let Some(format) = format.filter(|format| !format.is_null()) else { return Ok(TextFormat::Text) };
    let text = |name: &str| format.get(name).and_then(Value::as_str);
    match (text("type"), text("syntax"), text("definition")) {
        (Some("text"), ..) => Ok(TextFormat::Text),
        (Some("grammar"), Some("lark"), Some(grammar)) => Ok(TextFormat::Lark(grammar.to_owned())),
        (Some("grammar"), Some("regex"), Some(grammar)) => Ok(TextFormat::Regex(grammar.to_owned())),
        _ => Err(WireError::new(
            "metadata.format",
            "`text`, or a `grammar` with `syntax` (`lark` or `regex`) and `definition`",
        )),
    }
}

fn format_ir(format: &TextFormat) -> Option<Value> {
    let (syntax, grammar) = match format {
        TextFormat::Text => return None,
        TextFormat::Lark(grammar) => ("lark", grammar),
        TextFormat::Regex(grammar) => ("regex", grammar),
    };
    Some(json!({"type": "grammar", "syntax": syntax, "definition": grammar}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weather() -> Value {
        json!({
            "type": "function",
            "name": "get_weather",
            "description": "The weather.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "unit": {}}, "required": ["city"]},
            "required_parameters": ["city"],
            "metadata": {"provider": "x", "cost": 3},
        })
    }

    #[track_caller]
    fn both_ways(ir: &Value) {
        assert_eq!(definition_to_neutral(&definition_from_neutral(ir).unwrap()), *ir);
    }

    #[track_caller]
    fn refuse(field: &str, value: Value, path: &str, expected: &str) {
        let mut ir = weather();
        ir[field] = value;
        let error = definition_from_neutral(&ir).unwrap_err();
        assert_eq!((error.path(), error.expected()), (path, expected));
    }

    #[test]
    fn definitions_come_back_as_they_went() {
        both_ways(&weather());
        let mut mcp = weather();
        mcp["type"] = json!("mcp");
        both_ways(&mcp);
        assert_eq!(definition_from_neutral(&mcp).unwrap().metadata.source, ToolSource::Mcp);
        let format = json!({"type": "grammar", "syntax": "lark", "definition": "start: x"});
        let name = ToolName::new("apply_patch").unwrap();
        let custom = ToolDefinition::custom(name, "", TextFormat::Lark("start: x".to_owned()));
        let ir = definition_to_neutral(&custom);
        assert_eq!((&ir["type"], &ir["metadata"]["format"]), (&json!("custom"), &format));
        assert_eq!(definition_from_neutral(&ir).unwrap(), custom);
    }

    #[test]
    fn required_parameters_are_merged() {
        let mut ir = weather();
        ir["required_parameters"] = json!(["unit", "city"]);
        assert_eq!(definition_from_neutral(&ir).unwrap().parameters["required"], json!(["city", "unit"]));
    }

    #[test]
    fn only_the_name_is_needed() {
        for ir in
            [json!({"name": "now"}), json!({"name": "now", "type": null, "parameters": {}, "metadata": null})]
        {
            let definition = definition_from_neutral(&ir).unwrap();
            assert_eq!(definition.parameters, json!({"type": "object", "properties": {}}));
            assert_eq!(
                (definition.description.as_str(), definition.metadata.source),
                ("", ToolSource::Native)
            );
        }
    }

    #[test]
    fn what_is_wrong_has_a_path() {
        refuse("name", json!("get weather"), "name", "a tool name such as `get_weather`");
        refuse("name", Value::Null, "name", "a tool name");
        refuse("type", json!("web_search"), "type", TYPES);
        refuse("description", json!(1), "description", "a text");
        refuse("parameters", json!([]), "parameters", "a JSON Schema object");
        refuse("required_parameters", json!("city"), "required_parameters", "a list of names");
        refuse(
            "required_parameters",
            json!(["city", 1]),
            "required_parameters[1]",
            "the name of a parameter",
        );
        refuse("metadata", json!([]), "metadata", "an object");
        assert_eq!(definition_from_neutral(&json!([])).unwrap_err().path(), "");
    }
}
