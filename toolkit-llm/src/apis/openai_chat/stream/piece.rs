//! Finds the call to which each streamed piece belongs.
//!
//! Some servers omit the index, the id or the name, and some repeat them.

use crate::apis::openai_chat::read::{is_empty, is_unknown, read_call, text_of};
use crate::call::WireCall;
use crate::call::known_calls::is_same_object;
use crate::stream::merge::overlay;
use crate::stream::part::{PartKey, StreamedPart};
use crate::stream::parts::Parts;
use serde_json::{Value, json};

/// Adds a piece of a call, or a complete call (`is_whole`).
pub(super) fn push(parts: &mut Parts, json: &Value, is_whole: bool) {
    let piece = read_call(json, false);
    let placed = if is_whole { None } else { find(parts, &piece) };
    let has_owner = is_whole
        || !piece.name.is_empty()
        || text_of(&piece).is_empty()
        || placed.is_some_and(|number| is_repeated_by(&parts[number], &piece));
    let known = if has_owner { placed } else { parts.receiver(placed) };
    if known.is_none() && !is_whole && is_empty(&piece) {
        return;
    }
    let number = match known {
        Some(number) => number,
        None => begin(parts, &piece),
    };
    // After the next call begins, no arguments arrive for the earlier one.
    if let Some(earlier) = parts.known.current.replace(number)
        && earlier != number
        && parts[earlier].is_complete()
        && !parts.is_blank(earlier)
    {
        parts.close(earlier, false);
    }
    if let Some(id) = piece.id.as_deref()
        && parts[number].key.call.is_empty()
    {
        parts.learn(number, &PartKey { call: id, ..PartKey::default() });
        if !parts[number].is_announced() {
            parts[number].set("id", id);
        }
    }
    let part = &mut parts[number];
    add(part, &piece);
    if !part.text.is_empty() && !part.name.is_empty() {
        parts.announce(number);
    }
    parts.say_arguments(number, false);
}

pub(super) fn is_same(known: &StreamedPart, call: &WireCall<'_>) -> bool {
    known.name == call.name && is_same_object(&known.text, &text_of(call))
}

/// Returns the call that `piece` continues, by its index, its id, or else the current call.
fn find(parts: &Parts, piece: &WireCall<'_>) -> Option<usize> {
    let place = match (piece.index, piece.id.as_deref()) {
        (Some(index), _) => parts.known.by_index.get(&(index as u64)),
        (None, id) => id.and_then(|id| parts.known.by_call.get(id)).or(parts.known.current.as_ref()),
    };
    place.copied().filter(|number| is_continued_by(&parts[*number], piece))
}

fn begin(parts: &mut Parts, piece: &WireCall<'_>) -> usize {
    let index = piece.index.map(|index| index as u64);
    let unseen = index.filter(|index| !parts.known.by_index.contains_key(index));
    let number = parts.begin(unseen.unwrap_or(parts.next), json!({}));
    parts.learn(number, &PartKey { index, ..PartKey::default() });
    number
}

/// Returns whether `piece` continues the call at its place.
///
/// Some servers send id and name once, others in every piece. Some generate a new id for every piece, and
/// some give all calls the index 0. A place is therefore one call, whatever ids follow, until its arguments
/// are a complete object.
fn is_continued_by(part: &StreamedPart, piece: &WireCall<'_>) -> bool {
    let is_blank = part.text.trim().is_empty();
    let is_awaited = is_blank || part.is_open();
    let has_text = !text_of(piece).trim().is_empty();
    // Whether the id, or else the index, is that of the call.
    let is_sure = match piece.id.as_deref() {
        Some(id) if !part.key.call.is_empty() => id == part.key.call,
        _ => piece.index.is_some(),
    };
    match piece.name {
        _ if is_first_text(part, piece) || is_repeated_by(part, piece) => true,
        "" => is_sure || piece.id.is_none() || !part.is_complete(),
        // Arguments without an id that came before any name may belong to an earlier call.
        _ if part.name.is_empty() => {
            (is_sure || piece.id.is_none()) && (is_blank || !part.key.call.is_empty())
        }
        name if name == part.name => is_awaited || is_sure && !(part.is_complete() && has_text),
        // Some servers send the name in pieces.
        _ => is_sure && is_blank,
    }
}

/// Returns whether the piece repeats the call in `part`, with the same arguments.
///
/// Without an id, the piece must have an index, or the call an id.
fn is_repeated_by(part: &StreamedPart, piece: &WireCall<'_>) -> bool {
    let is_same_call = match &piece.id {
        Some(id) => **id == *part.key.call,
        None => !part.key.call.is_empty() || piece.index.is_some(),
    };
    let is_same_name = piece.name.is_empty() || piece.name == part.name;
    if !is_same_call || !is_same_name {
        return false;
    }
    match text_of(piece).trim() {
        "" => part.text.trim().is_empty(),
        text => text == part.text.trim() || part.is_complete() && is_same_object(text, &part.text),
    }
}

/// Returns whether the piece begins the arguments after an empty object, which some servers send.
fn is_first_text(part: &StreamedPart, piece: &WireCall<'_>) -> bool {
    let is_same_call = match &piece.id {
        Some(id) => **id == *part.key.call,
        None => piece.name.is_empty(),
    };
    is_same_call && part.text.trim() == "{}" && text_of(piece).trim_start().starts_with('{')
}

/// Adds a piece to a call.
///
/// The name and arguments of a returned call do not change.
fn add(part: &mut StreamedPart, piece: &WireCall<'_>) {
    if !part.is_done {
        add_text(part, piece);
    }
    let (Some(fields), Some(received)) = (part.json.as_object_mut(), piece.json.as_object()) else { return };
    overlay(fields, received, |name, _| is_unknown(name));
    let kind = if piece.is_custom { "custom" } else { "function" };
    if let Some(Value::Object(inner)) = received.get(kind)
        && inner.keys().any(|name| is_unknown(name))
        && let Some(unknown) = fields.entry(kind).or_insert_with(|| json!({})).as_object_mut()
    {
        overlay(unknown, inner, |name, _| is_unknown(name));
    }
}

fn add_text(part: &mut StreamedPart, piece: &WireCall<'_>) {
    part.is_custom |= piece.is_custom;
    // Some servers send the name in pieces, others repeat it.
    let has_text = !part.text.is_empty();
    if part.name.is_empty() || !has_text && piece.name.starts_with(&part.name) {
        piece.name.clone_into(&mut part.name);
    } else if !has_text && part.name != piece.name {
        part.name.push_str(piece.name);
    }
    if part.is_complete() && is_repeated_by(part, piece) {
        return;
    }
    part.append(&text_of(piece));
}
