//! Compares parameter types with their schemas when a tool is created.

use super::slot::{Fill, ToolParams};
use crate::guard::guarded;
use crate::schema::__private::{difference, mark_exact, mark_overflowing, mark_unusable};
use crate::schema::SchemaRef;
use serde_json::Value;

/// Decodes a JSON text as a parameter type and drops the value, or returns the deserialization message.
pub(super) type Decode = fn(&str) -> Result<(), String>;

/// Checks that a JSON text decodes as a `T`.
///
/// # Errors
/// The deserialization message of the type. The message is empty if the type panics, or if the value ends
/// before the text does.
pub(super) fn decode_only<T: ToolParams>(text: &str) -> Result<(), String> {
    let decoded = guarded(|| match Fill::fill(&mut None::<T>, text) {
        Ok(taken) if taken == text.len() => Ok(()),
        Ok(_) => Err(String::new()),
        Err(error) => Err(error.to_string()),
    });
    decoded.unwrap_or_else(|_| Err(String::new()))
}

/// Compares a type with its schema: `root`, or the property `parameter` of `root`. Marks the schema where it
/// differs from the type. Returns whether arguments must be checked against the schema because of a
/// difference.
pub(super) fn mark_difference(root: &mut Value, parameter: Option<&str>, decode: Decode) -> bool {
    let schema = match parameter {
        Some(name) => root.get("properties").and_then(|properties| properties.get(name)),
        None => Some(&*root),
    };
    let Some(schema) = schema else { return false };
    let found = difference(SchemaRef::new(root, schema), &mut |text| decode(text));
    if found.overflows
        && let Some(definitions) = root.get_mut("$defs").and_then(Value::as_object_mut)
    {
        definitions.values_mut().for_each(mark_overflowing);
    }
    let schema = match parameter {
        Some(name) => root.get_mut("properties").and_then(|properties| properties.get_mut(name)),
        None => Some(root),
    };
    let Some(schema) = schema else { return false };
    if found.accepts_more {
        mark_exact(schema);
    }
    if found.overflows {
        mark_overflowing(schema);
    }
    if let Some(message) = found.unusable {
        mark_unusable(schema, message);
    }
    found.accepts_more || found.overflows
}
