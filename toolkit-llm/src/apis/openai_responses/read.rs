//! Reads the items of a response: calls, text, reasoning, and the calls of hosted tools.

use super::client::CallKind;
use super::{CUSTOM, FACTS, FUNCTION, OpenAiResponses};
use crate::call::received::{DecodedPayload, ReceivedMessage};
use crate::call::{self, WireCall};
use crate::codec::ResponseCodec;
use crate::hosted::{HostedCall, HostedPart};
use crate::json::error::{check_role, failed, reported_error};
use crate::json::fields::{Fields, copy, kind, list, set, text};
use crate::json::{WireError, texts};
use crate::response::{FinishReason, Response};
use serde_json::Value;
use std::borrow::Cow;
use toolkit_core::call::ProviderExtras;

/// The fields of a call that are sent back with the call or in its result.
///
/// The `id` of the item is sent back only if its kind requires it. Before a call with an item id known to the
/// service, the service requires the reasoning item ("was provided without its required 'reasoning' item").
/// Calls encoded by the program have none.
const RETURNED: [&str; 6] =
    ["namespace", "caller", "async", "environment", "execution", "pending_safety_checks"];

/// The hosted calls, with the fields for the arguments and the output.
const HOSTED_CALLS: [[&str; 3]; 9] = [
    ["web_search_call", "action", ""],
    ["file_search_call", "queries", "results"],
    ["code_interpreter_call", "code", "outputs"],
    ["image_generation_call", "revised_prompt", "result"],
    ["mcp_call", "arguments", "output"],
    ["mcp_list_tools", "", "tools"],
    ["tool_search_call", "arguments", ""],
    ["shell_call", "action", ""],
    ["program", "code", ""],
];

/// The outputs of hosted tools that are separate items, with the field for the output.
const HOSTED_OUTPUTS: [[&str; 2]; 3] =
    [["tool_search_output", "tools"], ["shell_call_output", "output"], ["program_output", "result"]];

impl ResponseCodec for OpenAiResponses {
    /// Finds the items in a response body, a list of items, or a single item.
    fn read<'a>(&self, payload: &'a Value) -> Result<DecodedPayload<'a>, WireError> {
        let message = match payload {
            // Unknown items are accepted beside a known item.
            Value::Array(list) if list.is_empty() || list.iter().any(is_item) => message(list, false),
            Value::Array(_) => return Err(WireError::new("[0]", "an item such as `function_call`")),
            Value::Object(fields) if is_item(payload) => {
                check_role(fields, "assistant", "messages")?;
                message(std::slice::from_ref(payload), false)
            }
            Value::Object(fields) => ReceivedMessage { is_whole: true, ..body(fields)? },
            _ => return Err(WireError::new("", "a response, an item or a list of items")),
        };
        Ok(DecodedPayload { payload, messages: vec![message] })
    }

    fn describe(&self, reading: &DecodedPayload<'_>, response: &mut Response) {
        for item in reading.other_parts() {
            let target = match text(item, "type") {
                "reasoning" => &mut response.reasoning,
                "message" | "" => &mut response.text,
                _ => continue,
            };
            target.push_str(&texts::of(item, "summary"));
            target.push_str(&texts::of(item, "content"));
            for part in list(item, "content") {
                response.refusal.push_str(&texts::of(part, "refusal"));
            }
        }
        let status = match text(reading.payload, "status") {
            status @ "incomplete" => {
                let reason = reading.payload.pointer("/incomplete_details/reason");
                reason.and_then(Value::as_str).unwrap_or(status)
            }
            status => status,
        };
        response.finish = FinishReason::parse(status);
    }
}

/// Reads a list of items as one message.
///
/// If generation stopped early (`is_cut`), the last is incomplete.
fn message(list: &[Value], is_cut: bool) -> ReceivedMessage<'_> {
    ReceivedMessage { is_whole: false, ..ReceivedMessage::from_list(list, is_cut, read_call) }
}

fn body(fields: &Fields) -> Result<ReceivedMessage<'_>, WireError> {
    let is_cut = fields.get("status").is_some_and(|status| status == "incomplete");
    match (fields.get("output"), reported_error(fields)) {
        (Some(Value::Array(list)), error) if error.is_none() || !list.is_empty() => Ok(message(list, is_cut)),
        (_, error) => Err(failed("output", "a list of items", error)),
    }
}

fn is_item(value: &Value) -> bool {
    let Some(fields) = value.as_object() else { return false };
    match kind(fields) {
        // Responses of Anthropic have this type too, but their calls are inside `content`.
        Some("message") => {
            !fields.contains_key("stop_reason")
                && !list(value, "content").iter().any(|block| text(block, "type") == "tool_use")
        }
        Some("reasoning" | "compaction" | "item_reference" | "program") => true,
        Some("mcp_list_tools" | "mcp_approval_request") => true,
        Some(kind) => kind.ends_with("_call") || kind.ends_with("_output"),
        None => CallKind::of_item(fields).is_some() || is_short_message(value, fields),
    }
}

/// Returns whether a value is a message in the short form: `role` and `content`, but no type.
///
/// Messages of Chat Completions have further fields for their calls.
fn is_short_message(value: &Value, fields: &Fields) -> bool {
    let has_text = list(value, "content").iter().any(|part| text(part, "type") == "output_text");
    let has_content = has_text || value.get("content").is_some_and(Value::is_string);
    has_content && fields.contains_key("role") && !fields.contains_key("tool_calls")
}

/// Reads an item as a call, unless the provider runs it.
///
/// If generation stopped early (`is_cut`), only the arguments of a function call show whether it is complete.
/// Other calls are complete if their `status` says so.
pub(super) fn read_call(json: &Value, is_cut: bool) -> Option<WireCall<'_>> {
    let fields = json.as_object()?;
    let kind = CallKind::of_item(fields)?;
    let status = text(json, "status");
    let is_open = kind.call == FUNCTION || status != "completed";
    let name = if kind.tool.is_empty() { text(json, "name") } else { kind.tool };
    let (input, members) = match kind.arguments {
        [field] => (fields.get(*field), &[][..]),
        members => (None, members),
    };
    let call = WireCall::new(json, None, name, input, extras);
    let is_cut = status == "incomplete" || is_cut && is_open;
    Some(WireCall { id: id(fields), members, is_custom: kind.call == CUSTOM, is_cut, ..call })
}

/// Returns the fields that the next request needs.
fn extras(json: &Value, _is_custom: bool) -> ProviderExtras {
    let Some(item) = json.as_object() else { return ProviderExtras::default() };
    let Some(kind) = CallKind::of_item(item) else { return ProviderExtras::default() };
    let mut extras = Fields::new();
    if kind.call != FUNCTION {
        set(&mut extras, "type", kind.call);
    }
    copy(item, &mut extras, &RETURNED);
    if kind.needs_id {
        copy(item, &mut extras, &["id"]);
    }
    if let Some(action) = item.get("action").and_then(Value::as_object) {
        copy(action, &mut extras, &["max_output_length"]);
    }
    ProviderExtras::new(FACTS.name, extras)
}

/// Returns the id of a call, from `call_id`, or else from `id`.
///
/// Some servers write a single id as `id` for the item and the call. Item ids begin with `fc_` and call ids
/// with `call_`, so the prefix is replaced.
fn id(fields: &Fields) -> Option<Cow<'_, str>> {
    let given = call::id(fields.get("call_id"));
    if given.is_some() {
        return given;
    }
    let id = call::id(fields.get("id"))?;
    match id.strip_prefix("fc_") {
        Some(rest) => Some(Cow::Owned(format!("call_{rest}"))),
        None => Some(id),
    }
}

/// Reads an item as a call or an output of a hosted tool.
///
/// Calls of unknown tools are recognised by the end of their type.
pub(super) fn read_hosted(item: &Value) -> Option<HostedPart> {
    let kind = text(item, "type");
    let call = kind.strip_suffix("_output").unwrap_or(kind);
    let name = match call.strip_suffix("_call") {
        Some("mcp") => text(item, "name"),
        name => name.unwrap_or(call),
    };
    if let Some([_, output]) = HOSTED_OUTPUTS.iter().find(|[output, _]| *output == kind) {
        let call = HostedCall::from_part(item, kind, name, None);
        return Some(HostedPart::Output(call.with_output(item.get(*output))));
    }
    let known = HOSTED_CALLS.iter().find(|[call, ..]| *call == kind);
    if known.is_none() && !kind.ends_with("_call") || read_call(item, false).is_some() {
        return None;
    }
    let [_, arguments, output] = known.copied().unwrap_or_default();
    let mut call = HostedCall::from_part(item, kind, name, item.get(arguments));
    call.server = text(item, "server_label").to_owned();
    let result = match item.get("error") {
        None | Some(Value::Null) => item.get(output),
        error => error,
    };
    Some(HostedPart::Call(call.with_output(result)))
}
