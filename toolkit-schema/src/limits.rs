//! What a schema demands of a value beyond its kind: bounds, lengths, patterns, formats.

use super::format;
use regex_lite::Regex;
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// No more patterns are kept compiled.
const KEPT: usize = 256;

/// Keywords that no typed decode enforces.
const DEMANDS: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "enum",
    "const",
    "format",
];

/// Whether a schema, or one inside it, demands more than decoding ensures. It must not be
/// [tidied](super::tidy) yet: that writes the bounds of number types into the schema.
pub fn has_demands(schema: &Value) -> bool {
    let Value::Object(schema) = schema else { return false };
    let is_tuple = schema.contains_key("prefixItems");
    let here = schema.iter().any(|(keyword, value)| match keyword.as_str() {
        "minimum" => !is_of_unsigned_type(schema, value),
        "minItems" | "maxItems" => !is_tuple,
        "format" => value.as_str().is_some_and(format::is_known),
        // Enums and tags are written so by their types; `one_of` goes with a plain type of text or number.
        "const" => false,
        "enum" => schema.contains_key(super::ONE_OF),
        keyword => DEMANDS.contains(&keyword),
    });
    here || schema.iter().any(|(keyword, value)| match (keyword.as_str(), value) {
        ("properties" | "patternProperties" | "$defs", Value::Object(schemas)) => {
            schemas.values().any(has_demands)
        }
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
            schemas.iter().any(has_demands)
        }
        ("items" | "additionalProperties", schema) => has_demands(schema),
        _ => false,
    })
}

fn is_of_unsigned_type(schema: &Map<String, Value>, minimum: &Value) -> bool {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    format.starts_with("uint") && minimum.as_u64() == Some(0)
}

/// Whether a value of the right kind keeps within what its schema demands.
pub(super) fn keeps_within(schema: &Map<String, Value>, value: &Value) -> bool {
    match value {
        Value::Number(_) => number_fits(schema, value),
        Value::String(text) => text_fits(schema, text),
        Value::Array(items) => count_fits(schema, "minItems", "maxItems", count(schema, items)),
        Value::Object(members) => count_fits(schema, "minProperties", "maxProperties", members.len()),
        _ => true,
    }
}

fn number_fits(schema: &Map<String, Value>, value: &Value) -> bool {
    let against = |keyword: &str, fits: fn(Ordering) -> bool| {
        schema.get(keyword).and_then(|bound| compare(value, bound)).is_none_or(fits)
    };
    against("minimum", Ordering::is_ge)
        && against("maximum", Ordering::is_le)
        && against("exclusiveMinimum", Ordering::is_gt)
        && against("exclusiveMaximum", Ordering::is_lt)
        && schema.get("multipleOf").is_none_or(|step| is_multiple(value, step))
}

/// Two numbers; integers are not rounded, as doubles beyond 2^53 are.
pub(super) fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

fn integer(value: &Value) -> Option<i128> {
    value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
}

/// Whether two values are the same to a schema: 1 and 1.0 are one number.
pub(super) fn is_same(left: &Value, right: &Value) -> bool {
    left == right || compare(left, right) == Some(Ordering::Equal)
}

fn is_multiple(value: &Value, step: &Value) -> bool {
    match (integer(value), integer(step)) {
        (Some(value), Some(step)) => step == 0 || value % step == 0,
        _ => match (value.as_f64(), step.as_f64()) {
            (Some(value), Some(step)) if step > 0.0 => {
                let quotient = value / step;
                (quotient - quotient.round()).abs() < 1e-9
            }
            _ => true,
        },
    }
}

fn text_fits(schema: &Map<String, Value>, text: &str) -> bool {
    let has_length = schema.contains_key("minLength") || schema.contains_key("maxLength");
    let length_fits = !has_length || count_fits(schema, "minLength", "maxLength", text.chars().count());
    let format = schema.get("format").and_then(Value::as_str);
    let pattern = schema.get("pattern").and_then(Value::as_str);
    length_fits
        && format.is_none_or(|format| format::fits(format, text))
        && pattern.and_then(compiled).is_none_or(|pattern| pattern.is_match(text))
}

/// How many items a list has. A set has each once, however often it is written.
fn count(schema: &Map<String, Value>, items: &[Value]) -> usize {
    match schema.get("uniqueItems") {
        Some(Value::Bool(true)) => items.iter().map(Value::to_string).collect::<HashSet<_>>().len(),
        _ => items.len(),
    }
}

fn count_fits(schema: &Map<String, Value>, least: &str, most: &str, count: usize) -> bool {
    let count = count as u64;
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    bound(least).is_none_or(|least| count >= least) && bound(most).is_none_or(|most| count <= most)
}

/// Whether a name matches the pattern of `patternProperties`.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    compiled(pattern).is_some_and(|pattern| pattern.is_match(name))
}

/// The compiled pattern; `None` if it is none. Programs have few patterns and check them often.
fn compiled(pattern: &str) -> Option<Arc<Regex>> {
    static COMPILED: Mutex<Option<HashMap<String, Arc<Regex>>>> = Mutex::new(None);
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let compiled = compiled.get_or_insert_default();
    if let Some(regex) = compiled.get(pattern) {
        return Some(regex.clone());
    }
    let regex = Arc::new(Regex::new(pattern).ok()?);
    if compiled.len() < KEPT {
        compiled.insert(pattern.to_owned(), regex.clone());
    }
    Some(regex)
}
