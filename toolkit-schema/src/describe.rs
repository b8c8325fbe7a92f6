//! Saying in a few words what a schema expects.

use super::choice::{Choice, choice_of, may_be_object, only_member, tag};
use super::format;
use crate::{nearest, shorten};
use serde_json::Value;

/// How many allowed values, or kinds of values, a description lists.
const LISTED: usize = 10;

/// How many schemas one description looks at, and how deep. That of a schema that holds itself would
/// else never end.
const LOOKED_AT: usize = 64;
const DEEPEST: usize = 4;

/// What the schema expects, as in `integer from 0 to 255`; `None` if it has no simple words for it.
pub fn describe(root: &Value, schema: &Value) -> Option<String> {
    Words { root, given: None, left: LOOKED_AT, depth: 0 }.describe(schema)
}

/// The same where another value was given: of many allowed values, those like it are told first.
pub(crate) fn describe_instead_of(root: &Value, schema: &Value, given: &Value) -> Option<String> {
    Words { root, given: Some(given), left: LOOKED_AT, depth: 0 }.describe(schema)
}

struct Words<'a> {
    /// Where references lead.
    root: &'a Value,
    /// The value that does not fit.
    given: Option<&'a Value>,
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
            let values = values.iter().map(|value| (in_text(value), value.to_string()));
            return Some(one_of(values.collect(), self.given.and_then(Value::as_str)));
        }
        if let Some(value) = schema.get("const") {
            return Some(value.to_string());
        }
        if let Some(branches) = ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(keyword)?.as_array())
        {
            let words = self.branches(branches);
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
                self.given = None;
                match schema.get("items").and_then(|items| self.describe(items)) {
                    Some(items) if count.is_empty() => format!("array of {items}"),
                    Some(items) => format!("array{count}, each {items}"),
                    None => format!("array{count}"),
                }
            }
            "object" => format!("object{}{}", self.sign(schema), count(schema, "Properties", "member")),
            _ => kind.to_owned(),
        }
    }

    /// The member that tells a variant of an enum from the others.
    fn sign(&self, schema: &Value) -> String {
        match (tag(self.root, schema), only_member(self.root, schema)) {
            (Some((name, value)), _) => format!(" with `{name}` {value}"),
            (None, Some(name)) => format!(" with `{name}`"),
            (None, None) => String::new(),
        }
    }

    /// Each kind of value once. Objects that a sign tells apart are one kind.
    fn branches(&mut self, branches: &[Value]) -> Vec<String> {
        let choice = choice_of(self.root, branches);
        let mut objects = choice.map(|choice| self.objects(&choice));
        let are_one = objects.is_some();
        let mut words: Vec<String> = Vec::new();
        for branch in branches {
            match are_one && may_be_object(self.root, branch) {
                true => words.extend(objects.take()),
                false => words.extend(self.describe(branch)),
            }
        }
        words.dedup();
        if let Some(more @ 1..) = words.len().checked_sub(LISTED) {
            words.truncate(LISTED);
            words.push(format!("{more} more kinds of values"));
        }
        words
    }

    fn objects(&self, choice: &Choice<'_>) -> String {
        match choice {
            Choice::Tag(name, values) => {
                let given = self.given.and_then(|given| given.get(name)?.as_str());
                let values = values.iter().map(|value| (in_text(value), value.to_string()));
                format!("object with `{name}` {}", one_of(values.collect(), given))
            }
            Choice::Members(names) => {
                let given = self.given.and_then(|given| given.as_object()?.keys().next());
                let names = names.iter().map(|name| ((*name).to_owned(), format!("`{name}`")));
                format!("object with {}", one_of(names.collect(), given.map(String::as_str)))
            }
        }
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

/// What can be said to be like something else.
fn in_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Allowed values: each as it is compared, and as it is shown. Of many, those like the given one come first.
fn one_of(mut values: Vec<(String, String)>, given: Option<&str>) -> String {
    if let [(_, only)] = values.as_slice() {
        return only.clone();
    }
    let more = values.len().saturating_sub(LISTED);
    if let (1.., Some(given)) = (more, given) {
        let like = nearest(given, values.iter().map(|(name, _)| name.as_str()));
        let like: Vec<String> = like.into_iter().map(str::to_owned).collect();
        let rank = |name: &String| like.iter().position(|like| like == name).unwrap_or(like.len());
        values.sort_by_key(|(name, _)| rank(name));
    }
    let shown: Vec<&str> = values.iter().take(LISTED).map(|(_, shown)| shown.as_str()).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("one of {}{more}", shown.join(", "))
}

/// A JSON text from the model, named by its kind and shortened.
pub fn value_in_words(value: &str) -> String {
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
        check(&json!({"enum": ["a"]}), Some(r#""a""#));
        check(&json!({"type": ["string", "null"]}), Some("string or null"));
        check(&json!({}), None);
    }

    #[test]
    fn of_many_values_those_like_the_given_one_come_first() {
        let names: Vec<String> = (10..50).map(|n| format!("n{n}")).chain(["delete".to_owned()]).collect();
        let plain = json!({"enum": names});
        let listed = r#""n10", "n11", "n12", "n13", "n14", "n15", "n16", "n17", "n18""#;
        let with = |schema: &Value, given: Value| describe_instead_of(schema, schema, &given).unwrap();
        assert_eq!(with(&plain, json!("delte")), format!(r#"one of "delete", {listed} and 31 more"#));
        assert_eq!(with(&plain, json!(1)), format!(r#"one of {listed}, "n19" and 31 more"#));

        let tagged = |name: &String| json!({"type": "object", "properties": {"kind": {"const": name}}});
        let tagged = json!({"oneOf": names.iter().map(tagged).collect::<Vec<_>>()});
        let words = with(&tagged, json!({"kind": "delte"}));
        assert_eq!(words, format!(r#"object with `kind` one of "delete", {listed} and 31 more"#));

        let named =
            |name: &String| json!({"type": "object", "required": [name], "additionalProperties": false});
        let named = json!({"oneOf": names.iter().map(named).collect::<Vec<_>>()});
        let words = with(&named, json!({"delte": {}}));
        assert_eq!(words, format!("object with one of `delete`, {} and 31 more", listed.replace('"', "`")));
    }

    #[test]
    fn kinds_of_values_are_few_too() {
        let kind = |n: usize| json!({"type": "string", "minLength": n});
        let schema = json!({"anyOf": (2..20).map(kind).collect::<Vec<_>>()});
        let words = describe(&schema, &schema).unwrap();
        assert!(words.ends_with("of at least 11 characters or 8 more kinds of values"), "{words}");
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
