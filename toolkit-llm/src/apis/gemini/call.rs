//! Reads and writes calls. In this API, a message is called a `Content`, and a call is one of its parts.

use super::FACTS;
use super::spelling::get;
use crate::call::WireCall;
use crate::fields::{Fields, camel};
use crate::ids;
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

/// Returns the `functionCall` object of a part, if the part is a call.
pub(super) fn function(part: &Value) -> Option<&Value> {
    get(part.as_object()?, "functionCall")
}

/// Parses a part that contains a call: `{functionCall: {id?, name, args?}, thoughtSignature?}`. Returns `None` for
/// other parts. `is_cut` is `true` if the response was cut off at this part.
///
/// Since Gemini 3, the service refuses a history in which a signature is missing from its original part, so
/// the signature becomes an extra of the call.
pub(crate) fn read(part: &Value, is_cut: bool) -> Option<WireCall<'_>> {
    let function = function(part)?;
    let field = |name| function.as_object().and_then(|function| get(function, name));
    // Only the stream decoder assembles partial arguments. Here, they show that the call is incomplete.
    let is_piece = field("partialArgs").is_some() || field("willContinue").is_some_and(|value| value == true);
    let args = field("args");
    let name = field("name").and_then(Value::as_str).unwrap_or_default();
    let extras = |part: &Value, _| ProviderExtras::new(FACTS.name, beside(part));
    Some(WireCall {
        is_cut: is_cut || args.is_none() && is_piece,
        ..WireCall::new(part, field("id"), name, args, extras)
    })
}

/// Returns the fields of a part other than `functionCall`, with their names in camel case.
pub(super) fn beside(part: &Value) -> Fields {
    let others = part.as_object().into_iter().flatten().map(|(name, value)| (camel(name), value));
    let others = others.filter(|(name, value)| name != "functionCall" && !value.is_null());
    others.map(|(name, value)| (name.into_owned(), value.clone())).collect()
}

/// Removes the field `functionResponse` from a part, because messages of the model must not contain results.
pub(super) fn without_result(mut part: Fields) -> Fields {
    part.retain(|name, _| camel(name) != "functionResponse");
    part
}

/// Returns whether a part has content. The service refuses a part with empty text, unless the part has a
/// signature, which must be sent back.
pub(super) fn says_something(part: &Fields) -> bool {
    let mut fields = part.iter().filter(|(name, value)| *name != "thought" && !value.is_null());
    fields.any(|(name, value)| name != "text" || value != "") || get(part, "thoughtSignature").is_some()
}

/// Returns the id if a provider assigned it, and `None` if this library generated it.
///
/// If there are no ids, the service finds the call of a result by position. Sending a generated id with only
/// the call or only the result would be an error. The reference has no rule for ids.
pub(super) fn sendable_id(id: &str) -> Option<&str> {
    (!id.is_empty() && !ids::is_generated(id)).then_some(id)
}
