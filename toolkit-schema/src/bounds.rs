//! Constraints on a value beyond its type: bounds, lengths, patterns, formats.

use crate::constraints::ONE_OF;
use crate::format;
use crate::keyword::subschemas;
use regex_lite::Regex;
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Compiled patterns that the cache holds at most.
const CACHED: usize = 256;

/// Returns whether a generated schema demands more than decoding into its type ensures, here or inside.
///
/// To be asked before the schema is [tidied](super::tidy): that turns number formats into bounds.
#[must_use]
pub fn has_constraints(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else { return false };
    let here = keywords.iter().any(|(keyword, value)| match keyword.as_str() {
        "minimum" => !is_unsigned_zero(schema, value),
        "minItems" | "maxItems" => !keywords.contains_key("prefixItems"),
        "format" => value.as_str().is_some_and(format::is_known),
        // The types of enums and tags ensure theirs.
        "enum" => keywords.contains_key(ONE_OF),
        "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" | "minLength" | "maxLength"
        | "pattern" | "minProperties" | "maxProperties" => true,
        _ => false,
    });
    here || subschemas(schema).any(|inside| has_constraints(inside.schema))
}

fn is_unsigned_zero(schema: &Value, minimum: &Value) -> bool {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    format.starts_with("uint") && minimum.as_u64() == Some(0)
}

/// Returns whether a value of the right type keeps the constraints of its schema.
pub(crate) fn keeps_within(schema: &Value, value: &Value) -> bool {
    match value {
        Value::Number(_) => number_fits(schema, value),
        Value::String(text) => text_fits(schema, text),
        Value::Array(items) => count_fits(schema, "minItems", "maxItems", || count(schema, items)),
        Value::Object(members) => count_fits(schema, "minProperties", "maxProperties", || members.len()),
        _ => true,
    }
}

fn number_fits(schema: &Value, value: &Value) -> bool {
    let against = |keyword: &str, fits: fn(Ordering) -> bool| {
        schema.get(keyword).and_then(|bound| compare(value, bound)).is_none_or(fits)
    };
    against("minimum", Ordering::is_ge)
        && against("maximum", Ordering::is_le)
        && against("exclusiveMinimum", Ordering::is_gt)
        && against("exclusiveMaximum", Ordering::is_lt)
        && schema.get("multipleOf").is_none_or(|step| is_multiple(value, step))
}

/// Compares two numbers. Integers are not rounded as doubles beyond 2^53 are.
pub(crate) fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

fn integer(value: &Value) -> Option<i128> {
    value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
}

/// Returns whether two values are the same to a schema: 1 and 1.0 are one number.
pub(crate) fn is_same(left: &Value, right: &Value) -> bool {
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

fn text_fits(schema: &Value, text: &str) -> bool {
    let said = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
    count_fits(schema, "minLength", "maxLength", || text.chars().count())
        && said("format").is_none_or(|format| format::fits(format, text))
        && said("pattern").and_then(compiled).is_none_or(|pattern| pattern.is_match(text))
}

/// Returns the number of items of a list; a set has each once, however often it is written.
fn count(schema: &Value, items: &[Value]) -> usize {
    match schema.get("uniqueItems") {
        Some(Value::Bool(true)) => items.iter().map(Value::to_string).collect::<HashSet<_>>().len(),
        _ => items.len(),
    }
}

fn count_fits(schema: &Value, least: &str, most: &str, count: impl FnOnce() -> usize) -> bool {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    match (bound(least), bound(most)) {
        (None, None) => true,
        (least, most) => (least.unwrap_or(0)..=most.unwrap_or(u64::MAX)).contains(&(count() as u64)),
    }
}

/// Returns whether a property name matches a pattern; none matches an invalid one.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    compiled(pattern).is_some_and(|pattern| pattern.is_match(name))
}

/// Returns the compiled pattern; `None` for an invalid one. Programs check few patterns, and check them often.
fn compiled(pattern: &str) -> Option<Arc<Regex>> {
    static CACHE: Mutex<Option<HashMap<String, Arc<Regex>>>> = Mutex::new(None);
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let cache = cache.get_or_insert_default();
    if let Some(regex) = cache.get(pattern) {
        return Some(regex.clone());
    }
    let regex = Arc::new(Regex::new(pattern).ok()?);
    if cache.len() < CACHED {
        cache.insert(pattern.to_owned(), regex.clone());
    }
    Some(regex)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn constraints_are_found_under_every_keyword_that_holds_schemas() {
        let inner = json!({"type": "string", "pattern": "^a"});
        for schema in [
            json!({"definitions": {"A": inner}}),
            json!({"contains": inner}),
            json!({"items": [inner]}),
            json!({"unevaluatedProperties": inner}),
            json!({"dependentSchemas": {"a": inner}}),
        ] {
            assert!(has_constraints(&schema), "{schema}");
        }
        for schema in [json!({"default": inner}), json!({"properties": {"pattern": {"type": "string"}}})] {
            assert!(!has_constraints(&schema), "{schema}");
        }
    }
}
