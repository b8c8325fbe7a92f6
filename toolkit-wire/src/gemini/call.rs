//! Calls in the parts of a content, read and written.

use super::FACTS;
use super::spelling::{camel, get};
use crate::call::{self, WireCall};
use crate::fields::Fields;
use crate::ids;
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

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
        extras: ProviderExtras::new(FACTS.name, beside(part)),
    })
}

/// Returns the fields beside the call, spelled as in the reference.
pub(super) fn beside(part: &Value) -> Fields {
    let others = part.as_object().into_iter().flatten().map(|(name, value)| (camel(name), value));
    let others = others.filter(|(name, value)| name != "functionCall" && !value.is_null());
    others.map(|(name, value)| (name.into_owned(), value.clone())).collect()
}

/// Returns the fields of a part without a result, which is never the model's.
pub(super) fn without_result(mut part: Fields) -> Fields {
    part.retain(|name, _| camel(name) != "functionResponse");
    part
}

/// Returns whether a part says something. An empty text is refused, unless it carries a signature, which must
/// come back.
pub(super) fn says_something(part: &Fields) -> bool {
    let mut fields = part.iter().filter(|(name, value)| *name != "thought" && !value.is_null());
    fields.any(|(name, value)| name != "text" || value != "") || get(part, "thoughtSignature").is_some()
}

/// Returns the id for the service: its own, or that of another provider, never one that was generated here
/// because there was none. A result is then found by its position, and an id that only
/// one of call and result has would be an error. The reference states no rule for ids.
pub(super) fn sendable_id(id: &str) -> Option<&str> {
    (!id.is_empty() && !ids::is_generated(id)).then_some(id)
}
