//! References inside a document, and JSON pointers.

use serde_json::Value;
use std::borrow::Cow;

/// References followed in a row: a chain that leads back to itself ends here.
pub(crate) const LONGEST_CHAIN: usize = 8;

/// A schema with the document that its references point into.
///
/// A whole document converts into one, so functions take `&schema`. [`new`](Self::new) is for parts of it.
///
/// ```
/// use toolkit_schema::{SchemaRef, describe};
///
/// let document = serde_json::json!({
///     "properties": {"size": {"$ref": "#/$defs/Size"}},
///     "$defs": {"Size": {"type": "integer", "minimum": 1}},
/// });
/// let size = SchemaRef::new(&document, &document["properties"]["size"]);
/// assert_eq!(describe(size).as_deref(), Some("integer of at least 1"));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SchemaRef<'a> {
    pub(crate) root: &'a Value,
    pub(crate) schema: &'a Value,
}

impl<'a> SchemaRef<'a> {
    /// Creates a reference to `schema`, whose own references point into `document`.
    #[must_use]
    pub const fn new(document: &'a Value, schema: &'a Value) -> Self {
        Self { root: document, schema }
    }
}

impl<'a> From<&'a Value> for SchemaRef<'a> {
    fn from(document: &'a Value) -> Self {
        Self::new(document, document)
    }
}

/// Returns the target of a reference into the document.
pub(crate) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

/// Returns the schema behind the references of `schema`.
pub(crate) fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> Option<&'a Value> {
    for _ in 0..LONGEST_CHAIN {
        match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => schema = target(root, reference)?,
            None => return Some(schema),
        }
    }
    None
}

/// Writes a name as a token of a JSON pointer.
pub(crate) fn escape(name: &str) -> Cow<'_, str> {
    match name.contains(['~', '/']) {
        true => name.replace('~', "~0").replace('/', "~1").into(),
        false => name.into(),
    }
}
