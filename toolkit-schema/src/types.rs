//! The keyword `type`, and the types of JSON values.

use serde_json::Value;

/// Returns the names in `type`, which may be one or a list.
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

/// Returns whether `type` has a name, alone or in a list.
pub(crate) fn has_type(keyword: Option<&Value>, name: &str) -> bool {
    types(keyword).any(|own| own == name)
}

/// Returns whether a list such as `required` has a name.
pub(crate) fn has_name(keyword: Option<&Value>, name: &str) -> bool {
    names(keyword).any(|own| own == name)
}

/// Returns a value's JSON type; `5.0` is an `integer`.
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

/// Returns whether the type `name` includes `other`, as `number` includes `integer`.
pub(crate) fn includes(name: &str, other: &str) -> bool {
    name == other || (name == "number" && other == "integer")
}
