//! Values inside a value as they may be meant: whole numbers as integers, what stands in a string, and
//! `null` for what is left out.

use super::aliases::property;
use super::describe::resolve;
use super::faults::{faults, is_of_kind};
use serde_json::{Map, Value};

/// Doubles are exact up to here.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Turns `5.0` into `5` wherever the schema allows integers only, and `"5"` into `5` wherever it allows
/// no texts, takes out `null` for what may be left out, and says whether anything changed.
pub fn coerce(root: &Value, schema: &Value, value: &mut Value) -> bool {
    let Some(schema) = resolve(root, schema) else { return false };
    let inside = |keyword: &str| schema.get(keyword).filter(|inside| inside.is_object());
    let mut changed = match ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(keyword)?.as_array()) {
        Some(branches) => branches.iter().filter(|branch| coerce(root, branch, value)).count() > 0,
        None => false,
    };
    match value {
        Value::Number(number) if wants_integer(schema) => {
            let whole = number
                .as_f64()
                .filter(|whole| number.is_f64() && whole.fract() == 0.0 && whole.abs() < EXACT);
            if let Some(whole) = whole {
                *value = Value::from(whole as i64);
                changed = true;
            }
        }
        Value::String(text)
            if kinds(schema).next().is_some() && !kinds(schema).any(|kind| kind == "string") =>
        {
            if let Ok(mut inner) = serde_json::from_str::<Value>(text) {
                coerce(root, schema, &mut inner);
                if kinds(schema).any(|kind| is_of_kind(&inner, kind)) {
                    *value = inner;
                    changed = true;
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                let tuple = schema.get("prefixItems").and_then(|schemas| schemas.get(index));
                if let Some(schema) = tuple.or_else(|| inside("items")) {
                    changed |= coerce(root, schema, item);
                }
            }
        }
        Value::Object(members) => {
            changed |= leave_out_nulls(root, schema, members);
            for (name, member) in members.iter_mut() {
                let properties = schema.get("properties").and_then(Value::as_object);
                let known = properties.and_then(|properties| property(properties, name));
                if let Some(schema) =
                    known.map(|(_, schema)| schema).or_else(|| inside("additionalProperties"))
                {
                    changed |= coerce(root, schema, member);
                }
            }
        }
        _ => {}
    }
    changed
}

/// `null` for a member that may be left out and is never `null` means that it is left out: models that
/// are held to a schema in which every member is required have no other way to say it.
fn leave_out_nulls(root: &Value, schema: &Value, members: &mut Map<String, Value>) -> bool {
    let Some(properties) = schema.get("properties") else { return false };
    let required = schema.get("required").and_then(Value::as_array);
    let before = members.len();
    members.retain(|name, member| {
        let is_required = required.is_some_and(|required| required.iter().any(|other| other == name));
        let refuses_null = || {
            properties
                .get(name)
                .is_some_and(|property| !faults(root, property, &Value::Null, "null").is_empty())
        };
        !member.is_null() || is_required || !refuses_null()
    });
    members.len() < before
}

fn kinds(schema: &Value) -> impl Iterator<Item = &str> {
    let (one, many) = match schema.get("type") {
        Some(Value::String(kind)) => (Some(kind.as_str()), None),
        Some(Value::Array(kinds)) => (None, Some(kinds.iter().filter_map(Value::as_str))),
        _ => (None, None),
    };
    one.into_iter().chain(many.into_iter().flatten())
}

fn wants_integer(schema: &Value) -> bool {
    kinds(schema).any(|kind| kind == "integer") && !kinds(schema).any(|kind| kind == "number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_does_not_fit_changes() {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "array", "items": {"type": "integer"}},
            "b": {"type": "number"},
            "e": {"type": ["boolean", "null"]},
            "f": {"type": "string"},
            "c": {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"n": {"type": "integer"}}}]},
        }});
        let mut value =
            json!({"a": [1.0, -0.0, 2.5, 3], "b": 1.0, "c": {"n": "4.0"}, "d": 1.0, "e": "true", "f": "1"});
        assert!(coerce(&schema, &schema, &mut value));
        assert_eq!(value.to_string(), r#"{"a":[1,0,2.5,3],"b":1.0,"c":{"n":4},"d":1.0,"e":true,"f":"1"}"#);
        assert!(!coerce(&schema, &schema, &mut value));
    }

    #[test]
    fn null_for_what_may_be_left_out() {
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
        assert!(coerce(&schema, &schema, &mut value));
        let expected = json!({"must": null, "null": null, "inner": [{}], "any": null, "unknown": null});
        assert_eq!(value, expected);
        assert!(!coerce(&schema, &schema, &mut value));
    }
}
