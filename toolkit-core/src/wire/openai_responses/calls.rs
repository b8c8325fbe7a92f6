//! The calls of a response, and the items it goes back with.

use super::call::WireCall;
use super::response::{Items, is_kind, items, kind, strip_refused};
use crate::call::{CallId, ToolCall};
use crate::error::WireError;
use crate::wire::ids;
use serde_json::Value;

pub(super) fn parse_calls(payload: &Value) -> Result<Vec<ToolCall>, WireError> {
    let items = items(payload)?;
    Ok(all_calls(&items).zip(all_ids(&items)).map(|(call, id)| call.to_call(id)).collect())
}

/// The items for the `input` of the next request.
pub(super) fn assistant_messages(payload: &Value) -> Result<Vec<Value>, WireError> {
    let items = items(payload)?;
    let mut ids = all_ids(&items).into_iter();
    let history = items.list.iter().filter_map(|item| {
        let mut fields = match WireCall::of(item) {
            Some(call) => call.to_history(ids.next()?.as_str()),
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

fn all_calls<'a>(items: &Items<'a>) -> impl Iterator<Item = WireCall<'a>> {
    items.list.iter().filter_map(WireCall::of)
}

fn all_ids(items: &Items<'_>) -> Vec<CallId> {
    ids::complete(all_calls(items).map(|call| (call.item(), call.id())))
}
