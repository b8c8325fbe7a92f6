//! Flattened optional enums, whose schema is a choice between the enum and `{}`.
//!
//! Their variants allow no other members, but stand beside those of the outer object.

use serde_json::{Map, Value};

/// Opens variants of flattened optional enums to the other members of their object.
pub(crate) fn open_optional_enums(keywords: &mut Map<String, Value>) {
    if !keywords.contains_key("properties") && !keywords.contains_key("allOf") {
        return;
    }
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("allOf", Value::Array(parts)) => {
                for (keyword, union) in parts.iter_mut().filter_map(Value::as_object_mut).flatten() {
                    if matches!(keyword.as_str(), "anyOf" | "oneOf") {
                        open_branches(union);
                    }
                }
            }
            ("anyOf" | "oneOf", union) => open_branches(union),
            _ => {}
        }
    }
}

fn open_branches(union: &mut Value) {
    let Value::Array(branches) = union else { return };
    if branches.iter().any(|branch| branch.as_object().is_some_and(Map::is_empty)) {
        branches.iter_mut().for_each(open);
    }
}

fn open(branch: &mut Value) {
    let Value::Object(keywords) = branch else { return };
    keywords.shift_remove("additionalProperties");
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(branches)) = keywords.get_mut(keyword) {
            branches.iter_mut().for_each(open);
        }
    }
}
