//! Writing whole numbers as integers where a schema wants integers.

use super::describe::resolve;
use serde_json::Value;

/// Doubles are exact up to here.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Turns `5.0` into `5` wherever the schema allows integers only, and says whether anything changed.
pub(crate) fn with_integers(root: &Value, schema: &Value, value: &mut Value) -> bool {
    let Some(schema) = resolve(root, schema) else { return false };
    let inside = |keyword: &str| schema.get(keyword).filter(|inside| inside.is_object());
    let mut changed = match ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(keyword)?.as_array()) {
        Some(branches) => branches.iter().filter(|branch| with_integers(root, branch, value)).count() > 0,
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
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                let tuple = schema.get("prefixItems").and_then(|schemas| schemas.get(index));
                if let Some(schema) = tuple.or_else(|| inside("items")) {
                    changed |= with_integers(root, schema, item);
                }
            }
        }
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                let property = schema.get("properties").and_then(|properties| properties.get(name));
                if let Some(schema) = property.or_else(|| inside("additionalProperties")) {
                    changed |= with_integers(root, schema, member);
                }
            }
        }
        _ => {}
    }
    changed
}

fn wants_integer(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == "integer",
        Some(Value::Array(kinds)) => {
            kinds.iter().any(|kind| kind == "integer") && !kinds.iter().any(|kind| kind == "number")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_whole_numbers_in_the_place_of_integers_change() {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "array", "items": {"type": "integer"}},
            "b": {"type": "number"},
            "c": {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"n": {"type": "integer"}}}]},
        }});
        let mut value = json!({"a": [1.0, -0.0, 2.5, 3], "b": 1.0, "c": {"n": 4.0}, "d": 1.0});
        assert!(with_integers(&schema, &schema, &mut value));
        assert_eq!(value.to_string(), r#"{"a":[1,0,2.5,3],"b":1.0,"c":{"n":4},"d":1.0}"#);
        assert!(!with_integers(&schema, &schema, &mut value));
    }
}
