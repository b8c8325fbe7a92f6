//! Corrections of texts that are almost JSON, and of objects wrapped in texts and lists.

use crate::json::{Json, Kind, raw_json};
use serde_json::Value;
use std::borrow::Cow;

/// Returns the text of the only object in a call's arguments, which a Markdown fence, a JSON string or a list
/// may enclose. Empty text and `null` stand for `{}`.
///
/// Without such an object, returns `None`.
#[must_use]
pub fn extract_object(text: &str) -> Option<Cow<'_, str>> {
    let text = match plain(text)? {
        text if text.starts_with('"') => {
            let Ok(Value::String(inner)) = text.parse() else { return None };
            Cow::Owned(plain(&inner)?.into_owned())
        }
        text => text,
    };
    match text.bytes().next() {
        Some(b'{') => Some(text),
        Some(b'[') => {
            let list = Json::parse(&text).ok()?;
            let Kind::Array(items) = &list.kind else { return None };
            let [item] = items.as_slice() else { return None };
            if item.text.starts_with('{') { Some(item.text.to_owned().into()) } else { None }
        }
        None | Some(b'n') => Some(Cow::Borrowed("{}")),
        _ => None,
    }
}

/// Returns the JSON value in a text, [repaired](repair()) if necessary.
fn plain(text: &str) -> Option<Cow<'_, str>> {
    if let Some(value) = value_in(text) {
        return Some(Cow::Borrowed(value));
    }
    let repaired = repair(text)?;
    Some(value_in(&repaired)?.to_owned().into())
}

/// Returns a JSON value, or blank text, without the white space around it.
fn value_in(text: &str) -> Option<&str> {
    let text = text.trim();
    if text.is_empty() { Some(text) } else { raw_json(text).ok() }
}

/// Removes a Markdown fence around JSON and escapes control characters in strings, or returns `None` without
/// any.
///
/// A backslash before a control character is dropped, because it is no valid escape.
#[must_use]
pub(crate) fn repair(text: &str) -> Option<String> {
    let text = text.trim();
    let fenced = text.strip_prefix("```").and_then(|inner| inner.strip_suffix("```"));
    let inner = match fenced {
        // The name of the language follows the fence.
        Some(inner) => inner.trim_start_matches(' ').trim_start_matches(|c: char| c.is_ascii_alphanumeric()),
        None => text,
    };
    let mut repaired = String::with_capacity(inner.len());
    let mut is_inside = false;
    let mut is_escaped = false;
    let mut characters = inner.chars().peekable();
    while let Some(c) = characters.next() {
        is_inside ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        if is_inside && is_escaped && characters.peek().is_some_and(char::is_ascii_control) {
            is_escaped = false;
            continue;
        }
        match c {
            c if is_inside && c.is_ascii_control() => repaired.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => repaired.push(c),
        }
    }
    if repaired == text { None } else { Some(repaired) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_character_in_a_string_is_itself_with_or_without_a_backslash() {
        for control in (0..0x20).chain([0x7f]).map(char::from) {
            for (before, kept) in [("", ""), ("\\", ""), (r"\\", r"\"), (r"\\\", r"\"), (r"\n", "\n")] {
                let text = format!("{{\"a{before}{control}b\": \"{before}{control}\"}}\n");
                let repaired = repair(&text).unwrap_or_else(|| text.clone());
                let value: Value = serde_json::from_str(&repaired).unwrap();
                assert_eq!(
                    value,
                    serde_json::json!({format!("a{kept}{control}b"): format!("{kept}{control}")})
                );
            }
        }
    }

    #[test]
    fn an_object_is_found_in_every_combination_of_wrappers() {
        let object = r#"{"a": [1, "\n"]}"#;
        let wrappers: [fn(&str) -> String; 4] = [
            |text| format!(" {text}\n"),
            |text| format!("```json\n{text}\n```"),
            |text| Value::from(text).to_string(),
            |text| format!("[ {text}\n]"),
        ];
        let without = |order: &[usize], step: usize| order.strip_prefix(&[step]).unwrap_or(order).to_vec();
        // From the inside: a list, a fence, and a string, perhaps fenced, with space anywhere.
        let is_known = |order: &[usize]| match without(&without(order, 3), 1).split_first() {
            None => true,
            Some((outer, fence)) => *outer == 2 && without(fence, 1).is_empty(),
        };
        for order in (0..256_usize).map(|number| [0, 2, 4, 6].map(|shift| number >> shift & 3)) {
            let text = order.iter().fold(object.to_owned(), |text, wrapper| wrappers[*wrapper](&text));
            let order: Vec<usize> = order.into_iter().filter(|wrapper| *wrapper != 0).collect();
            let expected = is_known(&order).then_some(object);
            assert_eq!(extract_object(&text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn only_a_list_of_exactly_one_object_stands_for_the_object() {
        for text in
            ["[]", "[1]", "[null]", r#"[{"a": 1}, {"a": 1}]"#, r#"[[{"a": 1}]]"#, r#"["{}"]"#, "[{}", "[{},]"]
        {
            assert_eq!(extract_object(text), None, "{text}");
        }
        for text in ["", " ", "null", r#""""#, r#""null""#, "```\n```", "[{}]"] {
            assert_eq!(extract_object(text).as_deref(), Some("{}"), "{text}");
        }
    }

    #[test]
    fn a_fence_is_removed_and_valid_text_stays() {
        assert_eq!(repair("```json\n{\"a\": 1}\n```").as_deref(), Some("\n{\"a\": 1}\n"));
        assert_eq!(repair(" {\"a\": \"\\n\"}\n"), None);
    }
}
