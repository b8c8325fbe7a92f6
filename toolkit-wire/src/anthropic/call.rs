//! One call as it stands in a payload: read into ours, and made fit for the next request.

use super::{FORMAT, Fields, NAMES};
use crate::history;
use serde_json::Value;
use std::borrow::Cow;
use toolkit_core::call::{CallId, ProviderExtras, ToolCall};
use toolkit_core::name::WireNames;

/// The fields that have a place in our call. All others (`caller`, `toolset_name`) are its extras.
const KNOWN: [&str; 4] = ["type", "id", "name", "input"];

/// A block `{type: "tool_use", id, name, input}`.
#[derive(Clone, Copy)]
pub(super) struct WireCall<'a> {
    pub(super) json: &'a Value,
    /// Whether the model was stopped while it wrote this call, or right after it.
    is_last_words: bool,
}

impl<'a> WireCall<'a> {
    pub(super) fn new(json: &'a Value) -> Self {
        Self { json, is_last_words: false }
    }

    /// The call that a block is, if it is one. `is_last_words` says whether the model was stopped there.
    pub(super) fn of(block: &'a Value, is_last_words: bool) -> Option<Self> {
        Self::is(block).then_some(Self { json: block, is_last_words })
    }

    /// Whether a content block is a call of ours. Those of tools that the service runs
    /// (`server_tool_use`) are not. What has no type is a call that came broken: all other blocks
    /// would be without any meaning, while a call must not be lost.
    pub(super) fn is(block: &Value) -> bool {
        match block.get("type") {
            Some(Value::String(kind)) => kind == "tool_use",
            _ => true,
        }
    }

    /// The provider's id as it came; `None` if there is none.
    pub(super) fn id(self) -> Option<Cow<'a, str>> {
        match self.json.get("id")? {
            Value::String(id) if !id.is_empty() => Some(Cow::Borrowed(id)),
            Value::Number(id) => Some(Cow::Owned(id.to_string())),
            _ => None,
        }
    }

    pub(super) fn to_call(self, id: CallId) -> ToolCall {
        ToolCall::new(id, self.name(), self.arguments()).with_extras(self.extras())
    }

    /// The block for the next request, with this id. Fields that are not known here stay, except
    /// `null`, which is how a client writes that there is none, and which the service refuses.
    pub(super) fn to_history(self, id: String, names: &WireNames) -> Value {
        let mut block = self.json.as_object().cloned().unwrap_or_default();
        block.retain(|_, value| !value.is_null());
        block.insert("type".to_owned(), "tool_use".into());
        block.insert("id".to_owned(), id.into());
        block.insert("name".to_owned(), history::name(NAMES, names.spell(self.name())).into());
        let input =
            if self.is_cut() { parsed_input(&self.arguments()) } else { history_input(block.get("input")) };
        block.insert("input".to_owned(), input);
        Value::Object(block)
    }

    /// Whether the model was stopped before the first argument: to run the call with none would be to run
    /// another.
    fn is_cut(self) -> bool {
        self.is_last_words && given_input(self.json).is_none()
    }

    fn extras(self) -> ProviderExtras {
        let fields = self.json.as_object().into_iter().flatten();
        let others = fields.filter(|(name, value)| !KNOWN.contains(&name.as_str()) && !value.is_null());
        ProviderExtras::new(FORMAT, others.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// Empty if there is none: dispatching the call then tells the model that no tool has this name.
    pub(super) fn name(self) -> &'a str {
        self.json.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// The text of the arguments. Servers that write text instead of a value get it as it came.
    fn arguments(self) -> Cow<'a, str> {
        if self.is_cut() {
            return Cow::Borrowed("{");
        }
        input_text(self.json.get("input"))
    }
}

/// The block of a call for a history that is made rather than received.
pub(super) fn encode(call: &ToolCall, id: String, spelled: &str) -> Value {
    let mut block = Fields::new();
    block.insert("type".to_owned(), "tool_use".into());
    block.insert("id".to_owned(), id.into());
    block.insert("name".to_owned(), history::name(NAMES, spelled).into());
    block.insert("input".to_owned(), parsed_input(call.arguments.as_str()));
    for (name, value) in call.extras.of(FORMAT).into_iter().flatten() {
        block.entry(name.as_str()).or_insert_with(|| value.clone());
    }
    Value::Object(block)
}

/// The `input` of a block for the next request, where it must be an object.
pub(super) fn history_input(input: Option<&Value>) -> Value {
    match input {
        Some(object @ Value::Object(_)) => object.clone(),
        input => parsed_input(&input_text(input)),
    }
}

/// The arguments of a block, if it has any: a call that was cut off before the first has an empty object.
pub(super) fn given_input(block: &Value) -> Option<&Value> {
    block.get("input").filter(|input| match input {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    })
}

fn parsed_input(text: &str) -> Value {
    serde_json::from_str(&history::arguments(text)).unwrap_or_else(|_| Fields::new().into())
}

fn input_text(input: Option<&Value>) -> Cow<'_, str> {
    match input {
        None | Some(Value::Null) => Cow::Borrowed(""),
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(value) => Cow::Owned(value.to_string()),
    }
}
