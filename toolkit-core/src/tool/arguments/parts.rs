//! What the schema of a tool says about its arguments, wherever it says it.

use crate::schema::keyword::Role;
use crate::schema::{SchemaRef, subschemas, violations};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// How many references in a row are followed.
pub(super) const MOST_REFERENCES: usize = 8;

/// The names of the arguments that a schema describes, each once.
pub(super) fn argument_names(root: &Value) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    each_part(root, root, &mut |part, _| {
        names.extend(
            part.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| &**name),
        );
    });
    names
}

/// The schemas that every value of an argument has to fit.
pub(super) fn demands<'a>(root: &'a Value, name: &str) -> Vec<&'a Value> {
    let mut demands = Vec::new();
    each_part(root, root, &mut |part, always| {
        demands.extend(part.get("properties").and_then(|properties| properties.get(name)).filter(|_| always));
    });
    demands
}

/// Whether the argument must always be there.
pub(super) fn is_required(root: &Value, name: &str) -> bool {
    let mut required = false;
    each_part(root, root, &mut |part, always| {
        required |= always && strings(part.get("required")).any(|known| known == name);
    });
    required
}

/// Whether a schema accepts a value, as far as can be told without a validator.
pub(super) fn accepts(root: &Value, schema: &Value, value: &Value) -> bool {
    *schema != Value::Bool(false) && violations(SchemaRef::new(root, schema), value).is_empty()
}

/// Visits everything that speaks about the object that `schema` describes, and whether it always holds.
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

/// Where the reference of a schema leads, if it has one.
pub(super) fn target<'a>(root: &'a Value, keywords: &Map<String, Value>) -> Option<&'a Value> {
    root.pointer(keywords.get("$ref")?.as_str()?.strip_prefix('#')?)
}

pub(super) fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
