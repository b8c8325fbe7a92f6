//! One call as it stands in a part of a content: read into ours, and made fit for the next request.

use super::spelling::{Fields, camel, get, key};
use super::{FORMAT, NAMES};
use crate::{history, ids};
use serde_json::{Value, json};
use std::borrow::Cow;
use toolkit_core::call::{CallId, ProviderExtras, ToolCall};
use toolkit_core::name::WireNames;

/// A part with a call: `{functionCall: {id?, name, args?}, thoughtSignature?}`.
///
/// The signature stands beside the call, and since Gemini 3 the service refuses a history in which it
/// is not on the very part it came on.
#[derive(Clone, Copy)]
pub(super) struct WireCall<'a> {
    part: &'a Fields,
    pub(super) call: &'a Value,
    /// Whether the model was stopped while it wrote this call, or right after it.
    is_last_words: bool,
}

impl<'a> WireCall<'a> {
    /// `None` if the part holds something else.
    pub(super) fn of(part: &'a Value) -> Option<Self> {
        let part = part.as_object()?;
        Some(Self { part, call: get(part, "functionCall")?, is_last_words: false })
    }

    /// Takes note that the model was stopped here.
    pub(super) fn stopped(self) -> Self {
        Self { is_last_words: true, ..self }
    }

    /// The provider's id as it came; `None` if there is none, as is usual before Gemini 3.
    pub(super) fn id(self) -> Option<Cow<'a, str>> {
        match self.field("id")? {
            Value::String(id) if !id.is_empty() => Some(Cow::Borrowed(id)),
            Value::Number(id) => Some(Cow::Owned(id.to_string())),
            _ => None,
        }
    }

    /// Empty if there is none: dispatching the call then tells the model that no tool has this name.
    pub(super) fn name(self) -> &'a str {
        self.field("name").and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn to_call(self, id: CallId) -> ToolCall {
        let extras = ProviderExtras::new(FORMAT, self.beside());
        ToolCall::new(id, self.name(), self.arguments()).with_extras(extras)
    }

    /// What stands beside the call, spelled as in the reference.
    pub(super) fn beside(self) -> Fields {
        let others = self.part.iter().map(|(name, value)| (camel(name), value));
        let others = others.filter(|(name, value)| name != "functionCall" && !value.is_null());
        others.map(|(name, value)| (name.into_owned(), value.clone())).collect()
    }

    /// The part for the next request. What is not known here stays.
    pub(super) fn to_history(self, names: &WireNames) -> Value {
        let mut call = self.call.as_object().cloned().unwrap_or_default();
        call.insert("name".to_owned(), legal_name(names.spell(self.name())).into());
        call.insert("args".to_owned(), self.history_args());
        match self.id().as_deref().and_then(sendable_id) {
            Some(id) => call.insert("id".to_owned(), id.into()),
            None => call.shift_remove("id"),
        };
        // They belong to streams, and the Gemini API refuses them.
        call.retain(|name, _| !matches!(&*camel(name), "partialArgs" | "willContinue"));
        let mut part = self.part.clone();
        let key = key(self.part, "functionCall").unwrap_or("functionCall");
        part.insert(key.to_owned(), call.into());
        Value::Object(part)
    }

    fn history_args(self) -> Value {
        match self.field("args") {
            Some(args @ Value::Object(_)) if !self.is_cut() => args.clone(),
            _ => arguments_object(&self.arguments()),
        }
    }

    fn field(self, name: &str) -> Option<&'a Value> {
        self.call.as_object().and_then(|call| get(call, name))
    }

    /// Whether the arguments come in pieces, which only a stream puts together.
    fn is_piece(self) -> bool {
        self.field("partialArgs").is_some() || self.field("willContinue").is_some_and(|value| value == true)
    }

    /// Whether there are no arguments, which may be because the model was stopped before the first.
    pub(super) fn is_blank(self) -> bool {
        match self.field("args") {
            None => true,
            Some(Value::String(text)) => text.trim().is_empty(),
            Some(Value::Object(members)) => members.is_empty(),
            Some(_) => false,
        }
    }

    /// To run a call with no arguments that was cut off would be to run another.
    fn is_cut(self) -> bool {
        self.is_last_words && self.is_blank()
    }

    /// The text of the arguments. They come as a value; servers that imitate the API may write text.
    fn arguments(self) -> Cow<'a, str> {
        match self.field("args") {
            _ if self.is_cut() => Cow::Borrowed("{"),
            // One event of a stream: to run the call with what is there would be to run another.
            None if self.is_piece() => Cow::Borrowed("{"),
            None => Cow::Borrowed(""),
            Some(Value::String(text)) => Cow::Borrowed(text),
            Some(value) => Cow::Owned(value.to_string()),
        }
    }
}

/// An empty text is refused, unless it carries a signature, which must come back.
pub(super) fn says_something(part: &Value) -> bool {
    let Some(part) = part.as_object() else { return false };
    let mut said = part.iter().filter(|(name, value)| *name != "thought" && !value.is_null());
    said.any(|(name, value)| name != "text" || value != "") || get(part, "thoughtSignature").is_some()
}

/// The part that asks for this call.
pub(super) fn encode_call(call: &ToolCall, names: &WireNames) -> Value {
    let mut function = Fields::new();
    function.insert("name".to_owned(), legal_name(names.spell(&call.name)).into());
    function.insert("args".to_owned(), arguments_object(call.arguments.as_str()));
    if let Some(id) = sendable_id(call.id.as_str()) {
        function.insert("id".to_owned(), id.into());
    }
    let mut part = call.extras.of(FORMAT).cloned().unwrap_or_default();
    part.insert("functionCall".to_owned(), function.into());
    Value::Object(part)
}

/// The name as calls and results of a history spell it.
pub(super) fn legal_name(name: &str) -> Cow<'_, str> {
    history::name(NAMES, name)
}

/// The id that the service gets to see: its own, or that of another provider, never one that was
/// generated here because there was none. A result is then found by its position, and an id that
/// only one of call and result has would be an error. The reference states no rule for ids.
pub(super) fn sendable_id(id: &str) -> Option<&str> {
    (!id.is_empty() && !ids::is_generated(id)).then_some(id)
}

fn arguments_object(text: &str) -> Value {
    serde_json::from_str(&history::arguments(text)).unwrap_or_else(|_| json!({}))
}
