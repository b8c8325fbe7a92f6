//! The keyword `type`, and the types of values.

use serde_json::Value;

/// Returns the names in a `type` keyword: a list, or a single one.
pub(crate) fn types(keyword: Option<&Value>) -> impl Iterator<Item = &str> + Clone {
    let list = match keyword {
        Some(Value::Array(list)) => list.as_slice(),
        Some(only) => std::slice::from_ref(only),
        None => &[],
    };
    list.iter().filter_map(Value::as_str)
}

/// Returns the names in a list such as `required`.
pub(crate) fn names(keyword: Option<&Value>) -> impl Iterator<Item = &str> {
    types(keyword.filter(|names| names.is_array()))
}

/// Returns the narrowest type of a value; `5.0` is an integer.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() && number.as_f64().is_none_or(|n| n.fract() != 0.0) => {
            "number"
        }
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns whether a value can be of both types.
pub(crate) fn overlap(one: &str, other: &str) -> bool {
    includes(one, other) || includes(other, one)
}

/// Returns whether all values of the type `other` are of the type `name`.
pub(crate) fn includes(name: &str, other: &str) -> bool {
    name == other || (name == "number" && other == "integer")
}
