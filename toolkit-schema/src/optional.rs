//! Flattened optional enums. Their schema is a choice between the enum and `{}`, and `{}` accepts any value.
//!
//! An object with a member of the enum is held to the enum: serde turns a faulty value into `None` without an error.

use crate::json::Json;
use crate::keyword::{Role, subschemas};
use crate::own::WITHOUT;
use crate::properties::{mark_exact, names_of_properties};
use crate::types::names;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Returns whether `branch` is closed to objects with one of the members of `value`.
pub(crate) fn lacks_member(branch: &Value, value: &Json<'_>) -> bool {
    names(branch.get(WITHOUT)).any(|name| value.get(name).is_some())
}

/// Marks the flattened optional enums of an object. A flattened map takes members of any name, so beside a map nothing
/// is marked.
pub(crate) fn mark_optional(keywords: &mut Map<String, Value>) {
    let is_open = |keyword: &str| keywords.get(keyword).is_some_and(|rest| rest != &Value::Bool(false));
    if ["additionalProperties", "unevaluatedProperties"].into_iter().any(is_open) {
        return;
    }
    let mut of_object = BTreeSet::new();
    let object = Value::Object(keywords.clone());
    of_object.extend(names_of_properties(&object).map(str::to_owned));
    let mut parts: Vec<&mut Value> = Vec::new();
    for (keyword, value) in keywords.iter_mut() {
        match (keyword.as_str(), value) {
            ("allOf", Value::Array(all)) => {
                let unions = all.iter_mut().filter_map(Value::as_object_mut).flat_map(Map::iter_mut);
                parts.extend(
                    unions.filter(|(keyword, _)| matches!(&***keyword, "anyOf" | "oneOf")).map(|it| it.1),
                );
            }
            ("anyOf" | "oneOf", union) => parts.push(union),
            _ => {}
        }
    }
    let members: Vec<BTreeSet<String>> = parts.iter().map(|part| members_of(part)).collect();
    for (at, part) in parts.into_iter().enumerate() {
        let Some(branches) = part.as_array_mut() else { continue };
        let is_empty = |branch: &Value| branch.as_object().is_some_and(Map::is_empty);
        let of_others = |name: &&String| {
            of_object.contains(*name)
                || members.iter().enumerate().any(|(other, members)| other != at && members.contains(*name))
        };
        let own: Vec<&String> =
            members.get(at).into_iter().flatten().filter(|name| !of_others(name)).collect();
        if own.is_empty() || !branches.iter().any(is_empty) {
            continue;
        }
        for branch in branches {
            if is_empty(branch) {
                *branch = serde_json::json!({WITHOUT: own});
            } else {
                reopen(branch);
                mark_exact(branch);
            }
        }
    }
}

/// Returns the names of the members in the branches of a union.
fn members_of(union: &Value) -> BTreeSet<String> {
    let mut members = BTreeSet::new();
    for branch in union.as_array().into_iter().flatten() {
        members.extend(names_of_properties(branch).map(str::to_owned));
        let inside = subschemas(branch).filter(|inside| inside.role == Role::InPlace);
        for inside in inside {
            members.extend(names_of_properties(inside.schema).map(str::to_owned));
        }
    }
    members
}

/// Lets a branch accept the members of the object that the enum is part of.
fn reopen(branch: &mut Value) {
    let Value::Object(keywords) = branch else { return };
    keywords.shift_remove("additionalProperties");
    for (_, union) in keywords.iter_mut().filter(|(keyword, _)| matches!(&***keyword, "oneOf" | "anyOf")) {
        union.as_array_mut().into_iter().flatten().for_each(reopen);
    }
}
