//! The members of the arguments, in the order of the text and unread.

use crate::error::{ToolError, Violation, ViolationKind};
use crate::schema::__private::value_in_words;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::fmt;

/// A member of an object: its name and its value, unread.
pub(crate) type Member<'a> = (String, &'a RawValue);

enum Members<'a> {
    /// The text of the object, and its members.
    Object(&'a str, Vec<Member<'a>>),
    /// A JSON text within a JSON string, as some models write it.
    String(String),
    Absent,
    Other,
}

/// Hands on the members of the arguments. Nothing and `null` are no members, and an object may be
/// written into a string.
pub(crate) fn with_members<T>(text: &str, read: impl FnOnce(&[Member<'_>]) -> T) -> Result<T, ToolError> {
    with_object(text, |_, members| read(members))
}

/// Hands on the text of the object that the arguments are, too; its members are parts of it.
///
/// # Errors
/// The arguments are not a JSON object, nor absent, nor an object in a string.
pub(crate) fn with_object<T>(
    text: &str,
    read: impl FnOnce(&str, &[Member<'_>]) -> T,
) -> Result<T, ToolError> {
    match read_members(text)? {
        Members::Object(object, members) => Ok(read(object, &members)),
        Members::Absent => Ok(read("{}", &[])),
        Members::String(inner) => match read_members(&inner) {
            Ok(Members::Object(object, members)) => Ok(read(object, &members)),
            Ok(Members::Absent) => Ok(read("{}", &[])),
            _ => Err(not_an_object(text)),
        },
        Members::Other => Err(not_an_object(text)),
    }
}

/// The arguments as the tool understands them, one value: an object whose members go by the names of the parameters.
///
/// # Errors
/// The arguments are not a JSON object, nor absent, nor an object in a string.
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
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Ok(Members::Absent);
    }
    let value: &RawValue = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    let value = value.get();
    match value.as_bytes().first() {
        Some(b'{') => {
            members_of(value).map(|members| Members::Object(value, members)).map_err(|error| not_json(&error))
        }
        Some(b'"') => serde_json::from_str(value).map(Members::String).map_err(|error| not_json(&error)),
        Some(b'n') => Ok(Members::Absent),
        _ => Ok(Members::Other),
    }
}

pub(super) fn not_json(error: &serde_json::Error) -> ToolError {
    ToolError::invalid_json(format_args!("{}; the arguments must be one JSON object", said(error)))
}

/// What serde says, in other words where it does not say what is wrong with a text.
pub(super) fn said(error: &serde_json::Error) -> String {
    let lone_half = ["unexpected end of hex escape", "lone leading surrogate in hex escape"];
    let in_words = "write the character itself, not half of a surrogate pair";
    lone_half.iter().fold(error.to_string(), |said, theirs| said.replace(theirs, in_words))
}

/// The members in the order of the text, doubled names included.
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
