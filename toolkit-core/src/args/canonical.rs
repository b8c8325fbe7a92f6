//! Arguments as one text that is the same however a model writes them.

use super::members::{Member, members_of, with_members};
use serde_json::value::RawValue;

/// Values that are nested deeper are refused everywhere else, too.
const DEEPEST: usize = 128;

/// The arguments as compact JSON whose members are sorted, and go by the names of the parameters; `None` if they are
/// not a JSON object. Numbers stay as they are written, because none that differ may become one.
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
    // Of two members of one name, the later one may be what counts.
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
    fn what_means_the_same_is_the_same() {
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
    fn what_differs_in_a_digit_differs() {
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
    fn what_is_no_object_has_no_form() {
        let deep = format!(r#"{{"n": {}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        for text in ["{", "[]", "1", r#"{"n": "\ud800"}"#, &deep] {
            assert_eq!(canonical(text), None);
        }
    }
}
