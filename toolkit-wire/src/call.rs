//! A received call, and the reading of its fields that providers share.

use crate::history;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use toolkit_core::call::{CallId, ProviderExtras, ToolCall};

pub(crate) type Fields = Map<String, Value>;

/// A call in a response, before missing ids are generated.
#[derive(Debug)]
pub(crate) struct WireCall<'a> {
    /// The JSON that the call came in.
    pub(crate) json: &'a Value,
    /// The provider's id, if there is one.
    pub(crate) id: Option<Cow<'a, str>>,
    /// Empty if missing: dispatching the call then gives an error for the model.
    pub(crate) name: &'a str,
    /// The text of the arguments as it came.
    pub(crate) arguments: Cow<'a, str>,
    pub(crate) index: Option<usize>,
    /// Fields that the provider wants back with the call.
    pub(crate) extras: ProviderExtras,
}

impl WireCall<'_> {
    pub(crate) fn into_call(self, id: CallId) -> ToolCall {
        let call = ToolCall::new(id, self.name, self.arguments).with_extras(self.extras);
        match self.index {
            Some(index) => call.with_index(index),
            None => call,
        }
    }
}

/// Returns the text of a field; empty if it is missing or no text.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Reads an id, which some servers write as a number or leave empty.
pub(crate) fn id(value: Option<&Value>) -> Option<Cow<'_, str>> {
    match value? {
        Value::String(id) if !id.is_empty() => Some(Cow::Borrowed(id)),
        Value::Number(id) => Some(Cow::Owned(id.to_string())),
        _ => None,
    }
}

/// Reads arguments. A value in the place of text becomes its text.
///
/// Blank arguments at the point where the model was stopped (`is_cut`) become `{`, which is not JSON:
/// running the call without arguments would run another call than the model was writing.
pub(crate) fn arguments(value: Option<&Value>, is_cut: bool) -> Cow<'_, str> {
    match value {
        value if is_cut && is_blank(value) => Cow::Borrowed("{"),
        None | Some(Value::Null) => Cow::Borrowed(""),
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(value) => Cow::Owned(value.to_string()),
    }
}

/// Returns whether arguments are missing, blank text, or an object without members.
pub(crate) fn is_blank(arguments: Option<&Value>) -> bool {
    match arguments {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(Value::Object(members)) => members.is_empty(),
        Some(_) => false,
    }
}

/// Reads the free text of a custom call as the argument `input`, for tools with such a parameter.
pub(crate) fn input_arguments(input: Option<&Value>) -> Cow<'_, str> {
    match input {
        None | Some(Value::Null) => Cow::Borrowed(""),
        Some(input) => Cow::Owned(json!({"input": input}).to_string()),
    }
}

/// Returns the free text of a custom call: the argument `input` if there is no other, else all arguments.
pub(crate) fn free_text(arguments: &str) -> Cow<'_, str> {
    match serde_json::from_str::<Fields>(arguments) {
        Ok(mut fields) if fields.len() == 1 => match fields.remove("input") {
            Some(Value::String(input)) => Cow::Owned(input),
            Some(input) => Cow::Owned(input.to_string()),
            None => Cow::Borrowed(arguments),
        },
        _ => Cow::Borrowed(arguments),
    }
}

/// Makes the free text of a received custom call a text.
pub(crate) fn make_text(fields: &mut Fields, name: &str) {
    let value = fields.entry(name).or_insert(Value::Null);
    match value {
        Value::String(_) => {}
        Value::Null => *value = "".into(),
        _ => *value = value.to_string().into(),
    }
}

/// Returns the arguments of a received call as an object. A value that is one already stays as it came.
pub(crate) fn object(value: Option<&Value>, arguments: &str) -> Value {
    match value {
        Some(object @ Value::Object(_)) if arguments != "{" => object.clone(),
        _ => serde_json::from_str(&history::arguments(arguments)).unwrap_or_else(|_| json!({})),
    }
}
