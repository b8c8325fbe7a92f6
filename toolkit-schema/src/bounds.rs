//! Constraints on a value beyond its type: bounds, lengths, patterns, formats.

use crate::json::{Json, Kind};
use crate::number::Decimal;
use crate::order::distinct;
use crate::pattern::is_match;
use crate::{encoding, format};
use serde_json::Value;

/// Returns the first keyword of `schema` that `value` violates. The type of `value` must already be correct.
///
/// `contentEncoding` counts if it is a promise, as of Rust types: elsewhere it is an annotation (JSON Schema 2020-12
/// Validation, 8).
pub(crate) fn broken(schema: &Value, value: &Json<'_>, is_encoding_promised: bool) -> Option<&'static str> {
    let is_encoded = |text: &str, encoding: &str| !is_encoding_promised || encoding::decodes(encoding, text);
    let within = |least, most, count: &dyn Fn() -> usize| out_of_bounds(schema, least, most, count);
    match &value.kind {
        Kind::Number => out_of_range(schema, &value.number()?),
        Kind::String(text) => within("minLength", "maxLength", &|| text.chars().count())
            .or_else(|| breaks(schema, "format", |format| !format::fits(format, text)))
            .or_else(|| breaks(schema, "contentEncoding", |encoding| !is_encoded(text, encoding)))
            .or_else(|| {
                let differs = |pattern: &str| is_match(pattern, text) == Some(false);
                breaks(schema, "pattern", differs)
            }),
        Kind::Array(items) => {
            let repeats = || schema.get("uniqueItems") == Some(&Value::Bool(true)) && has_repeated(items);
            within("minItems", "maxItems", &|| items.len()).or_else(|| repeats().then_some("uniqueItems"))
        }
        Kind::Object(members) => within("minProperties", "maxProperties", &|| {
            distinct(members.iter().map(|(name, _)| &**name)).len()
        }),
        Kind::Null | Kind::Bool(_) => None,
    }
}

fn has_repeated(items: &[Json<'_>]) -> bool {
    let items: Vec<String> = items.iter().map(Json::canonical).collect();
    distinct(items.iter().map(String::as_str)).len() < items.len()
}

fn breaks(schema: &Value, keyword: &'static str, differs: impl Fn(&str) -> bool) -> Option<&'static str> {
    schema.get(keyword).and_then(Value::as_str).filter(|expected| differs(expected)).map(|_| keyword)
}

fn out_of_range(schema: &Value, value: &Decimal) -> Option<&'static str> {
    let fits = |keyword: &str, bound: &Decimal| match keyword {
        "minimum" => value >= bound,
        "maximum" => value <= bound,
        "exclusiveMinimum" => value > bound,
        "exclusiveMaximum" => value < bound,
        _ => value.is_multiple_of(bound),
    };
    let keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
    keywords
        .into_iter()
        .find(|keyword| schema.get(*keyword).and_then(number).is_some_and(|bound| !fits(keyword, &bound)))
}

/// Returns the exact value of a JSON number, or `None` for other values.
pub(crate) fn number(value: &Value) -> Option<Decimal> {
    if value.is_number() { Decimal::parse(&value.to_string()) } else { None }
}

/// Returns whether `value` equals `expected`, a value listed in a schema. For example, 1 equals 1.0.
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
    let bound = |keyword: &str| schema.get(keyword).and_then(number)?.integer()?.parse::<u64>().ok();
    match (bound(least), bound(most)) {
        (None, None) => None,
        (at_least, at_most) => {
            let count = count() as u64;
            let too_many = || at_most.is_some_and(|most| count > most);
            if at_least.is_some_and(|least| count < least) { Some(least) } else { too_many().then_some(most) }
        }
    }
}
