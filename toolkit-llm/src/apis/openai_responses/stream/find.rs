//! Finds the item of an event.
//!
//! An event belongs to the first of these items, if the item has its type:
//!
//! 1. the item with its item id, unless both have an index and the indices differ;
//! 2. the item with its index, unless its item id belongs to another item;
//! 3. the item with its call id, unless both have an index and the indices differ;
//! 4. the item with its item id, whatever the indices are;
//! 5. if the event has neither an id nor an index, the latest item, unless it is done;
//! 6. at the end of an item, the first open item with the same name and the same arguments, if the event has
//!    no index or the item has its item id.
//!
//! Some servers omit ids or indices, some use one value for several items, and some give an item a new id in
//! each event. An item keeps its first call id. Another one is a second id of the same call, unless the item
//! is complete, or an earlier item has the id.

use crate::apis::openai_responses::read::read_call;
use crate::call::known_calls::is_same_object;
use crate::json::fields::text;
use crate::stream::part::{PartKey, StreamedPart};
use crate::stream::parts::Parts;
use serde_json::Value;
use std::collections::HashSet;

pub(super) fn key_of_item<'a>(item: &'a Value, output_index: Option<&Value>) -> PartKey<&'a str> {
    let index = output_index.and_then(Value::as_u64);
    PartKey { item: text(item, "id"), index, call: text(item, "call_id"), kind: text(item, "type") }
}

/// Returns the index `known`, or the index of a new item.
///
/// The item gets the fields of `key`.
pub(super) fn known_or_new(parts: &mut Parts, known: Option<usize>, key: &PartKey<&str>) -> usize {
    let number = known.unwrap_or_else(|| parts.begin(key.index.unwrap_or(parts.len() as u64), Value::Null));
    parts.learn(number, key);
    let item = &mut parts[number];
    if let Some(index) = item.key.index
        && !item.is_listed
    {
        item.position = index;
    }
    number
}

/// Returns the index in `parts` of the item with this key.
///
/// An event that begins an item (`is_begin`) never belongs to an item that is done or has another index. It
/// belongs to an item with another id only at the same index, if that item has begun.
pub(super) fn find(parts: &Parts, key: &PartKey<&str>, is_begin: bool) -> Option<usize> {
    let is_other = |number: &usize| parts[*number].key.is_other_item(key);
    let by_item = parts.known.by_item.get(key.item).copied();
    let by_index = key.index.and_then(|index| parts.known.by_index.get(&index).copied());
    let by_call = parts.known.by_call.get(key.call).or_else(|| parts.known.by_call.get(key.item)).copied();
    let latest = parts.latest().filter(|number| key.is_empty() && !is_begin && !parts[*number].is_done);
    let places = [
        by_item.filter(|number| !is_apart(&parts[*number].key, key)),
        by_index.filter(|number| by_item.is_none() || !is_other(number)),
        by_call.filter(|number| !(parts[*number].key.is_elsewhere(key) || is_begin && is_other(number))),
        by_item,
        latest,
    ];
    places.into_iter().flatten().find(|number| fits(parts, *number, key, is_begin))
}

/// Returns whether the indices differ, and the call ids do not say that the item is the same.
fn is_apart(known: &PartKey<String>, key: &PartKey<&str>) -> bool {
    known.is_elsewhere(key) && !known.is_same_call(key)
}

fn fits(parts: &Parts, number: usize, key: &PartKey<&str>, is_begin: bool) -> bool {
    let part = &parts[number];
    if part.key.is_other_kind(key) {
        return false;
    }
    let is_unbegun_other = part.json.is_null() && part.key.is_other_item(key);
    if is_begin && (part.is_done || is_unbegun_other || is_apart(&part.key, key)) {
        return false;
    }
    !has_other_call(parts, number, key) || may_be_renamed(parts, number, key, is_begin)
}

/// Returns whether the call id of the event may be a second id of an item.
fn may_be_renamed(parts: &Parts, number: usize, key: &PartKey<&str>, is_begin: bool) -> bool {
    let part = &parts[number];
    let is_open = parts.awaits_arguments(number) || !is_begin && (is_same_item(part, key) || !part.is_done);
    let is_taken = parts.known.by_call.contains_key(key.call);
    let is_other = part.key.is_elsewhere(key) || is_begin && part.key.is_other_item(key);
    is_open && !is_other && !is_taken
}

pub(super) fn is_same_item(part: &StreamedPart, key: &PartKey<&str>) -> bool {
    !key.item.is_empty() && part.key.item == key.item
}

/// Returns the open item with the name and the arguments of `item`, for the sixth rule.
pub(super) fn find_open(parts: &Parts, key: &PartKey<&str>, item: &Value) -> Option<usize> {
    for (number, part) in parts.iter().enumerate() {
        let is_same_place = key.index.is_none() || is_same_item(part, key);
        if !part.is_done && is_same_place && may_be_same(part, item) {
            return Some(number);
        }
    }
    None
}

/// Returns whether the item and the key have ids of different calls.
fn has_other_call(parts: &Parts, number: usize, key: &PartKey<&str>) -> bool {
    parts[number].key.is_other_call(key) && parts.known.by_call.get(key.call) != Some(&number)
}

/// Returns the index of an item in the final response, by its ids, or else its position.
///
/// Items matched before are skipped. Some servers give the calls new ids there: a streamed call whose id is
/// not `listed` is found by its name and its arguments.
pub(super) fn find_listed(
    parts: &Parts,
    key: &PartKey<&str>,
    position: usize,
    item: &Value,
    listed: &HashSet<&str>,
) -> Option<usize> {
    let at_place = [parts.known.by_index.get(&(position as u64)).copied(), Some(position)];
    let same_call = at_place.into_iter().flatten().find(|number| is_same_unlisted_call(parts, *number, key));
    let by_item = parts.known.by_item.get(key.item).copied();
    let by_call = parts.known.by_call.get(key.call).copied();
    let by_id = [same_call, by_item, by_call].into_iter().flatten();
    if let Some(number) = by_id.into_iter().find(|number| fits_listed(parts, *number, key)) {
        return Some(number);
    }
    for (number, part) in parts.iter().enumerate() {
        let is_unlisted = !part.is_listed && !listed.contains(part.key.call.as_str());
        if is_unlisted && may_be_same(part, item) {
            return Some(number);
        }
    }
    at_place.into_iter().flatten().find(|number| fits_listed(parts, *number, key))
}

fn fits_listed(parts: &Parts, number: usize, key: &PartKey<&str>) -> bool {
    let Some(part) = parts.get(number) else { return false };
    !part.is_listed && !part.key.is_other_kind(key) && !has_other_call(parts, number, key)
}

fn is_same_unlisted_call(parts: &Parts, number: usize, key: &PartKey<&str>) -> bool {
    parts.get(number).is_some_and(|part| !part.is_listed && part.key.is_same_call(key))
}

/// Returns whether calls with different ids, one of them complete, may be the same.
///
/// They have the same name, and their arguments do not contradict each other.
pub(super) fn may_be_same(known: &StreamedPart, item: &Value) -> bool {
    let Some(streamed) = read_call(&known.json, false) else { return false };
    let Some(listed) = read_call(item, false) else { return false };
    let whole = listed.arguments().into_text();
    let own = streamed.arguments().into_text();
    let written = if streamed.has_no_arguments() { known.arguments() } else { &own };
    let is_begin = listed.has_no_arguments() || written.trim() == "{}" || whole.starts_with(written);
    streamed.name == listed.name
        && streamed.is_custom == listed.is_custom
        && (is_begin || is_same_object(written, &whole))
}
