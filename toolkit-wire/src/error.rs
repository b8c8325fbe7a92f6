//! Errors for payloads in the wrong format, and for unknown names of formats.

use serde_json::{Map, Value};
use std::fmt;

/// Error when a payload is in the wrong format. Names the location in the payload and the expected value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireError {
    path: String,
    expected: String,
}

impl WireError {
    /// Creates an error for the location `path`, as in `choices[0].message`.
    #[must_use]
    pub fn new(path: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { path: path.into(), expected: expected.into() }
    }

    /// Returns the location in the payload, as in `choices[0].message`. The location is empty if the payload
    /// itself is wrong.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns a description of the expected value, as in `a list of tools`.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the payload" } else { &self.path };
        write!(f, "expected {} at {place}", self.expected)
    }
}

impl std::error::Error for WireError {}

/// Error when a string is parsed as an [`ApiFormat`](crate::ApiFormat) but names no format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownApiFormat {
    message: String,
}

impl UnknownApiFormat {
    /// Creates the error for `text`, an unknown name. The message lists the names of all formats, and one
    /// alias of each format that has an alias.
    ///
    /// Do not change the message: other libraries have the same one, and callers may compare it.
    pub(crate) fn new(text: &str, names: &[&str], aliases: &[Option<&str>]) -> Self {
        let aliases: Vec<&str> = aliases.iter().flatten().copied().collect();
        let (names, aliases) = (names.join(", "), aliases.join(", "));
        Self { message: format!("Unknown provider: '{text}'. Supported: {names} (aliases: {aliases})") }
    }
}

impl fmt::Display for UnknownApiFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UnknownApiFormat {}

/// Returns the error message in `fields`, a payload that a provider may have sent instead of an answer.
///
/// Reads the object `{"error": {"message"}}`, an `error` string, and a `message` beside a field with the
/// value `error`.
pub(crate) fn reported_error(fields: &Map<String, Value>) -> Option<String> {
    let is_error =
        ["object", "type"].iter().any(|mark| fields.get(*mark).is_some_and(|mark| mark == "error"));
    let error = fields.get("error").filter(|error| !error.is_null());
    error.or_else(|| fields.get("message").filter(|_| is_error)).map(error_text)
}

/// Creates the error for a payload that is not a response. If the provider sent an `error` instead of an
/// answer, the message includes this error.
pub(crate) fn failed(path: &str, expected: &str, error: Option<&str>) -> WireError {
    match error {
        Some(error) => WireError::new(path, format!("{expected} (the service reported an error: {error})")),
        None => WireError::new(path, expected),
    }
}

/// Returns the message of an error object.
pub(crate) fn error_text(error: &Value) -> String {
    match error.get("message").unwrap_or(error) {
        Value::String(message) => message.clone(),
        _ => error.to_string(),
    }
}

/// Refuses a message whose role is not `model`. If the message were accepted as a response without calls, a
/// mistake of the caller would stay hidden.
pub(crate) fn check_role(fields: &Map<String, Value>, model: &str, what: &str) -> Result<(), WireError> {
    match fields.get("role") {
        None | Some(Value::Null) => Ok(()),
        Some(role) if role == model => Ok(()),
        Some(_) => Err(WireError::new("role", format!("`{model}`, which marks {what} of the model"))),
    }
}
