//! The rules of providers for schemas, from their error texts and references.

use crate::SchemaDialect::{self, AnthropicStrict, Gemini, Inlined, OpenAi, OpenAiStrict};
use serde_json::{Map, Value, json};

/// The keywords of strict tools, and of Gemini's `Schema`.
const OPENAI: &[&str] = &[
    "type",
    "title",
    "description",
    "enum",
    "const",
    "anyOf",
    "$ref",
    "$defs",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "pattern",
    "format",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
];
const ANTHROPIC: &[&str] = &[
    "type",
    "title",
    "description",
    "enum",
    "const",
    "anyOf",
    "$ref",
    "$defs",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "format",
];
const GEMINI: &[&str] = &[
    "type",
    "title",
    "description",
    "nullable",
    "enum",
    "anyOf",
    "properties",
    "required",
    "items",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "default",
];

/// Returns the provider's error, if it refuses the schema.
pub(super) fn refusal(dialect: SchemaDialect, schema: &Value) -> Option<String> {
    let Some(keywords) = schema.as_object() else { return Some(format!("{schema} is no object")) };
    let own = refused(dialect, keywords).map(|error| format!("{error}: {schema}"));
    own.or_else(|| inside(keywords).find_map(|schema| refusal(dialect, schema)))
}

fn refused(dialect: SchemaDialect, keywords: &Map<String, Value>) -> Option<String> {
    let is_of = |name: &str| match keywords.get("type") {
        Some(Value::Array(names)) => names.iter().any(|known| known == name),
        known => known.is_some_and(|known| known == name),
    };
    let has_object = |keyword: &str| keywords.get(keyword).is_some_and(Value::is_object);
    let names: Vec<&String> =
        keywords.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys).collect();
    let required = keywords.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_closed = keywords.get("additionalProperties") == Some(&json!(false));
    let known = match dialect {
        OpenAiStrict => OPENAI,
        AnthropicStrict => ANTHROPIC,
        Gemini => GEMINI,
        _ => &[],
    };
    if let Some(keyword) = keywords.keys().find(|name| !known.is_empty() && !known.contains(&name.as_str())) {
        return Some(format!("`{keyword}` is not permitted"));
    }
    if matches!(dialect, OpenAi | Inlined | OpenAiStrict | Gemini) && is_of("array") && !has_object("items") {
        return Some("array schema missing items".to_owned());
    }
    if matches!(dialect, OpenAi | Inlined | OpenAiStrict) && is_of("object") && !has_object("properties") {
        return Some("object schema missing properties".to_owned());
    }
    if matches!(dialect, OpenAiStrict | AnthropicStrict) && is_of("object") && !is_closed {
        return Some("`additionalProperties` is required to be supplied and to be false".to_owned());
    }
    if dialect == OpenAiStrict
        && is_of("object")
        && required != names.iter().map(|name| json!(name)).collect::<Vec<_>>()
    {
        return Some("`required` is required to include every key in properties".to_owned());
    }
    if !known.is_empty() && required.iter().any(|name| !names.iter().any(|known| name == *known)) {
        return Some("required property is not defined".to_owned());
    }
    if dialect == Gemini {
        if has_object("properties") && names.is_empty() {
            return Some("properties: should be non-empty for OBJECT type".to_owned());
        }
        let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        let values = keywords.get("enum").and_then(Value::as_array);
        if values.is_some_and(|values| !is_of("string") || !values.iter().all(is_text)) {
            return Some("enum: only allowed for STRING type, and cannot be empty".to_owned());
        }
        if !keywords.get("type").is_none_or(Value::is_string) {
            return Some("type: Proto field is not repeating".to_owned());
        }
    }
    None
}

/// Returns the inner schemas, without booleans in `additionalProperties` and `unevaluatedProperties`.
fn inside(keywords: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    keywords.iter().flat_map(|(keyword, value)| match keyword.as_str() {
        "properties" | "patternProperties" | "$defs" | "dependentSchemas" => {
            value.as_object().map(|named| named.values().collect::<Vec<_>>()).unwrap_or_default()
        }
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
            value.as_array().map(|list| list.iter().collect()).unwrap_or_default()
        }
        "additionalProperties" | "unevaluatedProperties" if value.is_boolean() => Vec::new(),
        "items" if value.is_array() => Vec::new(),
        "items"
        | "contains"
        | "not"
        | "if"
        | "then"
        | "else"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "unevaluatedItems"
        | "propertyNames" => vec![value],
        _ => Vec::new(),
    })
}

/// Returns JSON Schema for a converted one; Gemini writes `nullable`, and never sends unnamed members.
pub(super) fn as_json_schema(dialect: SchemaDialect, schema: &Value) -> Value {
    if dialect != Gemini {
        return schema.clone();
    }
    let mut written = schema.clone();
    crate::keyword::each_subschema(&mut written, &mut |keywords| {
        if keywords.contains_key("properties") {
            keywords.insert("additionalProperties".to_owned(), json!(false));
        }
        if keywords.remove("nullable") == Some(json!(true)) {
            let other = std::mem::take(keywords);
            keywords.insert("anyOf".to_owned(), json!([other, {"type": "null"}]));
        }
    });
    written
}

#[test]
fn a_required_name_of_an_object_without_properties_gets_a_property() {
    let schema = json!({"type": "object", "required": ["a"]});
    let converted = OpenAi.convert(&schema);
    assert_eq!(converted.schema["properties"], json!({"a": {}}));
    assert_eq!(converted.schema["required"], json!(["a"]));
    let closed = json!({"type": "object", "required": ["a"], "additionalProperties": {"type": "integer"}});
    assert_eq!(OpenAi.convert(&closed).schema["properties"], json!({}));
}
