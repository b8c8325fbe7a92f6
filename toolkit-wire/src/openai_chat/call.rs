//! Calls of a message, read and written.

use super::{FORMAT, NAMES};
use crate::call::{self, Fields, WireCall, text};
use crate::history;
use serde_json::Value;
use toolkit_core::call::{ProviderExtras, ToolCall};
use toolkit_core::name::WireNames;

/// Returns whether a value is a call, when nothing around it says so.
pub(super) fn is_call(value: &Value) -> bool {
    let has = |name| value.get(name).is_some_and(Value::is_object);
    has("function") || has("custom") || matches!(text(value, "type"), "function" | "custom")
}

/// Reads an element of `tool_calls`: `{id, type, function: {name, arguments}}`, or with `custom: {name,
/// input}`. The older `function_call` is `{name, arguments}` without the rest.
///
/// `is_cut` marks the call at which the model was stopped.
pub(super) fn read(json: &Value, is_cut: bool) -> WireCall<'_> {
    let custom = custom(json);
    let part = custom.unwrap_or_else(|| json.get("function").filter(|part| part.is_object()).unwrap_or(json));
    let index = json.get("index").and_then(Value::as_u64);
    WireCall {
        json,
        id: call::id(json.get("id")),
        name: text(part, "name"),
        arguments: match custom {
            Some(custom) => call::input_arguments(custom.get("input")),
            None => call::arguments(part.get("arguments"), is_cut),
        },
        index: index.and_then(|index| usize::try_from(index).ok()),
        extras: extras(json, custom.is_some()),
    }
}

/// Returns the name and the free text of a `custom` call; `None` for a call of a function.
fn custom(json: &Value) -> Option<&Value> {
    let custom = json.get("custom").filter(|custom| custom.is_object());
    custom.filter(|_| !json.get("function").is_some_and(Value::is_object))
}

/// Fields that the server wants back, such as `extra_content` with Gemini's thought signature, and the
/// mark of free text.
fn extras(json: &Value, is_custom: bool) -> ProviderExtras {
    let Some(call) = json.as_object() else { return ProviderExtras::default() };
    let mut extras = unknown(call);
    let kind = if is_custom { "custom" } else { "function" };
    if is_custom {
        extras.insert("type".to_owned(), kind.into());
    }
    let part = call.get(kind).and_then(Value::as_object).map(unknown).unwrap_or_default();
    if !part.is_empty() {
        extras.insert(kind.to_owned(), part.into());
    }
    ProviderExtras::new(FORMAT, extras)
}

/// Returns the fields of a call, or of its function, that have no place in ours.
pub(super) fn unknown(fields: &Fields) -> Fields {
    const KNOWN: [&str; 8] = ["index", "id", "type", "function", "custom", "name", "arguments", "input"];
    let fields = fields.iter().filter(|(name, _)| !KNOWN.contains(&name.as_str()));
    fields.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Writes a received call for the next request. Unknown fields stay.
pub(super) fn write(call: &WireCall<'_>, id: String, names: &WireNames) -> Value {
    let mut fields = call.json.as_object().cloned().unwrap_or_default();
    let kind = if custom(call.json).is_some() { "custom" } else { "function" };
    let mut part = match fields.get_mut(kind).map(Value::take) {
        Some(Value::Object(part)) => part,
        // The older form, whose fields stand in the call itself, is moved.
        _ => {
            fields.shift_remove("name");
            fields.shift_remove("arguments");
            Fields::new()
        }
    };
    part.insert("name".to_owned(), history::name(NAMES, names.spell(call.name)).into());
    match kind {
        "custom" => call::make_text(&mut part, "input"),
        _ => drop(part.insert("arguments".to_owned(), history::arguments(&call.arguments).into())),
    }
    whole(fields, id, kind, part)
}

/// Encodes a call with the fields that the server gave it.
pub(super) fn encode(call: &ToolCall, id: String, names: &WireNames) -> Value {
    let mut fields = call.extras.of(FORMAT).cloned().unwrap_or_default();
    let arguments = call.arguments.as_str();
    let (kind, key, text) = match fields.get("type").is_some_and(|kind| kind == "custom") {
        true => ("custom", "input", call::free_text(arguments)),
        false => ("function", "arguments", history::arguments(arguments)),
    };
    let mut part = match fields.shift_remove(kind) {
        Some(Value::Object(part)) => part,
        _ => Fields::new(),
    };
    part.insert("name".to_owned(), history::name(NAMES, names.spell(&call.name)).into());
    part.insert(key.to_owned(), text.into());
    whole(fields, id, kind, part)
}

/// Returns a call of this kind with its name and arguments in `part`.
pub(super) fn whole(mut fields: Fields, id: impl Into<Value>, kind: &str, part: Fields) -> Value {
    fields.insert("id".to_owned(), id.into());
    fields.insert("type".to_owned(), kind.into());
    fields.insert(kind.to_owned(), part.into());
    Value::Object(fields)
}
