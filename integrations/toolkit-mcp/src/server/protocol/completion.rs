//! Completion of arguments with a known set of values.

use super::results::plain;
use rmcp::model::CompletionInfo;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use toolkit_core::ToolDefinition;

/// Returns the known values that begin with `typed`, ignoring case.
pub(crate) fn complete(definition: &ToolDefinition, parameter: &str, typed: &str) -> CompletionInfo {
    let root = &definition.parameters;
    let parameter = definition.parameter_named(parameter).unwrap_or(parameter);
    let schema = root.get("properties").and_then(|properties| properties.get(parameter));
    let mut values = match schema {
        Some(schema) => listed(root, schema),
        None => Vec::new(),
    };
    let typed = typed.to_lowercase();
    values.retain(|value| value.to_lowercase().starts_with(&typed));
    let total = u32::try_from(values.len()).ok();
    let has_more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_pagination(values, total, has_more).unwrap_or_default()
}

/// Returns the values that `schema` lists, in its order. References may lead to the same schema in many ways,
/// so each schema is visited once.
fn listed(root: &Value, schema: &Value) -> Vec<String> {
    let mut values = Vec::new();
    let mut visited = HashSet::new();
    let mut open = VecDeque::from([schema]);
    while let Some(schema) = open.pop_front() {
        if !visited.insert(std::ptr::from_ref(schema)) {
            continue;
        }
        if let Some(Value::Array(listed)) = schema.get("enum") {
            values.extend(listed.iter().filter(|value| !value.is_null()).map(plain));
        }
        if let Some(constant) = schema.get("const") {
            values.push(plain(constant));
        }
        if schema.get("type").is_some_and(|kind| kind == "boolean") {
            values.extend(["true".to_owned(), "false".to_owned()]);
        }
        if let Some(Value::String(target)) = schema.get("$ref")
            && let Some(pointer) = target.strip_prefix('#')
        {
            open.extend(root.pointer(pointer));
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            if let Some(Value::Array(branches)) = schema.get(keyword) {
                open.extend(branches);
            }
        }
        // The elements of a list are completed one at a time.
        open.extend(schema.get("items"));
    }
    let mut known = HashSet::new();
    values.retain(|value| known.insert(value.clone()));
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolkit_core::ToolName;

    #[test]
    fn a_schema_that_refers_to_itself_in_many_ways_is_read_once() {
        let again = json!({"$ref": "#/properties/a"});
        let mut branches = vec![again; 2_000];
        branches.push(json!({"enum": ["x", "y", "x"]}));
        branches.push(json!({"items": {"oneOf": [{"const": "z"}, {"type": "boolean"}, {"$ref": "#"}]}}));
        let schema = json!({"type": "object", "properties": {"a": {"anyOf": branches, "const": "first"}}});
        let definition = ToolDefinition::new(ToolName::new("t").expect("legal"), "Runs.", schema);
        let values = complete(&definition, "a", "").values;
        assert_eq!(values, ["first", "x", "y", "z", "true", "false"]);
    }
}
