//! Short descriptions of schemas, for messages to the model.

use crate::discriminator::{Discriminator, branches, discriminator, may_be_object, only_member, tag};
use crate::json::Json;
use crate::nearest::nearest;
use crate::order::sort_by;
use crate::reference::{SchemaRef, resolve};
use crate::types::types;
use crate::words::{count, phrase};
use serde_json::Value;

/// The maximum number of listed values or types.
const LISTED: usize = 10;

/// The maximum number of schemas visited for one description.
///
/// This and the limit of depth end the description of a recursive schema.
const VISITED: usize = 64;
const DEEPEST: usize = 4;

/// Describes the values that a schema accepts, as in `integer from 0 to 255`.
///
/// Returns `None` if there is no short description.
///
/// ```
/// let schema = serde_json::json!({"type": "array", "items": {"type": "string"}, "maxItems": 5});
/// assert_eq!(toolkit_schema::describe(&schema).unwrap(), "array of at most 5 items, each string");
/// ```
pub fn describe<'a>(schema: impl Into<SchemaRef<'a>>) -> Option<String> {
    let SchemaRef { root, schema } = schema.into();
    describe_in(root, schema)
}

/// Describes `schema`, with references into `root`.
pub(crate) fn describe_in(root: &Value, schema: &Value) -> Option<String> {
    describe_for(root, schema, None)
}

/// Describes a schema for the error of the value `given`, with similar allowed values first.
pub(crate) fn describe_for(root: &Value, schema: &Value, given: Option<&Json<'_>>) -> Option<String> {
    Describer { root, given, left: VISITED, depth: 0 }.describe(schema)
}

struct Describer<'a> {
    /// The document with the targets of references.
    root: &'a Value,
    /// The invalid value to explain.
    given: Option<&'a Json<'a>>,
    /// The number of schemas that may still be visited.
    left: usize,
    /// The number of enclosing schemas.
    depth: usize,
}

impl Describer<'_> {
    fn describe(&mut self, schema: &Value) -> Option<String> {
        if self.left == 0 || self.depth == DEEPEST {
            return None;
        }
        self.left -= 1;
        self.depth += 1;
        let words = self.describe_keywords(schema);
        self.depth -= 1;
        words
    }

    fn describe_keywords(&mut self, schema: &Value) -> Option<String> {
        let schema = resolve(self.root, schema)?;
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return Some(one_of(
                values.iter().map(plain_and_shown).collect(),
                self.given.and_then(Json::as_str),
            ));
        }
        if let Some(value) = schema.get("const") {
            return Some(value.to_string());
        }
        let words: Vec<String> = match branches(schema) {
            Some(branches) => self.describe_branches(branches),
            None => types(schema.get("type")).map(|name| self.describe_type(schema, name)).collect(),
        };
        if words.is_empty() { None } else { Some(words.join(" or ")) }
    }

    fn describe_type(&mut self, schema: &Value, name: &str) -> String {
        let words = match name {
            "integer" | "number" => {
                range(schema, "minimum", "maximum")
                    + &with_value(schema, "exclusiveMinimum", ", ")
                    + &with_value(schema, "exclusiveMaximum", ", ")
                    + &with_value(schema, "multipleOf", ", ")
            }
            "string" => {
                range(schema, "minLength", "maxLength")
                    + &with_value(schema, "pattern", " ")
                    + &with_value(schema, "format", " ")
                    + &with_value(schema, "contentEncoding", " ")
            }
            "array" => {
                let count = range(schema, "minItems", "maxItems");
                self.given = None;
                match schema.get("items").and_then(|items| self.describe(items)) {
                    Some(items) if count.is_empty() => format!(" of {items}"),
                    Some(items) => format!("{count}, each {items}"),
                    None => count,
                }
            }
            "object" => self.describe_variant(schema) + &range(schema, "minProperties", "maxProperties"),
            _ => String::new(),
        };
        format!("{name}{words}")
    }

    /// Describes a variant by its tag or only member, or else by an empty string.
    fn describe_variant(&self, schema: &Value) -> String {
        match (tag(self.root, schema), only_member(self.root, schema)) {
            (Some((name, value)), _) => format!(" with `{name}` {value}"),
            (None, Some(name)) => format!(" with `{name}`"),
            (None, None) => String::new(),
        }
    }

    /// Describes each branch of a union.
    ///
    /// Object branches with a discriminator share one description. After ten descriptions, the last entry
    /// counts the others.
    fn describe_branches(&mut self, branches: &[Value]) -> Vec<String> {
        let choice = discriminator(self.root, branches);
        let mut objects = choice.map(|choice| self.describe_choice(choice));
        let are_one = objects.is_some();
        let mut words: Vec<String> = Vec::new();
        for branch in branches {
            if are_one && may_be_object(self.root, branch) {
                words.extend(objects.take());
            } else {
                words.extend(self.describe(branch));
            }
        }
        words.dedup();
        if let Some(more @ 1..) = words.len().checked_sub(LISTED) {
            words.truncate(LISTED);
            words.push(format!("{more} more kinds of values"));
        }
        words
    }

    fn describe_choice(&self, choice: Discriminator<'_>) -> String {
        match choice {
            Discriminator::Tag(name, values) => {
                let tag = self.given.and_then(|given| given.get(name)).and_then(Json::as_str);
                let allowed = values.into_iter().map(plain_and_shown).collect();
                format!("object with `{name}` {}", one_of(allowed, tag))
            }
            Discriminator::Members(names) => {
                let given = match self.given.and_then(Json::members) {
                    Some([(name, _), ..]) => Some(&**name),
                    _ => None,
                };
                let allowed = names.into_iter().map(|name| (name.to_owned(), format!("`{name}`"))).collect();
                format!("object with {}", one_of(allowed, given))
            }
        }
    }
}

/// Returns an allowed value as plain text for comparison, and as JSON to show.
fn plain_and_shown(value: &Value) -> (String, String) {
    match value {
        Value::String(text) => (text.clone(), value.to_string()),
        _ => (value.to_string(), value.to_string()),
    }
}

fn with_value(schema: &Value, keyword: &str, before: &str) -> String {
    match schema.get(keyword).and_then(|value| phrase(keyword, value)) {
        Some(words) => format!("{before}{words}"),
        None => String::new(),
    }
}

fn range(schema: &Value, min: &str, max: &str) -> String {
    let (Some(least), Some(most)) = (schema.get(min), schema.get(max)) else {
        return with_value(schema, min, " of ") + &with_value(schema, max, " of ");
    };
    match min.get(3..).and_then(|counted| count(counted, most)) {
        Some(unit) if least == most => format!(" of {unit}"),
        Some(unit) => format!(" of {least} to {unit}"),
        None => format!(" from {least} to {most}"),
    }
}

/// Lists up to ten allowed values, the most similar to `given` first if there are more.
fn one_of(mut values: Vec<(String, String)>, given: Option<&str>) -> String {
    if let [(_, only)] = values.as_slice() {
        return only.clone();
    }
    let more = values.len().saturating_sub(LISTED);
    if let (1.., Some(given)) = (more, given) {
        let plain_values = values.iter().map(|(plain, _)| plain.as_str());
        let near: Vec<String> = nearest(given, plain_values).into_iter().map(str::to_owned).collect();
        sort_by(&mut values, |(one, _), (other, _)| rank(one, &near).cmp(&rank(other, &near)));
    }
    let shown: Vec<&str> = values.iter().take(LISTED).map(|(_, shown)| shown.as_str()).collect();
    let ending = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("one of {}{ending}", shown.join(", "))
}

/// Returns the position of a value among the nearest ones, or the last.
fn rank(plain: &str, nearest: &[String]) -> usize {
    nearest.iter().position(|near| near == plain).unwrap_or(nearest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(schema: &Value, words: Option<&str>) {
        assert_eq!(describe(schema).as_deref(), words);
    }

    #[test]
    fn schemas_are_described_in_a_few_words() {
        check(&json!({"type": "integer", "minimum": 0, "maximum": 255}), Some("integer from 0 to 255"));
        check(&json!({"type": "array", "items": {"type": "string"}}), Some("array of string"));
        check(&json!({"enum": ["a", "b"]}), Some(r#"one of "a", "b""#));
        check(&json!({"enum": ["a"]}), Some(r#""a""#));
        check(&json!({"type": ["string", "null"]}), Some("string or null"));
        check(&json!({}), None);
    }

    #[test]
    fn similar_allowed_values_come_first() {
        let names: Vec<String> = (10..50).map(|n| format!("n{n}")).chain(["delete".to_owned()]).collect();
        let plain = json!({"enum": names});
        let listed = r#""n10", "n11", "n12", "n13", "n14", "n15", "n16", "n17", "n18""#;
        let with = |schema: &Value, given: Value| {
            describe_for(schema, schema, Json::parse(&given.to_string()).ok().as_ref()).unwrap()
        };
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
    fn at_most_ten_kinds_of_values_are_listed() {
        let kind = |n: usize| json!({"type": "string", "minLength": n});
        let schema = json!({"anyOf": (2..20).map(kind).collect::<Vec<_>>()});
        let words = describe(&schema).unwrap();
        assert!(words.ends_with("of at least 11 characters or 8 more kinds of values"), "{words}");
    }

    #[test]
    fn a_self_reference_has_no_description() {
        check(&json!({"$ref": "#"}), None);
    }

    #[test]
    fn the_description_of_a_recursive_schema_ends() {
        let list = json!({"type": "array", "items": {"$ref": "#"}});
        check(&list, Some("array of array of array of array"));
        let choice =
            json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"type": "array", "items": {"$ref": "#"}}]});
        assert!(describe(&choice).is_none_or(|words| words.len() < 10_000));
    }
}
