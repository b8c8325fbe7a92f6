//! A value that a schema accepts.

use crate::depth::MAX_DEPTH;
use crate::discriminator::branches;
use crate::format::example;
use crate::reference::{SchemaRef, resolve};
use crate::types::{has_type, names, types};
use serde_json::{Map, Number, Value};

/// Returns a small value that a schema accepts, for tests and examples.
///
/// Its objects have only required properties, and constants, defaults and examples come first. Patterns and
/// conditions are not solved: the value may break them.
///
/// ```
/// let schema = serde_json::json!({
///     "type": "object",
///     "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}, "note": {}},
///     "required": ["city", "days"],
/// });
/// assert_eq!(toolkit_schema::sample(&schema), serde_json::json!({"city": "text", "days": 1}));
/// ```
#[must_use]
pub fn sample<'a>(schema: impl Into<SchemaRef<'a>>) -> Value {
    let SchemaRef { root, schema } = schema.into();
    value(root, schema, 0)
}

fn value(root: &Value, schema: &Value, depth: usize) -> Value {
    let Some(target) = resolve(root, schema).filter(|_| depth < MAX_DEPTH) else { return Value::Null };
    let marks =
        [target.get("const"), target.get("default"), first(target, "examples"), first(target, "enum")];
    if let Some(given) = marks.into_iter().flatten().next() {
        return given.clone();
    }
    if let Some(branches) = branches(target) {
        let mut chosen = branches.first();
        for branch in branches.iter().rev() {
            if !has_type(branch.get("type"), "null") {
                chosen = Some(branch);
            }
        }
        let of_branch = chosen.map_or(Value::Null, |branch| value(root, branch, depth + 1));
        return with_properties(root, target, of_branch, depth);
    }
    let mut kinds = types(target.get("type"));
    let kind = kinds.clone().find(|name| *name != "null").or(kinds.next());
    match kind {
        Some("string") => text(target).into(),
        Some("integer") => number(target, 1.0),
        Some("number") => number(target, 0.5),
        Some("boolean") => true.into(),
        Some("array") => items(root, target, depth),
        Some("object") | None => with_properties(root, target, Map::new().into(), depth),
        Some(_) => Value::Null,
    }
}

fn first<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    schema.get(key)?.as_array()?.first()
}

fn text(schema: &Value) -> String {
    let format = schema.get("format").and_then(Value::as_str);
    if let Some(example) = format.and_then(example) {
        return example.to_owned();
    }
    let shortest = length(schema, "minLength").unwrap_or(0);
    let longest = length(schema, "maxLength").unwrap_or(usize::MAX);
    "text".chars().cycle().take(shortest.max(4).min(longest)).collect()
}

fn length(schema: &Value, key: &str) -> Option<usize> {
    usize::try_from(schema.get(key)?.as_u64()?).ok()
}

fn bound(schema: &Value, key: &str) -> Option<f64> {
    schema.get(key)?.as_f64()
}

/// Returns the number nearest to zero within the bounds. `step` is the distance from an exclusive one.
fn number(schema: &Value, step: f64) -> Value {
    let above = bound(schema, "exclusiveMinimum").map(|bound| bound + step);
    let below = bound(schema, "exclusiveMaximum").map(|bound| bound - step);
    let lowest = bound(schema, "minimum").or(above).unwrap_or(f64::MIN);
    let highest = bound(schema, "maximum").or(below).unwrap_or(f64::MAX);
    let mut number = 0.0_f64.max(lowest).min(highest);
    if let Some(multiple) = bound(schema, "multipleOf").filter(|multiple| *multiple > 0.0) {
        number = (number / multiple).ceil() * multiple;
    }
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return (number as i64).into();
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

fn items(root: &Value, schema: &Value, depth: usize) -> Value {
    let mut items = Vec::new();
    for prefix in schema.get("prefixItems").and_then(Value::as_array).into_iter().flatten() {
        items.push(value(root, prefix, depth + 1));
    }
    let fewest = length(schema, "minItems").unwrap_or(0).min(64);
    if let Some(each) = schema.get("items") {
        while items.len() < fewest {
            items.push(value(root, each, depth + 1));
        }
    }
    items.into()
}

/// Adds the required properties of a schema and of the parts that `allOf` joins.
fn with_properties(root: &Value, schema: &Value, chosen: Value, depth: usize) -> Value {
    let Value::Object(mut object) = chosen else { return chosen };
    for name in names(schema.get("required")) {
        if object.contains_key(name) {
            continue;
        }
        let property = schema.get("properties").and_then(|properties| properties.get(name));
        let own = property.map_or(Value::Null, |property| value(root, property, depth + 1));
        object.insert(name.to_owned(), own);
    }
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        if let Value::Object(more) = value(root, part, depth + 1) {
            object.extend(more);
        }
    }
    object.into()
}

#[cfg(test)]
mod tests {
    use super::sample;
    use crate::check::violations;
    use serde_json::{Value, json};

    fn check(schema: Value, expected: Value) {
        let value = sample(&schema);
        assert_eq!(value, expected, "{schema}");
        assert_eq!(violations(&schema, &value), [], "{schema}");
    }

    #[test]
    fn samples_are_small_and_accepted() {
        check(json!({"type": "string", "minLength": 6}), json!("textte"));
        check(json!({"type": "string", "maxLength": 2}), json!("te"));
        check(
            json!({"type": "string", "format": "date"}),
            sample(&json!({"type": "string", "format": "date"})),
        );
        check(json!({"type": "integer", "exclusiveMinimum": 3, "multipleOf": 5}), json!(5));
        check(json!({"type": "integer", "maximum": -2}), json!(-2));
        check(json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1}), json!(0.5));
        check(json!({"type": ["null", "boolean"]}), json!(true));
        check(json!({"type": "array", "items": {"type": "null"}, "minItems": 2}), json!([null, null]));
        check(json!({"enum": ["a", "b"]}), json!("a"));
        check(json!({"anyOf": [{"type": "null"}, {"type": "string"}]}), json!("text"));
        let shape = json!({
            "$defs": {"Size": {"type": "integer", "minimum": 1}},
            "type": "object",
            "properties": {"kind": {"const": "box"}, "size": {"$ref": "#/$defs/Size"}, "note": {}},
            "required": ["kind", "size"],
        });
        check(shape, json!({"kind": "box", "size": 1}));
    }

    #[test]
    fn a_recursive_schema_ends() {
        let schema = json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]});
        assert!(sample(&schema)["next"]["next"].is_object());
    }
}
