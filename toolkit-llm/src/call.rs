//! Calls and messages in a provider's JSON, both received and to be written. Also functions to read the
//! fields that several providers share.

pub(crate) mod ids;
pub(crate) mod known_calls;
pub(crate) mod pairing;
pub(crate) mod sanitize;

use crate::json::fields::{Fields, only};
use known_calls::KnownCalls;
use serde_json::{Value, json};
use std::borrow::Cow;
use toolkit_core::call::{CallId, ProviderExtras, ToolCall};
use toolkit_core::name::{NameRule, WireNames};

/// The model's messages found in one payload.
#[derive(Debug)]
pub(crate) struct DecodedPayload<'a> {
    pub(crate) payload: &'a Value,
    pub(crate) messages: Vec<Message<'a>>,
}

/// One message of the model, divided into its calls and its other parts.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    /// The fields of the message. `None` if the payload consists of parts without a message.
    pub(crate) fields: Option<&'a Fields>,
    pub(crate) parts: Vec<MessagePart<'a>>,
    /// Whether the payload contains the complete message rather than only some of its parts.
    pub(crate) is_whole: bool,
}

#[derive(Debug)]
pub(crate) enum MessagePart<'a> {
    Call(WireCall<'a>),
    Other(&'a Value),
}

impl<'a> DecodedPayload<'a> {
    /// Returns the parts of the first message, except its calls.
    pub(crate) fn other_parts(&self) -> impl Iterator<Item = &'a Value> {
        self.messages.first().into_iter().flat_map(|message| &message.parts).filter_map(|part| match part {
            MessagePart::Call(_) => None,
            MessagePart::Other(part) => Some(*part),
        })
    }
}

impl<'a> Message<'a> {
    /// Creates a message from a list of content parts. `cut` is the index of the part at which generation
    /// stopped early.
    pub(crate) fn of_parts(
        list: &'a [Value],
        cut: Option<usize>,
        read: impl Fn(&'a Value, bool) -> Option<WireCall<'a>>,
    ) -> Self {
        let parts = list.iter().enumerate().map(|(at, part)| match read(part, Some(at) == cut) {
            Some(call) => MessagePart::Call(call),
            None => MessagePart::Other(part),
        });
        Self { fields: None, parts: parts.collect(), is_whole: true }
    }

    /// Creates a message from a list of content parts. If generation stopped early (`is_cut`), the last part is
    /// incomplete.
    pub(crate) fn of_list(
        list: &'a [Value],
        is_cut: bool,
        read: impl Fn(&'a Value, bool) -> Option<WireCall<'a>>,
    ) -> Self {
        Self::of_parts(list, list.len().checked_sub(1).filter(|_| is_cut), read)
    }

    /// Removes the calls that must not be run. A call without a name is not a call, and a repeated call is one call.
    ///
    /// Arguments without a name and an id belong to the only call without arguments. If that cannot be decided, a call
    /// without arguments is read as incomplete. The same applies to the last part if the finish reason is unknown
    /// (`is_unclear`).
    pub(crate) fn settle(&mut self, is_unclear: bool) {
        let has_orphans = self.calls().any(WireCall::is_orphan) && !self.adopt();
        let last = self.parts.len().checked_sub(1).filter(|_| is_unclear);
        for (at, part) in self.parts.iter_mut().enumerate() {
            if let MessagePart::Call(call) = part
                && (has_orphans && call.has_no_arguments() || Some(at) == last && call.is_blank())
            {
                call.is_cut = true;
                call.input = None;
            }
        }
        let mut known_calls = KnownCalls::default();
        for is_blank in [false, true] {
            self.parts.retain(|part| match part {
                MessagePart::Call(call) if call.has_no_arguments() == is_blank => {
                    !call.name.is_empty() && known_calls.add(call)
                }
                _ => true,
            });
        }
    }

    /// Gives the arguments without a name and an id to the only call without arguments. Returns whether this was possible.
    fn adopt(&mut self) -> bool {
        let has_no_id = |call: &&WireCall<'_>| call.id.is_none() && !call.is_custom && !call.is_cut;
        let input = |call: &WireCall<'a>| Some(call).filter(has_no_id).and_then(|call| call.input);
        let inputs: Vec<_> = self.calls().filter(|call| call.is_orphan()).map(input).collect();
        let mut blank = self.parts.iter_mut().filter_map(|part| match part {
            MessagePart::Call(call) if !call.name.is_empty() && call.has_no_arguments() => Some(call),
            _ => None,
        });
        let ([Some(input)], Some(call), None) = (&inputs[..], blank.next(), blank.next()) else {
            return false;
        };
        call.input = Some(input);
        true
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = &WireCall<'a>> {
        self.parts.iter().filter_map(|part| match part {
            MessagePart::Call(call) => Some(call),
            MessagePart::Other(_) => None,
        })
    }
}

/// A tool call in a response, as received. The id is missing if the provider sent none.
#[derive(Debug)]
pub(crate) struct WireCall<'a> {
    /// The JSON object of the call, as received.
    pub(crate) json: &'a Value,
    /// The id that the provider assigned to the call, if any.
    pub(crate) id: Option<Cow<'a, str>>,
    /// The tool name. It is empty if the provider sent none.
    pub(crate) name: &'a str,
    /// The arguments, or the input of a custom tool call, as received.
    pub(crate) input: Option<&'a Value>,
    /// The names of the fields of `json` that are arguments themselves. Empty if one field contains all arguments.
    pub(crate) members: &'static [&'static str],
    pub(crate) is_custom: bool,
    /// Whether generation stopped early at this call.
    pub(crate) is_cut: bool,
    pub(crate) index: Option<usize>,
    /// Reads the extra fields of `json`. The provider expects these fields back together with the call. The
    /// second argument is `is_custom`.
    pub(crate) extras: fn(&Value, bool) -> ProviderExtras,
}

impl<'a> WireCall<'a> {
    /// Creates a complete function call.
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
            (false, []) => Arguments::of(self.input, self.is_cut),
            (false, members) => Arguments::of_members(self.json, members, self.is_cut),
        }
    }

    /// Returns whether the call is a function call that has no arguments so far.
    pub(crate) fn is_blank(&self) -> bool {
        !self.is_custom && self.members.is_empty() && is_blank(self.input)
    }

    /// Returns whether the call is a function call with no arguments or with `{}`.
    pub(crate) fn has_no_arguments(&self) -> bool {
        let is_empty = |text: &str| matches!(text.trim(), "" | "{}");
        self.is_blank()
            || !self.is_custom
                && self.members.is_empty()
                && self.input.and_then(Value::as_str).is_some_and(is_empty)
    }

    /// Returns whether the call has arguments, but no name.
    fn is_orphan(&self) -> bool {
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

    /// Converts the received call into a call for the next request, with the call id `id`.
    pub(crate) fn outgoing(&self, id: String, rule: NameRule, names: &WireNames) -> OutgoingCall<'a> {
        let name = sanitize::name(rule, names.spell(self.name)).into_owned();
        let origin = Origin::Received { json: self.json, is_custom: self.is_custom };
        OutgoingCall { origin, id, name, arguments: self.arguments() }
    }
}

/// A call to be written into the next request.
#[derive(Debug)]
pub(crate) struct OutgoingCall<'a> {
    pub(crate) origin: Origin<'a>,
    /// The call id, in a form that the provider accepts in requests.
    pub(crate) id: String,
    /// The tool name, in the provider's spelling.
    pub(crate) name: String,
    pub(crate) arguments: Arguments<'a>,
}

/// The origin of a call in the next request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin<'a> {
    /// The model sent the call as this JSON object.
    Received { json: &'a Value, is_custom: bool },
    /// The program made the call.
    Made(&'a ProviderExtras),
}

impl<'a> OutgoingCall<'a> {
    pub(crate) fn made(call: &'a ToolCall, id: String, rule: NameRule, names: &WireNames) -> Self {
        let name = sanitize::name(rule, names.spell(&call.name)).into_owned();
        let arguments = Arguments::Text(Cow::Borrowed(call.arguments.as_str()));
        Self { origin: Origin::Made(&call.extras), id, name, arguments }
    }

    /// Returns the fields to which the id, the name and the arguments of the call are then added. For a received call,
    /// these are all received fields. For a call made by the program, they are its provider extras.
    pub(crate) fn fields(&self, format: &str) -> Fields {
        let fields = match self.origin {
            Origin::Received { json, .. } => json.as_object(),
            Origin::Made(extras) => extras.for_api(format),
        };
        fields.cloned().unwrap_or_default()
    }
}

impl Origin<'_> {
    /// Returns how the arguments are written in the next request: whether the call is a custom tool call, the name of
    /// the field, and the string for this field.
    ///
    /// A call made by the program is a custom tool call if the `type` in its provider extras equals `custom`.
    pub(crate) fn text<'t>(
        self,
        arguments: &'t Arguments<'_>,
        format: &str,
        custom: &str,
    ) -> (bool, &'static str, Cow<'t, str>) {
        let is_custom = match self {
            Self::Received { is_custom, .. } => is_custom,
            Self::Made(extras) => extras.get(format, "type").is_some_and(|kind| kind == custom),
        };
        match (arguments, is_custom) {
            (Arguments::Text(text), true) => (true, "input", free_text(text)),
            (Arguments::Text(text), false) => (false, "arguments", sanitize::arguments(text)),
            (Arguments::Object(object), _) => (is_custom, "arguments", Cow::Owned(object.to_string())),
        }
    }
}

/// Reads the id of a call. Some servers write the id as a number; it becomes a string. Returns `None` if the
/// id is missing or empty.
pub(crate) fn id(value: Option<&Value>) -> Option<Cow<'_, str>> {
    match value? {
        Value::String(id) if !id.is_empty() => Some(Cow::Borrowed(id)),
        Value::Number(id) => Some(Cow::Owned(id.to_string())),
        _ => None,
    }
}

/// The arguments of a call.
#[derive(Debug, PartialEq)]
pub(crate) enum Arguments<'a> {
    /// A string as received, or the JSON text of a received value that is neither a string nor an object.
    Text(Cow<'a, str>),
    /// A JSON object, as received.
    Object(&'a Value),
}

impl<'a> Arguments<'a> {
    /// Reads the arguments of a call.
    ///
    /// If generation stopped early at this call (`is_cut`), an object has only the members that were complete,
    /// and blank arguments have none. The end of such an object is left out. The rest is invalid JSON, so the
    /// incomplete call is refused instead of being run without its last arguments. Text shows by itself whether
    /// it is complete.
    pub(crate) fn of(value: Option<&'a Value>, is_cut: bool) -> Self {
        match value {
            value if is_cut && is_blank(value) => Self::Text(Cow::Borrowed("{")),
            Some(object @ Value::Object(_)) if is_cut => Self::Text(without_end(object).into()),
            None | Some(Value::Null) => Self::Text(Cow::Borrowed("")),
            Some(Value::String(text)) => Self::Text(Cow::Borrowed(text)),
            Some(object @ Value::Object(_)) => Self::Object(object),
            Some(value) => Self::Text(Cow::Owned(value.to_string())),
        }
    }

    /// Reads the arguments of a call that has a separate field for each argument. `members` are the names of these
    /// fields. If generation stopped early at this call (`is_cut`), the returned JSON is incomplete.
    fn of_members(json: &Value, members: &[&str], is_cut: bool) -> Self {
        let is_member = |name: &str, value: &Value| members.contains(&name) && !value.is_null();
        let found = json.as_object().filter(|_| !is_cut).map(|fields| only(fields, is_member));
        let text = found.map_or_else(|| "{".to_owned(), |found| Value::Object(found).to_string());
        Self::Text(Cow::Owned(text))
    }

    pub(crate) fn into_text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => text,
            Self::Object(object) => Cow::Owned(object.to_string()),
        }
    }

    /// Converts the arguments to a JSON object for the history of the next request.
    pub(crate) fn into_object(self) -> Value {
        match self {
            Self::Text(text) => {
                serde_json::from_str(&sanitize::arguments(&text)).unwrap_or_else(|_| json!({}))
            }
            Self::Object(object) => object.clone(),
        }
    }
}

/// Returns the JSON of an object without its last character.
fn without_end(object: &Value) -> String {
    let mut text = object.to_string();
    text.pop();
    text
}

/// Returns whether the arguments are missing, a blank string, or an empty object.
pub(crate) fn is_blank(arguments: Option<&Value>) -> bool {
    match arguments {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(Value::Object(members)) => members.is_empty(),
        Some(_) => false,
    }
}

/// Converts the input of a custom tool call to arguments with the single member `input`.
///
/// If generation stopped early at this call (`is_cut`), the end of the returned JSON is left out. The
/// incomplete call is then refused like an incomplete function call.
fn input_arguments(input: Option<&Value>, is_cut: bool) -> Cow<'_, str> {
    match input {
        None | Some(Value::Null) => Cow::Borrowed(if is_cut { "{" } else { "" }),
        Some(input) => {
            let mut text = json!({"input": input}).to_string();
            text.truncate(text.len() - if is_cut { CUT.len() } else { 0 });
            Cow::Owned(text)
        }
    }
}

/// The last characters of the arguments of a custom tool call. They are left out if the call was cut off.
const CUT: &str = "\"}";

/// Returns the input of a custom tool call. This is the argument `input` if there are no other arguments, and
/// otherwise the text of all arguments. The arguments may be cut off.
fn free_text(arguments: &str) -> Cow<'_, str> {
    let fields = serde_json::from_str::<Fields>(arguments);
    match fields.or_else(|_| serde_json::from_str(&format!("{arguments}{CUT}"))) {
        Ok(mut fields) if fields.len() == 1 => match fields.remove("input") {
            Some(Value::String(input)) => Cow::Owned(input),
            Some(input) => Cow::Owned(input.to_string()),
            None => Cow::Borrowed(arguments),
        },
        _ => Cow::Borrowed(arguments),
    }
}
