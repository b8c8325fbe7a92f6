//! References to schemas within a document, and JSON pointers.

mod loops;

use crate::depth::MAX_DEPTH;
use crate::dialect::SchemaLoss;
use crate::keyword::each_subschema;
use crate::keywords::Keywords;
use serde_json::{Map, Value};
use std::borrow::Cow;

pub use loops::LoopExits;

/// A schema, together with the document that contains the targets of its references.
///
/// A `&Value` converts into a `SchemaRef` whose document is the schema itself. Use [`new`](Self::new) for a schema
/// inside a larger document.
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
    /// Creates a `SchemaRef` to `schema`. References in `schema` are resolved in `document`.
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

/// Returns the target of a reference such as `#/$defs/Size`, in the document `root`.
pub(crate) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

/// Returns the schema that the `$ref` of a schema names. It may have a reference of its own, beside other keywords.
pub(crate) fn referenced<'a>(root: &'a Value, schema: &Value) -> Option<&'a Value> {
    target(root, schema.get("$ref")?.as_str()?)
}

/// Follows `$ref` from `schema` until a schema has no `$ref`, and returns the last schema.
///
/// Returns `None` if a reference has no target, or if the chain of references is too long.
pub(crate) fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> Option<&'a Value> {
    for _ in 0..MAX_DEPTH {
        match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => schema = target(root, reference)?,
            None => return Some(schema),
        }
    }
    None
}

/// Writes the references of a schema for a provider that refuses other keywords beside `$ref`, and loops of references that
/// lead through none of the parts in `exits`. Returns the losses.
///
/// The properties on such a loop are no longer required. A loop without a property is cut off where it closes. Both accept
/// more values than before.
pub fn fit_references(schema: &mut Value, exits: LoopExits) -> Vec<SchemaLoss> {
    let losses = loops::open_loops(schema, exits);
    isolate_references(schema);
    losses
}

/// Leaves each `$ref` of a schema alone in its object.
///
/// A reference beside other keywords moves into a union of its own: `{"$ref": "#/$defs/A", "title": "T"}` becomes
/// `{"title": "T", "anyOf": [{"$ref": "#/$defs/A"}]}`. Nothing else moves, so references into the schema keep their
/// targets, and both forms allow the same values.
fn isolate_references(schema: &mut Value) {
    each_subschema(schema, &mut |keywords| {
        if keywords.len() < 2 {
            return;
        }
        let Some(reference) = keywords.shift_remove("$ref") else { return };
        let alone = Value::from(Map::only("$ref", reference));
        if let Some(union) = ["anyOf", "oneOf"].into_iter().find(|union| !keywords.contains_key(*union)) {
            keywords.set(union, vec![alone].into());
            return;
        }
        match keywords.get_mut("allOf") {
            Some(Value::Array(parts)) => parts.push(alone),
            _ => keywords.set("allOf", vec![alone].into()),
        }
    });
}

/// Escapes a name for use as a token of a JSON pointer.
pub(crate) fn escape(name: &str) -> Cow<'_, str> {
    if name.contains(['~', '/']) { name.replace('~', "~0").replace('/', "~1").into() } else { name.into() }
}

#[cfg(test)]
mod tests;
