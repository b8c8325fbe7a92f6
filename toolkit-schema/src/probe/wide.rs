//! Places where a Rust type can never decode 128-bit integers.
//!
//! serde reads the values of flattened fields, untagged enums and internally tagged enums before it knows their types,
//! as integers of at most 64 bits.

use super::Probe;
use crate::keyword::{Role, subschemas};
use crate::reference::resolve;
use crate::single::WIDE;
use crate::types::types;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Text of the error message if the type of an integer is one of the 128-bit types.
const NO_WIDE_INTEGERS: &str = "128 is not supported";

/// Text of serde's error message if no variant of an untagged enum fits. It hides the messages of the variants.
const NO_VARIANT: &str = "did not match any variant of untagged enum";

impl Probe<'_, '_> {
    /// Notes the message about a refused value if it is about 128-bit integers.
    pub(super) fn note_refusal(&mut self, message: &str) {
        if message.contains(NO_WIDE_INTEGERS) {
            self.found.unusable = Some(message.to_owned());
        }
    }

    /// Decodes a sample value of the schema. Returns whether the type accepts it.
    pub(super) fn fits(&mut self, whole: &Value) -> bool {
        let Some(message) = self.refusal(whole) else { return true };
        let root = self.schema.root;
        if message.contains(NO_VARIANT)
            && union_has_wide(root, self.schema.schema, false, &mut HashSet::new())
        {
            self.found.unusable =
                Some(format!("128-bit integers in untagged enums are not supported: {message}"));
        }
        false
    }

    /// Checks that the type does not ignore a 128-bit integer, as a flattened `Option` does.
    pub(super) fn ask_wide(&mut self, own: &Value, around: &dyn Fn(Value) -> Value) {
        let others = [json!("\u{1}"), json!([[]]), json!({"\u{1}": true}), json!(true)];
        if own.get(WIDE).is_some() && others.into_iter().all(|other| self.takes(&around(other))) {
            self.found.unusable = Some("a flattened `Option` ignores 128-bit integers".to_owned());
        }
    }
}

/// Returns whether an `anyOf` inside the schema contains a 128-bit integer. `schemars` writes untagged enums as `anyOf`,
/// and also an `Option`, which does not count.
fn union_has_wide<'a>(
    root: &'a Value,
    schema: &'a Value,
    is_inside: bool,
    seen: &mut HashSet<(*const Value, bool)>,
) -> bool {
    let Some(own) = resolve(root, schema).filter(|own| seen.insert((*own, is_inside))) else { return false };
    let is_null = |branch: &&Value| types(branch.get("type")).eq(["null"]);
    let branches = own.get("anyOf").and_then(Value::as_array);
    let is_union = branches.is_some_and(|branches| branches.iter().filter(|it| !is_null(it)).count() > 1);
    let mut inside = subschemas(own).filter(|inside| inside.role != Role::Definitions);
    is_inside && own.get(WIDE).is_some()
        || inside.any(|inside| union_has_wide(root, inside.schema, is_inside || is_union, seen))
}
