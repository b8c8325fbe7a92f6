//! Field names in both spellings: `functionCall` and `function_call` are the same field.

use crate::fields::Fields;
use serde_json::Value;
use std::borrow::Cow;

/// Returns the value of the field that the reference spells `name`. `null` is the same as no field.
pub(super) fn get<'a>(fields: &'a Fields, name: &str) -> Option<&'a Value> {
    fields.get(key(fields, name)?).filter(|value| !value.is_null())
}

/// Finds the spelling of the field that the reference spells `name`.
pub(super) fn key<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    if let Some((key, _)) = fields.get_key_value(name) {
        return Some(key);
    }
    fields.keys().map(String::as_str).find(|key| key.contains('_') && camel(key) == name)
}

/// Converts `function_call` to `functionCall`.
pub(super) fn camel(name: &str) -> Cow<'_, str> {
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

/// Returns the elements of a field that holds a list; none if it is not there.
pub(super) fn list<'a>(fields: &'a Fields, name: &str) -> &'a [Value] {
    get(fields, name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
