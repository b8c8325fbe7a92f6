//! The calls of a response, and the items it goes back with.

use super::IDS;
use super::call::encode_call;
use super::response::{Items, is_kind, items, kind, strip_refused};
use crate::WireError;
use crate::{history, ids};
use serde_json::Value;
use toolkit_core::call::{CallId, ToolCall};
use toolkit_core::name::WireNames;

pub(super) fn parse_calls(payload: &Value) -> Result<Vec<ToolCall>, WireError> {
    let items = items(payload)?;
    Ok(items.calls().zip(all_ids(&items)).map(|(call, id)| call.to_call(id)).collect())
}

/// The items for the `input` of the next request.
pub(super) fn assistant_messages(payload: &Value, names: &WireNames) -> Result<Vec<Value>, WireError> {
    let items = items(payload)?;
    let ids = all_ids(&items);
    let mut ids = history::ids(IDS, true, ids.iter().map(CallId::as_str)).into_iter();
    let history = items.list.iter().enumerate().filter_map(|(at, item)| {
        let mut fields = match items.call(at) {
            Some(call) => call.to_history(ids.next()?, names),
            // What says neither what it is nor whose it is, no server takes.
            None => {
                item.as_object().filter(|item| kind(item).is_some() || item.contains_key("role"))?.clone()
            }
        };
        strip_refused(&mut fields);
        Some(Value::Object(fields))
    });
    let mut history: Vec<Value> = history.collect();
    if items.is_whole {
        // A turn that was cut while the model was thinking: reasoning "without its required
        // following item" is refused.
        while history.last().is_some_and(|item| is_kind(item, "reasoning")) {
            history.pop();
        }
    }
    Ok(history)
}

pub(super) fn encode_calls(calls: &[ToolCall], names: &WireNames) -> Vec<Value> {
    let ids = history::ids(IDS, true, calls.iter().map(|call| call.id.as_str()));
    calls.iter().zip(ids).map(|(call, id)| encode_call(call, id, names)).collect()
}

fn all_ids(items: &Items<'_>) -> Vec<CallId> {
    ids::complete(items.calls().map(|call| (call.item(), call.id())))
}
