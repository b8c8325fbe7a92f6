//! Reads and sets the fields of a payload, with their paths in errors.

use super::error::WireError;
use serde_json::{Map, Value};
use std::borrow::Cow;

pub(crate) type Fields = Map<String, Value>;

/// Returns a path such as `choices[0].message`. An empty `parent` stands for the payload itself.
pub(crate) fn field(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
}

/// Returns a path such as `tools[2]`.
pub(crate) fn element(parent: &str, index: usize) -> String {
    format!("{parent}[{index}]")
}

/// Returns the elements of a list, each with its path.
#[cfg(feature = "translate")]
pub(crate) fn elements<'a>(list: &'a [Value], parent: &str) -> impl Iterator<Item = (String, &'a Value)> {
    list.iter().enumerate().map(move |(index, value)| (element(parent, index), value))
}

/// Returns the string in a field, or an empty string.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the string in the field `type`.
pub(crate) fn kind(fields: &Fields) -> Option<&str> {
    fields.get("type").and_then(Value::as_str)
}

/// Returns the list in a field, or an empty list.
pub(crate) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(crate) fn is_true(value: &Value, name: &str) -> bool {
    value.get(name).is_some_and(|flag| flag == true)
}

/// Reads the field `name` with `read`, unless it is missing or `null`.
///
/// # Errors
/// [`WireError`] if `read` returns `None`: `expected` was expected.
pub(crate) fn optional<'a, T>(
    fields: &'a Fields,
    path: &str,
    name: &str,
    expected: &str,
    read: impl FnOnce(&'a Value) -> Option<T>,
) -> Result<Option<T>, WireError> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match read(value) {
            Some(read) => Ok(Some(read)),
            None => Err(WireError::new(field(path, name), expected)),
        },
    }
}

/// Returns an object, or the error that `expected` was expected at `path`.
pub(crate) fn object<'a>(value: &'a Value, path: &str, expected: &str) -> Result<&'a Fields, WireError> {
    match value {
        Value::Object(fields) => Ok(fields),
        _ => Err(WireError::new(path, expected)),
    }
}

pub(crate) fn set(fields: &mut Fields, name: &str, value: impl Into<Value>) {
    fields.insert(name.to_owned(), value.into());
}

/// Sets the field at `path` inside an object, and creates missing objects.
pub(crate) fn set_at(value: &mut Value, path: &[&str], new: impl Into<Value>) {
    if let Some(fields) = value.as_object_mut() {
        set_in(fields, path, new);
    }
}

/// Sets the field at `path`, and creates missing objects.
pub(crate) fn set_in(fields: &mut Fields, path: &[&str], new: impl Into<Value>) {
    let Some((name, rest)) = path.split_first() else { return };
    let field = fields.entry(*name).or_insert(Value::Null);
    if rest.is_empty() {
        *field = new.into();
        return;
    }
    if !field.is_object() {
        *field = Fields::new().into();
    }
    if let Some(fields) = field.as_object_mut() {
        set_in(fields, rest, new.into());
    }
}

/// Appends `piece` to the string at `path`. A value of another type is replaced.
pub(crate) fn push_text(value: &mut Value, path: &[&str], piece: &str) {
    match at_mut(value, path) {
        Some(Value::String(text)) => text.push_str(piece),
        _ => set_at(value, path, piece),
    }
}

fn at_mut<'a>(mut value: &'a mut Value, path: &[&str]) -> Option<&'a mut Value> {
    for name in path {
        value = value.get_mut(name)?;
    }
    Some(value)
}

/// Appends `values` to the list in the field `name`, which is created if necessary.
pub(crate) fn append(value: &mut Value, name: &str, values: &[Value]) {
    let Some(fields) = value.as_object_mut() else { return };
    match fields.entry(name).or_insert(Value::Null) {
        Value::Array(list) => list.extend(values.iter().cloned()),
        field => *field = values.to_vec().into(),
    }
}

pub(crate) fn only(fields: &Fields, is_kept: impl Fn(&str, &Value) -> bool) -> Fields {
    let mut kept = Fields::new();
    for (name, value) in fields {
        if is_kept(name, value) {
            kept.insert(name.clone(), value.clone());
        }
    }
    kept
}

/// Returns a copy of the fields that are neither `known` nor `null`. It is empty if `value` is not an object.
pub(crate) fn unknown(value: &Value, known: &[&str]) -> Fields {
    let Value::Object(fields) = value else { return Fields::new() };
    only(fields, |name, value| !known.contains(&name) && !value.is_null())
}

/// Converts `function_call` to `functionCall`.
pub(crate) fn camel(name: &str) -> Cow<'_, str> {
    let Some((first, rest)) = name.split_once('_') else { return Cow::Borrowed(name) };
    let mut spelled = first.to_owned();
    for word in rest.split('_') {
        let mut letters = word.chars();
        if let Some(letter) = letters.next() {
            spelled.push(letter.to_ascii_uppercase());
        }
        spelled.push_str(letters.as_str());
    }
    Cow::Owned(spelled)
}

/// Copies the fields in `names`, except for `null`.
pub(crate) fn copy(from: &Fields, to: &mut Fields, names: &[&str]) {
    to.extend(only(from, |name, value| names.contains(&name) && !value.is_null()));
}
