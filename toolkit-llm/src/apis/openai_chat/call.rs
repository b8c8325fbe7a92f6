//! Reads and writes the calls of a message.

use super::FACTS;
use crate::call::{Arguments, WireCall};
use crate::fields::{Fields, only, set, text};
use serde_json::Value;
use std::borrow::Cow;
use toolkit_core::call::ProviderExtras;

/// Returns whether a value has the form of a call: it has an object `function` or `custom`, or one of these two types.
pub(super) fn is_call(value: &Value) -> bool {
    let has = |name| value.get(name).is_some_and(Value::is_object);
    has("function") || has("custom") || matches!(text(value, "type"), "function" | "custom")
}

/// Returns the `function_call` of a message, the older form of a call. An empty `function_call` is ignored, because
/// some servers write it although the model has not called a tool.
pub(super) fn legacy(message: &Fields) -> Option<&Value> {
    message.get("function_call").filter(|call| call.is_object() && !is_empty(&read(call, false)))
}

/// Returns whether a call has neither an id nor a name nor arguments.
pub(super) fn is_empty(call: &WireCall<'_>) -> bool {
    call.id.is_none() && call.name.is_empty() && text_of(call).trim().is_empty()
}

/// Returns the arguments or the custom input of a call as text.
pub(super) fn text_of<'a>(call: &WireCall<'a>) -> Cow<'a, str> {
    Arguments::of(call.input, false).into_text()
}

/// Reads an element of `tool_calls`. The element is `{id, type, function: {name, arguments}}`, or
/// `{id, type, custom: {name, input}}`.
///
/// The older `function_call` has only `{name, arguments}`. `is_cut` is `true` if the response was cut off at this call.
/// If a stream was cut off during a custom tool call, the call has the `status` `incomplete`.
pub(super) fn read(json: &Value, is_cut: bool) -> WireCall<'_> {
    let custom = custom(json);
    let part = custom.unwrap_or_else(|| json.get("function").filter(|part| part.is_object()).unwrap_or(json));
    let input = part.get(if custom.is_some() { "input" } else { "arguments" });
    WireCall {
        is_custom: custom.is_some(),
        is_cut: is_cut || custom.is_some() && text(json, "status") == "incomplete",
        index: index(json),
        ..WireCall::new(json, json.get("id"), text(part, "name"), input, extras)
    }
}

/// Reads the index of a call. Some servers write it as a string.
fn index(json: &Value) -> Option<usize> {
    match json.get("index")? {
        Value::String(text) => text.parse().ok(),
        index => index.as_u64().and_then(|index| usize::try_from(index).ok()),
    }
}

/// Returns the object `custom` of a custom tool call, with the tool name and the input. Returns `None` for a
/// function call.
fn custom(json: &Value) -> Option<&Value> {
    let custom = json.get("custom").filter(|custom| custom.is_object());
    custom.filter(|_| !json.get("function").is_some_and(Value::is_object))
}

/// Collects the fields that the server expects back, such as `extra_content` with Gemini's thought signature.
///
/// For a custom call, also adds the field `type` with the value `custom`.
fn extras(json: &Value, is_custom: bool) -> ProviderExtras {
    let Some(call) = json.as_object() else { return ProviderExtras::default() };
    let unknown = |fields: &Fields| only(fields, |name, _| is_unknown(name));
    let mut extras = unknown(call);
    let kind = if is_custom { "custom" } else { "function" };
    if is_custom {
        set(&mut extras, "type", kind);
    }
    let part = call.get(kind).and_then(Value::as_object).map(unknown).unwrap_or_default();
    if !part.is_empty() {
        set(&mut extras, kind, part);
    }
    ProviderExtras::new(FACTS.name, extras)
}

/// Returns whether the field `name` has no counterpart in [`ToolCall`](toolkit_core::call::ToolCall). An
/// example is `extra_content`.
pub(super) fn is_unknown(name: &str) -> bool {
    const KNOWN: [&str; 8] = ["index", "id", "type", "function", "custom", "name", "arguments", "input"];
    !KNOWN.contains(&name)
}

/// Builds the JSON of a call. `kind` is `function` or `custom`, and `part` is the object with the name and
/// the arguments.
pub(super) fn whole(mut fields: Fields, id: impl Into<Value>, kind: &str, part: Fields) -> Value {
    set(&mut fields, "id", id);
    set(&mut fields, "type", kind);
    set(&mut fields, kind, part);
    Value::Object(fields)
}
