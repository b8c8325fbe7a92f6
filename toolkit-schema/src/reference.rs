//! References within a document, and JSON pointers.

mod loops;

use crate::depth::MAX_DEPTH;
use crate::dialect::SchemaLoss;
use crate::keyword::each_subschema;
use crate::keywords::Keywords;
use serde_json::{Map, Value};
use std::borrow::Cow;

pub use loops::LoopExits;

/// A schema with the document that its references point into.
///
/// A `&Value` converts into a `SchemaRef` with itself as the document. Use [`new`](Self::new) for a schema
/// inside a document.
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
    /// Creates a reference to `schema`, inside `document`.
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

/// Returns the target of a reference such as `#/$defs/Size`.
pub(crate) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

/// Returns the target of a schema's `$ref`, which may have a reference of its own.
pub(crate) fn referenced<'a>(root: &'a Value, schema: &Value) -> Option<&'a Value> {
    target(root, schema.get("$ref")?.as_str()?)
}

/// Follows `$ref` from `schema` to the first schema without.
///
/// Returns `None` without a target, or if the chain is too long.
pub(crate) fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> Option<&'a Value> {
    for _ in 0..MAX_DEPTH {
        match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => schema = target(root, reference)?,
            None => return Some(schema),
        }
    }
    None
}

/// Adapts references to a provider that refuses keywords beside `$ref`, and loops through none of the parts
/// in `exits`. Returns the losses.
///
/// Properties on such a loop are not required, and a loop without a property is cut off where it closes. Both
/// accept more values.
pub fn fit_references(schema: &mut Value, exits: LoopExits) -> Vec<SchemaLoss> {
    let losses = loops::open_loops(schema, exits);
    isolate_references(schema);
    losses
}

/// Leaves each `$ref` alone in its object.
///
/// Beside other keywords, it moves into a union: `{"$ref": "#/$defs/A", "title": "T"}` becomes `{"title":
/// "T", "anyOf": [{"$ref": "#/$defs/A"}]}`. Nothing else moves, so other references keep their targets.
fn isolate_references(schema: &mut Value) {
    each_subschema(schema, &mut isolate_reference);
}

fn isolate_reference(keywords: &mut Map<String, Value>) {
    if keywords.len() < 2 {
        return;
    }
    let Some(reference) = keywords.shift_remove("$ref") else { return };
    let alone = Value::from(Map::only("$ref", reference));
    for union in ["anyOf", "oneOf"] {
        if !keywords.contains_key(union) {
            return keywords.set(union, vec![alone].into());
        }
    }
    match keywords.get_mut("allOf") {
        Some(Value::Array(parts)) => parts.push(alone),
        _ => keywords.set("allOf", vec![alone].into()),
    }
}

/// Escapes a name as a token of a JSON pointer.
pub(crate) fn escape(name: &str) -> Cow<'_, str> {
    if name.contains(['~', '/']) { name.replace('~', "~0").replace('/', "~1").into() } else { name.into() }
}

#[cfg(test)]
mod tests;
