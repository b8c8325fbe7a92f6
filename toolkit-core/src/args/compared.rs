//! Compares parameter types with their schemas when a tool is created.

use super::slot::{Fill, ToolParams};
use crate::guard::guarded;
use crate::schema::__private::{
    difference, has_constraints, has_unasked_rules, mark_exact, mark_exact_lists, mark_lists,
    mark_overflowing, mark_unusable, unmark_rules,
};
use crate::schema::SchemaRef;
use serde_json::{Map, Value};

/// Checks that a JSON text decodes as a parameter type. The decoded value is dropped; the error is the deserialization
/// message.
pub(super) type Decode = fn(&str) -> Result<(), String>;

/// Checks that a JSON text decodes as a `T`.
///
/// # Errors
/// The deserialization message of the type. The message is empty if the type panics, or if more text follows the value.
pub(super) fn decode_only<T: ToolParams>(text: &str) -> Result<(), String> {
    let decoded = guarded(|| match Fill::fill(&mut None::<T>, text) {
        Ok(taken) if taken == text.len() => Ok(()),
        Ok(_) => Err(String::new()),
        Err(error) => Err(error.to_string()),
    });
    decoded.unwrap_or_else(|_| Err(String::new()))
}

/// Finds differences between a parameter type, given by its `decode` function, and the type's JSON schema. The schema
/// is `root`, or the property `parameter` of `root`, and is marked where it differs.
///
/// Returns whether arguments must be checked against the schema, because of a difference or because of constraints.
pub(super) fn mark_difference(root: &mut Value, parameter: Option<&str>, decode: Decode) -> bool {
    let schema = match parameter {
        Some(name) => root.get("properties").and_then(|properties| properties.get(name)),
        None => Some(&*root),
    };
    let Some(schema) = schema else { return false };
    let found = difference(SchemaRef::new(root, schema), &mut |text| decode(text));
    mark_exact_lists(root, &found.exact_lists);
    let is_enforced = found.enforces_ranges && found.enforces_lists;
    // The type was not tested against every rule of the schema. The untested rules are always checked.
    let keeps_marks = |schema: &Value| is_enforced && !has_unasked_rules(schema);
    for definition in
        root.get_mut("$defs").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
    {
        if found.overflows {
            mark_overflowing(definition);
        }
        if !keeps_marks(definition) {
            unmark_rules(definition);
        }
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
    match keeps_marks(schema) {
        true => mark_lists(schema),
        false => unmark_rules(schema),
    }
    if let Some(message) = found.unusable {
        mark_unusable(schema, message);
    }
    found.accepts_more || found.keeps_repeated || found.overflows || !is_enforced || has_constraints(schema)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::__private::argument_schema_of;
    use schemars::JsonSchema;
    use serde::Deserialize;

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    enum Word {
        First,
        #[serde(alias = "2nd")]
        Second,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(untagged)]
    #[allow(dead_code)]
    enum Either {
        Word { word: Word },
        Text { word: String, byte: u8 },
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Tree {
        size: i16,
        word: Option<Word>,
        inner: Vec<Self>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Lists {
        #[schemars(extend("enum" = ["First", "Second"]))]
        word: String,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Wide {
        #[schemars(with = "u16")]
        size: u32,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Limited {
        #[schemars(range(max = 9))]
        size: u8,
    }

    fn must_be_checked<T: ToolParams>() -> bool {
        mark_difference(&mut argument_schema_of::<T>(), None, decode_only::<T>)
    }

    #[test]
    fn arguments_are_checked_only_if_the_type_accepts_more_than_its_schema() {
        assert!(!must_be_checked::<Word>());
        assert!(!must_be_checked::<(u8, i16, u32, i64, u128, Option<Word>, Vec<Word>)>());
        // If `byte` is repeated, `Text` refuses the value. `Word` then accepts it, because `Word` ignores the name
        // `byte`.
        assert!(must_be_checked::<Either>());
        assert!(!must_be_checked::<Tree>());
        assert!(must_be_checked::<Lists>());
        assert!(must_be_checked::<Wide>());
        assert!(must_be_checked::<Limited>());
    }
}
