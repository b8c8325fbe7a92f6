//! Detection of disjoint schemas. Schemas are disjoint if no value matches two of them. For disjoint branches, `oneOf`
//! means the same as `anyOf`.

use crate::effective::{Keywords, allowed_values, effective, without};
use crate::reference::SchemaRef;
use crate::types::{names, overlap, type_of, types};
use serde_json::Value;

/// The maximum nesting depth of properties to compare.
const DEEPEST: usize = 4;

/// The maximum number of schemas that are compared with each other.
const COMPARED: usize = 256;

/// Returns whether `schemas` are certainly disjoint, so no value matches two of them. The answer for more than 256
/// schemas is `false`.
pub(crate) fn are_disjoint(schemas: &[SchemaRef<'_>]) -> bool {
    let others = |index| schemas.iter().take(index);
    schemas.len() <= COMPARED
        && schemas
            .iter()
            .enumerate()
            .all(|(index, one)| others(index).all(|other| are_apart(*one, *other, DEEPEST)))
}

fn are_apart(one: SchemaRef<'_>, other: SchemaRef<'_>, depth: usize) -> bool {
    let roots = (one.root, other.root);
    let (Some(one), Some(other)) = (effective(one), effective(other)) else { return true };
    let own = type_names(&one);
    let others = type_names(&other);
    let meet = |own: &&str| others.iter().any(|other| overlap(own, other));
    if !own.is_empty() && !others.is_empty() && !own.iter().any(meet) {
        return true;
    }
    match (allowed_values(&one), allowed_values(&other)) {
        (Some(values), Some(others)) => return without(&values, &others).len() == values.len(),
        (Some(values), None) | (None, Some(values)) if values.is_empty() => return true,
        _ => {}
    }
    (own == ["object"] || others == ["object"])
        && (have_tags(roots, &one, &other, depth)
            || requires_forbidden(&one, &other)
            || requires_forbidden(&other, &one))
}

/// Returns the type names in `type`. If `type` is absent, returns the types of the values in `enum` or `const`.
fn type_names(schema: &Keywords) -> Vec<&str> {
    match schema.get("type") {
        None => allowed_values(schema).unwrap_or_default().into_iter().map(type_of).collect(),
        names => types(names).collect(),
    }
}

/// Returns whether both schemas require a property with disjoint schemas, such as `{"const": "a"}` in one and
/// `{"const": "b"}` in the other.
fn have_tags(roots: (&Value, &Value), one: &Keywords, other: &Keywords, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let required_by_other: Vec<&str> = required(other).collect();
    required(one).filter(|name| required_by_other.contains(name)).any(|name| {
        let tags = property(one, name).zip(property(other, name));
        tags.is_some_and(|(one, other)| {
            are_apart(SchemaRef::new(roots.0, one), SchemaRef::new(roots.1, other), depth)
        })
    })
}

/// Returns whether `one` requires a property that `other` forbids.
fn requires_forbidden(one: &Keywords, other: &Keywords) -> bool {
    other.get("additionalProperties") == Some(&Value::Bool(false))
        && !other.contains_key("patternProperties")
        && required(one).any(|name| property(other, name).is_none())
}

fn required(schema: &Keywords) -> impl Iterator<Item = &str> {
    names(schema.get("required"))
}

fn property<'a>(schema: &'a Keywords, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}
