//! The members of the arguments object, unparsed and in the order of the text.

use crate::error::{ToolError, Violation, ViolationKind};
use crate::schema::__private::value_in_words;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::fmt;

/// A member of an object: its name and its unparsed value.
pub(crate) type Member<'a> = (String, &'a RawValue);

enum Members<'a> {
    /// The object's text and its members.
    Object(&'a str, Vec<Member<'a>>),
    /// JSON inside a JSON string, as some models write it.
    String(String),
    Absent,
    Other,
}

/// Calls `read` with the members of the arguments. Empty text and `null` have none; an object in a string is read.
///
/// # Errors
/// The arguments are not a JSON object.
pub(crate) fn with_members<T>(text: &str, read: impl FnOnce(&[Member<'_>]) -> T) -> Result<T, ToolError> {
    with_object(text, |_, members| read(members))
}

/// Calls `read` with the object's text too; the members borrow from it.
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

/// Parses the arguments into one object with members under the parameters' names.
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
            Ok((parameter(name).unwrap_or_else(|| name.clone()), value))
        };
        members.iter().map(value).collect::<Result<Map<String, Value>, serde_json::Error>>()
    };
    with_members(text, read)?.map(Value::Object).map_err(|error| not_json(&error))
}

fn read_members(text: &str) -> Result<Members<'_>, ToolError> {
    if text.trim().is_empty() {
        return Ok(Members::Absent);
    }
    let read = || -> Result<Members<'_>, serde_json::Error> {
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

pub(super) fn not_json(error: &serde_json::Error) -> ToolError {
    ToolError::invalid_json(format_args!("{}; the arguments must be one JSON object", said(error)))
}

/// Returns the message of `serde_json`, with a clear text for lone surrogates.
pub(super) fn said(error: &serde_json::Error) -> String {
    let lone_surrogate = ["unexpected end of hex escape", "lone leading surrogate in hex escape"];
    let advice = "write the character itself, not half of a surrogate pair";
    lone_surrogate.iter().fold(error.to_string(), |text, theirs| text.replace(theirs, advice))
}

/// Returns the members in the order of the text, repeated names included.
pub(super) fn members_of(text: &str) -> Result<Vec<Member<'_>>, serde_json::Error> {
    struct InOrder;

    impl<'de> Visitor<'de> for InOrder {
        type Value = Vec<Member<'de>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }

    serde_json::Deserializer::from_str(text).deserialize_map(InOrder)
}

pub(super) fn not_an_object(text: &str) -> ToolError {
    let message = format!("the arguments must be a JSON object, got {}", value_in_words(text.trim()));
    ToolError::invalid_arguments(vec![Violation::new("", ViolationKind::NotAnObject, message)])
}
