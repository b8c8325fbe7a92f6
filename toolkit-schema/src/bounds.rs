//! Constraints on a value beyond its type: bounds, lengths, patterns, formats.

use crate::json::{Json, Kind};
use crate::number::Decimal;
use crate::order::distinct;
use crate::pattern::is_match;
use crate::{encoding, format};
use serde_json::Value;

/// Returns the first keyword that `value`, of the right type, violates.
///
/// `contentEncoding` counts for Rust types, and is otherwise an annotation (JSON Schema 2020-12 Validation,
/// 8).
pub(crate) fn broken(schema: &Value, value: &Json<'_>, is_encoding_promised: bool) -> Option<&'static str> {
    match &value.kind {
        Kind::Number => out_of_range(schema, &value.number()?),
        Kind::String(text) => broken_by_text(schema, text, is_encoding_promised),
        Kind::Array(items) => {
            let bound = out_of_bounds(schema, "minItems", "maxItems", &|| items.len());
            let is_unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
            if bound.is_none() && is_unique && has_repeated(items) { Some("uniqueItems") } else { bound }
        }
        Kind::Object(members) => {
            let names = members.iter().map(|(name, _)| &**name);
            out_of_bounds(schema, "minProperties", "maxProperties", &|| distinct(names.clone()).len())
        }
        Kind::Null | Kind::Bool(_) => None,
    }
}

fn broken_by_text(schema: &Value, text: &str, is_encoding_promised: bool) -> Option<&'static str> {
    let length = out_of_bounds(schema, "minLength", "maxLength", &|| text.chars().count());
    if length.is_some() {
        return length;
    }
    for keyword in ["format", "contentEncoding", "pattern"] {
        let Some(expected) = schema.get(keyword).and_then(Value::as_str) else { continue };
        let fits = match keyword {
            "format" => format::fits(expected, text),
            "contentEncoding" => !is_encoding_promised || encoding::decodes(expected, text),
            _ => is_match(expected, text) != Some(false),
        };
        if !fits {
            return Some(keyword);
        }
    }
    None
}

fn has_repeated(items: &[Json<'_>]) -> bool {
    let items: Vec<String> = items.iter().map(Json::canonical).collect();
    distinct(items.iter().map(String::as_str)).len() < items.len()
}

fn out_of_range(schema: &Value, value: &Decimal) -> Option<&'static str> {
    for keyword in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"] {
        let Some(bound) = schema.get(keyword).and_then(number) else { continue };
        let fits = match keyword {
            "minimum" => *value >= bound,
            "maximum" => *value <= bound,
            "exclusiveMinimum" => *value > bound,
            "exclusiveMaximum" => *value < bound,
            _ => value.is_multiple_of(&bound),
        };
        if !fits {
            return Some(keyword);
        }
    }
    None
}

pub(crate) fn number(value: &Value) -> Option<Decimal> {
    if value.is_number() { Decimal::parse(&value.to_string()) } else { None }
}

/// Returns whether `value` equals one listed in a schema, as 1 equals 1.0.
pub(crate) fn is_equal(expected: &Value, value: &Json<'_>) -> bool {
    match (expected, &value.kind) {
        (Value::String(expected), Kind::String(text)) => expected == text,
        (Value::Number(_), Kind::Number) => number(expected) == value.number(),
        (Value::Array(_), Kind::Array(_)) | (Value::Object(_), Kind::Object(_)) => {
            let expected = expected.to_string();
            Json::parse(&expected).is_ok_and(|expected| expected.canonical() == value.canonical())
        }
        (Value::Bool(expected), Kind::Bool(value)) => expected == value,
        (Value::Null, Kind::Null) => true,
        _ => false,
    }
}

fn out_of_bounds(
    schema: &Value,
    least: &'static str,
    most: &'static str,
    count: &dyn Fn() -> usize,
) -> Option<&'static str> {
    let at_least = count_in(schema, least);
    let at_most = count_in(schema, most);
    if at_least.is_none() && at_most.is_none() {
        return None;
    }
    let count = count() as u64;
    if at_least.is_some_and(|bound| count < bound) {
        return Some(least);
    }
    if at_most.is_some_and(|bound| count > bound) { Some(most) } else { None }
}

fn count_in(schema: &Value, keyword: &str) -> Option<u64> {
    schema.get(keyword).and_then(number)?.integer()?.parse().ok()
}
