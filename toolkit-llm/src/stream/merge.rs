//! Merges fields that are received in pieces, including unknown fields.

use crate::json::fields::Fields;
use serde_json::{Value, json};

/// The maximum nesting depth of merged values.
///
/// Deeper values are replaced.
const DEEPEST: usize = 32;

/// The number of elements at the end of a list among which an `index` is searched.
///
/// Streams have few open parts.
const OPEN_PARTS: usize = 64;

/// The fields with strings received in pieces.
///
/// Other strings are replaced, because servers repeat them in each delta.
const GROWING: [&str; 10] = [
    "content",
    "text",
    "refusal",
    "reasoning",
    "reasoning_content",
    "thinking",
    "summary",
    "data",
    "transcript",
    "arguments",
];

/// Copies the fields of `piece` that `is_kept` accepts into `fields`, and merges objects.
///
/// `null` and the number 0 change nothing: some servers send real token counts first and zeros at the end.
pub(crate) fn overlay(fields: &mut Fields, piece: &Fields, is_kept: impl Fn(&str, &Value) -> bool) {
    merge(fields, piece.iter().filter(|(name, value)| is_kept(name, value)), 0, overlay_value);
}

fn overlay_value(_name: &str, old: &mut Value, new: &Value, _depth: usize) {
    if !(old.is_number() && new.as_f64() == Some(0.0)) {
        *old = new.clone();
    }
}

/// Adds the fields of a streamed `piece` that `is_kept` accepts to `fields`.
///
/// Strings of [`GROWING`] fields are appended, lists are extended, objects are merged, and other values are
/// replaced. `null` changes nothing.
pub(crate) fn join(fields: &mut Fields, piece: &Fields, is_kept: impl Fn(&str, &Value) -> bool) {
    merge(fields, piece.iter().filter(|(name, value)| is_kept(name, value)), 0, join_value);
}

fn merge<'a>(
    fields: &mut Fields,
    piece: impl Iterator<Item = (&'a String, &'a Value)>,
    depth: usize,
    add: fn(&str, &mut Value, &Value, usize),
) {
    for (name, value) in piece {
        match (fields.get_mut(name), value) {
            (None, _) => drop(fields.insert(name.clone(), value.clone())),
            (_, Value::Null) => {}
            (Some(Value::Object(old)), Value::Object(new)) if depth < DEEPEST => {
                merge(old, new.iter(), depth + 1, add);
            }
            (Some(old), _) => add(name, old, value, depth),
        }
    }
}

fn join_value(name: &str, old: &mut Value, new: &Value, depth: usize) {
    match (old, new) {
        (Value::String(old), Value::String(new)) if GROWING.contains(&name) => old.push_str(new),
        (Value::String(_), Value::String(new)) if new.is_empty() => {}
        (Value::Array(old), Value::Array(new)) => {
            for part in new {
                join_part(old, part, depth);
            }
        }
        // Content may change from a string to a list of parts, or back.
        (old @ Value::String(_), Value::Array(new)) => {
            let mut parts = vec![json!({"type": "text", "text": old.take()})];
            for part in new {
                join_part(&mut parts, part, depth);
            }
            *old = parts.into();
        }
        (Value::Array(old), Value::String(new)) => {
            join_part(old, &json!({"type": "text", "text": new}), depth);
        }
        (old, new) => *old = new.clone(),
    }
}

/// Adds a streamed part to a list, as a new element or as the continuation of one.
///
/// A part with an `index` continues the element with the same `index`. Without one, text and thinking
/// continue the last element, unless it is signed and therefore complete.
fn join_part(parts: &mut Vec<Value>, part: &Value, depth: usize) {
    let continued = continued_by(parts, part);
    match (continued.and_then(|at| parts.get_mut(at)), part) {
        (Some(Value::Object(old)), Value::Object(new)) if depth < DEEPEST => {
            merge(old, new.iter(), depth + 1, join_value);
        }
        _ => parts.push(part.clone()),
    }
}

fn continued_by(parts: &[Value], part: &Value) -> Option<usize> {
    let Some(index) = part.get("index") else {
        let last = parts.len().checked_sub(1)?;
        return if is_continued(&parts[last], part) { Some(last) } else { None };
    };
    for (at, old) in parts.iter().enumerate().rev().take(OPEN_PARTS) {
        if old.get("index") == Some(index) && same_kind(old, part) {
            return Some(at);
        }
    }
    None
}

fn same_kind(old: &Value, new: &Value) -> bool {
    new.get("type").is_none_or(|kind| old.get("type") == Some(kind))
}

fn is_continued(last: &Value, part: &Value) -> bool {
    let kind = part.get("type").and_then(Value::as_str);
    let is_signed =
        last.get("signature").and_then(Value::as_str).is_some_and(|signature| !signature.is_empty());
    matches!(kind, Some("text" | "thinking"))
        && last.get("type") == part.get("type")
        && part.get("index").is_none()
        && last.get("index").is_none()
        && !is_signed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join_all(fields: &mut Fields, piece: &Fields) {
        join(fields, piece, |_, _| true);
    }

    fn overlay_all(fields: &mut Fields, piece: &Fields) {
        overlay(fields, piece, |_, _| true);
    }

    #[track_caller]
    fn check(how: fn(&mut Fields, &Fields), pieces: &[Value], expected: &Value) {
        let mut fields = Fields::new();
        for piece in pieces {
            how(&mut fields, piece.as_object().unwrap());
        }
        assert_eq!(Value::Object(fields), *expected);
    }

    #[test]
    fn fields_repeated_in_each_piece_are_set() {
        check(
            join_all,
            &[
                json!({"channel": "analysis", "reasoning": "Hm", "role": "assistant"}),
                json!({"channel": "analysis", "reasoning": "m", "role": ""}),
                json!({"channel": "final", "content": "Hi"}),
            ],
            &json!({"channel": "final", "reasoning": "Hmm", "role": "assistant", "content": "Hi"}),
        );
    }

    #[test]
    fn texts_are_continued_and_names_said_again() {
        check(
            join_all,
            &[
                json!({"role": "assistant", "content": null, "audio": {"id": "a", "data": "aG"}}),
                json!({"role": "assistant", "content": "Hel", "audio": {"id": "a", "data": "k="}, "tokens": 1}),
                json!({"content": "lo", "refusal": null, "tokens": 2}),
            ],
            &json!({"role": "assistant", "content": "Hello", "audio": {"id": "a", "data": "aGk="}, "tokens": 2, "refusal": null}),
        );
    }

    #[test]
    fn parts_are_continued_by_index_or_as_text() {
        check(
            join_all,
            &[
                json!({"r": [{"index": 0, "type": "reasoning.text", "text": "hm"}]}),
                json!({"r": [{"index": 1, "type": "reasoning.text", "text": "so"}]}),
                json!({"r": [{"index": 0, "type": "reasoning.text", "text": "m", "signature": "s"}]}),
                json!({"r": [{"index": 0, "type": "reasoning.encrypted", "data": "x"}]}),
            ],
            &json!({"r": [
                {"index": 0, "type": "reasoning.text", "text": "hmm", "signature": "s"},
                {"index": 1, "type": "reasoning.text", "text": "so"},
                {"index": 0, "type": "reasoning.encrypted", "data": "x"},
            ]}),
        );
        check(
            join_all,
            &[
                json!({"content": "a"}),
                json!({"content": [{"type": "text", "text": "b"}, {"type": "image_url"}]}),
                json!({"content": "c"}),
            ],
            &json!({"content": [{"type": "text", "text": "ab"}, {"type": "image_url"}, {"type": "text", "text": "c"}]}),
        );
    }

    #[test]
    fn signed_thinking_is_over() {
        let thinking = |text: &str, signature: &str| json!({"t": [{"type": "thinking", "thinking": text, "signature": signature}]});
        check(
            join_all,
            &[thinking("a", ""), thinking("b", ""), thinking("", "sig"), thinking("new", "")],
            &json!({"t": [
                {"type": "thinking", "thinking": "ab", "signature": "sig"},
                {"type": "thinking", "thinking": "new", "signature": ""},
            ]}),
        );
    }

    #[test]
    fn an_overlay_has_the_last_word() {
        check(
            overlay_all,
            &[
                json!({"id": "a", "usage": null, "x": {"google": {"thought_signature": "s"}}}),
                json!({"id": "a", "usage": {"total": 1}, "x": {"google": {"thought_signature": "s"}}}),
                json!({"usage": null, "x": {"other": [1]}}),
            ],
            &json!({"id": "a", "usage": {"total": 1}, "x": {"google": {"thought_signature": "s"}, "other": [1]}}),
        );
    }
}
