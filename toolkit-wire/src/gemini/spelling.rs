//! Field names in both spellings: `functionCall` and `function_call` are the same field.

use crate::fields::Fields;
use serde_json::Value;
use std::borrow::Cow;

/// Returns the value of a field in either spelling. `name` is the field name as spelled in the reference. A
/// field with `null` counts as missing.
pub(super) fn get<'a>(fields: &'a Fields, name: &str) -> Option<&'a Value> {
    fields.get(key(fields, name)?).filter(|value| !value.is_null())
}

/// Returns the name of a field as spelled in `fields`. `name` is the field name as spelled in the reference.
pub(super) fn key<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    if let Some((key, _)) = fields.get_key_value(name) {
        return Some(key);
    }
    fields.keys().map(String::as_str).find(|key| key.contains('_') && camel(key) == name)
}

/// Converts `function_call` to `functionCall`.
pub(crate) fn camel(name: &str) -> Cow<'_, str> {
    let mut words = name.split('_');
    let Some(first) = words.next().filter(|first| first.len() < name.len()) else {
        return Cow::Borrowed(name);
    };
    let mut spelled = first.to_owned();
    for word in words {
        let mut letters = word.chars();
        spelled.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        spelled.push_str(letters.as_str());
    }
    Cow::Owned(spelled)
}

/// Returns the elements of the list in the field `name`. The slice is empty if the field is missing.
pub(super) fn list<'a>(fields: &'a Fields, name: &str) -> &'a [Value] {
    get(fields, name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
