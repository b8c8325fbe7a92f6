//! Errors as members of a flat JSON object, in events.

use super::ToolError;
use serde::Serializer;
use serde::ser::{Error, SerializeMap};
use serde_json::{Map, Value};

/// Serializes an error as members of the surrounding object: the kind as `error`, the message, and other
/// fields unless they have default values.
pub(crate) fn flat_error<'a, S: Serializer>(
    error: impl Into<Option<&'a ToolError>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut members = serializer.serialize_map(None)?;
    if let Some(error) = error.into() {
        let Ok(Value::Object(fields)) = serde_json::to_value(error) else {
            return Err(S::Error::custom("an error contains a value nested too deep for JSON"));
        };
        for (name, value) in &fields {
            match name.as_str() {
                "kind" => members.serialize_entry("error", value)?,
                "brief" if error.brief() == error.message() => {}
                "more" if *value == 0 => {}
                "retryable" if *value == false => {}
                name => members.serialize_entry(name, value)?,
            }
        }
    }
    members.end()
}

/// Reads an error written by [`flat_error`], if there is a member `error`.
pub(crate) fn read_flat_error(
    mut members: Map<String, Value>,
) -> Result<Option<ToolError>, serde_json::Error> {
    let Some(kind) = members.remove("error") else { return Ok(None) };
    members.insert("kind".to_owned(), kind);
    if let (None, Some(message)) = (members.get("brief"), members.get("message").cloned()) {
        members.insert("brief".to_owned(), message);
    }
    serde_json::from_value(members.into()).map(Some)
}
