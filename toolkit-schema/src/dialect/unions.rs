//! Unions and nullable values in the JSON Schema subset of a provider.

use super::node::join_lines;
use super::rules::Nulls;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// A written schema, and whether it must also allow `null`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Written {
    /// The schema for all values except `null`, or `None` if only `null` is valid.
    pub(super) schema: Option<Map<String, Value>>,
    /// The title and the description of `null`, or `None` if `null` is not valid.
    pub(super) null: Option<Map<String, Value>>,
}

impl Written {
    /// Returns the schema that accepts only `null`.
    pub(super) fn null() -> Self {
        Self { schema: None, null: Some(Map::new()) }
    }

    /// Combines schemas into a union, which accepts every value that one of them accepts. Returns `None` if `branches`
    /// is empty.
    pub(super) fn any_of(mut branches: Vec<Self>) -> Option<Self> {
        if branches.len() < 2 {
            return branches.pop();
        }
        let null = branches.iter_mut().filter_map(|branch| branch.null.take()).reduce(|mut all, more| {
            add_line(&mut all, more.get("description").and_then(Value::as_str).unwrap_or_default());
            all
        });
        let mut different: Vec<Map<String, Value>> = Vec::new();
        let mut seen = HashSet::new();
        let mut values: HashSet<String> = HashSet::new();
        for schema in branches.into_iter().filter_map(|branch| branch.schema).flat_map(branches_of) {
            if seen.insert(schema.to_string())
                && let Value::Object(schema) = schema
                && !different.last_mut().is_some_and(|last| adopt_values(last, &schema, &mut values))
            {
                values = listed(&schema).unwrap_or_default().iter().map(Value::to_string).collect();
                different.push(schema);
            }
        }
        let schema = match different.len() {
            0 | 1 => different.pop(),
            _ => {
                Some(Map::from_iter([("anyOf".to_owned(), different.into_iter().map(Value::from).collect())]))
            }
        };
        Some(Self { schema, null })
    }

    /// Returns the finished schema. If `null` is valid, `nulls` determines how the schema allows it.
    pub(super) fn complete(self, nulls: Nulls) -> Value {
        let Some(mut schema) = self.schema else {
            let only = Map::from_iter([("type".to_owned(), json!("null"))]);
            return only.into_iter().chain(self.null.unwrap_or_default()).collect();
        };
        let Some(null) = self.null else { return schema.into() };
        if let Some(text) = null.get("description").and_then(Value::as_str) {
            add_line(&mut schema, &format!("- `null`: {text}"));
        }
        let values = listed(&schema);
        let name = schema.get("type").and_then(Value::as_str);
        let (keyword, value) = match (nulls, name, values) {
            (Nulls::Flag, ..) => ("nullable", json!(true)),
            (Nulls::Union, _, Some(mut values)) => {
                values.push(Value::Null);
                schema.shift_remove("const");
                ("enum", values.into())
            }
            (Nulls::TypeList, Some(name), None) if name != "object" && name != "array" => {
                ("type", json!([name, "null"]))
            }
            _ => return with_null(schema).into(),
        };
        schema.insert(keyword.to_owned(), value);
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
        schema.insert("description".to_owned(), description.into());
    }
}

/// Returns the branches of a schema with no other keyword than `anyOf`. Any other schema becomes a single branch.
fn branches_of(mut schema: Map<String, Value>) -> Vec<Value> {
    let is_union = schema.len() == 1;
    match schema.get_mut("anyOf") {
        Some(Value::Array(branches)) if is_union => std::mem::take(branches),
        _ => vec![schema.into()],
    }
}

/// Adds the values listed in `more` to the values listed in `list`. Returns whether this was possible. `known` contains
/// the texts of all values in `list`.
///
/// The two schemas must have the same `type`, and no other keywords than `type`, `enum` and `const`.
fn adopt_values(
    list: &mut Map<String, Value>,
    more: &Map<String, Value>,
    known: &mut HashSet<String>,
) -> bool {
    let only_lists = |schema: &Map<String, Value>| {
        schema.keys().all(|keyword| matches!(keyword.as_str(), "type" | "enum" | "const"))
    };
    if !only_lists(list) || !only_lists(more) || list.get("type") != more.get("type") {
        return false;
    }
    let Some(others) = listed(more) else { return false };
    // The list is moved out and back instead of copied, because thousands of values may be added one by one.
    let own = match list.get_mut("enum") {
        Some(Value::Array(values)) => Some(std::mem::take(values)),
        _ => list.shift_remove("const").map(|value| vec![value]),
    };
    let Some(mut values) = own else { return false };
    for other in others {
        if known.insert(other.to_string()) {
            values.push(other);
        }
    }
    list.insert("enum".to_owned(), values.into());
    true
}

/// Returns the values that a written schema lists in `enum` or `const`.
pub(super) fn listed(schema: &Map<String, Value>) -> Option<Vec<Value>> {
    match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), None) => Some(values.clone()),
        (None, Some(value)) => Some(vec![value.clone()]),
        _ => None,
    }
}

/// Returns a union of a schema and `null`. The title and the description move to the union.
fn with_null(mut schema: Map<String, Value>) -> Map<String, Value> {
    let outside = ["title", "description"].into_iter();
    let mut union: Map<String, Value> =
        outside.filter_map(|keyword| Some((keyword.to_owned(), schema.shift_remove(keyword)?))).collect();
    let mut branches = branches_of(schema);
    branches.push(json!({"type": "null"}));
    union.insert("anyOf".to_owned(), branches.into());
    union
}
