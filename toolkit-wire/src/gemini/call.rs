//! Reads and writes calls among the parts of a content.

use super::FACTS;
use super::spelling::{camel, get};
use crate::call::{self, WireCall};
use crate::fields::Fields;
use crate::ids;
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

/// Returns the `functionCall` of a part, if there is one.
pub(super) fn function(part: &Value) -> Option<&Value> {
    get(part.as_object()?, "functionCall")
}

/// Reads a part with a call: `{functionCall: {id?, name, args?}, thoughtSignature?}`. Returns `None` for
/// other parts.
///
/// If generation stopped early at this part, `is_cut` is `true`. The signature is beside the call. Since
/// Gemini 3, the service refuses a history in which a signature is not on its original part.
pub(super) fn read(part: &Value, is_cut: bool) -> Option<WireCall<'_>> {
    let function = function(part)?;
    let field = |name| function.as_object().and_then(|function| get(function, name));
    // Partial arguments are assembled by the stream decoder only.
    let is_piece = field("partialArgs").is_some() || field("willContinue").is_some_and(|value| value == true);
    let args = field("args");
    Some(WireCall {
        json: part,
        id: call::id(field("id")),
        name: field("name").and_then(Value::as_str).unwrap_or_default(),
        input: args,
        is_custom: false,
        is_cut: is_cut || args.is_none() && is_piece,
        index: None,
        extras: |part, _| ProviderExtras::new(FACTS.name, beside(part)),
    })
}

/// Returns the fields beside the call, in the spelling of the reference.
pub(super) fn beside(part: &Value) -> Fields {
    let others = part.as_object().into_iter().flatten().map(|(name, value)| (camel(name), value));
    let others = others.filter(|(name, value)| name != "functionCall" && !value.is_null());
    others.map(|(name, value)| (name.into_owned(), value.clone())).collect()
}

/// Removes a result from a part. Messages of the model never contain results.
pub(super) fn without_result(mut part: Fields) -> Fields {
    part.retain(|name, _| camel(name) != "functionResponse");
    part
}

/// Returns whether the part has content. The service refuses a part with an empty text, unless it has a
/// signature, which must be sent back.
pub(super) fn says_something(part: &Fields) -> bool {
    let mut fields = part.iter().filter(|(name, value)| *name != "thought" && !value.is_null());
    fields.any(|(name, value)| name != "text" || value != "") || get(part, "thoughtSignature").is_some()
}

/// Returns the id if it comes from this or another provider, and `None` if it was generated here.
///
/// Without an id, the service finds the call of a result by position. A generated id, present only in the
/// call or only in the result, would be an error. The reference states no rule for ids.
pub(super) fn sendable_id(id: &str) -> Option<&str> {
    (!id.is_empty() && !ids::is_generated(id)).then_some(id)
}
