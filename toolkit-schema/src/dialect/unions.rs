//! Unions and nullable values in a provider's subset of JSON Schema.

use super::node::{Node, join_lines};
use super::rules::Nulls;
use crate::index::Names;
use crate::json::canonical_json;
use crate::keywords::{Keywords, of_type};
use crate::types::type_of;
use serde_json::{Map, Value};
use std::rc::Rc;

/// A written schema, with or without `null`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Written {
    /// The schema for values other than `null`, if any is valid.
    pub(super) schema: Option<Map<String, Value>>,
    /// The title and description of `null`, if it is valid.
    pub(super) null: Option<Map<String, Value>>,
}

impl Written {
    pub(super) fn null() -> Self {
        Self { schema: None, null: Some(Map::new()) }
    }

    /// Combines schemas into a union, or returns `None` without any.
    pub(super) fn any_of(mut branches: Vec<Self>) -> Option<Self> {
        if branches.len() < 2 {
            return branches.pop();
        }
        let mut null: Option<Map<String, Value>> = None;
        for branch in &mut branches {
            let Some(more) = branch.null.take() else { continue };
            match &mut null {
                Some(all) => {
                    add_line(all, more.get("description").and_then(Value::as_str).unwrap_or_default());
                }
                None => null = Some(more),
            }
        }
        let mut different: Vec<Map<String, Value>> = Vec::new();
        let mut seen = Names::default();
        for schema in branches.into_iter().filter_map(|branch| branch.schema).flat_map(branches_of) {
            if seen.add(schema.to_string().into())
                && let Value::Object(schema) = schema
            {
                different.push(schema);
            }
        }
        let schema = match different.len() {
            0 | 1 => different.pop(),
            _ => Some(Map::only("anyOf", different.into())),
        };
        Some(Self { schema, null })
    }

    /// Returns the finished schema, which allows a valid `null` as `nulls` says.
    pub(super) fn complete(self, nulls: Nulls) -> Value {
        let Some(mut schema) = self.schema else {
            let mut only = Map::only("type", "null".into());
            only.append(&mut self.null.unwrap_or_default());
            return only.into();
        };
        let Some(null) = self.null else { return schema.into() };
        if let Some(text) = null.get("description").and_then(Value::as_str) {
            add_line(&mut schema, &format!("- `null`: {text}"));
        }
        let values = listed(&schema);
        let name = schema.get("type").and_then(Value::as_str);
        let (keyword, value) = match (nulls, name, values) {
            (Nulls::Flag, ..) => ("nullable", true.into()),
            (Nulls::Union, _, Some(mut values)) => {
                values.push(Value::Null);
                schema.shift_remove("const");
                ("enum", values.into())
            }
            (Nulls::TypeList, Some(name), None) if name != "object" && name != "array" => {
                ("type", vec![name, "null"].into())
            }
            _ => return with_null(schema).into(),
        };
        schema.set(keyword, value);
        schema.into()
    }
}

impl From<Map<String, Value>> for Written {
    fn from(schema: Map<String, Value>) -> Self {
        Self { schema: Some(schema), null: None }
    }
}

/// Adds a line to the description of a schema.
pub(super) fn add_line(schema: &mut Map<String, Value>, line: &str) {
    let description = join_lines(schema.get("description").and_then(Value::as_str), line);
    if !description.is_empty() {
        schema.set("description", description.into());
    }
}

/// Returns the branches of a schema with only `anyOf`, or else the schema as the only branch.
fn branches_of(mut schema: Map<String, Value>) -> Vec<Value> {
    let is_union = schema.len() == 1;
    match schema.get_mut("anyOf") {
        Some(Value::Array(branches)) if is_union => std::mem::take(branches),
        _ => vec![schema.into()],
    }
}

/// Returns the values listed in `enum` or `const`.
fn listed(schema: &Map<String, Value>) -> Option<Vec<Value>> {
    match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), None) => Some(values.clone()),
        (None, Some(value)) => Some(vec![value.clone()]),
        _ => None,
    }
}

/// Returns whether certainly no value fits two schemas, so that `oneOf` means `anyOf`.
///
/// Schemas of the same type are disjoint if they list different values, or require another constant or only
/// member.
pub(super) fn are_disjoint<'n, 'a: 'n>(schemas: impl Iterator<Item = Option<&'n Rc<Node<'a>>>>) -> bool {
    let mut known: Vec<(&str, String)> = Vec::new();
    let mut values = Names::default();
    for schema in schemas {
        let Some(distinctions) = schema.and_then(|schema| distinctions(schema)) else { return false };
        for (kind, by, value) in distinctions {
            let is_new = values.add(format!("{kind} {value}").into());
            match known.iter().find(|(other, _)| *other == kind) {
                Some((_, known_by)) if !is_new || *known_by != by => return false,
                Some(_) => {}
                None => known.push((kind, by)),
            }
        }
    }
    true
}

/// Returns what distinguishes a schema's values, for each of its types, or `None` if these are unknown.
fn distinctions<'n>(schema: &'n Node<'_>) -> Option<Vec<(&'n str, String, String)>> {
    let mut distinctions = Vec::new();
    if let Some(values) = allowed_values(schema) {
        for value in values {
            distinctions.push((widened(type_of(value)), "value".to_owned(), canonical(value)));
        }
        return Some(distinctions);
    }
    for kind in schema.types()? {
        let (by, value) = if kind == "object" { distinction_of_objects(schema) } else { Default::default() };
        distinctions.push((widened(kind), by, value));
    }
    Some(distinctions)
}

/// Returns a required constant or the only member, each with a word for it, or empty texts.
fn distinction_of_objects(schema: &Node<'_>) -> (String, String) {
    let required = schema.required();
    for name in &required {
        if let Some(property) = schema.property(name)
            && let Some([tag]) = allowed_values(property)
        {
            return (format!("member {name}"), canonical(tag));
        }
    }
    match (required.as_slice(), schema.named("properties")) {
        ([name], [(own, _)]) if name == own && schema.is_closed() && !schema.has("patternProperties") => {
            ("name".to_owned(), (*own).to_owned())
        }
        _ => Default::default(),
    }
}

/// Returns the only value in `const`, or those in `enum`.
fn allowed_values<'n>(schema: &'n Node<'_>) -> Option<&'n [Value]> {
    match schema.value("const") {
        Some(only) => Some(std::slice::from_ref(only)),
        None => Some(schema.value("enum")?.as_array()?),
    }
}

/// Returns a type for which all values of a type may be valid, as an integer may be for a number.
fn widened(kind: &str) -> &str {
    if kind == "integer" { "number" } else { kind }
}

fn canonical(value: &Value) -> String {
    canonical_json(&value.to_string()).unwrap_or_default()
}

/// Returns a union of a schema and `null`, with the title and description.
fn with_null(mut schema: Map<String, Value>) -> Map<String, Value> {
    let mut union = Map::new();
    for keyword in ["title", "description"] {
        if let Some(value) = schema.shift_remove(keyword) {
            union.set(keyword, value);
        }
    }
    let mut branches = branches_of(schema);
    branches.push(of_type("null"));
    union.set("anyOf", branches.into());
    union
}
