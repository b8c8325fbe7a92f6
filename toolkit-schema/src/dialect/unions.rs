//! Values that may be of several kinds, or `null`.

use super::node::{Node, Part, allows, kind_of};
use super::normal::Tree;
use super::rules::Nulls;
use super::subset::{Subset, Written};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::rc::Rc;

/// How many branches are compared with each other.
const COMPARED: usize = 64;

/// A value is valid against one of them.
pub(super) fn combine(branches: Vec<Written>) -> Option<Written> {
    if branches.is_empty() {
        return None;
    }
    let mut all = Written::default();
    let mut schemas: Vec<Map<String, Value>> = Vec::new();
    for branch in branches {
        all.nullable |= branch.nullable;
        let Some(mut schema) = branch.schema else { continue };
        match schema.shift_remove("anyOf") {
            Some(Value::Array(inner)) if schema.is_empty() => {
                let inner = inner.into_iter().filter_map(|inner| match inner {
                    Value::Object(inner) => Some(inner),
                    _ => None,
                });
                schemas.extend(inner);
            }
            Some(any_of) => {
                schema.insert("anyOf".to_owned(), any_of);
                schemas.push(schema);
            }
            None => schemas.push(schema),
        }
    }
    let mut different: Vec<Map<String, Value>> = Vec::new();
    let mut known = HashSet::new();
    for schema in schemas {
        if known.insert(json!(schema).to_string())
            && !different.last_mut().is_some_and(|last| takes_values(last, &schema))
        {
            different.push(schema);
        }
    }
    all.schema = match different.len() {
        0 => None,
        1 => different.pop(),
        _ => Some(Map::from_iter([("anyOf".to_owned(), json!(different))])),
    };
    Some(all)
}

/// Adds the values of a list of values to another of the same kind.
fn takes_values(list: &mut Map<String, Value>, more: &Map<String, Value>) -> bool {
    let only_values = |schema: &Map<String, Value>| {
        schema.keys().all(|keyword| matches!(keyword.as_str(), "type" | "enum" | "const"))
    };
    if !only_values(list) || !only_values(more) || list.get("type") != more.get("type") {
        return false;
    }
    let Some(others) = literals(more) else { return false };
    // Taken out and put back: a list of thousands of values may grow one by one.
    let own = match list.get_mut("enum") {
        Some(Value::Array(values)) => Some(std::mem::take(values)),
        _ => list.shift_remove("const").map(|value| vec![value]),
    };
    let Some(mut values) = own else { return false };
    for other in others {
        if !values.contains(&other) {
            values.push(other);
        }
    }
    list.insert("enum".to_owned(), values.into());
    true
}

fn literals(schema: &Map<String, Value>) -> Option<Vec<Value>> {
    match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), None) => Some(values.clone()),
        (None, Some(value)) => Some(vec![value.clone()]),
        _ => None,
    }
}

impl Subset<'_, '_> {
    /// Writes whether `null` is valid, as the provider has it.
    pub(super) fn complete(&self, written: Written) -> Value {
        let Some(mut schema) = written.schema else { return json!({"type": "null"}) };
        if !written.nullable {
            return schema.into();
        }
        let has_values = schema.contains_key("enum") || schema.contains_key("const");
        let kind = schema.get("type").and_then(Value::as_str);
        match (self.rules.nulls, kind) {
            (_, None) if schema.keys().all(|keyword| matches!(keyword.as_str(), "title" | "description")) => {
                schema.insert("type".to_owned(), json!("null"));
            }
            (Nulls::Flag, _) => {
                schema.insert("nullable".to_owned(), json!(true));
            }
            (Nulls::Union, _) if has_values => {
                let mut values = literals(&schema).unwrap_or_default();
                values.push(Value::Null);
                schema.shift_remove("const");
                schema.insert("enum".to_owned(), values.into());
            }
            (Nulls::TypeList, Some(kind)) if !has_values && kind != "object" && kind != "array" => {
                let kinds = json!([kind, "null"]);
                schema.insert("type".to_owned(), kinds);
            }
            _ => return with_null(schema).into(),
        }
        schema.into()
    }
}

/// The union of a schema and `null`; what is said of the value stands outside.
fn with_null(mut schema: Map<String, Value>) -> Map<String, Value> {
    let mut union = Map::new();
    for keyword in ["title", "description"] {
        if let Some(text) = schema.shift_remove(keyword) {
            union.insert(keyword.to_owned(), text);
        }
    }
    let mut branches = match schema.shift_remove("anyOf") {
        Some(Value::Array(branches)) if schema.is_empty() => branches,
        Some(any_of) => {
            schema.insert("anyOf".to_owned(), any_of);
            vec![schema.into()]
        }
        None => vec![schema.into()],
    };
    branches.push(json!({"type": "null"}));
    union.insert("anyOf".to_owned(), branches.into());
    union
}

/// Whether no value can be valid against two of the schemas.
pub(super) fn are_disjoint(schemas: &[Rc<Node<'_>>], tree: &Tree<'_>) -> bool {
    schemas.len() <= COMPARED
        && schemas.iter().enumerate().all(|(index, one)| {
            schemas.iter().take(index).all(|other| disjoint(followed(one, tree), followed(other, tree)))
        })
}

fn followed<'n, 'a>(node: &'n Node<'a>, tree: &'n Tree<'a>) -> &'n Node<'a> {
    node.reference().and_then(|number| tree.targets.get(&number)).map_or(node, |target| target)
}

fn disjoint(one: &Node<'_>, other: &Node<'_>) -> bool {
    if one.is_never() || other.is_never() {
        return true;
    }
    if let (Some(own), Some(others)) = (values(one), values(other)) {
        return !own.iter().any(|value| others.contains(value));
    }
    if let (Some(own), Some(others)) = (kinds(one), kinds(other)) {
        let meet = |one: &str, other: &str| allows(one, other) || allows(other, one);
        if !own.iter().any(|own| others.iter().any(|other| meet(own, other))) {
            return true;
        }
        if own != ["object"] && others != ["object"] {
            return false;
        }
    } else {
        return false;
    }
    told_apart(one, other) || requires_forbidden(one, other) || requires_forbidden(other, one)
}

/// Whether both require a property whose values differ.
fn told_apart(one: &Node<'_>, other: &Node<'_>) -> bool {
    let (own, others) = (one.required(), other.required());
    let property = |node: &Node<'_>, name: &str| {
        let schema = node.named("properties").iter().find(|(own, _)| *own == name)?;
        values(&schema.1).map(|values| values.into_iter().cloned().collect::<Vec<Value>>())
    };
    own.iter().filter(|name| others.contains(name)).any(|name| {
        match (property(one, name), property(other, name)) {
            (Some(own), Some(others)) => !own.iter().any(|value| others.contains(value)),
            _ => false,
        }
    })
}

/// Whether `one` requires a property that `other` does not take.
fn requires_forbidden(one: &Node<'_>, other: &Node<'_>) -> bool {
    let closed = other.one("additionalProperties").is_some_and(|rest| rest.is_never());
    let takes = |name: &str| other.named("properties").iter().any(|(own, _)| *own == name);
    closed && !other.has("patternProperties") && one.required().iter().any(|name| !takes(name))
}

/// The values that a schema lists.
fn values<'n>(node: &'n Node<'_>) -> Option<Vec<&'n Value>> {
    if let Some(value) = node.value("const") {
        return Some(vec![value]);
    }
    let Part::Value(values) = &node.get("enum")?.part else { return None };
    Some(values.as_array()?.iter().collect())
}

fn kinds<'n>(node: &'n Node<'_>) -> Option<Vec<&'n str>> {
    node.types().or_else(|| Some(values(node)?.into_iter().map(kind_of).collect()))
}
