//! Tests that compare partial values with the complete value.

use super::*;
use proptest::prelude::*;
use serde_json::json;

/// Returns whether `part` may be the value of an unfinished text whose complete value is `whole`.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::String(part), Value::String(whole)) => whole.starts_with(part.as_str()),
        (Value::Array(part), Value::Array(whole)) => {
            let last = part.len().saturating_sub(1);
            part.len() <= whole.len()
                && part.iter().zip(whole).enumerate().all(|(index, (part, whole))| {
                    if index < last { part == whole } else { is_part(part, whole) }
                })
        }
        (Value::Object(part), Value::Object(whole)) => {
            let last = part.len().saturating_sub(1);
            part.len() <= whole.len()
                && part.iter().zip(whole).enumerate().all(|(index, ((name, part), (known, whole)))| {
                    name == known && if index < last { part == whole } else { is_part(part, whole) }
                })
        }
        (part, whole) => part == whole,
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let members = prop::collection::btree_map(any::<String>(), inner.clone(), 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(Value::from),
            members.prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Escapes all characters outside of ASCII, and some within.
fn escaped(json: &str) -> String {
    let mut written = String::new();
    for c in json.chars() {
        if c.is_ascii() {
            written.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| written.push_str(&format!("\\u{unit:04x}")));
        }
    }
    written
}

fn read(json: &str) -> PartialJson {
    let mut partial = PartialJson::new();
    json.chars().for_each(|next| partial.push(next));
    partial
}

proptest! {
    #[test]
    fn every_prefix_gives_a_part_of_the_value(value in value(), form in 0..3) {
        let json = match form {
            0 => value.to_string(),
            1 => escaped(&value.to_string()),
            _ => serde_json::to_string_pretty(&value).unwrap(),
        };
        let mut partial = PartialJson::new();
        let mut before = None;
        for c in json.chars() {
            partial.push(c);
            prop_assert!(partial.state != ParserState::Invalid, "{json}");
            let now = partial.value();
            if let Some(now) = &now {
                prop_assert!(is_part(now, &value), "{now} of {value}");
                prop_assert!(before.as_ref().is_none_or(|before| is_part(before, now)), "{before:?}, {now}");
            }
            prop_assert!(now.is_some() || before.is_none());
            before = now;
        }
        // A number that is not in an object or array ends only with the next character.
        partial.push('\n');
        prop_assert_eq!(partial.state, ParserState::Complete);
        prop_assert_eq!(partial.value(), serde_json::from_str(&json).ok());
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "[\\[\\]{}\",:\\\\ua0-9tfn\\- .eE]{0,40}|.{0,40}") {
        let partial = read(&text);
        let mut padded = text.clone();
        padded.push(' ');
        let complete = read(&padded);
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            prop_assert_eq!(complete.value(), Some(value));
        }
        let mut answer = PartialAnswer::new(true);
        answer.push(&text, |_| true);
        let _ = (partial.value(), answer.value());
    }
}

#[test]
fn unfinished_parts_are_left_out() {
    for (text, expected) in [
        ("", None),
        ("{", Some(json!({}))),
        (r#"{"na"#, Some(json!({}))),
        (r#"{"name""#, Some(json!({}))),
        (r#"{"name": ""#, Some(json!({"name": ""}))),
        (r#"{"name": "Os\u00"#, Some(json!({"name": "Os"}))),
        (r#"{"name": "Oslo", "population": 71"#, Some(json!({"name": "Oslo"}))),
        (r#"{"name": "Oslo", "population": 71,"#, Some(json!({"name": "Oslo", "population": 71}))),
        (r#"{"open": tru"#, Some(json!({}))),
        ("[[1, 2], [3", Some(json!([[1, 2], []]))),
        (r#"["\ud83d"#, Some(json!([""]))),
        (r#"["\ud83d\ude00"#, Some(json!(["\u{1f600}"]))),
        (r#"["\ud83d."#, None),
        (r#"["\ude00"#, None),
        ("{1}", None),
        ("[1}", None),
        ("[1,]", None),
        ("[1] [", None),
    ] {
        assert_eq!(read(text).value(), expected, "{text}");
    }
    assert_eq!(read(&"[".repeat(1_000)).state, ParserState::Invalid);
    assert_ne!(read(&"[".repeat(100)).state, ParserState::Invalid);
}

#[test]
fn an_answer_is_found_within_other_text() {
    let is_answer = |value: &Value| value.get("other").is_none();
    for (text, is_wrapped, expected) in [
        ("Here: {\"a\": [1, 2", false, Some(json!({"a": [1]}))),
        ("a set {x, y} and [1,", true, Some(json!([1]))),
        ("as in [1]: ", false, None),
        ("as in [1]: {\"a\": 1}", false, Some(json!({"a": 1}))),
        ("[{\"a\": 1}", false, Some(json!({"a": 1}))),
        // Only another answer replaces an answer.
        ("{\"a\": 0} or {\"a\": 1,", false, Some(json!({"a": 0}))),
        ("{\"a\": 0} or {\"a\": 1}", false, Some(json!({"a": 1}))),
        ("{\"a\": 0} [1] {\"other\": 1}", false, Some(json!({"a": 0}))),
        ("{\"other\": 1} or {\"a\": [", false, Some(json!({"a": []}))),
        // No part of an invalid value is an answer.
        ("{'a': 0, \"b\": {\"a\": [1", false, None),
        ("{\"a\": True, \"b\": {\"a\": \"}\"}}", false, None),
        ("{\"a\": True, \"b\": [1]} {\"a\": 1", false, Some(json!({}))),
        ("```json\n{\"answer\": [1, 2, ", true, Some(json!([1, 2]))),
        ("{\"ans", true, None),
        ("[1, ", true, Some(json!([1]))),
        ("no", false, None),
    ] {
        let mut answer = PartialAnswer::new(is_wrapped);
        answer.push(text, is_answer);
        assert_eq!(answer.value(), expected, "{text}");
    }
}
