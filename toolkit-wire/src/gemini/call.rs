//! Calls in the parts of a content, read and written.

use super::spelling::{camel, get, key};
use super::{FORMAT, NAMES};
use crate::call::{self, Fields, WireCall};
use crate::{history, ids};
use serde_json::Value;
use std::borrow::Cow;
use toolkit_core::call::{ProviderExtras, ToolCall};
use toolkit_core::name::WireNames;

/// Returns the `functionCall` of a part, if it holds one.
pub(super) fn function(part: &Value) -> Option<&Value> {
    get(part.as_object()?, "functionCall")
}

/// Reads a part with a call: `{functionCall: {id?, name, args?}, thoughtSignature?}`; `None` if it holds
/// something else. `is_cut` marks the part at which the model was stopped.
///
/// The signature stands beside the call, and since Gemini 3 the service refuses a history in which it is
/// not on the very part it came on.
pub(super) fn read(part: &Value, is_cut: bool) -> Option<WireCall<'_>> {
    let function = function(part)?;
    let field = |name| function.as_object().and_then(|function| get(function, name));
    // Arguments in pieces, which only a stream puts together.
    let is_piece = field("partialArgs").is_some() || field("willContinue").is_some_and(|value| value == true);
    let args = field("args");
    Some(WireCall {
        json: part,
        id: call::id(field("id")),
        name: field("name").and_then(Value::as_str).unwrap_or_default(),
        arguments: call::arguments(args, is_cut || args.is_none() && is_piece),
        index: None,
        extras: ProviderExtras::new(FORMAT, beside(part)),
    })
}

/// Returns the fields beside the call, spelled as in the reference.
pub(super) fn beside(part: &Value) -> Fields {
    let others = part.as_object().into_iter().flatten().map(|(name, value)| (camel(name), value));
    let others = others.filter(|(name, value)| name != "functionCall" && !value.is_null());
    others.map(|(name, value)| (name.into_owned(), value.clone())).collect()
}

/// Writes a received call for the next request. Unknown fields stay.
pub(super) fn write(call: &WireCall<'_>, names: &WireNames) -> Value {
    let mut part = without_result(call.json);
    let Some(key) = key(&part, "functionCall").map(ToOwned::to_owned) else { return part.into() };
    let mut function = match part.get_mut(&key).map(Value::take) {
        Some(Value::Object(function)) => function,
        _ => Fields::new(),
    };
    let args = call::object(get(&function, "args"), &call.arguments);
    // Fields of streams, which the Gemini API refuses.
    function.retain(|name, _| !matches!(&*camel(name), "partialArgs" | "willContinue"));
    fill(&mut function, call.id.as_deref().unwrap_or_default(), names.spell(call.name), args);
    part.insert(key, function.into());
    part.into()
}

pub(super) fn encode(call: &ToolCall, names: &WireNames) -> Value {
    let mut function = Fields::new();
    let args = call::object(None, call.arguments.as_str());
    fill(&mut function, call.id.as_str(), names.spell(&call.name), args);
    let mut part = call.extras.of(FORMAT).cloned().unwrap_or_default();
    part.insert("functionCall".to_owned(), function.into());
    part.into()
}

fn fill(function: &mut Fields, id: &str, name: &str, args: Value) {
    function.insert("name".to_owned(), legal_name(name).into());
    function.insert("args".to_owned(), args);
    match sendable_id(id) {
        Some(id) => drop(function.insert("id".to_owned(), id.into())),
        None => drop(function.shift_remove("id")),
    }
}

/// Returns the fields of a part without a result, which is never the model's.
pub(super) fn without_result(part: &Value) -> Fields {
    let mut part = part.as_object().cloned().unwrap_or_default();
    if let Some(key) = key(&part, "functionResponse").map(ToOwned::to_owned) {
        part.shift_remove(&key);
    }
    part
}

/// Returns whether a part says something. An empty text is refused, unless it carries a signature, which must
/// come back.
pub(super) fn says_something(part: &Fields) -> bool {
    let mut fields = part.iter().filter(|(name, value)| *name != "thought" && !value.is_null());
    fields.any(|(name, value)| name != "text" || value != "") || get(part, "thoughtSignature").is_some()
}

/// Makes a name legal for calls and results of a history.
pub(super) fn legal_name(name: &str) -> Cow<'_, str> {
    history::name(NAMES, name)
}

/// Returns the id for the service: its own, or that of another provider, never one that was generated here
/// because there was none. A result is then found by its position, and an id that only
/// one of call and result has would be an error. The reference states no rule for ids.
pub(super) fn sendable_id(id: &str) -> Option<&str> {
    (!id.is_empty() && !ids::is_generated(id)).then_some(id)
}
