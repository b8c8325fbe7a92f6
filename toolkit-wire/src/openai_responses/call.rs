//! Reads and writes calls among the items of a response.

use super::FACTS;
use crate::call::{self, WireCall};
use crate::fields::{Fields, only, set, text};
use serde_json::Value;
use std::borrow::Cow;
use toolkit_core::call::ProviderExtras;

pub(super) const FUNCTION: &str = "function_call";
pub(super) const CUSTOM: &str = "custom_tool_call";

/// The extra fields of a call, sent back with the call.
///
/// The `id` of the item is not among them. For a call with a known id, the service requires the reasoning
/// item before it ("was provided without its required 'reasoning' item"), which encoded calls do not have. A
/// call without an id needs no reasoning item.
pub(super) const RETURNED: [&str; 3] = ["namespace", "caller", "async"];

/// Returns the type of an item.
pub(super) fn kind(item: &Fields) -> Option<&str> {
    item.get("type").and_then(Value::as_str)
}

/// Reads an item `function_call`: `{type, call_id, name, arguments}`, or `custom_tool_call` with the free
/// text `input`.
///
/// An item without a type must have the fields of a call. If generation stopped early at this item, `is_cut`
/// is `true`.
pub(super) fn read(json: &Value, is_cut: bool) -> Option<WireCall<'_>> {
    let fields = json.as_object()?;
    let has = |name| fields.contains_key(name);
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
    Some(WireCall {
        json,
        id: id(fields),
        name: text(json, "name"),
        input: fields.get(if is_custom { "input" } else { "arguments" }),
        is_custom,
        is_cut,
        index: None,
        extras,
    })
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

/// Returns the id of a call: `call_id`, or the id of the item if `call_id` is missing.
///
/// Servers with a single id write it as the id of the item. If this id has the prefix `fc_` of item ids, the
/// prefix is replaced by `call_`, the prefix of call ids.
fn id(fields: &Fields) -> Option<Cow<'_, str>> {
    let of_item = || {
        let id = call::id(fields.get("id"))?;
        Some(id.strip_prefix("fc_").map(|rest| Cow::Owned(format!("call_{rest}"))).unwrap_or(id))
    };
    call::id(fields.get("call_id")).or_else(of_item)
}

/// Returns whether the call was a custom tool call. The result must then be of the custom kind too.
pub(super) fn is_custom(extras: &ProviderExtras) -> bool {
    extras.get(FACTS.name, "type").is_some_and(|kind| kind == CUSTOM)
}

/// Copies the named fields, except `null`.
pub(super) fn copy(from: &Fields, to: &mut Fields, names: &[&str]) {
    to.extend(only(from, |name, value| names.contains(&name) && !value.is_null()));
}
