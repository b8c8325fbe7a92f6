//! One call as it stands among the items: read into ours, written from ours, made fit for a request.

use super::response::{Fields, kind};
use super::{FORMAT, NAMES};
use crate::history;
use serde_json::{Value, json};
use std::borrow::Cow;
use toolkit_core::call::{CallId, ProviderExtras, ToolCall};
use toolkit_core::name::WireNames;

pub(super) const FUNCTION: &str = "function_call";
pub(super) const CUSTOM: &str = "custom_tool_call";

/// What the service says about a call and takes back with it.
///
/// The item's own `id` is not among them: the service demands the reasoning item that stood before a
/// call with a known id ("was provided without its required 'reasoning' item"), and calls that
/// are written from ours come without it. Without an id, a call stands for itself.
const RETURNED: [&str; 3] = ["namespace", "caller", "async"];

/// An item `function_call`: `{type, call_id, name, arguments}`, or `custom_tool_call` with a free text
/// as `input` in the place of the arguments.
#[derive(Clone, Copy)]
pub(super) struct WireCall<'a> {
    item: &'a Value,
    fields: &'a Fields,
    is_custom: bool,
    /// Whether the model was stopped while it wrote this call, or right after it.
    is_last_words: bool,
}

impl<'a> WireCall<'a> {
    /// The call that an item is. An item that does not say what it is must look like one.
    pub(super) fn of(item: &'a Value) -> Option<Self> {
        let fields = item.as_object()?;
        let has = |name| fields.contains_key(name);
        let is_custom = match kind(fields) {
            Some(FUNCTION) => false,
            Some(CUSTOM) => true,
            None if !has("output") && (has("call_id") || has("name") && has("arguments")) => {
                has("input") && !has("arguments")
            }
            _ => return None,
        };
        Some(Self { item, fields, is_custom, is_last_words: false })
    }

    /// Takes note that the model was stopped here.
    pub(super) fn stopped(self) -> Self {
        Self { is_last_words: true, ..self }
    }

    pub(super) fn item(self) -> &'a Value {
        self.item
    }

    /// The provider's id as it came; `None` if there is none. Servers that know one id only write
    /// it as that of the item: where both are there, they differ in the prefix.
    pub(super) fn id(self) -> Option<Cow<'a, str>> {
        let id = |name| match self.fields.get(name)? {
            Value::String(id) if !id.is_empty() => Some(Cow::Borrowed(id.as_str())),
            Value::Number(id) => Some(Cow::Owned(id.to_string())),
            _ => None,
        };
        let of_item = || match id("id")?.strip_prefix("fc_") {
            Some(rest) => Some(Cow::Owned(format!("call_{rest}"))),
            None => id("id"),
        };
        id("call_id").or_else(of_item)
    }

    /// Empty if there is none: dispatching the call then tells the model that no tool has this name.
    pub(super) fn name(self) -> &'a str {
        self.fields.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn to_call(self, id: CallId) -> ToolCall {
        ToolCall::new(id, self.name(), self.arguments()).with_extras(self.extras())
    }

    /// The call for the next request, with this id. Fields that are not known here stay.
    pub(super) fn to_history(self, id: String, names: &WireNames) -> Fields {
        let mut item = self.fields.clone();
        let kind = if self.is_custom { CUSTOM } else { FUNCTION };
        item.insert("type".to_owned(), kind.into());
        item.insert("call_id".to_owned(), id.into());
        item.insert("name".to_owned(), history::name(NAMES, names.spell(self.name())).into());
        if self.is_custom {
            // Free text is acceptable whatever it is, as long as it is text.
            let input = item.entry("input").or_insert(Value::Null);
            match input {
                Value::String(_) => {}
                Value::Null => *input = "".into(),
                _ => *input = input.to_string().into(),
            }
        } else {
            item.insert("arguments".to_owned(), history::arguments(&self.arguments()).into());
        }
        item
    }

    /// The text of the arguments as it came, a value that stands there instead as its text. Free text
    /// becomes the argument `input`.
    fn arguments(self) -> Cow<'a, str> {
        let field = if self.is_custom { "input" } else { "arguments" };
        match self.fields.get(field) {
            // Cut off before the first of them: to run the call with none would be to run another.
            _ if self.is_cut() && self.is_blank() => Cow::Borrowed("{"),
            None | Some(Value::Null) => Cow::Borrowed(""),
            Some(input) if self.is_custom => Cow::Owned(json!({"input": input}).to_string()),
            Some(Value::String(text)) => Cow::Borrowed(text),
            Some(value) => Cow::Owned(value.to_string()),
        }
    }

    /// Whether the model did not come to the end of the arguments.
    fn is_cut(self) -> bool {
        self.is_last_words || self.fields.get("status").is_some_and(|status| status == "incomplete")
    }

    /// Whether it is a call of a function of which no arguments came. The service writes `{}` for none.
    pub(super) fn is_blank(self) -> bool {
        !self.is_custom && is_blank(self.fields.get("arguments"))
    }

    pub(super) fn extras(self) -> ProviderExtras {
        let mut fields = Fields::new();
        if self.is_custom {
            fields.insert("type".to_owned(), CUSTOM.into());
        }
        copy(self.fields, &mut fields, &RETURNED);
        ProviderExtras::new(FORMAT, fields)
    }
}

fn is_blank(arguments: Option<&Value>) -> bool {
    match arguments {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(_) => false,
    }
}

/// Whether the call was one with free text, which wants a result of the same kind.
pub(super) fn is_custom(extras: &ProviderExtras) -> bool {
    extras.get(FORMAT, "type").is_some_and(|kind| kind == CUSTOM)
}

/// Copies fields that say something.
pub(super) fn copy(from: &Fields, to: &mut Fields, names: &[&str]) {
    for name in names {
        if let Some(value) = from.get(*name).filter(|value| !value.is_null()) {
            to.insert((*name).to_owned(), value.clone());
        }
    }
}

/// The item of one of our calls, with this id.
///
/// `status` is optional to the service, but some imitating servers demand it (Volcengine), or take an
/// item without it for no call at all (older vLLM). Custom calls have none.
pub(super) fn encode_call(call: &ToolCall, id: String, names: &WireNames) -> Value {
    let name = history::name(NAMES, names.spell(&call.name));
    let arguments = call.arguments.as_str();
    let mut item = Fields::new();
    let mut put = |name: &str, value: Value| item.insert(name.to_owned(), value);
    if is_custom(&call.extras) {
        put("type", CUSTOM.into());
        put("call_id", id.into());
        put("name", name.into());
        put("input", free_text(arguments).into());
    } else {
        put("type", FUNCTION.into());
        put("call_id", id.into());
        put("name", name.into());
        put("arguments", history::arguments(arguments).into());
        put("status", "completed".into());
    }
    if let Some(extras) = call.extras.of(FORMAT) {
        copy(extras, &mut item, &RETURNED);
    }
    Value::Object(item)
}

/// The one argument `input` if the arguments are just that, else their whole text.
fn free_text(arguments: &str) -> Cow<'_, str> {
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(fields)) if fields.len() == 1 => match fields.get("input") {
            Some(Value::String(input)) => Cow::Owned(input.clone()),
            Some(input) => Cow::Owned(input.to_string()),
            None => Cow::Borrowed(arguments),
        },
        _ => Cow::Borrowed(arguments),
    }
}
