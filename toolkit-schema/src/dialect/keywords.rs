//! Which keywords hold schemas, which values they take, and which kinds of values they speak of.

use serde_json::Value;

/// What stands behind a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// No schema.
    Value,
    /// A schema.
    One,
    /// A list of schemas.
    List,
    /// Schemas under names.
    Named,
}

pub(super) fn shape(keyword: &str) -> Shape {
    match keyword {
        "items"
        | "additionalItems"
        | "additionalProperties"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Shape::One,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Shape::List,
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => Shape::Named,
        _ => Shape::Value,
    }
}

/// The kinds of values that `type` can name.
pub(super) const KINDS: &[&str] = &["string", "number", "integer", "boolean", "array", "object", "null"];

/// The kinds of values that a keyword speaks of, if it does not speak of all.
pub(super) fn speaks_of(keyword: &str) -> Option<&'static [&'static str]> {
    match keyword {
        "minLength" | "maxLength" | "pattern" | "contentEncoding" | "contentMediaType" | "contentSchema" => {
            Some(&["string"])
        }
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            Some(&["number", "integer"])
        }
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains"
        | "maxContains" | "unevaluatedItems" => Some(&["array"]),
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties" => Some(&["object"]),
        _ => None,
    }
}

/// Keywords that say something to the reader and demand nothing.
pub(super) const ANNOTATIONS: &[&str] = &[
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "propertyOrdering",
];

/// Whether the keyword takes such a value at all. Values that are schemas are not looked into.
pub(super) fn takes(keyword: &str, value: &Value) -> bool {
    match keyword {
        "type" => match value {
            Value::String(kind) => KINDS.contains(&kind.as_str()),
            Value::Array(kinds) => {
                !kinds.is_empty()
                    && kinds.iter().all(|kind| kind.as_str().is_some_and(|kind| KINDS.contains(&kind)))
            }
            _ => false,
        },
        "required" => is_text_list(value),
        "dependentRequired" => value.as_object().is_some_and(|lists| lists.values().all(is_text_list)),
        "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "multipleOf" => value.as_f64().is_some_and(|step| step > 0.0),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => value.as_u64().is_some(),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
        "pattern" | "format" | "title" | "description" | "contentEncoding" | "contentMediaType" => {
            value.is_string()
        }
        "examples" => value.is_array(),
        _ => match shape(keyword) {
            Shape::Value => true,
            Shape::One => value.is_object() || value.is_boolean(),
            Shape::List => value.as_array().is_some_and(|schemas| !schemas.is_empty()),
            Shape::Named => value.is_object(),
        },
    }
}

fn is_text_list(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(Value::is_string))
}
