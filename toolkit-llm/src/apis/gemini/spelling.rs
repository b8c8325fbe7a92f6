//! Field names in both spellings: `functionCall` and `function_call` are the same field.

use crate::json::fields::{Fields, camel};
use serde_json::Value;

/// Returns the value of a field in either spelling, such as `functionCall` and `function_call`. `name` is in camel
/// case. A field with `null` counts as missing.
pub(crate) fn get<'a>(fields: &'a Fields, name: &str) -> Option<&'a Value> {
    fields.get(key(fields, name)?).filter(|value| !value.is_null())
}

/// Returns the spelling of the field `name` in `fields`, such as `function_call` for `functionCall`. `name` is in camel
/// case.
pub(crate) fn key<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    if let Some((key, _)) = fields.get_key_value(name) {
        return Some(key);
    }
    fields.keys().map(String::as_str).find(|key| key.contains('_') && camel(key) == name)
}

/// Returns the elements of the list in the field `name`. The slice is empty if the field is missing.
pub(crate) fn list<'a>(fields: &'a Fields, name: &str) -> &'a [Value] {
    get(fields, name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
