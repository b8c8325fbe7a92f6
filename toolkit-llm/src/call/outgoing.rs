//! Calls to be written into the next request.

use super::arguments::{Arguments, CUT};
use super::sanitize;
use crate::json::fields::Fields;
use serde_json::Value;
use std::borrow::Cow;
use toolkit_core::call::{ProviderExtras, ToolCall};
use toolkit_core::name::{NameRule, WireNames};

#[derive(Debug)]
pub(crate) struct OutgoingCall<'a> {
    pub(crate) origin: Origin<'a>,
    /// The call id, in a form accepted in requests.
    pub(crate) id: String,
    /// The tool name, in the provider's spelling.
    pub(crate) name: String,
    pub(crate) arguments: Arguments<'a>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin<'a> {
    Received { json: &'a Value, is_custom: bool },
    Made(&'a ProviderExtras),
}

impl<'a> OutgoingCall<'a> {
    pub(crate) fn made(call: &'a ToolCall, id: String, rule: NameRule, names: &WireNames) -> Self {
        let name = sanitize::name(rule, names.spell(&call.name)).into_owned();
        let arguments = Arguments::Text(Cow::Borrowed(call.arguments.as_str()));
        Self { origin: Origin::Made(&call.extras), id, name, arguments }
    }

    /// Returns the fields to which id, name and arguments are added: all fields of a received call, or the
    /// provider extras of another.
    pub(crate) fn fields(&self, format: &str) -> Fields {
        let fields = match self.origin {
            Origin::Received { json, .. } => json.as_object(),
            Origin::Made(extras) => extras.for_api(format),
        };
        fields.cloned().unwrap_or_default()
    }
}

impl Origin<'_> {
    /// Returns how the arguments are written: whether it is a custom tool call, and the name and the string
    /// of the field.
    ///
    /// A call made by the program is custom if the `type` in its provider extras is `custom`.
    pub(crate) fn text<'t>(
        self,
        arguments: &'t Arguments<'_>,
        format: &str,
        custom: &str,
    ) -> (bool, &'static str, Cow<'t, str>) {
        let is_custom = match self {
            Self::Received { is_custom, .. } => is_custom,
            Self::Made(extras) => extras.get(format, "type").and_then(Value::as_str) == Some(custom),
        };
        match (arguments, is_custom) {
            (Arguments::Text(text), true) => (true, "input", free_text(text)),
            (Arguments::Text(text), false) => (false, "arguments", sanitize::arguments(text)),
            (Arguments::Object(object), _) => (is_custom, "arguments", Cow::Owned(object.to_string())),
        }
    }
}

/// Returns the input of a custom tool call: the argument `input` if it is the only one, and otherwise the
/// text of all arguments. It may be cut off.
fn free_text(arguments: &str) -> Cow<'_, str> {
    let mut fields = serde_json::from_str::<Fields>(arguments);
    if fields.is_err() {
        fields = serde_json::from_str(&format!("{arguments}{CUT}"));
    }
    match fields {
        Ok(mut fields) if fields.len() == 1 => match fields.remove("input") {
            Some(Value::String(input)) => Cow::Owned(input),
            Some(input) => Cow::Owned(input.to_string()),
            None => Cow::Borrowed(arguments),
        },
        _ => Cow::Borrowed(arguments),
    }
}
