//! The canonical form of arguments: equal arguments have equal text.

use super::members::{Member, members_of, with_members};
use serde_json::value::RawValue;

/// The depth limit of `serde_json`, too.
const DEEPEST: usize = 128;

/// Returns the arguments as compact JSON with sorted members under the parameters' names; `None` if they are not a
/// JSON object. Numbers keep their digits, so different numbers stay different.
pub(crate) fn canonical_arguments(text: &str, parameter: impl Fn(&str) -> Option<String>) -> Option<String> {
    let write = |members: &[Member<'_>]| {
        let renamed =
            members.iter().map(|(name, value)| (parameter(name).unwrap_or_else(|| name.clone()), *value));
        let mut written = String::with_capacity(text.len());
        write_object(renamed.collect(), &mut written, DEEPEST)?;
        Some(written)
    };
    with_members(text, write).ok()?
}

fn write_object(mut members: Vec<(String, &RawValue)>, written: &mut String, depth: usize) -> Option<()> {
    // A stable sort: for a repeated name, order can matter.
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    written.push('{');
    for (at, (name, value)) in members.into_iter().enumerate() {
        if at > 0 {
            written.push(',');
        }
        written.push_str(&serde_json::to_string(&name).ok()?);
        written.push(':');
        write_value(value, written, depth)?;
    }
    written.push('}');
    Some(())
}

fn write_value(value: &RawValue, written: &mut String, depth: usize) -> Option<()> {
    let (text, depth) = (value.get(), depth.checked_sub(1)?);
    match text.as_bytes().first()? {
        b'{' => write_object(members_of(text).ok()?, written, depth)?,
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            written.push('[');
            for (at, item) in items.into_iter().enumerate() {
                if at > 0 {
                    written.push(',');
                }
                write_value(item, written, depth)?;
            }
            written.push(']');
        }
        b'"' => {
            let decoded: String = serde_json::from_str(text).ok()?;
            written.push_str(&serde_json::to_string(&decoded).ok()?);
        }
        _ => written.push_str(text),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> Option<String> {
        canonical_arguments(text, |name| (name == "number").then(|| "n".to_owned()))
    }

    #[test]
    fn equal_arguments_have_equal_text() {
        for (text, expected) in [
            ("", "{}"),
            (" null ", "{}"),
            (
                r#" { "b" : [ 1 , { "d" : null, "c" : "\u0061\/" } ] , "a" : true } "#,
                r#"{"a":true,"b":[1,{"c":"a/","d":null}]}"#,
            ),
            (r#""{\"number\": 1}""#, r#"{"n":1}"#),
            (r#"{"a": 1, "a": 2}"#, r#"{"a":1,"a":2}"#),
        ] {
            assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn different_arguments_have_different_text() {
        for (one, other) in [
            (
                r#"{"n": 100000000000000000000000000000000000001}"#,
                r#"{"n": 100000000000000000000000000000000000002}"#,
            ),
            (r#"{"n": 0.1}"#, r#"{"n": 0.1000000000000000055}"#),
            (r#"{"n": 1}"#, r#"{"n": "1"}"#),
            (r#"{"n": [1]}"#, r#"{"n": [1, 1]}"#),
            (r#"{"a": 1, "a": 2}"#, r#"{"a": 2, "a": 1}"#),
        ] {
            assert_ne!(canonical(one), canonical(other));
        }
    }

    #[test]
    fn only_objects_have_a_canonical_form() {
        let deep = format!(r#"{{"n": {}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        for text in ["{", "[]", "1", r#"{"n": "\ud800"}"#, &deep] {
            assert_eq!(canonical(text), None);
        }
    }
}
