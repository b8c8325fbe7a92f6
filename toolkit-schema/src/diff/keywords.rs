//! What the keywords of one schema say.

use crate::limits::is_same;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashSet;

/// Keywords that say something about a value and demand nothing.
pub(super) const NOTES: &[&str] =
    &["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"];

/// The keywords of a schema, those behind its reference included; `None` if it accepts nothing.
pub(super) fn accepting<'a>(root: &'a Value, schema: &'a Value) -> Option<Cow<'a, Map<String, Value>>> {
    let Value::Object(keywords) = schema else {
        return (schema != &Value::Bool(false)).then(|| Cow::Owned(Map::new()));
    };
    let Some(Value::String(reference)) = keywords.get("$ref") else { return Some(Cow::Borrowed(keywords)) };
    let mut merged = keywords.clone();
    let mut next = Some(reference.as_str());
    // A chain of references that leads nowhere ends here.
    for _ in 0..8 {
        let target = next.and_then(|reference| root.pointer(reference.strip_prefix('#')?));
        match target {
            Some(Value::Object(target)) => {
                next = target.get("$ref").and_then(Value::as_str);
                add(&mut merged, target);
            }
            Some(Value::Bool(false)) => return None,
            _ => break,
        }
    }
    // What could not be followed is compared by its name, in `others`.
    let is_followed = root.pointer(reference.strip_prefix('#').unwrap_or("/")).is_some();
    if is_followed {
        merged.shift_remove("$ref");
    }
    Some(Cow::Owned(merged))
}

/// Adds what a schema says to what another one says. Where both speak of the same, neither goes before the other.
fn add(schema: &mut Map<String, Value>, target: &Map<String, Value>) {
    let says = |keyword: &str| NOTES.contains(&keyword) || keyword == "$ref";
    let target: Map<String, Value> = target
        .iter()
        .filter(|(keyword, _)| *keyword != "$ref")
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    // These look at what stands beside them.
    let related = ["properties", "patternProperties", "prefixItems", "contains", "if"];
    let meets = |one: &Map<String, Value>, other: &Map<String, Value>| {
        let looks =
            ["additionalProperties", "items", "unevaluatedProperties", "unevaluatedItems", "then", "else"];
        looks.iter().any(|keyword| one.contains_key(*keyword))
            && related.iter().any(|keyword| other.contains_key(*keyword))
    };
    let both = target.keys().any(|keyword| schema.contains_key(keyword) && !says(keyword));
    if both || meets(schema, &target) || meets(&target, schema) {
        if let Value::Array(parts) = schema.entry("allOf").or_insert_with(|| Value::Array(Vec::new())) {
            parts.push(target.into());
        }
        return;
    }
    for (keyword, value) in target {
        schema.entry(keyword).or_insert(value);
    }
}

/// The types that are accepted; none stands for all.
pub(super) fn kinds(schema: &Map<String, Value>) -> Vec<&str> {
    let mut kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    kinds.sort_unstable();
    kinds
}

pub(super) fn holds(kinds: &[&str], kind: &str) -> bool {
    kinds.contains(&kind) || (kind == "integer" && kinds.contains(&"number"))
}

/// The values that are allowed, if they are listed.
pub(super) fn allowed(schema: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(only), Some(Value::Array(values))) if !values.iter().any(|value| is_same(value, only)) => {
            Some(Vec::new())
        }
        (Some(only), _) => Some(vec![only]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

pub(super) fn without<'a>(values: &[&'a Value], others: &[&Value]) -> Vec<&'a Value> {
    values.iter().copied().filter(|value| !others.iter().any(|other| is_same(value, other))).collect()
}

pub(super) fn members<'a>(schema: &'a Map<String, Value>, keyword: &str) -> Option<&'a Map<String, Value>> {
    schema.get(keyword).and_then(Value::as_object)
}

pub(super) fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

pub(super) fn is_required(schema: &Map<String, Value>, name: &str) -> bool {
    required(schema).any(|required| required == name)
}

/// Whether everything that a value of both schemas refers to is the same in both.
pub(super) fn leads_to_the_same(old: &Value, new: &Value, value: &Value) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                if let Some(reference) = members.get("$ref").and_then(Value::as_str)
                    && seen.insert(reference)
                {
                    let pointer = reference.strip_prefix('#').unwrap_or("/");
                    let target = old.pointer(pointer);
                    if target != new.pointer(pointer) {
                        return false;
                    }
                    open.extend(target);
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    true
}
