//! Completion of arguments with a known set of values.

use rmcp::model::CompletionInfo;
use serde_json::Value;
use toolkit_core::ToolDefinition;

/// The maximum nesting depth of the search for values in a schema.
const MAX_DEPTH: usize = 8;

/// Returns the known values of a parameter that begin with `typed`, ignoring case.
pub(super) fn complete(definition: &ToolDefinition, parameter: &str, typed: &str) -> CompletionInfo {
    let root = &definition.parameters;
    let parameter = definition.parameter_named(parameter).unwrap_or(parameter);
    let mut values = Vec::new();
    if let Some(schema) = root.get("properties").and_then(|properties| properties.get(parameter)) {
        collect(root, schema, MAX_DEPTH, &mut values);
    }
    let typed = typed.to_lowercase();
    values.retain(|value| value.to_lowercase().starts_with(&typed));
    let total = u32::try_from(values.len()).ok();
    let has_more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_pagination(values, total, has_more).unwrap_or_default()
}

/// Appends the values that `schema` lists, in the order of the schema.
fn collect(root: &Value, schema: &Value, depth: usize, values: &mut Vec<String>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let mut push = |value: &Value| {
        let value = super::results::plain(value);
        if !values.contains(&value) {
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
    if let Some(target) = target.and_then(|pointer| root.pointer(pointer)) {
        collect(root, target, depth, values);
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let branches = schema.get(keyword).and_then(Value::as_array);
        branches.into_iter().flatten().for_each(|branch| collect(root, branch, depth, values));
    }
    // The elements of a list are completed one at a time.
    if let Some(items) = schema.get("items") {
        collect(root, items, depth, values);
    }
}
