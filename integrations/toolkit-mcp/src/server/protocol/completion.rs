//! Completion of arguments with a known set of values.

use rmcp::model::CompletionInfo;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use toolkit_core::ToolDefinition;

/// Returns the known values of a parameter that begin with `typed`, ignoring case.
pub(crate) fn complete(definition: &ToolDefinition, parameter: &str, typed: &str) -> CompletionInfo {
    let root = &definition.parameters;
    let parameter = definition.parameter_named(parameter).unwrap_or(parameter);
    let schema = root.get("properties").and_then(|properties| properties.get(parameter));
    let mut values = schema.map_or_else(Vec::new, |schema| listed(root, schema));
    let typed = typed.to_lowercase();
    values.retain(|value| value.to_lowercase().starts_with(&typed));
    let total = u32::try_from(values.len()).ok();
    let has_more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_pagination(values, total, has_more).unwrap_or_default()
}

/// Returns the values that `schema` lists, in the order of the schema. References may lead to the same schema in
/// many ways, so each schema is visited once.
fn listed(root: &Value, schema: &Value) -> Vec<String> {
    let mut values = Vec::new();
    let mut known = HashSet::new();
    let mut visited = HashSet::new();
    let mut open = VecDeque::from([schema]);
    while let Some(schema) = open.pop_front() {
        if !visited.insert(std::ptr::from_ref(schema)) {
            continue;
        }
        let mut push = |value: &Value| {
            let value = super::results::plain(value);
            if known.insert(value.clone()) {
                values.push(value);
            }
        };
        if let Some(listed) = schema.get("enum").and_then(Value::as_array) {
            listed.iter().filter(|value| !value.is_null()).for_each(&mut push);
        }
        if let Some(constant) = schema.get("const") {
            push(constant);
        }
        if schema.get("type").is_some_and(|kind| kind == "boolean") {
            [true, false].map(Value::from).iter().for_each(&mut push);
        }
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
        let target = target.and_then(|pointer| root.pointer(pointer));
        let branches = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|keyword| schema.get(keyword));
        let branches = branches.filter_map(Value::as_array).flatten();
        // The elements of a list are completed one at a time.
        open.extend(target.into_iter().chain(branches).chain(schema.get("items")));
    }
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
