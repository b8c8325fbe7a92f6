//! Calls and messages in a provider's JSON, as received and as written. Also readers for fields that several
//! providers share.

use crate::fields::Fields;
use crate::history;
use serde_json::{Value, json};
use std::borrow::Cow;
use toolkit_core::call::{CallId, ProviderExtras, ToolCall};
use toolkit_core::name::{NameRule, WireNames};

/// The messages of the model found in one payload.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) payload: &'a Value,
    pub(crate) messages: Vec<Message<'a>>,
}

/// One message of the model.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    /// The fields of the message. `None` if the payload holds only parts, without a message around them.
    pub(crate) fields: Option<&'a Fields>,
    pub(crate) parts: Vec<Part<'a>>,
    /// Whether the payload contains the complete message rather than only some of its parts.
    pub(crate) is_whole: bool,
}

#[derive(Debug)]
pub(crate) enum Part<'a> {
    Call(WireCall<'a>),
    Other(&'a Value),
}

impl<'a> Reading<'a> {
    /// Returns the parts of the first message, without the calls.
    pub(crate) fn other_parts(&self) -> impl Iterator<Item = &'a Value> {
        self.messages.first().into_iter().flat_map(|message| &message.parts).filter_map(|part| match part {
            Part::Call(_) => None,
            Part::Other(part) => Some(*part),
        })
    }
}

impl<'a> Message<'a> {
    /// Creates a message from a list of content parts. `cut` is the index of the part at which generation
    /// stopped early.
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
    /// The JSON object of the call, as received.
    pub(crate) json: &'a Value,
    /// The provider's id, if there is one.
    pub(crate) id: Option<Cow<'a, str>>,
    /// The tool name. It is empty if the provider sent none; dispatching such a call gives an error result
    /// for the model.
    pub(crate) name: &'a str,
    /// The text of the arguments, as received.
    pub(crate) arguments: Cow<'a, str>,
    pub(crate) index: Option<usize>,
    /// Extra fields, expected back by the provider together with the call.
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

    /// Converts the received call into a call for the next request, with the call id `id`.
    pub(crate) fn outgoing(&self, id: String, rule: NameRule, names: &WireNames) -> OutgoingCall<'_> {
        let name = history::name(rule, names.spell(self.name)).into_owned();
        OutgoingCall { received: Some(self.json), extras: &self.extras, id, name, arguments: &self.arguments }
    }
}

/// A call to be written into the next request. It was received from the model or made by the program.
#[derive(Debug)]
pub(crate) struct OutgoingCall<'a> {
    /// The JSON object of the call if it was received; `None` if the program made the call.
    pub(crate) received: Option<&'a Value>,
    pub(crate) extras: &'a ProviderExtras,
    /// The id, with only characters accepted in requests.
    pub(crate) id: String,
    /// The tool name, in the provider's spelling.
    pub(crate) name: String,
    pub(crate) arguments: &'a str,
}

impl<'a> OutgoingCall<'a> {
    pub(crate) fn made(call: &'a ToolCall, id: String, rule: NameRule, names: &WireNames) -> Self {
        let name = history::name(rule, names.spell(&call.name)).into_owned();
        Self { received: None, extras: &call.extras, id, name, arguments: call.arguments.as_str() }
    }

    /// Returns the fields to write, before id, name and arguments are set. For a received call, these are all
    /// its fields. For a call made by the program, these are the provider extras.
    pub(crate) fn fields(&self, format: &str) -> Fields {
        let extras = || self.extras.of(format);
        self.received.map_or_else(extras, Value::as_object).cloned().unwrap_or_default()
    }

    /// Returns how to write the arguments: whether the call is a custom tool call, the name of the field, and
    /// the string for this field.
    ///
    /// Custom tool calls have the type `custom` in their provider extras.
    pub(crate) fn text(&self, format: &str, custom: &str) -> (bool, &'static str, Cow<'a, str>) {
        match self.extras.get(format, "type").is_some_and(|kind| kind == custom) {
            true => (true, "input", free_text(self.arguments)),
            false => (false, "arguments", history::arguments(self.arguments)),
        }
    }
}

/// Reads the id of a call. Some servers write it as a number or leave it empty.
pub(crate) fn id(value: Option<&Value>) -> Option<Cow<'_, str>> {
    match value? {
        Value::String(id) if !id.is_empty() => Some(Cow::Borrowed(id)),
        Value::Number(id) => Some(Cow::Owned(id.to_string())),
        _ => None,
    }
}

/// Reads the arguments of a call as a string. A JSON value in place of a string is serialized.
///
/// If generation stopped early at this call (`is_cut`), blank arguments become `{`. That is invalid JSON, so
/// the incomplete call is refused instead of being run without arguments.
pub(crate) fn arguments(value: Option<&Value>, is_cut: bool) -> Cow<'_, str> {
    match value {
        value if is_cut && is_blank(value) => Cow::Borrowed("{"),
        None | Some(Value::Null) => Cow::Borrowed(""),
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(value) => Cow::Owned(value.to_string()),
    }
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

/// Reads the input of a custom tool call as arguments: the input `text` becomes `{"input": "text"}`.
pub(crate) fn input_arguments(input: Option<&Value>) -> Cow<'_, str> {
    match input {
        None | Some(Value::Null) => Cow::Borrowed(""),
        Some(input) => Cow::Owned(json!({"input": input}).to_string()),
    }
}

/// Returns the input of a custom tool call from its arguments: `{"input": "text"}` becomes `text`. If there
/// are other arguments, the arguments are returned as a whole.
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

/// Returns the arguments of a received call as an object. If `value` is already an object, it is returned
/// unchanged.
pub(crate) fn object(value: Option<&Value>, arguments: &str) -> Value {
    match value {
        Some(object @ Value::Object(_)) if arguments != "{" => object.clone(),
        _ => serde_json::from_str(&history::arguments(arguments)).unwrap_or_else(|_| json!({})),
    }
}
