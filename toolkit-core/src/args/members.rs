//! The members of the arguments object: names and unparsed values, in order.

use crate::error::{ToolError, Violation, ViolationKind};
use crate::schema::__private::{Member, extract_object, members_of, raw_json, value_in_words};
use serde_json::Error;
use std::borrow::Cow;
use std::fmt;

/// The text of the arguments object.
pub(crate) struct ObjectText<'t> {
    pub(crate) text: Cow<'t, str>,
    /// The error of a reader without coercion, if the text was repaired or only [wrapped](extract_object),
    /// for instance in a JSON string.
    pub(crate) repaired: Option<ToolError>,
}

impl<'t> ObjectText<'t> {
    /// Finds the arguments object. Empty text and `null` count as an empty object.
    pub(crate) fn read(text: &'t str) -> Result<Self, ToolError> {
        match strict_object(text) {
            Ok(object) => Ok(Self { text: object.into(), repaired: None }),
            Err(error) => match extract_object(text) {
                Some(object) => Ok(Self { text: object, repaired: Some(error) }),
                None => Err(error),
            },
        }
    }

    pub(crate) fn members(&self) -> Result<Vec<Member<'_>>, ToolError> {
        members_of(&self.text).map_err(|error| not_json(&self.text, &error))
    }
}

fn strict_object(text: &str) -> Result<&str, ToolError> {
    if text.trim().is_empty() {
        return Ok("{}");
    }
    let value = raw_json(text).map_err(|error| not_json(text, &error))?;
    match value.as_bytes().first() {
        Some(b'{') => Ok(value),
        Some(b'n') => Ok("{}"),
        _ => Err(not_an_object(text)),
    }
}

/// Returns the error for text that is not JSON, with advice for frequent mistakes.
pub(crate) fn not_json(text: &str, error: &Error) -> ToolError {
    let advice = advice(text, error).map_or(String::new(), |advice| format!("; {advice}"));
    ToolError::invalid_json(format_args!(
        "{}{advice}; the arguments must be one JSON object",
        message_of(error)
    ))
}

fn advice(text: &str, error: &Error) -> Option<&'static str> {
    if error.is_eof() {
        return Some("write the object up to its end");
    }
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    // The column counts bytes from 1.
    let offset = (lines.map(str::len).sum::<usize>() + error.column()).checked_sub(1)?;
    let (before, after) = text.split_at_checked(offset)?;
    let before = before.trim_end();
    match after.as_bytes().first()? {
        b'{' if before.ends_with('}') && is_object(before) => Some("make a call for each object"),
        _ if before.ends_with('}') && is_object(before) => Some("remove the text after the object"),
        b'\'' => Some("use double quotes"),
        b'/' | b'#' => Some("remove the comment"),
        b'}' | b']' if before.ends_with(',') => Some("remove the comma"),
        _ if before.is_empty() => Some("begin with `{`"),
        first if first.is_ascii_alphabetic() && before.ends_with('"') => {
            Some("write a quote within a string as `\\\"`")
        }
        first if first.is_ascii_alphabetic() => {
            Some(match after.split(|c: char| !c.is_alphanumeric()).next()? {
                "None" | "undefined" => "write `null`",
                "True" => "write `true`",
                "False" => "write `false`",
                _ => "use double quotes",
            })
        }
        _ => None,
    }
}

fn is_object(text: &str) -> bool {
    raw_json(text).is_ok()
}

/// Returns the message of a `serde_json` error, with advice for the model about lone surrogates.
pub(super) fn message_of(error: &dyn fmt::Display) -> String {
    let lone_surrogate = ["unexpected end of hex escape", "lone leading surrogate in hex escape"];
    let advice = "write the character itself, not half of a surrogate pair";
    lone_surrogate.iter().fold(error.to_string(), |text, theirs| text.replace(theirs, advice))
}

fn not_an_object(text: &str) -> ToolError {
    let message = format!("the arguments must be a JSON object, got {}", value_in_words(text.trim()));
    ToolError::invalid_arguments(vec![Violation::new("", ViolationKind::NotAnObject, message)])
}
