//! Constraints on a value beyond its type: bounds, lengths, patterns, formats.

use crate::format;
use crate::json::{Json, Kind};
use crate::keyword::{Keyword, subschemas};
use crate::number::Decimal;
use crate::own::is_of_type;
use crate::pattern::is_match;
use crate::single::{SINGLE, overflows};
use crate::types::types;
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::collections::HashSet;

/// Keywords that name the members of an object, or that apply another schema to the same object.
const HAVE_NAMES: [&str; 7] =
    ["properties", "patternProperties", "additionalProperties", "allOf", "anyOf", "oneOf", "$ref"];

/// Returns whether a generated schema has constraints beyond the Rust type, such as `pattern` or `maxLength`.
///
/// Constraints in inner schemas count, too. Ranges and lists of values count unless they are marked as
/// enforced by the type.
#[must_use]
pub fn has_constraints(schema: &Value) -> bool {
    // Maps and untyped values count: they would silently keep only the last of several members with the same
    // name.
    let Value::Object(keywords) = schema else { return schema == &Value::Bool(true) };
    if keywords.keys().all(|name| Keyword::is_annotation(name)) {
        return true;
    }
    let here = keywords.iter().any(|(keyword, value)| match keyword.as_str() {
        "minimum" | "maximum" => !is_of_type(schema),
        "minItems" | "maxItems" => !keywords.contains_key("prefixItems"),
        "format" => value.as_str().is_some_and(format::is_known),
        "enum" | "const" => !is_of_type(schema),
        "uniqueItems" => !is_of_set(schema),
        // A variant refuses a repeated name. Another variant may then accept the value and ignore the name.
        "anyOf" => value.as_array().is_some_and(|branches| {
            let objects = || branches.iter().filter(|it| may_be_object(it));
            objects().count() > 1
                && objects().any(|it| it.get("additionalProperties") != Some(&Value::Bool(false)))
        }),
        // For a repeated name, a flattened enum uses the first of two variants and ignores the second.
        "oneOf" => keywords.contains_key("properties"),
        // The schema may be of a type such as `Value`, which would silently keep only the last of two members.
        "type" => value == "object" && !keywords.keys().any(|name| HAVE_NAMES.contains(&name.as_str())),
        "additionalProperties" => value.is_object() || is_map_of_names(keywords),
        "exclusiveMinimum"
        | "exclusiveMaximum"
        | "multipleOf"
        | "minLength"
        | "maxLength"
        | "pattern"
        | "minProperties"
        | "maxProperties"
        | "patternProperties"
        | "not"
        | "if"
        | "contains"
        | "propertyNames"
        | "dependentRequired"
        | "dependentSchemas"
        | "contentEncoding"
        | "unevaluatedProperties"
        | "unevaluatedItems" => true,
        _ => false,
    });
    here || subschemas(schema).any(|inside| has_constraints(inside.schema))
}

/// Returns whether a schema may accept an object.
fn may_be_object(schema: &Value) -> bool {
    schema.get("type").is_none_or(|kind| kind == "object" || kind.is_array())
}

/// Returns whether an object schema may come from a map with an enum as its key type. In such a schema, no property is
/// required, and all properties have the same schema.
fn is_map_of_names(keywords: &Map<String, Value>) -> bool {
    let properties = keywords.get("properties").and_then(Value::as_object);
    let mut schemas = properties.into_iter().flat_map(Map::values);
    let first = schemas.next();
    first.is_some() && !keywords.contains_key("required") && schemas.all(|other| Some(other) == first)
}

/// Returns the first keyword of `schema` that `value` violates. The type of `value` must already be correct.
///
/// If `validator` is `true`, formats and content encodings are not checked, and repeated items always violate
/// `uniqueItems`. If it is `false`, repeated items are allowed in an array that is decoded into a Rust set.
pub(crate) fn broken(schema: &Value, value: &Json<'_>, validator: bool) -> Option<&'static str> {
    let within = |least, most, count: &dyn Fn() -> usize| out_of_bounds(schema, least, most, count);
    match &value.kind {
        Kind::Number => {
            if overflows(schema) && value.text.parse().is_ok_and(f32::is_infinite) {
                return Some(SINGLE);
            }
            let written = value.number()?;
            // Deserialization may round the number to the nearest double, so both numbers must be in the range.
            let rounded = || rounded(schema, value.text).and_then(|number| out_of_range(schema, &number));
            out_of_range(schema, &written).or_else(rounded)
        }
        Kind::String(text) => within("minLength", "maxLength", &|| text.chars().count())
            .or_else(|| breaks(schema, "format", |format| !validator && !format::fits(format, text)))
            .or_else(|| {
                breaks(schema, "contentEncoding", |encoding| !validator && !format::decodes(encoding, text))
            })
            .or_else(|| {
                let differs = |pattern: &str| is_match(pattern, text) == Some(false);
                breaks(schema, "pattern", differs)
            }),
        Kind::Array(items) => {
            let is_set = schema.get("uniqueItems") == Some(&Value::Bool(true));
            let distinct = || items.iter().map(Json::canonical).collect::<HashSet<_>>().len();
            let count = || if is_set && !validator { distinct() } else { items.len() };
            let repeats = || is_set && (validator || !is_of_set(schema)) && distinct() < items.len();
            within("minItems", "maxItems", &count).or_else(|| repeats().then_some("uniqueItems"))
        }
        Kind::Object(members) => within("minProperties", "maxProperties", &|| {
            members.iter().map(|(name, _)| name).collect::<HashSet<_>>().len()
        }),
        Kind::Null | Kind::Bool(_) => None,
    }
}

/// Returns whether an array schema was generated from a Rust set, such as `HashSet<T>`.
///
/// In such a schema, `uniqueItems` comes before `items`. Repeated items are allowed there, because deserialization
/// drops them.
fn is_of_set(schema: &Value) -> bool {
    let mut keywords = schema.as_object().into_iter().flat_map(Map::keys);
    keywords
        .find(|keyword| matches!(keyword.as_str(), "items" | "uniqueItems"))
        .is_some_and(|it| it != "items")
}

fn breaks(schema: &Value, keyword: &'static str, differs: impl Fn(&str) -> bool) -> Option<&'static str> {
    schema.get(keyword).and_then(Value::as_str).filter(|expected| differs(expected)).map(|_| keyword)
}

/// Returns the number in `text`, rounded to the nearest double.
///
/// Returns `None` if `schema` has no exclusive bound or describes an integer, or if the number is too short to be
/// changed by rounding.
fn rounded(schema: &Value, text: &str) -> Option<Decimal> {
    let has_bounds =
        ["exclusiveMinimum", "exclusiveMaximum"].iter().any(|bound| schema.get(*bound).is_some());
    // A double keeps up to 15 digits of a number.
    if !has_bounds || text.len() <= 15 || types(schema.get("type")).any(|name| name == "integer") {
        return None;
    }
    let number = text.parse::<f64>().ok().and_then(serde_json::Number::from_f64)?;
    Decimal::parse(&number.to_string())
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

/// Compares two numbers without rounding. Returns `None` if one of the values is not a number.
pub(crate) fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    Some(number(left)?.cmp(&number(right)?))
}

/// Returns whether two values are equal by the rules of JSON Schema. For example, 1 equals 1.0.
pub(crate) fn is_same(left: &Value, right: &Value) -> bool {
    left == right || Json::parse(&right.to_string()).is_ok_and(|right| is_equal(left, &right))
}

/// Returns whether `value` equals `expected`, a value listed in a schema.
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
        for schema in [
            json!({"type": "string", "default": inner}),
            json!({"properties": {"pattern": {"type": "string"}}}),
        ] {
            assert!(!has_constraints(&schema), "{schema}");
        }
    }
}
