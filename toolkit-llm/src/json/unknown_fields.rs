//! Fields of only one API, written for this API and reported as lost for others.

use super::fields::{Fields, camel, set};
use serde_json::Value;
use toolkit_schema::SchemaLoss;

/// The key for the names of fields that the received JSON lacks, although this library always writes them.
pub(crate) const ABSENT: &str = "";

/// The fields that [`ToolDefinition`] can express. They are restored only with an empty value.
const SEMANTIC: [&str; 10] = [
    "name",
    "description",
    "parameters",
    "input_schema",
    "parametersJsonSchema",
    "strict",
    "defer_loading",
    "input_examples",
    "allowed_callers",
    "namespace",
];

/// The fields whose objects may contain unknown fields. Losses are reported for the unknown fields, not for
/// the object.
const CONTAINERS: [&str; 8] = [
    "function",
    "custom",
    "format",
    "grammar",
    "namespace",
    "toolConfig",
    "functionCallingConfig",
    "toolChoice",
];

/// Adds the `stored` fields that `written` lacks. A default in `written` becomes the received `null` or
/// missing value again.
pub(crate) fn restore(written: &mut Fields, stored: &Fields) {
    for (name, value) in stored {
        match (written.get_mut(name), value) {
            (_, Value::Array(absent)) if name == ABSENT => {
                for name in absent.iter().filter_map(Value::as_str) {
                    if written.get(name).is_some_and(is_default) {
                        written.shift_remove(name);
                    }
                }
            }
            (Some(known), Value::Null) if is_default(known) => *known = Value::Null,
            (Some(Value::Object(known)), Value::Object(stored)) => restore(known, stored),
            (Some(_), _) => {}
            (None, value) if SEMANTIC.contains(&name.as_str()) && !is_empty(value) => {}
            (None, value) => set(written, name, value.clone()),
        }
    }
}

/// Returns a loss for each of the `stored` fields, which only `api` has.
pub(crate) fn losses(stored: &Fields, api: &str, path: &str) -> Vec<SchemaLoss> {
    let mut found = Vec::new();
    for (name, value) in stored {
        let is_silent = SEMANTIC.contains(&name.as_str()) && is_empty(value);
        let is_usual = name == "type" && matches!(value.as_str(), Some("function" | "custom" | "text"));
        if name == ABSENT || is_usual || is_silent {
            continue;
        }
        let path = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
        match value {
            Value::Object(fields) if CONTAINERS.contains(&&*camel(name)) => {
                found.extend(losses(fields, api, &path));
            }
            _ => {
                let reason = format!("only the API `{api}` has this field");
                found.push(SchemaLoss::new(path, name.as_str(), reason));
            }
        }
    }
    found
}

/// Returns whether a value is written even if the definition does not set it: an empty string, `false`, or
/// the schema of a tool without parameters.
fn is_default(value: &Value) -> bool {
    is_empty(value) || value.as_object().is_some_and(allows_no_properties)
}

fn allows_no_properties(schema: &Fields) -> bool {
    for (name, value) in schema {
        let is_plain = match name.as_str() {
            "type" => value == "object",
            "properties" => value.as_object().is_some_and(Fields::is_empty),
            "required" => value.as_array().is_some_and(Vec::is_empty),
            "additionalProperties" => value == false,
            _ => false,
        };
        if !is_plain {
            return false;
        }
    }
    true
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}
