//! Chains of references, in every position that a reference can have.

use super::PARSED;
use std::fmt;
use toolkit_ai::serde_json::{Value, json};

/// The numbers of definitions: those at the limits, and far more.
const LENGTHS: [usize; 4] = [42, 63, 128, 600];

/// The numbers of definitions that are deep themselves.
const NESTED_LENGTHS: [usize; 2] = [1, 24];

/// The depth of such a definition in levels of JSON.
const NESTED: usize = 120;

/// How a definition refers to the next, and its value around the next one's.
#[derive(Clone, Copy)]
struct Position {
    name: &'static str,
    link: fn(Value) -> Value,
    around: fn(Value) -> Value,
}

/// Definitions that each refer to the next in the same position.
pub(super) struct Chain {
    position: Position,
    length: usize,
    is_nested: bool,
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nested = if self.is_nested { "nested " } else { "" };
        write!(f, "{nested}{} × {}", self.position.name, self.length)
    }
}

fn same(value: Value) -> Value {
    value
}

fn item(value: Value) -> Value {
    Value::Array(vec![value])
}

fn member(value: Value) -> Value {
    Value::Object([("a".to_owned(), value)].into_iter().collect())
}

fn named(_: Value) -> Value {
    json!({"a": 1})
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

fn positions() -> Vec<Position> {
    let position = |name, link, around| Position { name, link, around };
    vec![
        position("$ref", same, same),
        position("allOf", |next| json!({"allOf": [next]}), same),
        position("anyOf", |next| json!({"anyOf": [next, {"type": "null"}]}), same),
        position("oneOf", |next| json!({"oneOf": [next, {"type": "null"}]}), same),
        position("not", |next| json!({"not": next}), same),
        position("if", |next| json!({"if": next, "then": false}), same),
        position("then", |next| json!({"if": true, "then": next}), same),
        position("else", |next| json!({"if": false, "else": next}), same),
        position("dependentSchemas", |next| json!({"dependentSchemas": {"a": next}}), member),
        position("properties", |next| json!({"type": "object", "properties": {"a": next}}), member),
        position("patternProperties", |next| json!({"patternProperties": {"a": next}}), member),
        position(
            "additionalProperties",
            |next| json!({"type": "object", "additionalProperties": next}),
            member,
        ),
        position("unevaluatedProperties", |next| json!({"unevaluatedProperties": next}), member),
        position("propertyNames", |next| json!({"propertyNames": next}), named),
        position("items", |next| json!({"type": "array", "items": next}), item),
        position("prefixItems", |next| json!({"prefixItems": [next]}), item),
        // The validator takes exponential time for nested values here.
        position("unevaluatedItems", |next| json!({"unevaluatedItems": next}), same),
        position("contains", |next| json!({"contains": next}), item),
        position("contentSchema", |next| json!({"type": "string", "contentSchema": next}), same),
        position(
            "items beside null",
            |next| json!({"anyOf": [{"type": "array", "items": next}, {"type": "null"}]}),
            item,
        ),
        position(
            "optional member",
            |next| json!({"anyOf": [{"type": "object", "properties": {"a": {"allOf": [next]}}}, {"type": "null"}]}),
            member,
        ),
    ]
}

pub(super) fn chains() -> Vec<Chain> {
    let mut chains = Vec::new();
    for position in positions() {
        chains.extend(LENGTHS.map(|length| Chain { position, length, is_nested: false }));
        if position.name != "$ref" {
            chains.extend(NESTED_LENGTHS.map(|length| Chain { position, length, is_nested: true }));
        }
    }
    chains
}

impl Chain {
    /// Returns a definition that refers to `next`, and the number of values around the next one's.
    fn link(&self, next: Value) -> (Value, usize) {
        let mut link = (self.position.link)(next);
        let mut levels = 1;
        while self.is_nested && depth(&link) < NESTED {
            link = (self.position.link)(link);
            levels += 1;
        }
        (link, levels)
    }

    /// Returns an object with one property, for the first definition.
    pub(super) fn schema(&self) -> Value {
        let next = |index: usize| json!({"$ref": format!("#/$defs/{}", index + 1)});
        let mut definitions: Value =
            (0..self.length).map(|index| (index.to_string(), self.link(next(index)).0)).collect();
        definitions[self.length.to_string()] = json!({"type": "integer"});
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/0"}}, "$defs": definitions})
    }

    /// Returns the property's value, no deeper than a JSON parser accepts.
    pub(super) fn value(&self, leaf: &Value) -> Value {
        let (_, levels) = self.link(json!({}));
        let mut value = leaf.clone();
        for _ in 0..(levels * self.length).min(PARSED) {
            value = (self.position.around)(value);
        }
        value
    }
}
