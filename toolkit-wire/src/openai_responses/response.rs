//! Where a payload holds items, and which of their fields a request refuses.

use super::call::WireCall;
use crate::WireError;
use serde_json::{Map, Value};

pub(super) type Fields = Map<String, Value>;

/// The items of a payload.
pub(super) struct Items<'a> {
    pub(super) list: &'a [Value],
    /// Whether they are all that the model said in its turn.
    pub(super) is_whole: bool,
    /// Whether the model was stopped before it had said all.
    is_cut: bool,
}

impl<'a> Items<'a> {
    fn new(list: &'a [Value]) -> Self {
        Self { list, is_whole: false, is_cut: false }
    }

    /// The call that an item is. The last item is the one in which the model was stopped.
    pub(super) fn call(&self, at: usize) -> Option<WireCall<'a>> {
        let call = WireCall::of(self.list.get(at)?)?;
        Some(if self.is_cut && at + 1 == self.list.len() { call.stopped() } else { call })
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = WireCall<'a>> {
        (0..self.list.len()).filter_map(|at| self.call(at))
    }
}

/// The items of a whole response body, a list of items, or the one item that the payload is.
pub(super) fn items(payload: &Value) -> Result<Items<'_>, WireError> {
    match payload {
        // One item that can be recognised vouches for the strange ones beside it.
        Value::Array(list) if list.is_empty() || list.iter().any(is_item) => Ok(Items::new(list)),
        Value::Array(_) => Err(WireError::new("[0]", "an item such as `function_call`")),
        Value::Object(fields) if is_item(payload) => {
            only_of_the_model(fields)?;
            Ok(Items::new(std::slice::from_ref(payload)))
        }
        Value::Object(fields) => body(fields),
        _ => Err(WireError::new("", "a response, an item or a list of items")),
    }
}

fn body(fields: &Fields) -> Result<Items<'_>, WireError> {
    let error = reported_error(fields);
    let is_cut = fields.get("status").is_some_and(|status| status == "incomplete");
    match (fields.get("output"), error) {
        (Some(Value::Array(list)), None) => Ok(Items { list, is_whole: true, is_cut }),
        (Some(Value::Array(list)), Some(_)) if !list.is_empty() => Ok(Items { list, is_whole: true, is_cut }),
        (_, Some(error)) => {
            let expected = format!("a list of items (the service reported an error: {error})");
            Err(WireError::new("output", expected))
        }
        (_, None) => Err(WireError::new("output", "a list of items")),
    }
}

/// To find no calls in a message of somebody else would hide a mistake.
fn only_of_the_model(item: &Fields) -> Result<(), WireError> {
    match item.get("role") {
        None | Some(Value::Null) => Ok(()),
        Some(role) if role == "assistant" => Ok(()),
        Some(_) => Err(WireError::new("role", "`assistant`, which marks messages of the model")),
    }
}

/// What an item says that it is.
pub(super) fn kind(item: &Fields) -> Option<&str> {
    item.get("type").and_then(Value::as_str)
}

pub(super) fn is_kind(item: &Value, expected: &str) -> bool {
    item.get("type").is_some_and(|kind| kind == expected)
}

/// Whether a value that nothing else tells about is an item.
fn is_item(value: &Value) -> bool {
    let Some(fields) = value.as_object() else { return false };
    match kind(fields) {
        Some("message") => !is_anthropic(fields),
        Some("reasoning" | "compaction" | "item_reference" | "program") => true,
        Some("mcp_list_tools" | "mcp_approval_request") => true,
        Some(kind) => kind.ends_with("_call") || kind.ends_with("_output"),
        None => WireCall::of(value).is_some(),
    }
}

/// Anthropic's response is a `message` too, with its calls as content.
fn is_anthropic(message: &Fields) -> bool {
    let content = message.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    message.contains_key("stop_reason") || content.iter().any(|block| is_kind(block, "tool_use"))
}

/// What the service says went wrong: the `error` of a failed response, of a refused request
/// (`{"error": {"message"}}`, or a text as some servers have it), or the event `error`.
pub(super) fn reported_error(fields: &Fields) -> Option<String> {
    let in_error = fields.get("error").filter(|error| !error.is_null());
    let is_error = kind(fields) == Some("error") || fields.get("object").is_some_and(|kind| kind == "error");
    let error = in_error.or_else(|| fields.get("message").filter(|_| is_error))?;
    match error.get("message").unwrap_or(error) {
        Value::String(message) => Some(message.clone()),
        _ => Some(error.to_string()),
    }
}

/// Takes out of an item what the service sends, or an SDK adds, and a request refuses ("Unknown
/// parameter", "Invalid type").
pub(super) fn strip_refused(item: &mut Fields) {
    for name in ["created_by", "parsed_arguments"] {
        item.shift_remove(name);
    }
    let is_reasoning = kind(item) == Some("reasoning");
    // vLLM writes out all that it does not know as `null`.
    for name in ["id", "status", "namespace", "async"] {
        if item.get(name).is_some_and(Value::is_null) {
            item.shift_remove(name);
        }
    }
    if is_reasoning {
        item.shift_remove("status");
        if item.get("content").is_some_and(Value::is_null) {
            item.shift_remove("content");
        }
        if item.get("summary").is_none_or(Value::is_null) {
            item.insert("summary".to_owned(), Value::Array(Vec::new()));
        }
    }
    let blocks = item.get_mut("content").and_then(Value::as_array_mut);
    for block in blocks.into_iter().flatten().filter_map(Value::as_object_mut) {
        block.shift_remove("parsed");
        if block.get("logprobs").is_some_and(Value::is_null) {
            block.shift_remove("logprobs");
        }
    }
}
