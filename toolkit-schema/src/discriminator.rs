//! Discriminators of unions: members whose name or value identifies an object branch.

use crate::bounds::is_equal;
use crate::json::Json;
use crate::properties::property;
use crate::reference::resolve;
use crate::types::{has_name, has_type};
use serde_json::Value;

/// A member that identifies the object branch of a union.
#[derive(Debug, PartialEq)]
pub(crate) enum Discriminator<'a> {
    /// The name and constants of a member in each branch, as in a tagged enum.
    Tag(&'a str, Vec<&'a Value>),
    /// The only member of each branch, as in an externally tagged enum.
    Members(Vec<&'a str>),
}

/// Returns the branches in `anyOf` or `oneOf`.
pub(crate) fn branches(schema: &Value) -> Option<&Vec<Value>> {
    match schema.get("anyOf") {
        Some(Value::Array(branches)) => Some(branches),
        _ => schema.get("oneOf")?.as_array(),
    }
}

/// Returns the discriminator that all object branches of a union have in common.
pub(crate) fn discriminator<'a>(root: &'a Value, branches: &'a [Value]) -> Option<Discriminator<'a>> {
    let members = all_only_members(root, branches);
    match all_tags(root, branches).as_deref() {
        // The only member of a single branch may name a variant with a constant value.
        Some([_]) if members.is_some() => members.map(Discriminator::Members),
        Some(tags @ [(name, _), others @ ..]) if others.iter().all(|(other, _)| other == name) => {
            Some(Discriminator::Tag(name, tags.iter().map(|(_, value)| *value).collect()))
        }
        _ => members.map(Discriminator::Members),
    }
}

/// Returns the tags of all object branches, if each has one.
fn all_tags<'a>(root: &'a Value, branches: &'a [Value]) -> Option<Vec<(&'a str, &'a Value)>> {
    let mut tags = Vec::new();
    for branch in branches {
        if may_be_object(root, branch) {
            tags.push(tag(root, branch)?);
        }
    }
    Some(tags)
}

/// Returns the only members of all object branches, if there are any and each has one.
fn all_only_members<'a>(root: &'a Value, branches: &'a [Value]) -> Option<Vec<&'a str>> {
    let mut members = Vec::new();
    for branch in branches {
        if may_be_object(root, branch) {
            members.push(only_member(root, branch)?);
        }
    }
    if members.is_empty() { None } else { Some(members) }
}

/// Returns whether `branch` may allow objects, by `type`, `enum` and `const` alone.
pub(crate) fn may_be_object(root: &Value, branch: &Value) -> bool {
    let Some(schema) = resolve(root, branch) else { return true };
    let is_listed = schema.get("enum").is_some() || schema.get("const").is_some();
    may_be(root, branch, "object") && (schema.get("type").is_some() || !is_listed)
}

/// Returns whether `branch` may allow a type, by `type` alone.
pub(crate) fn may_be(root: &Value, branch: &Value, name: &str) -> bool {
    let own = resolve(root, branch).and_then(|schema| schema.get("type"));
    own.is_none() || has_type(own, name)
}

/// Returns the name and constant of the first property with a `const`.
pub(crate) fn tag<'a>(root: &'a Value, branch: &'a Value) -> Option<(&'a str, &'a Value)> {
    if let Some(tag) = own_tag(branch) {
        return Some(tag);
    }
    own_tag(resolve(root, branch)?)
}

fn own_tag(schema: &Value) -> Option<(&str, &Value)> {
    for (name, property) in schema.get("properties")?.as_object()? {
        if let Some(constant) = property.get("const") {
            return Some((name.as_str(), constant));
        }
    }
    None
}

/// Returns the only required member of a schema that allows no others.
pub(crate) fn only_member<'a>(root: &'a Value, branch: &'a Value) -> Option<&'a str> {
    let schema = resolve(root, branch)?;
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    match schema.get("required")?.as_array()?.as_slice() {
        [only] if is_closed => only.as_str(),
        _ => None,
    }
}

fn constant<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    property(schema, name)?.get("const")
}

/// Returns whether `value` has another value for the tag of `branch`, or lacks it though required.
pub(crate) fn has_other_tag(
    root: &Value,
    branch: &Value,
    choice: Option<&Discriminator<'_>>,
    value: &Json<'_>,
) -> bool {
    let Some(Discriminator::Tag(name, _)) = choice else { return false };
    let own = resolve(root, branch);
    let own_tag = constant(branch, name).or(own.and_then(|own| constant(own, name)));
    let Some(tag) = own_tag else { return false };
    match value.get(name) {
        Some(given) => !is_equal(tag, given),
        None => value.members().is_some() && has_name(own.and_then(|own| own.get("required")), name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(branches: &Value, expected: Option<&Discriminator<'_>>) {
        let root = json!({"$defs": {"common": {"type": "object", "properties": {"id": {}}}}});
        let branches = branches.as_array().unwrap();
        assert_eq!(discriminator(&root, branches).as_ref(), expected);
    }

    #[test]
    fn a_tag_or_the_only_member_tells_objects_apart() {
        let tagged =
            |value: &str| json!({"type": "object", "properties": {"x": {}, "kind": {"const": value}}});
        let named = |name: &str| json!({"type": "object", "required": [name], "additionalProperties": false});
        let a = json!("a");
        let b = json!("b");
        check(&json!([tagged("a"), tagged("b")]), Some(&Discriminator::Tag("kind", vec![&a, &b])));
        let around = json!({"$ref": "#/$defs/common", "properties": {"kind": {"const": "b"}}});
        check(
            &json!([tagged("a"), around, {"type": "null"}]),
            Some(&Discriminator::Tag("kind", vec![&a, &b])),
        );
        check(
            &json!([{"enum": ["C"]}, named("A"), named("B")]),
            Some(&Discriminator::Members(vec!["A", "B"])),
        );
        check(&json!([tagged("a"), named("b")]), None);
        check(&json!([tagged("a"), {"$ref": "#/$defs/common"}]), None);
        check(&json!([tagged("a"), {"$ref": "#/$defs/lost"}]), None);
        check(&json!([{"type": "string"}]), None);
    }
}
