//! Reads the text fields of a response: a string, a list of parts with texts, or another JSON value.
//!
//! A server that parses each piece of a text as JSON sends the piece `1` as a number, and the answer
//! `{"a":1}` as an object (Cloudflare).The text is then its JSON.

use super::fields::{Fields, text};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Returns whether the content of the message at `path` is a text.
///
/// Only in a response body may it be another JSON value, because a message alone may belong to another API.
pub(crate) fn is_text(content: &Value, path: &str) -> bool {
    content.is_string() || !content.is_array() && !path.is_empty()
}

/// Returns the text in a field, or an empty string.
pub(crate) fn of<'a>(value: &'a Value, name: &str) -> Cow<'a, str> {
    value.get(name).map(whole).unwrap_or_default()
}

/// Returns the text of a value, or the joined texts of a list of parts.
pub(crate) fn whole(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        value => {
            let mut whole = String::new();
            for (_, text) in pieces(value, false) {
                whole.push_str(&text);
            }
            whole.into()
        }
    }
}

/// Returns the texts of a value, each with `true` for reasoning. `is_reasoning` is for the value itself.
pub(crate) fn pieces(value: &Value, is_reasoning: bool) -> Vec<(bool, Cow<'_, str>)> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![(is_reasoning, text.into())],
        Value::Array(list) if has_parts(list) => {
            let mut texts = Vec::new();
            for element in list {
                if element.is_string() {
                    texts.append(&mut pieces(element, is_reasoning));
                } else if let Some(part) = TextPart::from_part(element) {
                    texts.append(&mut part.pieces(is_reasoning));
                }
            }
            texts
        }
        value => match TextPart::alone(value) {
            Some(part) => part.pieces(is_reasoning),
            None => vec![(is_reasoning, value.to_string().into())],
        },
    }
}

/// Writes the fields in `names` as requests accept them: a string, `null`, or a list of parts.
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
            Some(value) if TextPart::alone(value).is_some() => *value = Value::Array(vec![value.take()]),
            Some(value) => *value = value.to_string().into(),
        }
    }
}

/// Returns a copy with the fields as [`settle`] writes them.
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
    match value {
        Value::Null | Value::String(_) => true,
        Value::Array(list) => has_parts(list) && !list.iter().any(Value::is_string),
        _ => false,
    }
}

/// Returns whether a list consists of parts and is not an answer in JSON.
fn has_parts(list: &[Value]) -> bool {
    list.is_empty() || list.iter().any(is_part)
}

fn is_part(value: &Value) -> bool {
    value.is_string() || !text(value, "type").is_empty() || TextPart::from_part(value).is_some()
}

struct TextPart<'a> {
    is_reasoning: bool,
    text: &'a Value,
}

impl<'a> TextPart<'a> {
    /// Reads a part outside of a list. An object without a type is an answer in JSON.
    fn alone(part: &'a Value) -> Option<Self> {
        if text(part, "type").is_empty() { None } else { Self::from_part(part) }
    }

    /// Reads a part of a list, if it has a text.
    fn from_part(part: &'a Value) -> Option<Self> {
        let is_reasoning =
            matches!(text(part, "type"), "reasoning" | "thinking" | "reasoning_text" | "summary_text");
        let names: &[&str] = if is_reasoning {
            &["thinking", "reasoning", "summary", "text", "content"]
        } else {
            &["text", "thinking"]
        };
        for name in names {
            match part.get(name) {
                None | Some(Value::Null) => {}
                Some(Value::String(text)) if text.is_empty() => {}
                Some(Value::Array(list)) if list.is_empty() => {}
                Some(text) => {
                    return Some(Self { is_reasoning: is_reasoning || *name == "thinking", text });
                }
            }
        }
        None
    }

    fn pieces(self, is_reasoning: bool) -> Vec<(bool, Cow<'a, str>)> {
        pieces(self.text, is_reasoning || self.is_reasoning)
    }
}
