//! Coercion of near misses inside a value.

use crate::check::violations;
use crate::discriminator::branches;
use crate::properties::{item_schema, member_schema};
use crate::reference::{SchemaRef, resolve};
use crate::types::{is_of_type, names, types};
use serde_json::{Map, Value};
use std::ptr;

/// Doubles below are exact integers.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Coerces near misses inside a value, and returns whether anything changed.
///
/// - `5.0` becomes `5` where the schema takes integers only.
/// - A string becomes the JSON value that it holds where the schema takes no strings.
/// - `null` is removed where a member is optional and never `null`.
///
/// ```
/// use serde_json::json;
///
/// let schema = json!({"properties": {"count": {"type": "integer"}, "unit": {"enum": ["c", "f"]}}});
/// let mut value = json!({"count": "5", "unit": null});
/// assert!(toolkit_schema::coerce(&schema, &mut value));
/// assert_eq!(value, json!({"count": 5}));
/// ```
pub fn coerce<'a>(schema: impl Into<SchemaRef<'a>>, value: &mut Value) -> bool {
    let SchemaRef { root, schema } = schema.into();
    coerce_in(root, schema, value, &mut Vec::new())
}

/// Coerces a value. `around` are the unions of which the schema is a branch: one that holds itself ends there.
fn coerce_in<'a>(root: &'a Value, schema: &'a Value, value: &mut Value, around: &mut Vec<&'a Value>) -> bool {
    let is_new = |schema: &&Value| !around.iter().any(|outer| ptr::eq(*outer, *schema));
    let Some(schema) = resolve(root, schema).filter(is_new) else { return false };
    let mut names = types(schema.get("type"));
    let mut changed = false;
    if let Some(branches) = branches(schema) {
        around.push(schema);
        for branch in branches {
            changed |= coerce_in(root, branch, value, around);
        }
        around.pop();
    }
    match value {
        Value::Number(number) if number.is_f64() && takes_integers_only(schema) => {
            let whole = number.as_f64().filter(|whole| whole.fract() == 0.0 && whole.abs() < EXACT);
            if let Some(whole) = whole {
                *value = Value::from(whole as i64);
                changed = true;
            }
        }
        Value::String(text) if names.clone().all(|name| name != "string") => {
            if let Ok(mut inner) = serde_json::from_str::<Value>(text) {
                coerce_in(root, schema, &mut inner, &mut Vec::new());
                if names.any(|name| is_of_type(&inner, name)) {
                    *value = inner;
                    changed = true;
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                changed |= item_schema(schema, index)
                    .is_some_and(|schema| coerce_in(root, schema, item, &mut Vec::new()));
            }
        }
        Value::Object(members) => {
            changed |= remove_nulls(root, schema, members);
            for (name, member) in members {
                changed |= member_schema(schema, name)
                    .is_some_and(|schema| coerce_in(root, schema, member, &mut Vec::new()));
            }
        }
        _ => {}
    }
    changed
}

/// Removes `null` from optional members that are never `null`: a model held to a schema that requires every
/// member has no other way to leave one out.
fn remove_nulls(root: &Value, schema: &Value, members: &mut Map<String, Value>) -> bool {
    let Some(properties) = schema.get("properties") else { return false };
    let before = members.len();
    members.retain(|name, member| {
        let is_required = || names(schema.get("required")).any(|other| other == name);
        let refuses_null = |property| !violations(SchemaRef::new(root, property), &Value::Null).is_empty();
        !member.is_null() || is_required() || !properties.get(name).is_some_and(refuses_null)
    });
    members.len() < before
}

fn takes_integers_only(schema: &Value) -> bool {
    let mut names = types(schema.get("type"));
    names.clone().any(|name| name == "integer") && names.all(|name| name != "number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_values_that_do_not_fit_are_coerced() {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "array", "items": {"type": "integer"}},
            "b": {"type": "number"},
            "e": {"type": ["boolean", "null"]},
            "f": {"type": "string"},
            "c": {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"n": {"type": "integer"}}}]},
        }});
        let mut value =
            json!({"a": [1.0, -0.0, 2.5, 3], "b": 1.0, "c": {"n": "4.0"}, "d": 1.0, "e": "true", "f": "1"});
        assert!(coerce(&schema, &mut value));
        assert_eq!(value.to_string(), r#"{"a":[1,0,2.5,3],"b":1.0,"c":{"n":4},"d":1.0,"e":true,"f":"1"}"#);
        assert!(!coerce(&schema, &mut value));
    }

    #[test]
    fn a_union_that_holds_itself_ends() {
        let schema = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"type": "array", "items": {"$ref": "#"}}, {"type": "integer"}]});
        let mut value = json!([["5"], 1.0]);
        assert!(coerce(&schema, &mut value));
        assert_eq!(value, json!([[5], 1]));
    }

    #[test]
    fn null_is_removed_from_optional_members_that_are_never_null() {
        let schema = json!({"type": "object", "required": ["must"], "properties": {
            "must": {"type": "integer"},
            "may": {"type": "integer"},
            "null": {"type": ["integer", "null"]},
            "inner": {"type": "array", "items": {"type": "object", "properties": {"may": {"enum": ["a"]}}}},
            "any": true,
        }});
        let mut value = json!({
            "must": null, "may": null, "null": null, "inner": [{"may": null}], "any": null, "unknown": null,
        });
        assert!(coerce(&schema, &mut value));
        let expected = json!({"must": null, "null": null, "inner": [{}], "any": null, "unknown": null});
        assert_eq!(value, expected);
        assert!(!coerce(&schema, &mut value));
    }
}
