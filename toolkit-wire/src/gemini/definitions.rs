//! The `tools` of a request.

use super::Gemini;
use super::schema::to_json_schema;
use super::spelling::{get, key, list};
use crate::WireError;
use crate::codec::DefinitionCodec;
use crate::declaration::{Draft, parse_named, take_named};
use crate::fields::{Fields, camel, element, field, object, set};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use toolkit_core::tool::ToolDefinition;
use toolkit_schema::{SchemaDialect, SchemaLoss};

const DECLARATIONS: &str = "functionDeclarations";

/// The names of the tools that the service defines. Each tool is an object in the field with its name, such as
/// `{"googleSearch": {}}`.
const HOSTED: [&str; 12] = [
    "codeExecution",
    "computerUse",
    "enterpriseWebSearch",
    "exaAiSearch",
    "fileSearch",
    "googleMaps",
    "googleSearch",
    "googleSearchRetrieval",
    "mcpServers",
    "parallelAiSearch",
    "retrieval",
    "urlContext",
];

/// The functions of the tool `computerUse`, from the guide. The service defines a function unless the tool excludes it.
const COMPUTER: [&str; 13] = [
    "click_at",
    "drag_and_drop",
    "go_back",
    "go_forward",
    "hover_at",
    "key_combination",
    "navigate",
    "open_web_browser",
    "scroll_at",
    "scroll_document",
    "search",
    "type_text_at",
    "wait_5_seconds",
];

/// The path to report for losses in the output schema.
const OUTPUT: &str = "/output_schema";

impl DefinitionCodec for Gemini {
    /// Writes one element of the list `function_declarations`. The JSON before and after the list is in
    /// [`Facts::frame`](crate::facts::Facts::frame).
    fn write_definition(&self, draft: &mut Draft<'_>) -> Value {
        let json_schema = draft.how.dialect == SchemaDialect::JsonSchema;
        let (parameters_key, output_key) = if json_schema {
            ("parametersJsonSchema", "responseJsonSchema")
        } else {
            ("parameters", "response")
        };
        let mut declaration = Fields::new();
        set(&mut declaration, "name", draft.name());
        set(&mut declaration, "description", draft.definition.description.as_str());
        let parameters = draft.parameters();
        if !has_no_properties(&parameters) {
            set(&mut declaration, parameters_key, parameters);
        }
        if let Some(output) = draft.output() {
            let (schema, lost) = output_schema(draft.how.dialect, &output);
            draft.losses.extend(lost);
            if json_schema || is_typed(&schema) {
                set(&mut declaration, output_key, schema);
            } else {
                let reason =
                    "the API takes a type, and of an object its properties; the output is not described";
                draft.lose(OUTPUT, output_key, reason);
            }
        }
        declaration.into()
    }

    fn is_tool(&self, fields: &Fields) -> bool {
        key(fields, DECLARATIONS).is_some()
            || is_declaration(fields)
            || fields.keys().any(|name| HOSTED.contains(&&*camel(name)))
            || foreign_field(fields).is_some()
    }

    fn parse_tool(&self, tool: &Value, path: &str, found: &mut Vec<ToolDefinition>) -> Result<(), WireError> {
        let tool = checked(tool, path)?;
        if is_declaration(tool) {
            found.push(parse_declaration(tool, path)?);
            return Ok(());
        }
        let Some(key) = key(tool, DECLARATIONS) else { return Ok(()) };
        let path = field(path, key);
        let declarations = match tool.get(key) {
            None | Some(Value::Null) => &[][..],
            Some(Value::Array(declarations)) => declarations,
            Some(_) => return Err(WireError::new(path, "a list of functions")),
        };
        for (index, declaration) in declarations.iter().enumerate() {
            let path = element(&path, index);
            let fields = object(declaration, &path, "the name, description and parameters of a function")?;
            found.push(parse_declaration(fields, &path)?);
        }
        Ok(())
    }

    /// Removes the definitions of the tools that answer the calls of `computerUse`, except for excluded functions.
    fn hosted_entry(&self, tool: &Value, entries: &mut Vec<Box<RawValue>>) -> Option<Value> {
        if let Some(computer) = tool.as_object().and_then(|tool| get(tool, "computerUse")?.as_object()) {
            let excluded = list(computer, "excludedPredefinedFunctions");
            let functions = || COMPUTER.iter().filter(|name| !excluded.iter().any(|other| other == **name));
            // The program's tools are in one entry: `{function_declarations: […]}`.
            entries.retain_mut(|entry| {
                let Ok(mut own) = serde_json::from_str::<BTreeMap<&str, Vec<Box<RawValue>>>>(entry.get())
                else {
                    return true;
                };
                own.values_mut().for_each(|own| functions().for_each(|name| drop(take_named(own, name))));
                let left = serde_json::value::to_raw_value(&own);
                let has_any = own.values().any(|own| !own.is_empty());
                left.into_iter().for_each(|left| *entry = left);
                has_any
            });
        }
        Some(tool.clone())
    }

    /// Returns a tool entry without its function declarations. Returns `None` if nothing is left. One entry
    /// may contain both functions and tools run by the service itself.
    fn hosted_part(&self, tool: &Value, path: &str) -> Result<Option<Value>, WireError> {
        let mut rest = checked(tool, path)?.clone();
        if is_declaration(&rest) {
            return Ok(None);
        }
        rest.retain(|name, _| camel(name) != DECLARATIONS);
        Ok((!rest.is_empty()).then(|| rest.into()))
    }
}

/// Converts an output schema. An output can be any value, but a dialect converts the root of a schema into an
/// object schema. The output schema is therefore converted as the schema of a property.
fn output_schema(dialect: SchemaDialect, output: &Value) -> (Value, Vec<SchemaLoss>) {
    const PROPERTY: &str = "/properties/output";
    if dialect == SchemaDialect::JsonSchema {
        return (output.clone(), Vec::new());
    }
    let definitions = output.get("$defs").cloned().unwrap_or_else(|| json!({}));
    let mut converted =
        dialect.convert(&json!({"type": "object", "properties": {"output": output}, "$defs": definitions}));
    let schema = converted.schema["properties"]["output"].take();
    let lost = converted.losses.into_iter().map(|loss| {
        let path = loss.path.strip_prefix(PROPERTY).unwrap_or(&loss.path);
        SchemaLoss::new(format!("{OUTPUT}{path}"), loss.keyword, loss.reason)
    });
    (schema, lost.collect())
}

/// Returns whether a function has no parameters. The service refuses an object schema without properties, so
/// such a function is sent without a schema.
fn has_no_properties(schema: &Value) -> bool {
    let Some(fields) = schema.as_object() else { return schema.is_null() };
    fields.iter().all(|(keyword, value)| match keyword.as_str() {
        "type" => value.as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("object")),
        "properties" => value.as_object().is_some_and(Fields::is_empty),
        "required" | "propertyOrdering" => value.as_array().is_some_and(Vec::is_empty),
        "additionalProperties" => *value == Value::Bool(false),
        "$schema" | "title" | "description" => true,
        _ => false,
    })
}

fn is_typed(schema: &Value) -> bool {
    ["type", "anyOf", "ref"].iter().any(|keyword| schema.get(keyword).is_some()) && !has_no_properties(schema)
}

fn checked<'a>(tool: &'a Value, path: &str) -> Result<&'a Fields, WireError> {
    let fields = object(tool, path, "a tool with `function_declarations`")?;
    match foreign_field(fields) {
        Some(name) => Err(WireError::new(field(path, name), "no such field, which tools of other APIs have")),
        None => Ok(fields),
    }
}

/// Returns the name of the first field that occurs only in tools of other APIs. A tool with such a field would be lost
/// if it were read as a tool of the service.
fn foreign_field(tool: &Fields) -> Option<&'static str> {
    ["type", "function", "input_schema"].into_iter().find(|name| tool.contains_key(*name))
}

/// Returns whether the object is a function declaration that is not inside a tool.
fn is_declaration(fields: &Fields) -> bool {
    fields.get("name").is_some_and(Value::is_string)
}

fn parse_declaration(declaration: &Fields, path: &str) -> Result<ToolDefinition, WireError> {
    let definition = match key(declaration, "parametersJsonSchema") {
        Some(key) if declaration.get(key).is_some_and(|schema| !schema.is_null()) => {
            parse_named(declaration, path, key)?
        }
        _ => {
            let mut definition = parse_named(declaration, path, "parameters")?;
            definition.parameters = to_json_schema(&definition.parameters);
            definition
        }
    };
    let output = match get(declaration, "responseJsonSchema") {
        Some(schema) => Some(schema.clone()),
        None => get(declaration, "response").map(to_json_schema),
    };
    let mut definition = match output {
        Some(output) => definition.with_output_schema(output),
        None => definition,
    };
    Gemini.keep(&mut definition, declaration);
    Ok(definition)
}

#[cfg(test)]
mod tests;
