//! Sample values of schemas.

use crate::discriminator::branches;
use crate::format;
use crate::reference::resolve;
use crate::types::{names, types};
use serde_json::{Map, Value, json};

/// The maximum nesting depth of a sample value.
const DEEPEST: usize = 6;

/// The maximum number of items, or of characters, in a sample.
pub(crate) const LONGEST: u64 = 64;

/// Returns a simple sample value for a schema. Keywords such as `pattern` are ignored. Returns `None` if no
/// sample can be built.
pub(crate) fn sample(root: &Value, schema: &Value) -> Option<Value> {
    sample_within(root, schema, DEEPEST)
}

fn sample_within(root: &Value, schema: &Value, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let own = resolve(root, schema)?;
    let listed = own.get("const").or_else(|| own.get("enum")?.get(0));
    if let Some(listed) = listed {
        return Some(listed.clone());
    }
    let branch = || branches(own)?.iter().find_map(|branch| sample_within(root, branch, depth));
    let count = |keyword: &str, least: u64| {
        let count = own.get(keyword).and_then(Value::as_u64).unwrap_or(least);
        usize::try_from(count.min(LONGEST)).unwrap_or_default()
    };
    match types(own.get("type")).next() {
        None if branches(own).is_some() => branch(),
        None => Some(json!({})),
        Some("null") => Some(Value::Null),
        Some("boolean") => Some(true.into()),
        Some("integer" | "number") => {
            Some(own.get("minimum").or_else(|| own.get("maximum")).cloned().unwrap_or_else(|| json!(0)))
        }
        Some("string") => {
            let example = own.get("format").and_then(Value::as_str).and_then(format::example);
            Some(example.map_or_else(|| "a".repeat(count("minLength", 1)), str::to_owned).into())
        }
        Some("array") => {
            let first = own.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
            let first: Option<Vec<Value>> = first.map(|item| sample_within(root, item, depth)).collect();
            let mut items = first?;
            let item = own.get("items").and_then(|item| sample_within(root, item, depth));
            let is_set = own.get("uniqueItems").is_some();
            while let Some(item) = item.as_ref().filter(|_| items.len() < count("minItems", 1)) {
                items.push(item.clone());
                if is_set {
                    break;
                }
            }
            Some(items.into())
        }
        _ => {
            let mut members = match (branches(own), branch()) {
                (Some(_), None) => return None,
                (_, Some(Value::Object(members))) => members,
                _ => Map::new(),
            };
            let is_required = |name: &str| names(own.get("required")).any(|required| required == name);
            for (name, property) in own.get("properties").and_then(Value::as_object).into_iter().flatten() {
                match sample_within(root, property, depth) {
                    Some(value) => drop(members.insert(name.clone(), value)),
                    None if is_required(name) => return None,
                    None => {}
                }
            }
            if let Some(other) = own.get("additionalProperties").filter(|other| other.is_object()) {
                members.extend(sample_within(root, other, depth).map(|value| ("k".to_owned(), value)));
            }
            Some(members.into())
        }
    }
}
