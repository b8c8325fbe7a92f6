//! Saying in a few words what a schema expects.

use serde_json::Value;

/// How many allowed values a description lists.
const LISTED: usize = 20;

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// What the schema expects, as in `integer from 0 to 255`; `None` if it has no simple words for it.
pub(crate) fn describe(root: &Value, schema: &Value) -> Option<String> {
    let schema = resolve(root, schema)?;
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Some(one_of(values));
    }
    if let Some(value) = schema.get("const") {
        return Some(value.to_string());
    }
    if let Some(branches) = ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(keyword)?.as_array()) {
        let mut words: Vec<String> = branches.iter().filter_map(|branch| describe(root, branch)).collect();
        words.dedup();
        return (words.len() > 1 || branches.len() == 1).then(|| words.join(" or "));
    }
    match schema.get("type")? {
        Value::String(kind) => Some(kind_in_words(root, schema, kind)),
        Value::Array(kinds) => {
            let kinds = kinds.iter().filter_map(Value::as_str);
            let words: Vec<String> = kinds.map(|kind| kind_in_words(root, schema, kind)).collect();
            Some(words.join(" or "))
        }
        _ => None,
    }
}

fn kind_in_words(root: &Value, schema: &Value, kind: &str) -> String {
    match kind {
        "integer" | "number" => format!("{kind}{}", bounds(schema)),
        "array" => match schema.get("items").and_then(|items| describe(root, items)) {
            Some(items) => format!("array of {items}"),
            None => "array".to_owned(),
        },
        _ => kind.to_owned(),
    }
}

fn bounds(schema: &Value) -> String {
    match (schema.get("minimum"), schema.get("maximum")) {
        (Some(minimum), Some(maximum)) => format!(" from {minimum} to {maximum}"),
        (Some(minimum), None) => format!(" of at least {minimum}"),
        (None, Some(maximum)) => format!(" of at most {maximum}"),
        (None, None) => String::new(),
    }
}

fn one_of(values: &[Value]) -> String {
    let mut words: Vec<String> = values.iter().take(LISTED).map(Value::to_string).collect();
    if values.len() > LISTED {
        words.push("…".to_owned());
    }
    format!("one of {}", words.join(", "))
}

/// The schema of the value that `steps` lead to, if the schema says one.
pub(crate) fn lookup<'a>(root: &'a Value, schema: &'a Value, steps: &[Step]) -> Option<&'a Value> {
    let schema = resolve(root, schema)?;
    let Some((step, rest)) = steps.split_first() else { return Some(schema) };
    let inside = match step {
        Step::Key(key) => schema
            .get("properties")
            .and_then(|properties| properties.get(key))
            .or_else(|| schema.get("additionalProperties").filter(|inside| inside.is_object())),
        Step::Index(index) => schema
            .get("prefixItems")
            .and_then(|items| items.get(index))
            .or_else(|| schema.get("items").filter(|inside| inside.is_object())),
    };
    match inside {
        Some(inside) => lookup(root, inside, rest),
        None => only_branch(schema).and_then(|branch| lookup(root, branch, steps)),
    }
}

/// The branch of `T or null`; a real choice has no single schema.
fn only_branch(schema: &Value) -> Option<&Value> {
    let branches = ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(keyword)?.as_array())?;
    let mut present = branches.iter().filter(|branch| branch.get("type").is_none_or(|kind| kind != "null"));
    present.next().filter(|_| present.next().is_none())
}

fn resolve<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    let mut schema = schema;
    for _ in 0..8 {
        match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => schema = root.pointer(reference.strip_prefix('#')?)?,
            None => return Some(schema),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(schema: &Value, words: Option<&str>) {
        assert_eq!(describe(schema, schema).as_deref(), words);
    }

    #[test]
    fn schemas_in_words() {
        check(&json!({"type": "integer", "minimum": 0, "maximum": 255}), Some("integer from 0 to 255"));
        check(&json!({"type": "array", "items": {"type": "string"}}), Some("array of string"));
        check(&json!({"enum": ["a", "b"]}), Some(r#"one of "a", "b""#));
        check(&json!({"type": ["string", "null"]}), Some("string or null"));
        check(&json!({}), None);
    }

    #[test]
    fn recursion_is_followed_only_as_far_as_the_value_goes() {
        let schema = json!({
            "$ref": "#/$defs/Node",
            "$defs": {"Node": {"type": "object", "properties": {
                "next": {"$ref": "#/$defs/Node"},
                "value": {"type": "integer"},
            }}},
        });
        let steps = ["next", "next", "value"].map(|key| Step::Key(key.to_owned()));
        assert_eq!(lookup(&schema, &schema, &steps), Some(&json!({"type": "integer"})));
        assert_eq!(describe(&json!({"$ref": "#"}), &json!({"$ref": "#"})), None);
    }
}
