//! Whether a value can fit two schemas; if none can, "exactly one of them" is "any of them".

use super::keywords::{Keywords, accepted, allowed_values, is_required, members, type_names, without};
use crate::types::overlap;
use serde_json::Value;

/// Levels of nested tags that are compared.
const DEEPEST: usize = 4;

/// Returns whether it is certain that no value fits two of the schemas.
pub(super) fn are_disjoint(root: &Value, schemas: &[Value]) -> bool {
    let mut pairs = schemas
        .iter()
        .enumerate()
        .flat_map(|(index, one)| schemas.iter().skip(index + 1).map(move |other| (one, other)));
    pairs.all(|(one, other)| differ(root, one, other, DEEPEST))
}

fn differ(root: &Value, one: &Value, other: &Value, depth: usize) -> bool {
    let (Some(one), Some(other)) = (accepted(root, one), accepted(root, other)) else { return true };
    let (own, others) = (type_names(&one), type_names(&other));
    let meets = |name: &&str| others.iter().any(|other| overlap(name, other));
    if !own.is_empty() && !others.is_empty() && !own.iter().any(meets) {
        return true;
    }
    if let (Some(values), Some(others)) = (allowed_values(&one), allowed_values(&other)) {
        return without(&values, &others).len() == values.len();
    }
    own == ["object"] && others == ["object"] && have_tags(root, &one, &other, depth)
}

/// Returns whether both require a property that has other values in each.
fn have_tags(root: &Value, one: &Keywords, other: &Keywords, depth: usize) -> bool {
    let (Some(depth), Some(properties), Some(others)) =
        (depth.checked_sub(1), members(one, "properties"), members(other, "properties"))
    else {
        return false;
    };
    properties.iter().any(|(name, property)| {
        is_required(one, name)
            && is_required(other, name)
            && others.get(name).is_some_and(|other| differ(root, property, other, depth))
    })
}
