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
        if let Some(Value::Object(properties)) = part.keywords.get("properties") {
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
            && let Some(properties) = part.keywords.get("properties")
        {
            demands.extend(properties.get(name));
        }
    }
    demands
}

pub(super) fn is_required(root: &Value, name: &str) -> bool {
    for part in Parts::of(root, root) {
        if part.always && strings(part.keywords.get("required")).any(|required| required == name) {
            return true;
        }
    }
    false
}

/// Returns whether the schema explicitly accepts any name, or any that matches a pattern.
pub(super) fn takes_any_name(root: &Value) -> bool {
    for part in Parts::of(root, root) {
        for keyword in ["additionalProperties", "unevaluatedProperties", "patternProperties"] {
            if part.keywords.get(keyword).is_some_and(|value| *value != Value::Bool(false)) {
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
pub(super) struct Part<'a> {
    pub(super) keywords: &'a Map<String, Value>,
    /// Whether it always applies: under `allOf` it does, in a branch of `anyOf` it does not.
    pub(super) always: bool,
}

/// Iterates over a schema and every subschema for the same object, including the targets of references.
pub(super) struct Parts<'a> {
    root: &'a Value,
    /// The schemas to visit, the next one last.
    unvisited: Vec<Unvisited<'a>>,
}

struct Unvisited<'a> {
    schema: &'a Value,
    /// The number of references left to follow.
    references: usize,
    always: bool,
}

impl<'a> Parts<'a> {
    pub(super) fn of(root: &'a Value, schema: &'a Value) -> Self {
        Self { root, unvisited: vec![Unvisited { schema, references: MOST_REFERENCES, always: true }] }
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        while let Some(Unvisited { schema, references, always }) = self.unvisited.pop() {
            let Value::Object(keywords) = schema else { continue };
            let mut inner = Vec::new();
            if let (Some(schema), Some(references)) = (target(self.root, keywords), references.checked_sub(1))
            {
                inner.push(Unvisited { schema, references, always });
            }
            for inside in subschemas(schema) {
                if inside.role == Role::InPlace {
                    let always = always && inside.keyword == "allOf";
                    inner.push(Unvisited { schema: inside.schema, references, always });
                }
            }
            self.unvisited.extend(inner.into_iter().rev());
            return Some(Part { keywords, always });
        }
        None
    }
}

pub(super) fn target<'a>(root: &'a Value, keywords: &Map<String, Value>) -> Option<&'a Value> {
    root.pointer(keywords.get("$ref")?.as_str()?.strip_prefix('#')?)
}

pub(super) fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
