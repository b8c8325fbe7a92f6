//! Flattened optional enums. Their schema is a choice between the enum and `{}`.
//!
//! The variants of an enum allow no other members, but a flattened enum stands beside the members of its object.

use serde_json::{Map, Value};

/// Lets the variants of flattened optional enums stand beside the other members of their object.
pub(crate) fn open_optional_enums(keywords: &mut Map<String, Value>) {
    let is_flattened = keywords.contains_key("properties") || keywords.contains_key("allOf");
    for (keyword, value) in keywords.iter_mut().filter(|_| is_flattened) {
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
    for (_, union) in keywords.iter_mut().filter(|(keyword, _)| matches!(&***keyword, "oneOf" | "anyOf")) {
        union.as_array_mut().into_iter().flatten().for_each(open);
    }
}
