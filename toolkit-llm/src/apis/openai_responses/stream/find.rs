//! Finds the item of an event.

use crate::apis::openai_responses::read::read_call as read;
use crate::fields::text;
use crate::stream::part::{Key, Part};
use crate::stream::parts::Parts;
use serde_json::{Map, Value};
use std::collections::HashSet;

pub(super) fn key_of_item<'a>(item: &'a Value, output_index: Option<&Value>) -> Key<&'a str> {
    let index = output_index.and_then(Value::as_u64);
    Key { item: text(item, "id"), index, call: text(item, "call_id"), kind: text(item, "type") }
}

pub(super) fn key_of_event<'a>(event: &'a Value, kind: &'a str) -> Key<&'a str> {
    let index = event.get("output_index").and_then(Value::as_u64);
    Key { item: text(event, "item_id"), index, call: text(event, "call_id"), kind }
}

/// Returns the index in `parts` of the item with this key, creating the item if necessary. `is_begin` states
/// whether the event begins the item.
pub(super) fn find_or_begin(parts: &mut Parts, key: &Key<&str>, is_begin: bool) -> usize {
    let number = find(parts, key, is_begin);
    known_or_new(parts, number, key)
}

/// Returns the index `known`, or if it is `None`, the index of a new item. The item gets the fields of `key`.
pub(super) fn known_or_new(parts: &mut Parts, known: Option<usize>, key: &Key<&str>) -> usize {
    let number = known.unwrap_or_else(|| parts.begin(key.index.unwrap_or(parts.len() as u64), Value::Null));
    parts.learn(number, key);
    let item = &parts[number];
    if let Some(index) = item.key.index.filter(|_| !item.is_listed) {
        parts[number].position = index;
    }
    number
}

/// Returns the index in `parts` of the item with this key. An event without ids belongs to the latest item,
/// if this item is still open.
pub(super) fn find(parts: &Parts, key: &Key<&str>, is_begin: bool) -> Option<usize> {
    let by_item = parts.by_item.get(key.item).filter(|number| {
        let known = &parts[**number].key;
        known.is_same_call(key) || !known.is_elsewhere(key)
    });
    let by_any_index = parts.by_item.get(key.item).filter(|_| !is_begin);
    // An id that belongs to another item outweighs the index.
    let by_index = key
        .index
        .and_then(|index| parts.by_index.get(&index))
        .filter(|number| by_any_index.is_none() || !parts[**number].key.is_other_item(key));
    // Two calls may have the same `call_id`. A new item with another item id is another call.
    // Some servers name the item of an event by its `call_id`.
    let by_call = parts.by_call.get(key.call).or_else(|| parts.by_call.get(key.item)).filter(|number| {
        let known = &parts[**number].key;
        !(known.is_elsewhere(key) || is_begin && known.is_other_item(key))
    });
    let fits = |number: &usize| {
        let item = &parts[*number];
        let is_other = item.is_done || item.json.is_null() && item.key.is_other_item(key);
        !(item.key.contradicts(key) || is_begin && is_other)
    };
    let latest = || {
        let is_open = |number: &usize| !parts[*number].is_done && fits(number);
        parts.latest().filter(|number| !is_begin && key.is_empty() && is_open(number))
    };
    [by_item, by_index, by_call, by_any_index].into_iter().flatten().copied().find(fits).or_else(latest)
}

/// Returns the index in `parts` of the item at `position` in the final response, creating the item if
/// necessary.
///
/// The item is found by its ids, or else by `position`. Items in `parts` that are already matched with
/// another item of the final response are skipped.
///
/// Some servers give the calls new ids in the final response. A streamed call whose id is not `listed` is then found by
/// its name and its arguments.
pub(super) fn find_listed(
    parts: &mut Parts,
    key: &Key<&str>,
    position: usize,
    item: &Value,
    listed: &HashSet<&str>,
) -> usize {
    let fits = |number: &usize| {
        let fits = |item: &Part| !item.is_listed && !item.key.contradicts(key);
        parts.get(*number).is_some_and(fits)
    };
    let at_place = [parts.by_index.get(&(position as u64)).copied(), Some(position)];
    let is_same_call = |number: &usize| parts.get(*number).is_some_and(|item| item.key.is_same_call(key));
    let same_call = at_place.into_iter().flatten().find(is_same_call);
    let by_id = [parts.by_item.get(key.item).copied(), parts.by_call.get(key.call).copied()];
    let renamed = |is_exact: bool| {
        let fits = |known: &Part| {
            let is_free = !known.is_listed && !listed.contains(known.key.call.as_str());
            is_free && may_be_same(known, item, is_exact)
        };
        let places = at_place.into_iter().rev().flatten().chain(0..parts.len());
        places.into_iter().find(|number| parts.get(*number).is_some_and(fits))
    };
    let found = [same_call].into_iter().chain(by_id).flatten().find(fits);
    let found = found.or_else(|| renamed(true)).or_else(|| renamed(false));
    let found = found.or_else(|| at_place.into_iter().flatten().find(fits));
    known_or_new(parts, found, key)
}

/// Returns whether a streamed call and a call in the final response, under another id, may be the same call. Both have
/// the same name, and the same arguments (`is_exact`) or no different ones so far.
fn may_be_same(known: &Part, item: &Value, is_exact: bool) -> bool {
    let (Some(streamed), Some(listed)) = (read(&known.json, false), read(item, false)) else { return false };
    let json = |text: &str| match text.trim() {
        "" => Some(Value::Object(Map::new())),
        text => serde_json::from_str(text).ok(),
    };
    let whole = listed.arguments().into_text();
    let written = streamed.arguments().into_text();
    let written = if streamed.has_no_arguments() { known.arguments() } else { &written };
    let is_so_far = || listed.has_no_arguments() || written.trim() == "{}" || whole.starts_with(written);
    streamed.name == listed.name
        && streamed.is_custom == listed.is_custom
        && (written == whole
            || json(written).is_some_and(|written| json(&whole) == Some(written))
            || !is_exact && is_so_far())
}
