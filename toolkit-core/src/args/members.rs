//! The members of the arguments object: names and unparsed values, in the order of the text.

use crate::error::{ToolError, Violation, ViolationKind};
use crate::schema::__private::{Json, Kind, members_of, value_in_words};
use serde_json::value::RawValue;
use serde_json::{Error, Map, Value};

pub(crate) use crate::schema::__private::Member;

enum Members<'a> {
    /// An object: its JSON text and its members.
    Object(&'a str, Vec<Member<'a>>),
    /// A JSON string with the arguments inside, as some models send them.
    String(String),
    Absent,
    Other,
}

/// Calls `read` with the members of the arguments object.
///
/// Empty text and `null` count as an object without members. If the text is a JSON string with an object
/// inside, `read` receives the members of this object.
///
/// # Errors
/// The arguments are not a JSON object.
pub(crate) fn with_members<T>(text: &str, read: impl FnOnce(&[Member<'_>]) -> T) -> Result<T, ToolError> {
    with_object(text, |_, members| read(members))
}

/// Calls `read` with the JSON text of the arguments object and its members, see [`with_members`].
///
/// # Errors
/// The arguments are not a JSON object.
pub(crate) fn with_object<T>(
    text: &str,
    read: impl FnOnce(&str, &[Member<'_>]) -> T,
) -> Result<T, ToolError> {
    let inner;
    let members = match read_members(text)? {
        Members::String(text) => {
            inner = text;
            read_members(&inner).unwrap_or(Members::Other)
        }
        members => members,
    };
    match members {
        Members::Object(object, members) => Ok(read(object, &members)),
        Members::Absent => Ok(read("{}", &[])),
        Members::String(_) | Members::Other => Err(not_an_object(text)),
    }
}

/// Parses the arguments into one object, with every member under the published name of the parameter.
///
/// `parameter` returns the published name for an alias, or `None` to keep the name.
///
/// # Errors
/// The arguments are not a JSON object.
pub(crate) fn arguments_value(
    text: &str,
    parameter: impl Fn(&str) -> Option<String>,
) -> Result<Value, ToolError> {
    let read = |members: &[Member<'_>]| {
        let value = |(name, value): &Member<'_>| {
            let value = serde_json::from_str(value.get())?;
            Ok((parameter(name).unwrap_or_else(|| name.to_string()), value))
        };
        members.iter().map(value).collect::<Result<Map<String, Value>, Error>>()
    };
    with_members(text, read)?.map(Value::Object).map_err(|error| not_json(&error))
}

/// Returns the arguments in [canonical form](Json::canonical), or `None` if the arguments are not a JSON
/// object.
///
/// Every member has the published name of the parameter, see [`arguments_value`].
pub(crate) fn canonical_arguments(text: &str, parameter: impl Fn(&str) -> Option<String>) -> Option<String> {
    let write = |object: &str, _: &[Member<'_>]| {
        let mut object = Json::parse(object).ok()?;
        if let Kind::Object(members) = &mut object.kind {
            for (name, _) in members {
                *name = parameter(name).map_or_else(|| std::mem::take(name), Into::into);
            }
        }
        Some(object.canonical())
    };
    with_object(text, write).ok()?
}

fn read_members(text: &str) -> Result<Members<'_>, ToolError> {
    if text.trim().is_empty() {
        return Ok(Members::Absent);
    }
    let read = || -> Result<Members<'_>, Error> {
        let value = serde_json::from_str::<&RawValue>(text)?.get();
        match value.as_bytes().first() {
            Some(b'{') => members_of(value).map(|members| Members::Object(value, members)),
            Some(b'"') => serde_json::from_str(value).map(Members::String),
            Some(b'n') => Ok(Members::Absent),
            _ => Ok(Members::Other),
        }
    };
    read().map_err(|error| not_json(&error))
}

pub(super) fn not_json(error: &Error) -> ToolError {
    ToolError::invalid_json(format_args!("{}; the arguments must be one JSON object", said(error)))
}

/// Returns the message of a `serde_json` error. Wording about lone surrogates is replaced by advice for the
/// model.
pub(super) fn said(error: &Error) -> String {
    let lone_surrogate = ["unexpected end of hex escape", "lone leading surrogate in hex escape"];
    let advice = "write the character itself, not half of a surrogate pair";
    lone_surrogate.iter().fold(error.to_string(), |text, theirs| text.replace(theirs, advice))
}

pub(super) fn not_an_object(text: &str) -> ToolError {
    let message = format!("the arguments must be a JSON object, got {}", value_in_words(text.trim()));
    ToolError::invalid_arguments(vec![Violation::new("", ViolationKind::NotAnObject, message)])
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
