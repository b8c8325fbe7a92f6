//! Compares parameter types with their schemas when a tool is created.

use super::slot::{Fill, ToolParams};
use crate::guard::guarded;
use crate::schema::__private::{
    Difference, Enforcements, difference, has_constraints, mark_enforced, mark_exact, mark_overflowing,
    mark_unusable, strip_faulty_default,
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

/// Compares types with their schemas: each `Some(parameter)` with this property of `root`, `None` with `root`
/// itself. Marks the schemas where they differ from the types. For each type, returns whether arguments must be
/// checked against the schema, because of a difference or because of constraints.
pub(super) fn mark_differences(root: &mut Value, types: &[(Option<&str>, Decode)]) -> Vec<bool> {
    let compare = |&(parameter, decode): &(Option<&str>, Decode)| {
        let part = match parameter {
            Some(name) => root.get("properties")?.get(name)?,
            None => &*root,
        };
        Some(difference(SchemaRef::new(root, part), &mut |text| decode(text)))
    };
    let found: Vec<Difference> = types.iter().map(|it| compare(it).unwrap_or_default()).collect();
    let mut enforced = Enforcements::new();
    for (schema, answer) in found.iter().flat_map(|found| &found.enforced) {
        let known = enforced.entry(*schema).or_insert(*answer);
        *known = (*answer).max(*known);
    }
    // Before all other marks, which move schemas to other addresses.
    mark_enforced(root, &enforced);
    if found.iter().any(|found| found.overflows) {
        let definitions = root.get_mut("$defs").and_then(Value::as_object_mut);
        definitions.into_iter().flat_map(Map::values_mut).for_each(mark_overflowing);
    }
    let mark = |(&(parameter, _), found): (&(Option<&str>, Decode), Difference)| {
        let schema = match parameter {
            Some(name) => root.get_mut("properties").and_then(|properties| properties.get_mut(name)),
            None => Some(&mut *root),
        };
        let Some(schema) = schema else { return false };
        if found.accepts_more {
            mark_exact(schema);
        }
        if found.overflows {
            mark_overflowing(schema);
        }
        if let Some(message) = found.unusable {
            mark_unusable(schema, ("#".to_owned(), format!("the type can never decode it: {message}")));
        }
        found.accepts_more || found.keeps_repeated || found.overflows || has_constraints(schema)
    };
    types.iter().zip(found).map(mark).collect()
}

/// Marks the whole schema as unusable if a default in it is no valid argument.
pub(super) fn mark_faulty_default(root: &mut Value) {
    if let Some(fault) = strip_faulty_default(root) {
        mark_unusable(root, fault);
    }
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
        #[serde(rename = "2, or `second`")]
        Second,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    enum Aliased {
        #[serde(alias = "1st")]
        First,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    enum Data {
        Unit,
        Number(u8),
        Point { x: i8 },
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    #[allow(dead_code)]
    enum Tagged {
        First,
        Second { number: u8, word: Word },
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
        mark_differences(&mut argument_schema_of::<T>(), &[(None, decode_only::<T>)]) == [true]
    }

    #[test]
    fn arguments_are_checked_only_if_the_type_accepts_more_than_its_schema() {
        assert!(!must_be_checked::<Word>());
        assert!(!must_be_checked::<(u8, i16, u32, i64, u128, Option<Word>, Vec<Word>)>());
        assert!(!must_be_checked::<(Data, Tagged)>());
        // The schema lists no aliases.
        assert!(must_be_checked::<Aliased>());
        // `Text` refuses a repeated `byte`, but `Word` then takes the value and ignores the name.
        assert!(must_be_checked::<Either>());
        assert!(!must_be_checked::<Tree>());
        assert!(must_be_checked::<Lists>());
        assert!(must_be_checked::<Wide>());
        assert!(must_be_checked::<Limited>());
    }
}
