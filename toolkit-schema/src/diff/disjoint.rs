//! Whether no value fits two schemas: then "exactly one of them" is "any of them".

use super::keywords::{accepting, allowed, holds, is_required, kinds, members, without};
use serde_json::{Map, Value};

/// How deep tags are looked for.
const DEEPEST: usize = 4;

/// Whether it is sure that no value fits two of these schemas.
pub(super) fn are_disjoint(root: &Value, schemas: &[Value]) -> bool {
    let others = |index: usize| schemas.iter().skip(index + 1);
    schemas
        .iter()
        .enumerate()
        .all(|(index, one)| others(index).all(|other| differ(root, one, other, DEEPEST)))
}

fn differ(root: &Value, one: &Value, other: &Value, depth: usize) -> bool {
    let (Some(one), Some(other)) = (accepting(root, one), accepting(root, other)) else { return true };
    let (kinds_of_one, kinds_of_other) = (kinds(&one), kinds(&other));
    let meet = |kind: &&str| {
        holds(&kinds_of_other, kind) || (*kind == "number" && kinds_of_other.contains(&"integer"))
    };
    if !kinds_of_one.is_empty() && !kinds_of_other.is_empty() && !kinds_of_one.iter().any(meet) {
        return true;
    }
    if let (Some(values), Some(others)) = (allowed(&one), allowed(&other)) {
        return without(&values, &others).len() == values.len();
    }
    kinds_of_one == ["object"] && kinds_of_other == ["object"] && have_tags(root, &one, &other, depth)
}

/// Whether there is a property that both demand, and that has other values in each.
fn have_tags(root: &Value, one: &Map<String, Value>, other: &Map<String, Value>, depth: usize) -> bool {
    let (Some(depth), Some(properties)) = (depth.checked_sub(1), members(one, "properties")) else {
        return false;
    };
    properties.iter().any(|(name, property)| {
        is_required(one, name)
            && is_required(other, name)
            && members(other, "properties")
                .and_then(|properties| properties.get(name))
                .is_some_and(|tag| differ(root, property, tag, depth))
    })
}
