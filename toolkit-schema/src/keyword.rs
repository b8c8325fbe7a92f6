//! The table of JSON Schema keywords, and the walker that follows it.

use serde_json::{Map, Value};
use std::borrow::Cow;

/// A keyword of JSON Schema.
///
/// ```
/// use toolkit_schema::keyword::{Holds, Keyword, Role};
///
/// let items = Keyword::find("items").unwrap();
/// assert_eq!((items.holds, items.role, items.types), (Holds::Schema, Role::Children, &["array"][..]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keyword {
    /// The kind of value that the keyword holds.
    pub holds: Holds,
    /// The part that the keyword plays.
    pub role: Role,
    /// The types of values that the keyword is about; empty if it is about all.
    pub types: &'static [&'static str],
}

/// The kinds of values of keywords.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Holds {
    /// A schema. `items` also held a list of schemas before draft 2020-12.
    Schema,
    /// A list of schemas.
    Schemas,
    /// Schemas by name.
    NamedSchemas,
    /// Any value.
    Any,
    /// A list of any values.
    List,
    /// A list of allowed values, at least one.
    Values,
    /// The name of a type, or a list of such names.
    Types,
    /// A list of property names.
    Names,
    /// Lists of property names by name.
    NamedNames,
    /// A number.
    Number,
    /// A number above zero.
    PositiveNumber,
    /// An integer of at least zero.
    Count,
    /// A boolean.
    Flag,
    /// A string.
    Text,
}

/// The parts of keywords in their schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Applies schemas to the value itself.
    InPlace,
    /// Applies schemas to items, members or member names of the value.
    Children,
    /// Holds schemas that references point to.
    Definitions,
    /// Constrains the value.
    Assertion,
    /// Informs the reader.
    Annotation,
}

impl Keyword {
    /// Returns the entry of a keyword; `None` for unknown keywords and those that begin with `$`, except
    /// `$defs` and `$comment`.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        use {Holds::*, Role::*};
        let (holds, role, types): (_, _, &[&str]) = match name {
            "allOf" | "anyOf" | "oneOf" => (Schemas, InPlace, &[]),
            "not" | "if" | "then" | "else" => (Schema, InPlace, &[]),
            "dependentSchemas" => (NamedSchemas, InPlace, &["object"]),
            "properties" | "patternProperties" => (NamedSchemas, Children, &["object"]),
            "additionalProperties" | "unevaluatedProperties" | "propertyNames" => {
                (Schema, Children, &["object"])
            }
            "items" | "additionalItems" | "unevaluatedItems" | "contains" => (Schema, Children, &["array"]),
            "prefixItems" => (Schemas, Children, &["array"]),
            "contentSchema" => (Schema, Children, &["string"]),
            "$defs" | "definitions" => (NamedSchemas, Definitions, &[]),
            "type" => (Types, Assertion, &[]),
            "enum" => (Values, Assertion, &[]),
            "const" => (Any, Assertion, &[]),
            // OpenAPI has formats of numbers, too.
            "format" => (Text, Assertion, &["string", "integer", "number"]),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                (Number, Assertion, &["number", "integer"])
            }
            "multipleOf" => (PositiveNumber, Assertion, &["number", "integer"]),
            "minLength" | "maxLength" => (Count, Assertion, &["string"]),
            "pattern" | "contentEncoding" | "contentMediaType" => (Text, Assertion, &["string"]),
            "minItems" | "maxItems" | "minContains" | "maxContains" => (Count, Assertion, &["array"]),
            "uniqueItems" => (Flag, Assertion, &["array"]),
            "minProperties" | "maxProperties" => (Count, Assertion, &["object"]),
            "required" => (Names, Assertion, &["object"]),
            "dependentRequired" => (NamedNames, Assertion, &["object"]),
            "title" | "description" | "$comment" => (Text, Annotation, &[]),
            "deprecated" | "readOnly" | "writeOnly" => (Flag, Annotation, &[]),
            "examples" => (List, Annotation, &[]),
            "default" | "example" | "propertyOrdering" => (Any, Annotation, &[]),
            _ => return None,
        };
        Some(Self { holds, role, types })
    }

    /// Returns whether a keyword only informs the reader.
    pub(crate) fn is_annotation(name: &str) -> bool {
        Self::find(name).is_some_and(|keyword| keyword.role == Role::Annotation)
    }

    /// Returns whether the keyword may hold the value. Schemas inside are not inspected.
    pub(crate) fn takes(self, value: &Value) -> bool {
        let is_names =
            |value: &Value| value.as_array().is_some_and(|names| names.iter().all(Value::is_string));
        let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
        match self.holds {
            Holds::Any => true,
            Holds::Schema => value.is_object() || value.is_boolean(),
            Holds::Schemas | Holds::Values => value.as_array().is_some_and(|list| !list.is_empty()),
            Holds::NamedSchemas => value.is_object(),
            Holds::List => value.is_array(),
            Holds::Types => match value {
                Value::Array(types) => !types.is_empty() && types.iter().all(is_type),
                one => is_type(one),
            },
            Holds::Names => is_names(value),
            Holds::NamedNames => value.as_object().is_some_and(|lists| lists.values().all(is_names)),
            Holds::Number => value.is_number(),
            Holds::PositiveNumber => value.as_f64().is_some_and(|number| number > 0.0),
            Holds::Count => value.is_u64(),
            Holds::Flag => value.is_boolean(),
            Holds::Text => value.is_string(),
        }
    }
}

impl Holds {
    /// Returns the name of the values for the author of a schema.
    #[cfg(feature = "jsonschema")]
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Schema => "boolean or object",
            Self::Schemas | Self::Values => "array of at least 1 item",
            Self::List => "array",
            Self::NamedSchemas => "object",
            Self::Any => "any value",
            Self::Types => {
                r#"one of "array", "boolean", "integer", "null", "number", "object", "string" or array"#
            }
            Self::Names => "array of string",
            Self::NamedNames => "object whose members are arrays of string",
            Self::Number => "number",
            Self::PositiveNumber => "a number, greater than 0",
            Self::Count => "a number of at least 0",
            Self::Flag => "boolean",
            Self::Text => "string",
        }
    }
}

/// The names that `type` takes.
const TYPES: &[&str] = &["string", "number", "integer", "boolean", "array", "object", "null"];

/// A schema directly inside another one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Subschema<'a> {
    /// The keyword that holds the schema.
    pub keyword: &'a str,
    /// The part that the keyword plays.
    pub role: Role,
    /// The name or index of the schema, if the keyword holds several.
    pub key: Option<Cow<'a, str>>,
    /// The schema.
    pub schema: &'a Value,
}

/// Returns the schemas directly inside a schema, in their order. Property names, defaults, examples and
/// allowed values are not taken for schemas.
///
/// ```
/// let schema = serde_json::json!({"properties": {"a": {}, "items": {}}, "default": {"not": {}}});
/// let keys = toolkit_schema::subschemas(&schema).filter_map(|inside| inside.key);
/// assert!(keys.eq(["a", "items"]));
/// ```
pub fn subschemas(schema: &Value) -> impl Iterator<Item = Subschema<'_>> {
    schema.as_object().into_iter().flatten().flat_map(|(keyword, value)| held(keyword, value))
}

pub(crate) fn held<'a>(keyword: &'a str, value: &'a Value) -> Vec<Subschema<'a>> {
    let may_hold = value.is_object() || value.is_array() || value.is_boolean();
    let found = if may_hold { Keyword::find(keyword) } else { None };
    let Some(Keyword { holds, role, .. }) = found else { return Vec::new() };
    let at = |key: Option<Cow<'a, str>>, schema| Subschema { keyword, role, key, schema };
    match (holds, value) {
        (Holds::Schema | Holds::Schemas, Value::Array(list)) => {
            let list = list.iter().enumerate();
            list.map(|(index, schema)| at(Some(index.to_string().into()), schema)).collect()
        }
        (Holds::NamedSchemas, Value::Object(named)) => {
            named.iter().map(|(name, schema)| at(Some(name.into()), schema)).collect()
        }
        (Holds::Schema, schema) => vec![at(None, schema)],
        _ => Vec::new(),
    }
}

/// Calls `visit` for every object among the schemas inside `schema`, inner ones first, then for `schema`.
///
/// ```
/// let mut schema = serde_json::json!({"title": "A", "items": {"title": "B"}, "default": {"title": "C"}});
/// toolkit_schema::each_subschema(&mut schema, &mut |keywords| drop(keywords.remove("title")));
/// assert_eq!(schema, serde_json::json!({"items": {}, "default": {"title": "C"}}));
/// ```
pub fn each_subschema(schema: &mut Value, visit: &mut dyn FnMut(&mut Map<String, Value>)) {
    let Value::Object(keywords) = schema else { return };
    for (keyword, value) in keywords.iter_mut().filter(|(_, value)| value.is_object() || value.is_array()) {
        match (Keyword::find(keyword).map(|keyword| keyword.holds), value) {
            (Some(Holds::Schema | Holds::Schemas), Value::Array(list)) => {
                list.iter_mut().for_each(|schema| each_subschema(schema, visit));
            }
            (Some(Holds::NamedSchemas), Value::Object(named)) => {
                named.values_mut().for_each(|schema| each_subschema(schema, visit));
            }
            (Some(Holds::Schema), schema) => each_subschema(schema, visit),
            _ => {}
        }
    }
    visit(keywords);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Every keyword that holds schemas, each with a schema whose title is the keyword, beside other keywords.
    fn every_applicator() -> (Value, Vec<&'static str>) {
        let inner = |title: &str| json!({"title": title});
        let schema = json!({
            "allOf": [inner("allOf")], "anyOf": [inner("anyOf")], "oneOf": [inner("oneOf")],
            "not": inner("not"), "if": inner("if"), "then": inner("then"), "else": inner("else"),
            "dependentSchemas": {"a": inner("dependentSchemas")},
            "properties": {"default": inner("properties")},
            "patternProperties": {"enum": inner("patternProperties")},
            "additionalProperties": inner("additionalProperties"),
            "unevaluatedProperties": inner("unevaluatedProperties"),
            "propertyNames": inner("propertyNames"),
            "items": inner("items"), "additionalItems": inner("additionalItems"),
            "unevaluatedItems": inner("unevaluatedItems"), "contains": inner("contains"),
            "prefixItems": [inner("prefixItems")], "contentSchema": inner("contentSchema"),
            "$defs": {"A": inner("$defs")}, "definitions": {"B": inner("definitions")},
            "default": inner("no schema"), "enum": [inner("no schema")], "const": inner("no schema"),
            "examples": [inner("no schema")], "x-own": inner("no schema"),
        });
        let expected = vec![
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "if",
            "then",
            "else",
            "dependentSchemas",
            "properties",
            "patternProperties",
            "additionalProperties",
            "unevaluatedProperties",
            "propertyNames",
            "items",
            "additionalItems",
            "unevaluatedItems",
            "contains",
            "prefixItems",
            "contentSchema",
            "$defs",
            "definitions",
        ];
        (schema, expected)
    }

    #[test]
    fn both_walkers_visit_every_keyword_that_holds_schemas_and_nothing_else() {
        let (mut schema, expected) = every_applicator();
        let found: Vec<&str> =
            subschemas(&schema).filter_map(|inside| inside.schema["title"].as_str()).collect();
        assert_eq!(found, expected);
        assert!(subschemas(&schema).all(|inside| inside.schema["title"] == inside.keyword));
        let mut visited = Vec::new();
        each_subschema(&mut schema, &mut |keywords| {
            visited.extend(keywords.get("title").and_then(Value::as_str).map(str::to_owned));
        });
        assert_eq!(visited, expected);
    }

    #[test]
    fn a_list_under_items_holds_schemas() {
        let schema = json!({"items": [{"title": "A"}, true]});
        let found: Vec<Subschema<'_>> = subschemas(&schema).collect();
        assert_eq!(
            found.iter().map(|inside| inside.key.as_deref()).collect::<Vec<_>>(),
            [Some("0"), Some("1")]
        );
    }
}
