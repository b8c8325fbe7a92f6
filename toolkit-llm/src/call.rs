//! Calls in a provider's JSON, received or to be written.

pub(crate) mod arguments;
pub(crate) mod ids;
pub(crate) mod known_calls;
pub(crate) mod outgoing;
pub(crate) mod pairing;
pub(crate) mod received;
pub(crate) mod sanitize;

use arguments::{Arguments, input_arguments, is_blank};
use outgoing::{Origin, OutgoingCall};
use serde_json::Value;
use std::borrow::Cow;
use toolkit_core::call::{CallId, ProviderExtras, ToolCall};
use toolkit_core::name::{NameRule, WireNames};

/// A tool call as received.
#[derive(Debug)]
pub(crate) struct WireCall<'a> {
    pub(crate) json: &'a Value,
    pub(crate) id: Option<Cow<'a, str>>,
    /// Empty if the provider sent none.
    pub(crate) name: &'a str,
    /// The arguments, or the input of a custom tool call.
    pub(crate) input: Option<&'a Value>,
    /// The fields of `json` that are arguments themselves. Empty if one field contains all.
    pub(crate) members: &'static [&'static str],
    pub(crate) is_custom: bool,
    /// Whether generation stopped early at this call.
    pub(crate) is_cut: bool,
    pub(crate) index: Option<usize>,
    /// Reads the extra fields of `json`, which the provider expects back with the call. The second argument
    /// is `is_custom`.
    pub(crate) extras: fn(&Value, bool) -> ProviderExtras,
}

impl<'a> WireCall<'a> {
    pub(crate) fn new(
        json: &'a Value,
        id: Option<&'a Value>,
        name: &'a str,
        input: Option<&'a Value>,
        extras: fn(&Value, bool) -> ProviderExtras,
    ) -> Self {
        let id = self::id(id);
        Self { json, id, name, input, members: &[], is_custom: false, is_cut: false, index: None, extras }
    }

    pub(crate) fn arguments(&self) -> Arguments<'a> {
        match (self.is_custom, self.members) {
            (true, _) => Arguments::Text(input_arguments(self.input, self.is_cut)),
            (false, []) => Arguments::from_value(self.input, self.is_cut),
            (false, members) => Arguments::from_members(self.json, members, self.is_cut),
        }
    }

    /// Returns whether a function call has no arguments so far.
    pub(crate) fn is_blank(&self) -> bool {
        !self.is_custom && self.members.is_empty() && is_blank(self.input)
    }

    /// Returns whether a function call has no arguments or `{}`.
    pub(crate) fn has_no_arguments(&self) -> bool {
        if self.is_blank() {
            return true;
        }
        if self.is_custom || !self.members.is_empty() {
            return false;
        }
        matches!(self.input.and_then(Value::as_str).map(str::trim), Some("" | "{}"))
    }

    pub(super) fn is_orphan(&self) -> bool {
        self.name.is_empty() && !self.has_no_arguments()
    }

    pub(crate) fn into_call(self, id: CallId) -> ToolCall {
        let call = ToolCall::new(id, self.name, self.arguments().into_text())
            .with_extras((self.extras)(self.json, self.is_custom));
        match self.index {
            Some(index) => call.with_index(index),
            None => call,
        }
    }

    /// Converts a received call for the next request.
    pub(crate) fn outgoing(&self, id: String, rule: NameRule, names: &WireNames) -> OutgoingCall<'a> {
        let name = sanitize::name(rule, names.spell(self.name)).into_owned();
        let origin = Origin::Received { json: self.json, is_custom: self.is_custom };
        OutgoingCall { origin, id, name, arguments: self.arguments() }
    }
}

/// Reads the id of a call. Numbers of some servers become strings. Returns `None` for a missing or empty id.
pub(crate) fn id(value: Option<&Value>) -> Option<Cow<'_, str>> {
    match value? {
        Value::String(id) if !id.is_empty() => Some(Cow::Borrowed(id)),
        Value::Number(id) => Some(Cow::Owned(id.to_string())),
        _ => None,
    }
}
