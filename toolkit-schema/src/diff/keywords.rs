//! The keywords of a schema, as the comparison reads them.

use crate::bounds::is_same;
use crate::keyword::Keyword;
use crate::reference::target;
use crate::types::{includes, types};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The keywords of a schema.
pub(super) type Keywords = Map<String, Value>;

/// References followed in a row: a chain that leads nowhere ends here.
const LONGEST_CHAIN: usize = 8;

/// Returns the keywords of a schema with those behind its reference; `None` if it accepts nothing.
pub(super) fn accepted<'a>(root: &'a Value, schema: &'a Value) -> Option<Cow<'a, Keywords>> {
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
    // A reference that cannot be followed is compared by its name.
    if target(root, reference).is_some() {
        merged.shift_remove("$ref");
    }
    Some(Cow::Owned(merged))
}

/// Adds the keywords behind a reference to those beside it. Where both constrain the same, neither takes
/// precedence.
fn add(schema: &mut Keywords, target: &Keywords) {
    let mut target = target.clone();
    target.shift_remove("$ref");
    // Keywords that depend on those beside them.
    let depends =
        ["additionalProperties", "items", "unevaluatedProperties", "unevaluatedItems", "then", "else"];
    let related = ["properties", "patternProperties", "prefixItems", "contains", "if"];
    let meets = |one: &Keywords, other: &Keywords| {
        depends.iter().any(|keyword| one.contains_key(*keyword))
            && related.iter().any(|keyword| other.contains_key(*keyword))
    };
    let is_in_both = |keyword: &String| schema.contains_key(keyword) && !Keyword::is_annotation(keyword);
    if target.keys().any(is_in_both) || meets(schema, &target) || meets(&target, schema) {
        if let Value::Array(parts) = schema.entry("allOf").or_insert_with(|| Value::Array(Vec::new())) {
            parts.push(target.into());
        }
        return;
    }
    for (keyword, value) in target {
        schema.entry(keyword).or_insert(value);
    }
}

/// Returns the accepted types, sorted; none stands for all.
pub(super) fn type_names(schema: &Keywords) -> Vec<&str> {
    let mut names: Vec<&str> = types(schema.get("type")).collect();
    names.sort_unstable();
    names
}

/// Returns whether one of the types includes another.
pub(super) fn covers(names: &[&str], name: &str) -> bool {
    names.iter().any(|wide| includes(wide, name))
}

/// Returns the allowed values; `None` if they are not listed.
pub(super) fn allowed_values(schema: &Keywords) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(only), Some(Value::Array(values))) if !values.iter().any(|value| is_same(value, only)) => {
            Some(Vec::new())
        }
        (Some(only), _) => Some(vec![only]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

/// Returns the values that are not among the others.
pub(super) fn without<'a>(values: &[&'a Value], others: &[&Value]) -> Vec<&'a Value> {
    values.iter().copied().filter(|value| !others.iter().any(|other| is_same(value, other))).collect()
}

pub(super) fn members<'a>(schema: &'a Keywords, keyword: &str) -> Option<&'a Keywords> {
    schema.get(keyword).and_then(Value::as_object)
}

pub(super) fn required(schema: &Keywords) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

pub(super) fn is_required(schema: &Keywords, name: &str) -> bool {
    required(schema).any(|required| required == name)
}
