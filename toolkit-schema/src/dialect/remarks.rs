//! Remarks: sentences that state a constraint in a description.

use super::node::{Held, Node};
use crate::describe::describe;
use crate::words::{phrase, shorten_to};
use serde_json::{Value, json};

/// The maximum number of quoted characters.
const QUOTED: usize = 200;

/// The maximum number of remarks on a keyword with named schemas, such as `patternProperties`.
const NAMED: usize = 20;

/// Returns remarks on an unsupported keyword, none if they would not help the model.
///
/// `sketch` returns an inner schema.
pub(super) fn remarks(keyword: &str, held: &Held<'_>, sketch: impl Fn(&Node<'_>) -> Value) -> Vec<String> {
    let words = |schema: &Node<'_>| in_words(&sketch(schema));
    match held {
        Held::Value(value) => of_value(keyword, value).into_iter().collect(),
        Held::Schema(schema) => of_schemas(keyword, &[words(schema)]).into_iter().collect(),
        Held::Schemas(list) => {
            let list: Vec<String> = list.iter().map(|schema| words(schema)).collect();
            of_schemas(keyword, &list).into_iter().collect()
        }
        Held::Named(named) => {
            let mut remarks = Vec::new();
            for (name, schema) in named.iter().take(NAMED) {
                match keyword {
                    "patternProperties" => {
                        remarks.push(format!("each member whose name matches `{name}` is {}", words(schema)));
                    }
                    "dependentSchemas" => remarks.push(format!("with `{name}`, it is {}", words(schema))),
                    _ => {}
                }
            }
            remarks
        }
        Held::Reference(_) => Vec::new(),
    }
}

/// Returns the remark on a keyword without schemas, as in `at most 5 items`.
pub(super) fn of_value(keyword: &str, value: &Value) -> Option<String> {
    if let Some(words) = phrase(keyword, value) {
        return Some(shorten_to(&words, 2 * QUOTED));
    }
    Some(match keyword {
        "minContains" => format!("{} of that kind", phrase("minItems", value)?),
        "maxContains" => format!("{} of that kind", phrase("maxItems", value)?),
        "contentMediaType" => format!("of the media type {}", shorten_to(value.as_str()?, QUOTED)),
        "default" => format!("by default {}", quoted(value)),
        "example" => format!("for example {}", quoted(value)),
        "examples" => format!("for example {}", listed(value)),
        "enum" => format!("one of {}", listed(value)),
        "const" => format!("always {}", quoted(value)),
        "required" => format!("{} must be there", listed(value)),
        "dependentRequired" => {
            let mut pairs = Vec::new();
            for (name, needs) in value.as_object()? {
                pairs.push(format!("`{name}` needs {}", listed(needs)));
            }
            shorten_to(&pairs.join("; "), QUOTED)
        }
        _ if value != &Value::Bool(true) => return None,
        "uniqueItems" => "no item twice".to_owned(),
        "deprecated" => "deprecated".to_owned(),
        "readOnly" => "read-only".to_owned(),
        "writeOnly" => "write-only".to_owned(),
        _ => return None,
    })
}

/// Returns the remark on a keyword with schemas, by their descriptions.
pub(super) fn of_schemas(keyword: &str, schemas: &[String]) -> Option<String> {
    let (before, between) = match keyword {
        "not" => ("not ", ""),
        "contains" => ("at least one item is ", ""),
        "propertyNames" => ("each name is ", ""),
        "additionalProperties" | "unevaluatedProperties" => ("any other member is ", ""),
        "unevaluatedItems" => ("any other item is ", ""),
        "contentSchema" => ("holding ", ""),
        "if" => ("if it is ", ""),
        "then" => ("then it is ", ""),
        "else" => ("else it is ", ""),
        "prefixItems" => ("the items are, in this order: ", ", "),
        "anyOf" | "oneOf" => ("either ", " or "),
        "allOf" => ("also ", " and "),
        _ => return None,
    };
    Some(format!("{before}{}", shorten_to(&schemas.join(between), QUOTED)))
}

/// Returns a short description of a schema, or else its JSON.
pub(super) fn in_words(schema: &Value) -> String {
    match schema {
        Value::Object(keywords) if keywords.is_empty() => "any value".to_owned(),
        never if *never == json!({"not": {}}) => "nothing".to_owned(),
        _ => match describe(schema) {
            Some(words) if words != "object" => shorten_to(&words, QUOTED),
            _ => quoted(schema),
        },
    }
}

/// Joins remarks into a sentence.
pub(super) fn sentence(remarks: &[String]) -> String {
    let joined = remarks.join("; ");
    let mut letters = joined.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => String::new(),
    }
}

/// Returns the beginning of a value's JSON.
pub(super) fn quoted(value: &Value) -> String {
    shorten_to(&value.to_string(), QUOTED)
}

fn listed(values: &Value) -> String {
    let quoted_values: Vec<String> = values.as_array().into_iter().flatten().take(50).map(quoted).collect();
    shorten_to(&quoted_values.join(", "), 5 * QUOTED)
}
