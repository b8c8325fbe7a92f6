//! One call as it stands in a payload: read into ours, and made fit for the next request.

use super::response::Fields;
use super::{API, NAMES};
use crate::history;
use serde_json::{Value, json};
use std::borrow::Cow;
use toolkit_core::call::{CallId, ProviderExtras, ToolCall};
use toolkit_core::name::WireNames;

/// An element of `tool_calls`: `{id, type, function: {name, arguments}}`, or with `custom: {name,
/// input}`. The older `function_call` is `{name, arguments}` without the rest, which is read as well.
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

    /// Takes note that the model was stopped here.
    pub(super) fn stopped(self) -> Self {
        Self { is_last_words: true, ..self }
    }

    /// Whether a value that nothing else tells about is a call.
    pub(super) fn is(value: &Value) -> bool {
        let has = |name| value.get(name).is_some_and(Value::is_object);
        let kind = value.get("type").and_then(Value::as_str);
        has("function") || has("custom") || matches!(kind, Some("function" | "custom"))
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
        let call = ToolCall::new(id, self.name(), self.arguments()).with_extras(self.extras());
        match self.json.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok()) {
            Some(index) => call.with_index(index),
            None => call,
        }
    }

    /// What the server wants back with the call, as in `extra_content`, which holds the thought
    /// signature of Gemini, and whether it is one of free text.
    fn extras(self) -> ProviderExtras {
        let Some(call) = self.json.as_object() else { return ProviderExtras::default() };
        let mut extras = unknown(call);
        let (kind, part) = match self.custom() {
            Some(custom) => ("custom", custom),
            None => ("function", call.get("function").unwrap_or(&Value::Null)),
        };
        if kind == "custom" {
            extras.insert("type".to_owned(), kind.into());
        }
        let part = part.as_object().map(unknown).unwrap_or_default();
        if !part.is_empty() {
            extras.insert(kind.to_owned(), part.into());
        }
        ProviderExtras::new(API, extras)
    }

    pub(super) fn asks_the_same(self, other: &Self) -> bool {
        self.name() == other.name() && self.arguments() == other.arguments()
    }

    /// The call for the next request, with this id. Fields that are not known here stay.
    pub(super) fn to_history(self, id: String, names: &WireNames) -> Value {
        let mut call = self.json.as_object().cloned().unwrap_or_default();
        let (kind, part) = match self.custom() {
            Some(custom) => ("custom", self.history_custom(custom, names)),
            None => ("function", self.history_function(&mut call, names)),
        };
        call.insert("id".to_owned(), id.into());
        call.insert("type".to_owned(), kind.into());
        call.insert(kind.to_owned(), part.into());
        Value::Object(call)
    }

    /// The function with a name and arguments that a service takes back; in a legacy call they stand
    /// in the call itself and are moved.
    fn history_function(self, call: &mut Fields, names: &WireNames) -> Fields {
        let nested = self.json.get("function").and_then(Value::as_object);
        if nested.is_none() {
            call.shift_remove("name");
            call.shift_remove("arguments");
        }
        let mut function = nested.cloned().unwrap_or_default();
        function.insert("name".to_owned(), history::name(NAMES, names.spell(self.name())).into());
        function.insert("arguments".to_owned(), history::arguments(&self.arguments()).into());
        function
    }

    /// Free text is acceptable whatever it is, as long as it is text.
    fn history_custom(self, custom: &Value, names: &WireNames) -> Fields {
        let mut custom = custom.as_object().cloned().unwrap_or_default();
        custom.insert("name".to_owned(), history::name(NAMES, names.spell(self.name())).into());
        let input = custom.entry("input").or_insert_with(|| "".into());
        if !input.is_string() {
            *input = input.to_string().into();
        }
        custom
    }

    /// The name and the free text of a `custom` call; `None` for a call of a function.
    fn custom(self) -> Option<&'a Value> {
        let custom = self.json.get("custom").filter(|custom| custom.is_object());
        custom.filter(|_| !self.json.get("function").is_some_and(Value::is_object))
    }

    fn function(self) -> &'a Value {
        self.json.get("function").filter(|function| function.is_object()).unwrap_or(self.json)
    }

    /// Empty if there is none: dispatching the call then tells the model that no tool has this name.
    fn name(self) -> &'a str {
        let named = self.custom().unwrap_or_else(|| self.function());
        named.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// The text of the arguments as it came. Servers that write a value instead of text (Ollama) get
    /// the value's text, and the input of a custom call becomes the argument `input`, so that a tool
    /// with such a parameter can answer it.
    fn arguments(self) -> Cow<'a, str> {
        let (value, is_input) = match self.custom() {
            Some(custom) => (custom.get("input"), true),
            None => (self.function().get("arguments"), false),
        };
        match value {
            // Cut off before the first of them: to run the call with none would be to run another.
            value if self.is_last_words && !is_input && is_blank(value) => Cow::Borrowed("{"),
            None | Some(Value::Null) => Cow::Borrowed(""),
            Some(input) if is_input => Cow::Owned(json!({"input": input}).to_string()),
            Some(Value::String(text)) => Cow::Borrowed(text),
            Some(value) => Cow::Owned(value.to_string()),
        }
    }
}

fn is_blank(arguments: Option<&Value>) -> bool {
    match arguments {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(_) => false,
    }
}

/// The fields of a call, or of its function, that are not known here.
pub(super) fn unknown(fields: &Fields) -> Fields {
    const KNOWN: [&str; 8] = ["index", "id", "type", "function", "custom", "name", "arguments", "input"];
    let fields = fields.iter().filter(|(name, _)| !KNOWN.contains(&name.as_str()));
    fields.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// A call of ours for a request, with this id and what this API said about it.
pub(super) fn encode_call(call: &ToolCall, id: String, names: &WireNames) -> Value {
    let name = history::name(NAMES, names.spell(&call.name));
    let mut fields = call.extras.of(API).cloned().unwrap_or_default();
    let is_custom = fields.get("type").is_some_and(|kind| kind == "custom");
    let (kind, key, text) = if is_custom {
        ("custom", "input", free_text(call.arguments.as_str()))
    } else {
        ("function", "arguments", history::arguments(call.arguments.as_str()))
    };
    let mut part = match fields.shift_remove(kind) {
        Some(Value::Object(part)) => part,
        _ => Fields::new(),
    };
    part.insert("name".to_owned(), name.into());
    part.insert(key.to_owned(), text.into());
    fields.insert("id".to_owned(), id.into());
    fields.insert("type".to_owned(), kind.into());
    fields.insert(kind.to_owned(), part.into());
    Value::Object(fields)
}

/// The text that became the argument `input`; all arguments, if there is more than that.
fn free_text(arguments: &str) -> Cow<'_, str> {
    match serde_json::from_str::<Fields>(arguments) {
        Ok(fields) if fields.len() == 1 => match fields.get("input") {
            Some(Value::String(input)) => Cow::Owned(input.clone()),
            _ => Cow::Borrowed(arguments),
        },
        _ => Cow::Borrowed(arguments),
    }
}
