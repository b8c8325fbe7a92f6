//! Field names in both spellings: `functionCall` and `function_call` are the same field.

use crate::json::fields::{Fields, camel};
use serde_json::Value;

/// Returns the value of the field `name` (in camel case) in either spelling.
///
/// `null` counts as missing.
pub(crate) fn get<'a>(fields: &'a Fields, name: &str) -> Option<&'a Value> {
    fields.get(key(fields, name)?).filter(|value| !value.is_null())
}

/// Returns the spelling of the field `name` (in camel case) in `fields`.
pub(crate) fn key<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    if let Some((key, _)) = fields.get_key_value(name) {
        return Some(key);
    }
    fields.keys().map(String::as_str).find(|key| key.contains('_') && camel(key) == name)
}

/// Returns the elements of the list in the field `name`, or none if it is missing.
pub(crate) fn list<'a>(fields: &'a Fields, name: &str) -> &'a [Value] {
    get(fields, name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
