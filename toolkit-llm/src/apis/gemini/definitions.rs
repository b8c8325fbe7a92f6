//! The `tools` of a request.

use super::Gemini;
use super::spelling::{get, list};
use crate::codec::DefinitionCodec;
use crate::declaration::{Draft, take_named};
use crate::fields::{Fields, set};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use toolkit_schema::{SchemaDialect, SchemaLoss};

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
