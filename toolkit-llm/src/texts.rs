//! Reads the texts of an answer, also if a server sends another JSON value or a list of parts in place of a string.
//!
//! A server that parses each piece of a text as JSON sends the piece `1` as a number, and the answer `{"a":1}` as an
//! object (Cloudflare). The text is then the JSON of the value.

use crate::fields::Fields;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Returns whether the content of the message at `path` is a text. Only the content in a response body may be another
/// JSON value, because a message alone may belong to another API.
pub(crate) fn is_text(content: &Value, path: &str) -> bool {
    content.is_string() || !content.is_array() && !path.is_empty()
}

/// Returns the text in the field `name`, or an empty string if the field is missing.
pub(crate) fn of<'a>(value: &'a Value, name: &str) -> Cow<'a, str> {
    value.get(name).map(whole).unwrap_or_default()
}

/// Returns the text of a value. The texts of a list of parts are joined.
pub(crate) fn whole(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        value => pieces(value, false).into_iter().map(|(_, text)| text).collect::<String>().into(),
    }
}

/// Returns the texts of a value in order, each with `true` for reasoning. `is_reasoning` states whether the value itself
/// is reasoning.
pub(crate) fn pieces(value: &Value, is_reasoning: bool) -> Vec<(bool, Cow<'_, str>)> {
    let mut pieces = Vec::new();
    add(value, is_reasoning, &mut pieces);
    pieces.retain(|(_, text)| !text.is_empty());
    pieces
}

/// Writes the fields in `names` in the form that requests accept: a string, `null`, or a list of parts.
pub(crate) fn settle(fields: &mut Fields, names: &[&str]) {
    for name in names {
        match fields.get_mut(*name) {
            None => {}
            Some(value) if is_settled(value) => {}
            Some(Value::Array(list)) if list.iter().any(Value::is_string) => {
                for text in list.iter_mut().filter(|element| element.is_string()) {
                    *text = json!({"type": "text", "text": text.take()});
                }
            }
            Some(value) if part(value).is_some() => *value = Value::Array(vec![value.take()]),
            Some(value) => *value = value.to_string().into(),
        }
    }
}

/// Returns an object with the fields in `names` as [`settle`] writes them.
pub(crate) fn settled<'a>(value: &'a Value, names: &[&str]) -> Cow<'a, Value> {
    if names.iter().all(|name| value.get(name).is_none_or(is_settled)) {
        return Cow::Borrowed(value);
    }
    let mut value = value.clone();
    if let Value::Object(fields) = &mut value {
        settle(fields, names);
    }
    Cow::Owned(value)
}

fn is_settled(value: &Value) -> bool {
    let is_list = || parts(value).is_some_and(|parts| !parts.iter().any(Value::is_string));
    matches!(value, Value::Null | Value::String(_)) || is_list()
}

fn add<'a>(value: &'a Value, is_reasoning: bool, pieces: &mut Vec<(bool, Cow<'a, str>)>) {
    match value {
        Value::Null => {}
        Value::String(text) => pieces.push((is_reasoning, text.into())),
        value => match (parts(value), part(value)) {
            (Some(parts), _) => parts.iter().for_each(|element| match element {
                Value::String(text) => pieces.push((is_reasoning, text.into())),
                element => {
                    if let Some((is_thought, text)) = part_of_list(element) {
                        add(text, is_reasoning || is_thought, pieces);
                    }
                }
            }),
            (None, Some((is_thought, text))) => add(text, is_reasoning || is_thought, pieces),
            (None, None) => pieces.push((is_reasoning, value.to_string().into())),
        },
    }
}

/// Returns the elements of a list of parts. Returns `None` for other values, such as a list that is an answer in JSON.
fn parts(value: &Value) -> Option<&Vec<Value>> {
    let is_part =
        |element: &Value| element.is_string() || kind(element).is_some() || part_of_list(element).is_some();
    value.as_array().filter(|list| list.is_empty() || list.iter().any(is_part))
}

/// Returns the text of a part outside of a list. Without a type, an object is an answer in JSON.
fn part(value: &Value) -> Option<(bool, &Value)> {
    part_of_list(value).filter(|_| kind(value).is_some())
}

/// Returns the text of a part, with `true` for reasoning. Returns `None` if the part has no text.
fn part_of_list(part: &Value) -> Option<(bool, &Value)> {
    let is_reasoning =
        matches!(kind(part), Some("reasoning" | "thinking" | "reasoning_text" | "summary_text"));
    let names: &[_] = if is_reasoning {
        &["thinking", "reasoning", "summary", "text", "content"]
    } else {
        &["text", "thinking"]
    };
    let is_blank = |text: &Value| {
        matches!(text.as_array(), Some(list) if list.is_empty()) || text.is_null() || text == ""
    };
    let named = names.iter().filter_map(|name| Some((*name, part.get(name)?)));
    let (name, text) = named.into_iter().find(|(_, text)| !is_blank(text))?;
    Some((is_reasoning || name == "thinking", text))
}

fn kind(part: &Value) -> Option<&str> {
    part.get("type").and_then(Value::as_str)
}
