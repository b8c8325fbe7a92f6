//! The neutral JSON form in which several libraries exchange definitions.

use super::tools::{parse_format, parse_name};
use crate::WireError;
use crate::declaration::grammar;
use crate::fields::{Fields, elements, optional, set};
use serde_json::{Value, json};
use toolkit_core::ToolDefinition;
use toolkit_core::definition::{ToolKind, ToolSource};

/// The accepted types: `mcp` tools run in another process, reached through the Model Context Protocol, and
/// `custom` tools take free text.
const TYPES: &str = "`function`, `mcp` or `custom`";

/// Reads a definition from the neutral form shared by several tool libraries.
///
/// The form has these fields, all optional except `name`:
///
/// - `type`: `function`, `mcp` or `custom`;
/// - `name` and `description`;
/// - `parameters`: a JSON Schema;
/// - `required_parameters`: names to add to the schema's `required`;
/// - `metadata`: passed through as [`meta`](toolkit_core::ToolMetadata::meta).
///
/// ```
/// use toolkit_ai::llm::translate::definition_from_neutral;
///
/// let definition = definition_from_neutral(&serde_json::json!({
///     "type": "function",
///     "name": "get_weather",
///     "description": "The weather of a city.",
///     "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
///     "required_parameters": ["city"],
/// }))?;
/// assert_eq!(definition.parameters["required"], serde_json::json!(["city"]));
/// # Ok::<(), toolkit_ai::llm::WireError>(())
/// ```
///
/// # Errors
/// [`WireError`] if a field is not of its type, or if the name is not
/// [legal](toolkit_core::name::check_name).
pub fn definition_from_neutral(neutral: &Value) -> Result<ToolDefinition, WireError> {
    let Value::Object(fields) = neutral else {
        return Err(WireError::new("", "an object with `name`, `description` and `parameters`"));
    };
    let text = |name| optional(fields, "", name, "a text", Value::as_str);
    text("name")?;
    let name = parse_name(fields.get("name"), "name")?;
    let description = text("description")?.unwrap_or_default();
    let meta = optional(fields, "", "metadata", "an object", Value::as_object)?;
    let mut meta = meta.cloned().unwrap_or_default();
    let mut definition = match text("type")? {
        None | Some("function") => ToolDefinition::new(name, description, parameters(fields)?),
        Some("mcp") => {
            let mut definition = ToolDefinition::new(name, description, parameters(fields)?);
            definition.metadata.source = ToolSource::Mcp;
            definition
        }
        Some("custom") => {
            let expected = "`text`, or a `grammar` with `syntax` (`lark` or `regex`) and `definition`";
            let format = optional(&meta, "metadata", "format", expected, parse_format)?.unwrap_or_default();
            meta.shift_remove("format");
            ToolDefinition::custom(name, description, format)
        }
        Some(_) => return Err(WireError::new("type", TYPES)),
    };
    definition.metadata.meta = meta;
    Ok(definition)
}

/// Writes a definition in the neutral form, see [`definition_from_neutral`]. Of the
/// [`ToolMetadata`](toolkit_core::ToolMetadata), only `meta` and the source are written, because the form has
/// no other fields.
#[must_use]
pub fn definition_to_neutral(definition: &ToolDefinition) -> Value {
    let mut metadata = definition.metadata.meta.clone();
    let kind = match (&definition.kind, definition.metadata.source) {
        (ToolKind::Custom(format), _) => {
            if let Some(mut grammar) = grammar(format) {
                set(&mut grammar, "type", "grammar");
                set(&mut metadata, "format", grammar);
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

/// Returns the parameter schema, with `required_parameters` merged into its `required`. If the schema is
/// missing or empty, the schema of an empty object is used instead.
fn parameters(fields: &Fields) -> Result<Value, WireError> {
    let schema = optional(fields, "", "parameters", "a JSON Schema object", Value::as_object)?;
    let mut schema = schema.cloned().unwrap_or_default();
    if schema.is_empty() {
        set(&mut schema, "type", "object");
        set(&mut schema, "properties", json!({}));
    }
    merge_required(&mut schema, fields)?;
    Ok(schema.into())
}

/// Adds the names in `required_parameters` to the schema's `required`. Names that are already present are not
/// repeated.
fn merge_required(schema: &mut Fields, fields: &Fields) -> Result<(), WireError> {
    let names = |fields, path, name| optional(fields, path, name, "a list of names", Value::as_array);
    let Some(added) = names(fields, "", "required_parameters")? else { return Ok(()) };
    let mut required = names(schema, "parameters", "required")?.cloned().unwrap_or_default();
    for (path, name) in elements(added, "required_parameters") {
        if !name.is_string() {
            return Err(WireError::new(path, "the name of a parameter"));
        }
        if !required.contains(name) {
            required.push(name.clone());
        }
    }
    if !required.is_empty() {
        set(schema, "required", required);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit_core::definition::TextFormat;
    use toolkit_core::name::ToolName;

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
    fn definitions_round_trip() {
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
    fn only_the_name_is_required() {
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
    fn errors_state_the_path() {
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
