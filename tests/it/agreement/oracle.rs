//! What a tool must take, by an independent validator.

use jsonschema::Validator;
use toolkit_ai::serde_json::{Map, Value, json};

/// The keywords that list members.
const LISTS: [&str; 3] = ["properties", "patternProperties", "additionalProperties"];

/// Returns a validator of a tool's schema, without other members at any depth.
pub(super) fn validator(schema: &Value) -> Validator {
    let mut closed = schema.clone();
    close(&mut closed, true);
    plain_validator(&closed)
}

pub(super) fn fits(root: &Value, schema: &Value, value: &Value) -> bool {
    let mut schema = schema.clone();
    if let (Value::Object(schema), Some(definitions)) = (&mut schema, root.get("$defs")) {
        schema.insert("$defs".to_owned(), definitions.clone());
    }
    plain_validator(&schema).is_valid(value)
}

pub(super) fn plain_validator(schema: &Value) -> Validator {
    jsonschema::options().should_validate_formats(true).build(schema).expect("the schema is one")
}

/// Closes a schema, and those of members and items, to unlisted members. `is_whole` is `false` for a part of
/// another schema.
fn close(schema: &mut Value, is_whole: bool) {
    let lists = lists_names(schema);
    let Value::Object(keywords) = schema else { return };
    let is_open = |branch: &Value| branch.as_object().is_some_and(|it| it.get("type").is_none());
    let has_own = LISTS.iter().any(|keyword| keywords.contains_key(*keyword));
    for (keyword, value) in keywords.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties", Value::Object(named)) => {
                named.values_mut().for_each(|schema| close(schema, true));
            }
            ("$defs", Value::Object(named)) => named.values_mut().for_each(|schema| close(schema, false)),
            ("items" | "additionalProperties", schema) => close(schema, true),
            ("prefixItems", Value::Array(list)) => list.iter_mut().for_each(|schema| close(schema, true)),
            ("allOf", Value::Array(list)) => list.iter_mut().for_each(|schema| close(schema, false)),
            ("anyOf" | "oneOf", Value::Array(list)) => {
                for branch in list {
                    close(branch, false);
                    // A branch without names takes any member.
                    if !has_own && !lists_names(branch) && is_open(branch) {
                        branch["additionalProperties"] = json!(true);
                    }
                }
            }
            _ => {}
        }
    }
    if is_whole && lists && keywords.get("additionalProperties").is_none() {
        keywords.insert("unevaluatedProperties".to_owned(), false.into());
    }
}

/// Returns whether a schema or a part lists members, perhaps by a reference.
fn lists_names(schema: &Value) -> bool {
    let parts = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array());
    lists_names_of(schema) || schema.get("$ref").is_some() || parts.flatten().any(lists_names)
}

fn lists_names_of(schema: &Value) -> bool {
    let keywords: Option<&Map<String, Value>> = schema.as_object();
    keywords.is_some_and(|keywords| {
        keywords.get("type").is_some_and(|kind| kind == "object")
            || LISTS.iter().any(|keyword| keywords.contains_key(*keyword))
    })
}
