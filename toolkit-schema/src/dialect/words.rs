//! What a keyword demands, in words for the model.

use crate::describe::describe;
use crate::format;
use crate::shorten_to;
use serde_json::Value;

/// How much of a value or a schema is quoted.
const QUOTED: usize = 200;

/// What a keyword with a plain value says, as in `at most 5 items`; `None` if it says nothing that
/// helps to write a value.
pub(super) fn of_value(keyword: &str, value: &Value) -> Option<String> {
    let items = |unit: &str| {
        let plural = if value.as_u64() == Some(1) { "" } else { "s" };
        format!("{value} {unit}{plural}")
    };
    Some(match keyword {
        "minimum" => format!("at least {value}"),
        "maximum" => format!("at most {value}"),
        "exclusiveMinimum" => format!("greater than {value}"),
        "exclusiveMaximum" => format!("less than {value}"),
        "multipleOf" => format!("a multiple of {value}"),
        "minLength" => format!("at least {}", items("character")),
        "maxLength" => format!("at most {}", items("character")),
        "minItems" => format!("at least {}", items("item")),
        "maxItems" => format!("at most {}", items("item")),
        "minProperties" => format!("at least {}", items("member")),
        "maxProperties" => format!("at most {}", items("member")),
        "minContains" => format!("at least {} of that kind", items("item")),
        "maxContains" => format!("at most {} of that kind", items("item")),
        "uniqueItems" if value == &Value::Bool(true) => "no item twice".to_owned(),
        "pattern" => format!("matching `{}`", text(value)),
        "format" => match format::example(value.as_str().unwrap_or_default()) {
            Some(example) => format!("in the format {}, as in {example}", text(value)),
            None => format!("in the format {}", text(value)),
        },
        "contentEncoding" => format!("encoded as {}", text(value)),
        "contentMediaType" => format!("of the media type {}", text(value)),
        "default" => format!("by default {}", quoted(value)),
        "example" => format!("for example {}", quoted(value)),
        "examples" => format!("for example {}", listed(value)),
        "enum" => format!("one of {}", listed(value)),
        "const" => format!("always {}", quoted(value)),
        "required" => format!("{} must be there", listed(value)),
        "dependentRequired" => {
            let pairs = value.as_object()?.iter();
            let pairs: Vec<String> =
                pairs.map(|(name, needs)| format!("`{name}` needs {}", listed(needs))).collect();
            shorten_to(&pairs.join("; "), QUOTED)
        }
        "deprecated" if value == &Value::Bool(true) => "deprecated".to_owned(),
        "readOnly" if value == &Value::Bool(true) => "read-only".to_owned(),
        "writeOnly" if value == &Value::Bool(true) => "write-only".to_owned(),
        _ => return None,
    })
}

/// What a keyword says whose value is a schema.
pub(super) fn of_schema(keyword: &str, schema: &Value) -> Option<String> {
    let schema = in_words(schema);
    Some(match keyword {
        "not" => format!("not {schema}"),
        "contains" => format!("at least one item is {schema}"),
        "propertyNames" => format!("each name is {schema}"),
        "additionalProperties" | "unevaluatedProperties" => format!("any other member is {schema}"),
        "unevaluatedItems" => format!("any other item is {schema}"),
        "contentSchema" => format!("holding {schema}"),
        "if" => format!("if it is {schema}"),
        "then" => format!("then it is {schema}"),
        "else" => format!("else it is {schema}"),
        _ => return None,
    })
}

/// What a keyword says whose value is a list of schemas.
pub(super) fn of_list(keyword: &str, schemas: &[Value]) -> Option<String> {
    let list = |between: &str| {
        let words: Vec<String> = schemas.iter().map(in_words).collect();
        shorten_to(&words.join(between), QUOTED)
    };
    Some(match keyword {
        "prefixItems" => format!("the items are, in this order: {}", list(", ")),
        "anyOf" | "oneOf" => format!("either {}", list(" or ")),
        "allOf" => format!("also {}", list(" and ")),
        _ => return None,
    })
}

/// What a keyword says whose value names schemas.
pub(super) fn of_named(keyword: &str, name: &str, schema: &Value) -> Option<String> {
    let schema = in_words(schema);
    Some(match keyword {
        "patternProperties" => format!("each member whose name matches `{name}` is {schema}"),
        "dependentSchemas" => format!("with `{name}`, it is {schema}"),
        _ => return None,
    })
}

/// A schema in a few words, or as it is written.
pub(super) fn in_words(schema: &Value) -> String {
    match schema {
        Value::Bool(true) => "any value".to_owned(),
        Value::Bool(false) => "nothing".to_owned(),
        Value::Object(fields) if fields.is_empty() => "any value".to_owned(),
        _ => {
            let words = describe(schema, schema).filter(|words| words != "object");
            shorten_to(&words.unwrap_or_else(|| schema.to_string()), QUOTED)
        }
    }
}

/// Several remarks as one sentence.
pub(super) fn sentence(remarks: &[String]) -> String {
    let joined = remarks.join("; ");
    let mut letters = joined.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => String::new(),
    }
}

fn text(value: &Value) -> String {
    shorten_to(value.as_str().unwrap_or_default(), QUOTED)
}

fn quoted(value: &Value) -> String {
    shorten_to(&value.to_string(), QUOTED)
}

fn listed(values: &Value) -> String {
    let values = values.as_array().into_iter().flatten();
    let values: Vec<String> = values.take(50).map(quoted).collect();
    shorten_to(&values.join(", "), 5 * QUOTED)
}
