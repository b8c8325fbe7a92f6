//! Reads and writes calls among the items of a response.

use super::FACTS;
use super::client::{self, Client};
use crate::call::{self, WireCall};
use crate::fields::{Fields, copy, kind, set, text};
use serde_json::Value;
use std::borrow::Cow;
use toolkit_core::call::ProviderExtras;

pub(super) const FUNCTION: &str = "function_call";
pub(crate) const CUSTOM: &str = "custom_tool_call";

/// The extra fields of a call that are sent back with the call in the next request.
///
/// The `id` of the item is not sent back. If a call has an item id known to the service, the service requires
/// the reasoning item before the call ("was provided without its required 'reasoning' item"). Calls encoded
/// by the program have no reasoning item.
pub(super) const RETURNED: [&str; 3] = ["namespace", "caller", "async"];

/// Reads an item of the type `function_call` or `custom_tool_call` as a call. The fields are
/// `{type, call_id, name, arguments}`; a `custom_tool_call` has the free text `input` instead of `arguments`.
///
/// An item without a type is only read as a call if it has the fields of a call. If generation stopped early
/// at this item, `is_cut` is `true`.
pub(super) fn read(json: &Value, is_cut: bool) -> Option<WireCall<'_>> {
    let fields = json.as_object()?;
    let has = |name| fields.contains_key(name);
    if let Some(client) = client::of_call(fields) {
        return Some(read_client(json, fields, client, is_cut));
    }
    let is_custom = match kind(fields) {
        Some(FUNCTION) => false,
        Some(CUSTOM) => true,
        None if !has("output") && (has("call_id") || has("name") && has("arguments")) => {
            has("input") && !has("arguments")
        }
        _ => return None,
    };
    let status = text(json, "status");
    let is_cut = status == "incomplete" || is_cut && !(is_custom && status == "completed");
    let input = fields.get(if is_custom { "input" } else { "arguments" });
    Some(WireCall {
        id: id(fields),
        is_custom,
        is_cut,
        ..WireCall::new(json, None, text(json, "name"), input, extras)
    })
}

/// Reads a call of a tool defined by the provider and run by the program.
fn read_client<'a>(
    json: &'a Value,
    fields: &'a Fields,
    client: &'static Client,
    is_cut: bool,
) -> WireCall<'a> {
    let (field, members) = client.arguments();
    let status = text(json, "status");
    let is_cut = status == "incomplete" || is_cut && status != "completed";
    // If the call is incomplete, its arguments are left out, so that the call is refused.
    let input = field.filter(|_| !is_cut).and_then(|field| fields.get(field));
    let extras = |json: &Value, _| {
        let fields = json.as_object();
        let extras = fields.and_then(|fields| Some(client::of_call(fields)?.extras(fields)));
        ProviderExtras::new(FACTS.name, extras.unwrap_or_default())
    };
    let call = WireCall::new(json, None, client.tool, input, extras);
    WireCall { id: id(fields), members, is_cut, ..call }
}

fn extras(json: &Value, is_custom: bool) -> ProviderExtras {
    let mut extras = Fields::new();
    if is_custom {
        set(&mut extras, "type", CUSTOM);
    }
    if let Some(fields) = json.as_object() {
        copy(fields, &mut extras, &RETURNED);
    }
    ProviderExtras::new(FACTS.name, extras)
}

/// Returns the id of a call, from the field `call_id`, or from `id` if `call_id` is missing.
///
/// Some servers use a single id for the item and the call, and write it as `id`, the id of the item. Item ids
/// begin with `fc_` and call ids with `call_`, so the prefix is replaced.
fn id(fields: &Fields) -> Option<Cow<'_, str>> {
    let of_item = || {
        let id = call::id(fields.get("id"))?;
        Some(id.strip_prefix("fc_").map(|rest| Cow::Owned(format!("call_{rest}"))).unwrap_or(id))
    };
    call::id(fields.get("call_id")).or_else(of_item)
}

/// Returns whether the call was a custom tool call. Its result is then encoded as the result of a custom tool
/// call.
pub(super) fn is_custom(extras: &ProviderExtras) -> bool {
    extras.get(FACTS.name, "type").is_some_and(|kind| kind == CUSTOM)
}
