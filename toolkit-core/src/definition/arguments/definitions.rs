//! References and definitions (`$ref`, `$defs`) after transforms.

use super::Changes;
use crate::schema::keyword::{each_subschema, subschemas};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Updates the references in the schema `shown` to renamed and hidden properties.
///
/// The schema of a hidden property is copied from `root` to `$defs` for them.
pub(super) fn redirect(root: &Value, shown: &mut Map<String, Value>, changes: &Changes) {
    let mut whole = Value::Object(std::mem::take(shown));
    let mut moved = BTreeMap::new();
    while let Some(name) = dangling_reference(&whole, changes, &moved) {
        let Some(definition) = root.get("properties").and_then(|known| known.get(&name)) else { break };
        let Value::Object(keywords) = &mut whole else { break };
        let Value::Object(definitions) = keywords.entry("$defs").or_insert_with(|| Map::new().into()) else {
            break;
        };
        let mut free = name.clone();
        while definitions.contains_key(&free) {
            free.push('_');
        }
        definitions.insert(free.clone(), definition.clone());
        moved.insert(name, free);
    }
    each_subschema(&mut whole, &mut |schema| redirect_reference(schema, changes, &moved));
    if let Value::Object(whole) = whole {
        *shown = whole;
    }
}

/// Returns the name of a hidden property to which a reference leads, and which is not `moved` yet.
fn dangling_reference(whole: &Value, changes: &Changes, moved: &BTreeMap<String, String>) -> Option<String> {
    let mut open = vec![whole];
    while let Some(schema) = open.pop() {
        if let Some(Value::String(reference)) = schema.get("$ref")
            && let Some((name, _)) = property_reference(reference)
            && changes.shown_as(&name).is_none()
            && !moved.contains_key(&name)
        {
            return Some(name);
        }
        open.extend(subschemas(schema).map(|inside| inside.schema));
    }
    None
}

/// Updates the reference of one schema. `moved` has the definitions of the hidden properties.
fn redirect_reference(schema: &mut Map<String, Value>, changes: &Changes, moved: &BTreeMap<String, String>) {
    let Some(Value::String(reference)) = schema.get_mut("$ref") else { return };
    let Some((name, rest)) = property_reference(reference) else { return };
    let place = match (changes.shown_as(&name), moved.get(&name)) {
        (Some(shown), _) => format!("#/properties/{}", escaped(shown)),
        (None, Some(definition)) => format!("#/$defs/{}", escaped(definition)),
        (None, None) => return,
    };
    *reference = format!("{place}{rest}");
}

/// Splits a reference such as `#/properties/a/items` after the property name.
fn property_reference(reference: &str) -> Option<(String, &str)> {
    let path = reference.strip_prefix("#/properties/")?;
    let (name, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
    Some((name.replace("~1", "/").replace("~0", "~"), rest))
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Removes unused `$defs` and `definitions` from the schema `root`.
pub(super) fn forget_unused(root: &mut Map<String, Value>) {
    const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];
    let mut used = BTreeSet::new();
    let mut others = Vec::new();
    for (keyword, value) in root.iter() {
        if !DEFINITIONS.contains(&keyword.as_str()) {
            others.push((keyword.clone(), value.clone()));
        }
    }
    let rest = Value::from_iter(others);
    let mut open = vec![&rest];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                let leads = |keyword: &str| members.get(keyword).and_then(Value::as_str);
                if let Some(reference) = leads("$ref").or_else(|| leads("$dynamicRef")) {
                    let mut steps = reference.split('/');
                    match (steps.next(), steps.next(), steps.next()) {
                        (Some("#"), Some(keyword), Some(name)) => {
                            let name = name.replace("~1", "/").replace("~0", "~");
                            let definition = root.get(keyword).and_then(|named| named.get(&name));
                            if used.insert((keyword.to_owned(), name)) {
                                open.extend(definition);
                            }
                        }
                        (Some("#"), ..) => {}
                        // The reference names an anchor or another document, so all definitions are kept.
                        _ => return,
                    }
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    for keyword in DEFINITIONS {
        if let Some(Value::Object(named)) = root.get_mut(keyword) {
            named.retain(|name, _| used.contains(&(keyword.to_owned(), name.clone())));
            if named.is_empty() {
                root.shift_remove(keyword);
            }
        }
    }
}
