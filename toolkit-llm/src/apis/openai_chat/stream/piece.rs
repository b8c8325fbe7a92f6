//! Finds the call to which each streamed piece belongs. Some servers omit the index, the id or the name, and
//! some repeat them.

use crate::apis::openai_chat::read::{is_empty, is_unknown, read_call, text_of};
use crate::call::WireCall;
use crate::stream::merge::overlay;
use crate::stream::part::{PartKey, StreamedPart};
use crate::stream::parts::Parts;
use crate::stream::scan::ObjectScanner;
use serde_json::{Value, json};

/// Adds a piece of a call. If `is_whole` is `true`, the piece is a complete call.
pub(super) fn push(parts: &mut Parts, json: &Value, is_whole: bool) {
    let piece = read_call(json, false);
    let known = find(parts, &piece).filter(|number| !is_whole && !is_left_by(&parts[*number], &piece));
    let is_repeated = || known.is_some_and(|number| is_repeated_by(&parts[number], &piece));
    let has_owner = is_whole || !piece.name.is_empty() || text_of(&piece).is_empty() || is_repeated();
    let known = if has_owner { known } else { parts.receiver(known) };
    if known.is_none() && !is_whole && is_empty(&piece) {
        return;
    }
    let number = known.unwrap_or_else(|| begin(parts, &piece));
    // Once the model continues with another call, no further arguments arrive for the earlier one.
    if let Some(earlier) = parts.current.replace(number).filter(|earlier| *earlier != number)
        && parts[earlier].is_complete()
        && !parts.is_blank(earlier)
    {
        parts.close(earlier, false);
    }
    if let Some(id) = piece.id.as_deref().filter(|_| parts[number].key.call.is_empty()) {
        parts.learn(number, &PartKey { call: id, ..PartKey::default() });
        // Once a call is announced, its id does not change.
        if !parts[number].is_announced {
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
    known.name == call.name && known.text == text_of(call)
}

/// Returns the position in `parts` of the call that `piece` continues.
///
/// A piece with an index continues the call with the same index. Any other piece continues the call with the same id,
/// or the current call if the piece fits.
fn find(parts: &Parts, piece: &WireCall<'_>) -> Option<usize> {
    if let Some(index) = piece.index {
        return parts.by_index.get(&(index as u64)).copied();
    }
    let by_id = piece.id.as_deref().and_then(|id| parts.by_call.get(id).copied());
    let continues = |number: &usize| {
        let last = &parts[*number];
        match (piece.name, &piece.id) {
            ("", None) => true,
            ("", Some(_)) => last.is_open(),
            (_, None) if last.name.is_empty() => true,
            (name, None) => last.name == name && (last.is_open() || is_repeated_by(last, piece)),
            (_, Some(_)) => false,
        }
    };
    by_id.or_else(|| parts.current.filter(continues))
}

fn begin(parts: &mut Parts, piece: &WireCall<'_>) -> usize {
    let index = piece.index.map(|index| index as u64);
    let unseen = index.filter(|index| !parts.by_index.contains_key(index));
    let number = parts.begin(unseen.unwrap_or(parts.next), json!({}));
    parts.learn(number, &PartKey { index, ..PartKey::default() });
    number
}

/// Returns whether `piece` begins another call, although its index, its id or its position belongs to `part`.
///
/// Some servers send id and name once, and others send them in every piece. Some generate a new id for every
/// piece, and some give all calls the index 0. Therefore, a new id begins a new call if the piece also has a
/// name. The exception is a piece with the same name while the arguments in `part` are an incomplete object.
fn is_left_by(part: &StreamedPart, piece: &WireCall<'_>) -> bool {
    let given = Some(part.key.call.as_str()).filter(|id| !id.is_empty());
    let has_new_id = given.is_some() && piece.id.as_deref().is_some_and(|id| Some(id) != given);
    match piece.name {
        _ if is_first_text(part, piece) => false,
        "" => has_new_id && part.is_complete() && text_of(piece).trim_start().starts_with('{'),
        name if has_new_id => !(part.is_open() && part.name == name),
        // Arguments came before any name, so they may belong to an earlier call.
        _ if part.name.is_empty() => !part.scan.is_blank() && given.is_none(),
        _ if part.scan.is_blank() => false,
        name => {
            let has_more = !text_of(piece).trim().is_empty() && !is_repeated_by(part, piece);
            part.name != name || (part.is_complete() && has_more)
        }
    }
}

/// Returns whether the piece repeats the call in `part`, with the same arguments. If the piece has no id, the
/// call must have an id, or the piece must have an index.
fn is_repeated_by(part: &StreamedPart, piece: &WireCall<'_>) -> bool {
    let is_same_call = match &piece.id {
        Some(id) => **id == *part.key.call,
        None => !part.key.call.is_empty() || piece.index.is_some(),
    };
    is_same_call && text_of(piece).trim() == part.text.trim()
}

/// Returns whether the piece begins the real arguments after an empty object. Some servers send `{}` first.
fn is_first_text(part: &StreamedPart, piece: &WireCall<'_>) -> bool {
    let is_same_call = match &piece.id {
        Some(id) => **id == *part.key.call,
        None => piece.name.is_empty(),
    };
    is_same_call && part.text.trim() == "{}" && text_of(piece).trim_start().starts_with('{')
}

/// Adds a piece to a call. If the call was already returned, its name and arguments do not change.
fn add(part: &mut StreamedPart, piece: &WireCall<'_>) {
    if !part.is_done {
        add_text(part, piece);
    }
    let (Some(fields), Some(received)) = (part.json.as_object_mut(), piece.json.as_object()) else { return };
    overlay(fields, received, |name, _| is_unknown(name));
    let kind = if piece.is_custom { "custom" } else { "function" };
    let inner = received.get(kind).and_then(Value::as_object);
    if let Some(inner) = inner.filter(|inner| inner.keys().any(|name| is_unknown(name)))
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
    if is_first_text(part, piece) {
        part.text.clear();
        part.scan = ObjectScanner::default();
    }
    part.append(&text_of(piece));
}
