//! Saying in a few words what a schema expects.

use super::format;
use crate::error::shorten;
use serde_json::Value;

/// How many allowed values a description lists.
const LISTED: usize = 20;

/// How many schemas one description looks at, and how deep. That of a schema that holds itself would
/// else never end.
const LOOKED_AT: usize = 64;
const DEEPEST: usize = 4;

/// What the schema expects, as in `integer from 0 to 255`; `None` if it has no simple words for it.
pub(crate) fn describe(root: &Value, schema: &Value) -> Option<String> {
    Words { root, left: LOOKED_AT, depth: 0 }.describe(schema)
}

struct Words<'a> {
    /// Where references lead.
    root: &'a Value,
    /// How many more schemas may be looked at.
    left: usize,
    /// How many hold the one that is looked at.
    depth: usize,
}

impl Words<'_> {
    fn describe(&mut self, schema: &Value) -> Option<String> {
        if self.left == 0 || self.depth == DEEPEST {
            return None;
        }
        self.left -= 1;
        self.depth += 1;
        let words = self.words(schema);
        self.depth -= 1;
        words
    }

    fn words(&mut self, schema: &Value) -> Option<String> {
        let schema = resolve(self.root, schema)?;
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return Some(one_of(values));
        }
        if let Some(value) = schema.get("const") {
            return Some(value.to_string());
        }
        if let Some(branches) = ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(keyword)?.as_array())
        {
            let mut words: Vec<String> = branches.iter().filter_map(|branch| self.describe(branch)).collect();
            words.dedup();
            return (!words.is_empty()).then(|| words.join(" or "));
        }
        match schema.get("type")? {
            Value::String(kind) => Some(self.kind(schema, kind)),
            Value::Array(kinds) => {
                let kinds = kinds.iter().filter_map(Value::as_str);
                let words: Vec<String> = kinds.map(|kind| self.kind(schema, kind)).collect();
                Some(words.join(" or "))
            }
            _ => None,
        }
    }

    fn kind(&mut self, schema: &Value, kind: &str) -> String {
        match kind {
            "integer" | "number" => format!("{kind}{}", bounds(schema)),
            "string" => format!("string{}{}", count(schema, "Length", "character"), shape(schema)),
            "array" => {
                let count = count(schema, "Items", "item");
                match schema.get("items").and_then(|items| self.describe(items)) {
                    Some(items) if count.is_empty() => format!("array of {items}"),
                    Some(items) => format!("array{count}, each {items}"),
                    None => format!("array{count}"),
                }
            }
            "object" => format!("object{}{}", tag(schema), count(schema, "Properties", "member")),
            _ => kind.to_owned(),
        }
    }
}

/// The member that tells a variant of a tagged enum from the others.
fn tag(schema: &Value) -> String {
    let properties = schema.get("properties").and_then(Value::as_object);
    let constant =
        properties.into_iter().flatten().find_map(|(name, property)| Some((name, property.get("const")?)));
    match (constant, only_member(schema)) {
        (Some((name, value)), _) => format!(" with `{name}` {value}"),
        (None, Some(name)) => format!(" with `{name}`"),
        (None, None) => String::new(),
    }
}

/// The name of an externally tagged variant: the one member that must be there, and no other may be.
fn only_member(schema: &Value) -> Option<&str> {
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    match schema.get("required")?.as_array()?.as_slice() {
        [only] if closed => only.as_str(),
        _ => None,
    }
}

fn bounds(schema: &Value) -> String {
    let range = match (schema.get("minimum"), schema.get("maximum")) {
        (Some(minimum), Some(maximum)) => format!(" from {minimum} to {maximum}"),
        (Some(minimum), None) => format!(" of at least {minimum}"),
        (None, Some(maximum)) => format!(" of at most {maximum}"),
        (None, None) => String::new(),
    };
    let more = [
        ("exclusiveMinimum", "greater than"),
        ("exclusiveMaximum", "less than"),
        ("multipleOf", "a multiple of"),
    ];
    more.iter().fold(range, |words, (keyword, more)| match schema.get(keyword) {
        Some(bound) => format!("{words}, {more} {bound}"),
        None => words,
    })
}

/// As in ` of 1 to 5 characters`.
fn count(schema: &Value, what: &str, unit: &str) -> String {
    let bound = |side: &str| schema.get(format!("{side}{what}")).and_then(Value::as_u64);
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    match (bound("min"), bound("max")) {
        (Some(least), Some(most)) if least == most => format!(" of {most} {unit}{}", plural(most)),
        (Some(least), Some(most)) => format!(" of {least} to {most} {unit}{}", plural(most)),
        (Some(least), None) => format!(" of at least {least} {unit}{}", plural(least)),
        (None, Some(most)) => format!(" of at most {most} {unit}{}", plural(most)),
        (None, None) => String::new(),
    }
}

/// What a text must look like.
fn shape(schema: &Value) -> String {
    let pattern =
        schema.get("pattern").and_then(Value::as_str).map(|pattern| format!(" matching `{pattern}`"));
    let format = schema.get("format").and_then(Value::as_str).map(|format| match format::example(format) {
        Some(example) => format!(" in the format {format}, as in {example}"),
        None => format!(" in the format {format}"),
    });
    pattern.unwrap_or_default() + &format.unwrap_or_default()
}

fn one_of(values: &[Value]) -> String {
    let mut words: Vec<String> = values.iter().take(LISTED).map(Value::to_string).collect();
    if values.len() > LISTED {
        words.push("…".to_owned());
    }
    format!("one of {}", words.join(", "))
}

/// A JSON text from the model, named by its kind and shortened.
pub(crate) fn value_in_words(value: &str) -> String {
    match value.as_bytes().first() {
        Some(b'"') => format!("string {}", shorten(value)),
        Some(b'[') => format!("array {}", shorten(value)),
        Some(b'{') => format!("object {}", shorten(value)),
        Some(b'-' | b'0'..=b'9') => format!("number {}", shorten(value)),
        Some(b't' | b'f') => format!("boolean {}", shorten(value)),
        _ => shorten(value),
    }
}

/// The schema behind a reference.
pub(super) fn resolve<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a Value> {
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
    fn a_reference_to_itself_has_no_words() {
        check(&json!({"$ref": "#"}), None);
    }

    #[test]
    fn a_schema_that_holds_itself_has_an_end() {
        let list = json!({"type": "array", "items": {"$ref": "#"}});
        check(&list, Some("array of array of array of array"));
        let choice =
            json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"type": "array", "items": {"$ref": "#"}}]});
        assert!(describe(&choice, &choice).is_none_or(|words| words.len() < 10_000));
    }
}
