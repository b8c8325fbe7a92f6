//! Calls and messages as they are received and written, and the reading of fields that providers share.

use crate::fields::Fields;
use crate::history;
use serde_json::{Value, json};
use std::borrow::Cow;
use toolkit_core::call::{CallId, ProviderExtras, ToolCall};
use toolkit_core::name::{NameRule, WireNames};

/// The model's messages in a payload.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) payload: &'a Value,
    pub(crate) messages: Vec<Message<'a>>,
}

/// One message of the model.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    /// The fields of the message; `None` for parts that came without one.
    pub(crate) fields: Option<&'a Fields>,
    pub(crate) parts: Vec<Part<'a>>,
    /// Whether it is all that the model said in its turn.
    pub(crate) is_whole: bool,
}

#[derive(Debug)]
pub(crate) enum Part<'a> {
    Call(WireCall<'a>),
    Other(&'a Value),
}

impl<'a> Reading<'a> {
    /// Returns the parts of the first message that are not calls.
    pub(crate) fn other_parts(&self) -> impl Iterator<Item = &'a Value> {
        self.messages.first().into_iter().flat_map(|message| &message.parts).filter_map(|part| match part {
            Part::Call(_) => None,
            Part::Other(part) => Some(*part),
        })
    }
}

impl<'a> Message<'a> {
    /// Reads a list of parts. At the one at `cut`, the model was stopped.
    pub(crate) fn of_parts(
        list: &'a [Value],
        cut: Option<usize>,
        read: impl Fn(&'a Value, bool) -> Option<WireCall<'a>>,
    ) -> Self {
        let parts = list.iter().enumerate().map(|(at, part)| match read(part, Some(at) == cut) {
            Some(call) => Part::Call(call),
            None => Part::Other(part),
        });
        Self { fields: None, parts: parts.collect(), is_whole: true }
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = &WireCall<'a>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            Part::Other(_) => None,
        })
    }
}

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

    /// Returns the call for the next request.
    pub(crate) fn outgoing(&self, id: String, rule: NameRule, names: &WireNames) -> OutgoingCall<'_> {
        let name = history::name(rule, names.spell(self.name)).into_owned();
        OutgoingCall { received: Some(self.json), extras: &self.extras, id, name, arguments: &self.arguments }
    }
}

/// A call for the next request, received or made.
#[derive(Debug)]
pub(crate) struct OutgoingCall<'a> {
    /// The JSON that it was received in.
    pub(crate) received: Option<&'a Value>,
    pub(crate) extras: &'a ProviderExtras,
    /// The id as requests accept it.
    pub(crate) id: String,
    /// The name as it is spelled, and accepted.
    pub(crate) name: String,
    pub(crate) arguments: &'a str,
}

impl<'a> OutgoingCall<'a> {
    pub(crate) fn made(call: &'a ToolCall, id: String, rule: NameRule, names: &WireNames) -> Self {
        let name = history::name(rule, names.spell(&call.name)).into_owned();
        Self { received: None, extras: &call.extras, id, name, arguments: call.arguments.as_str() }
    }

    /// Returns the fields that the call came with: all of a received one, and the extras of one that was made.
    pub(crate) fn fields(&self, format: &str) -> Fields {
        let extras = || self.extras.of(format);
        self.received.map_or_else(extras, Value::as_object).cloned().unwrap_or_default()
    }

    /// Returns whether the call has the mark `custom` of free text, the field of its text, and the text.
    pub(crate) fn text(&self, format: &str, custom: &str) -> (bool, &'static str, Cow<'a, str>) {
        match self.extras.get(format, "type").is_some_and(|kind| kind == custom) {
            true => (true, "input", free_text(self.arguments)),
            false => (false, "arguments", history::arguments(self.arguments)),
        }
    }
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

/// Returns the arguments of a received call as an object. A value that is one already stays as it came.
pub(crate) fn object(value: Option<&Value>, arguments: &str) -> Value {
    match value {
        Some(object @ Value::Object(_)) if arguments != "{" => object.clone(),
        _ => serde_json::from_str(&history::arguments(arguments)).unwrap_or_else(|_| json!({})),
    }
}
