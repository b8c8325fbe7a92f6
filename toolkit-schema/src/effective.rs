//! Merges the keywords of a schema with the keywords of the schemas that its `$ref` leads to.

use crate::bounds::is_same;
use crate::json::Json;
use crate::keyword::Keyword;
use crate::reference::{LONGEST_CHAIN, SchemaRef, target};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashSet;

/// The keywords of a schema and their values.
pub(crate) type Keywords = Map<String, Value>;

/// Returns the keywords of a schema, merged with the keywords of the schemas that its `$ref` leads to.
///
/// Returns `None` if the schema or a referenced schema is `false`.
pub(crate) fn effective(SchemaRef { root, schema }: SchemaRef<'_>) -> Option<Cow<'_, Keywords>> {
    let Value::Object(keywords) = schema else {
        return (schema != &Value::Bool(false)).then(|| Cow::Owned(Map::new()));
    };
    let Some(Value::String(reference)) = keywords.get("$ref") else { return Some(Cow::Borrowed(keywords)) };
    let mut merged = keywords.clone();
    let mut next = Some(reference.as_str());
    for _ in 0..LONGEST_CHAIN {
        match next.and_then(|reference| target(root, reference)) {
            Some(Value::Object(target)) => {
                next = target.get("$ref").and_then(Value::as_str);
                add(&mut merged, target);
            }
            Some(Value::Bool(false)) => return None,
            _ => break,
        }
    }
    // Keep a reference without a target.
    if target(root, reference).is_some() {
        merged.shift_remove("$ref");
    }
    Some(Cow::Owned(merged))
}

/// Adds the keywords of `target` to `schema`, which refers to `target`.
///
/// Some keywords cannot be merged: both schemas may have the same keyword, or keywords that influence each other, such
/// as `items` and `prefixItems`. In this case, `target` is added to `allOf` instead.
fn add(schema: &mut Keywords, target: &Keywords) {
    let mut target = target.clone();
    target.shift_remove("$ref");
    // These keywords depend on the `related` keywords in the same schema.
    let depends =
        ["additionalProperties", "items", "unevaluatedProperties", "unevaluatedItems", "then", "else"];
    let related = ["properties", "patternProperties", "prefixItems", "contains", "if"];
    let meets = |one: &Keywords, other: &Keywords| {
        depends.iter().any(|keyword| one.contains_key(*keyword))
            && related.iter().any(|keyword| other.contains_key(*keyword))
    };
    let is_in_both = |keyword: &String| schema.contains_key(keyword) && !Keyword::is_annotation(keyword);
    if !target.keys().any(is_in_both) && !meets(schema, &target) && !meets(&target, schema) {
        for (keyword, value) in target {
            schema.entry(keyword).or_insert(value);
        }
    } else if let Value::Array(parts) = schema.entry("allOf").or_insert_with(|| Value::Array(Vec::new())) {
        parts.push(target.into());
    }
}

/// Returns the values allowed by `enum` and `const`, or `None` if the schema lists no values.
pub(crate) fn allowed_values(schema: &Keywords) -> Option<Vec<&Value>> {
    let listed = schema.get("enum").and_then(Value::as_array);
    match schema.get("const") {
        Some(only) => {
            let is_listed = listed.is_none_or(|values| values.iter().any(|value| is_same(value, only)));
            Some(if is_listed { vec![only] } else { Vec::new() })
        }
        None => listed.map(|values| values.iter().collect()),
    }
}

/// Returns the items of `values` that `others` does not contain.
pub(crate) fn without<'a>(values: &[&'a Value], others: &[&Value]) -> Vec<&'a Value> {
    let others: HashSet<String> = others.iter().map(|other| canonical(other)).collect();
    values.iter().copied().filter(|value| !others.contains(&canonical(value))).collect()
}

/// Returns a text that is equal for [equal](is_same) values.
pub(crate) fn canonical(value: &Value) -> String {
    let text = value.to_string();
    Json::parse(&text).map(|value| value.canonical()).unwrap_or(text)
}
