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
    for part in Parts::of(root, root) {
        if let Some(Value::Object(properties)) = part.schema.get("properties") {
            names.extend(properties.keys().map(String::as_str));
        }
    }
    names
}

/// Returns the unconditional schemas of the argument `name`, all of which a value must match.
pub(super) fn demands<'a>(root: &'a Value, name: &str) -> Vec<&'a Value> {
    let mut demands = Vec::new();
    for part in Parts::of(root, root) {
        if part.always
            && let Some(properties) = part.schema.get("properties")
        {
            demands.extend(properties.get(name));
        }
    }
    demands
}

pub(super) fn is_required(root: &Value, name: &str) -> bool {
    for part in Parts::of(root, root) {
        if part.always && strings(part.schema.get("required")).any(|required| required == name) {
            return true;
        }
    }
    false
}

/// Returns whether the schema explicitly accepts any name, or any that matches a pattern.
pub(super) fn takes_any_name(root: &Value) -> bool {
    for part in Parts::of(root, root) {
        for keyword in ["additionalProperties", "unevaluatedProperties", "patternProperties"] {
            if part.schema.get(keyword).is_some_and(|value| *value != Value::Bool(false)) {
                return true;
            }
        }
    }
    false
}

/// Returns whether `schema` accepts `value`, by the keywords that [`violations`] checks.
pub(super) fn accepts(root: &Value, schema: &Value, value: &Value) -> bool {
    *schema != Value::Bool(false) && violations(SchemaRef::new(root, schema), value).is_empty()
}

/// A subschema for the same object.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) schema: &'a Value,
    /// Whether it always applies: under `allOf` it does, in a branch of `anyOf` it does not.
    pub(super) always: bool,
    /// The number of references left to follow.
    references: usize,
}

/// Iterates over a schema and every subschema for the same object, including the targets of references.
pub(super) struct Parts<'a> {
    root: &'a Value,
    /// The next part is the last.
    unvisited: Vec<Part<'a>>,
}

impl<'a> Parts<'a> {
    pub(super) fn of(root: &'a Value, schema: &'a Value) -> Self {
        Self { root, unvisited: vec![Part { schema, always: true, references: MOST_REFERENCES }] }
    }
}

#[expect(clippy::missing_trait_methods, reason = "`next` is all that an iterator needs")]
impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let part = self.unvisited.pop()?;
        let mut inner = Vec::new();
        if let Value::Object(keywords) = part.schema
            && let Some(schema) = target(self.root, keywords)
            && let Some(references) = part.references.checked_sub(1)
        {
            inner.push(Part { schema, references, ..part });
        }
        for inside in subschemas(part.schema) {
            if inside.role == Role::InPlace {
                let always = part.always && inside.keyword == "allOf";
                inner.push(Part { schema: inside.schema, always, ..part });
            }
        }
        self.unvisited.extend(inner.into_iter().rev());
        Some(part)
    }
}

pub(super) fn target<'a>(root: &'a Value, keywords: &Map<String, Value>) -> Option<&'a Value> {
    root.pointer(keywords.get("$ref")?.as_str()?.strip_prefix('#')?)
}

pub(super) fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
