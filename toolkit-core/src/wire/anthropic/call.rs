//! One call as it stands in a payload: read into ours, and made fit for the next request.

use super::{FORMAT, Fields, NAMES};
use crate::call::{CallId, ProviderExtras, ToolCall};
use crate::wire::history;
use serde_json::Value;
use std::borrow::Cow;

/// The fields that have a place in our call. All others (`caller`, `toolset_name`) are its extras.
const KNOWN: [&str; 4] = ["type", "id", "name", "input"];

/// A block `{type: "tool_use", id, name, input}`.
#[derive(Clone, Copy)]
pub(super) struct WireCall<'a>(pub(super) &'a Value);

impl<'a> WireCall<'a> {
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
        match self.0.get("id")? {
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
    pub(super) fn to_history(self, id: &str) -> Value {
        let mut block = self.0.as_object().cloned().unwrap_or_default();
        block.retain(|_, value| !value.is_null());
        block.insert("type".to_owned(), "tool_use".into());
        block.insert("id".to_owned(), id.into());
        block.insert("name".to_owned(), history::name(NAMES, self.name()).into());
        let input = history_input(block.get("input"));
        block.insert("input".to_owned(), input);
        Value::Object(block)
    }

    fn extras(self) -> ProviderExtras {
        let fields = self.0.as_object().into_iter().flatten();
        let others = fields.filter(|(name, value)| !KNOWN.contains(&name.as_str()) && !value.is_null());
        ProviderExtras::new(FORMAT, others.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// Empty if there is none: dispatching the call then tells the model that no tool has this name.
    pub(super) fn name(self) -> &'a str {
        self.0.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// The text of the arguments. Servers that write text instead of a value get it as it came.
    fn arguments(self) -> Cow<'a, str> {
        input_text(self.0.get("input"))
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
