//! Subschemas of an arguments object, including the targets of references.

use crate::schema::keyword::Role;
use crate::schema::keyword::subschemas;
use crate::schema::{SchemaRef, violations};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The maximum number of `$ref` followed in a row.
pub(super) const MOST_REFERENCES: usize = 8;

pub(super) fn argument_names(root: &Value) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    each_part(root, root, &mut |part, _| {
        if let Some(Value::Object(properties)) = part.get("properties") {
            names.extend(properties.keys().map(String::as_str));
        }
    });
    names
}

/// Returns the unconditional schemas of the argument `name`, all of which a value must match.
pub(super) fn demands<'a>(root: &'a Value, name: &str) -> Vec<&'a Value> {
    let mut demands = Vec::new();
    each_part(root, root, &mut |part, always| {
        if always && let Some(properties) = part.get("properties") {
            demands.extend(properties.get(name));
        }
    });
    demands
}

pub(super) fn is_required(root: &Value, name: &str) -> bool {
    let mut required = false;
    each_part(root, root, &mut |part, always| {
        required |= always && strings(part.get("required")).any(|known| known == name);
    });
    required
}

/// Returns whether the schema explicitly accepts any name, or any that matches a pattern.
pub(super) fn takes_any_name(root: &Value) -> bool {
    let keywords = ["additionalProperties", "unevaluatedProperties", "patternProperties"];
    let mut found = false;
    each_part(root, root, &mut |part, _| {
        let mut open = keywords.iter().filter_map(|keyword| part.get(*keyword));
        found |= open.any(|value| *value != Value::Bool(false));
    });
    found
}

/// Returns whether `schema` accepts `value`, by the keywords that [`violations`] checks.
pub(super) fn accepts(root: &Value, schema: &Value, value: &Value) -> bool {
    *schema != Value::Bool(false) && violations(SchemaRef::new(root, schema), value).is_empty()
}

/// Visits `schema` and every subschema for the same object, including the targets of references.
///
/// The second argument of `visit` tells whether the subschema always applies: under `allOf` it does, in a
/// branch of `anyOf` it does not.
pub(super) fn each_part<'a>(
    root: &'a Value,
    schema: &'a Value,
    visit: &mut impl FnMut(&'a Map<String, Value>, bool),
) {
    fn walk<'a>(
        root: &'a Value,
        schema: &'a Value,
        references: usize,
        always: bool,
        visit: &mut impl FnMut(&'a Map<String, Value>, bool),
    ) {
        let Value::Object(keywords) = schema else { return };
        visit(keywords, always);
        if let (Some(target), Some(left)) = (target(root, keywords), references.checked_sub(1)) {
            walk(root, target, left, always, visit);
        }
        for inside in subschemas(schema).filter(|inside| inside.role == Role::InPlace) {
            walk(root, inside.schema, references, always && inside.keyword == "allOf", visit);
        }
    }
    walk(root, schema, MOST_REFERENCES, true, visit);
}

pub(super) fn target<'a>(root: &'a Value, keywords: &Map<String, Value>) -> Option<&'a Value> {
    root.pointer(keywords.get("$ref")?.as_str()?.strip_prefix('#')?)
}

pub(super) fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
