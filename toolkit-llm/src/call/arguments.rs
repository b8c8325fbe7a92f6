//! The arguments of calls: JSON text or an object, complete or cut off.

use super::sanitize;
use crate::json::fields::only;
use serde_json::{Value, json};
use std::borrow::Cow;

#[derive(Debug, PartialEq)]
pub(crate) enum Arguments<'a> {
    /// A string, or the JSON text of a value that is neither a string nor an object.
    Text(Cow<'a, str>),
    Object(&'a Value),
}

impl<'a> Arguments<'a> {
    /// Reads the arguments of a call.
    ///
    /// If generation stopped early at this call (`is_cut`), an object has only its complete members. Its end
    /// is then left out, and the invalid JSON is refused instead of being run without its last arguments.
    /// Text shows by itself whether it is complete.
    pub(crate) fn from_value(value: Option<&'a Value>, is_cut: bool) -> Self {
        match value {
            value if is_cut && is_blank(value) => Self::Text(Cow::Borrowed("{")),
            Some(object @ Value::Object(_)) if is_cut => Self::Text(without_end(object).into()),
            None | Some(Value::Null) => Self::Text(Cow::Borrowed("")),
            Some(Value::String(text)) => Self::Text(Cow::Borrowed(text)),
            Some(object @ Value::Object(_)) => Self::Object(object),
            Some(value) => Self::Text(Cow::Owned(value.to_string())),
        }
    }

    /// Reads the arguments of a call with a separate field for each of the `members`. If generation stopped
    /// early (`is_cut`), the JSON is incomplete.
    pub(super) fn from_members(json: &Value, members: &[&str], is_cut: bool) -> Self {
        let text = match json {
            Value::Object(fields) if !is_cut => {
                let found = only(fields, |name, value| members.contains(&name) && !value.is_null());
                Value::Object(found).to_string()
            }
            _ => "{".to_owned(),
        };
        Self::Text(Cow::Owned(text))
    }

    pub(crate) fn into_text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => text,
            Self::Object(object) => Cow::Owned(object.to_string()),
        }
    }

    /// Converts the arguments to a JSON object for the history.
    pub(crate) fn into_object(self) -> Value {
        match self {
            Self::Text(text) => {
                serde_json::from_str(&sanitize::arguments(&text)).unwrap_or_else(|_| json!({}))
            }
            Self::Object(object) => object.clone(),
        }
    }
}

fn without_end(object: &Value) -> String {
    let mut text = object.to_string();
    text.pop();
    text
}

/// Returns whether the arguments are missing, a blank string, or an empty object.
pub(crate) fn is_blank(arguments: Option<&Value>) -> bool {
    match arguments {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(Value::Object(members)) => members.is_empty(),
        Some(_) => false,
    }
}

/// Converts the input of a custom tool call to arguments with the single member `input`.
///
/// If generation stopped early (`is_cut`), the end is left out, so that the call is refused like a function
/// call.
pub(super) fn input_arguments(input: Option<&Value>, is_cut: bool) -> Cow<'_, str> {
    match input {
        None | Some(Value::Null) => Cow::Borrowed(if is_cut { "{" } else { "" }),
        Some(input) => {
            let mut text = json!({"input": input}).to_string();
            text.truncate(text.len() - if is_cut { CUT.len() } else { 0 });
            Cow::Owned(text)
        }
    }
}

/// The end of a custom tool call's arguments, left out if the call was cut off.
pub(super) const CUT: &str = "\"}";
