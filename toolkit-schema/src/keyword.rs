//! The table of JSON Schema keywords, and functions to visit the schemas inside a schema.

use crate::depth::MAX_DEPTH;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// An entry in the table of JSON Schema keywords.
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
    /// The type of the keyword's value.
    pub holds: Holds,
    /// The effect of the keyword.
    pub role: Role,
    /// The JSON types that the keyword affects, or none for all types.
    pub types: &'static [&'static str],
}

/// The types of keyword values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Holds {
    /// A schema. Before draft 2020-12, `items` could also hold a list of schemas.
    Schema,
    /// A list of schemas.
    Schemas,
    /// An object of schemas, as in `properties`.
    NamedSchemas,
    /// Any JSON value.
    Any,
    /// A list of any JSON values.
    List,
    /// A list of at least one value, as in `enum`.
    Values,
    /// The name of a JSON type, or a list of them.
    Types,
    /// A list of property names.
    Names,
    /// An object of lists of property names, as in `dependentRequired`.
    NamedNames,
    /// A number.
    Number,
    /// A number above zero.
    PositiveNumber,
    /// A non-negative integer.
    Count,
    /// A boolean.
    Flag,
    /// A string.
    Text,
}

/// The effects of keywords.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Applies schemas to the value itself, as `anyOf` does.
    InPlace,
    /// Applies schemas to items, members or member names, as `items` does.
    Children,
    /// Contains schemas as targets of references, as `$defs` does.
    Definitions,
    /// Constrains the value, as `minimum` does.
    Assertion,
    /// Only gives information, as `title` does.
    Annotation,
}

impl Keyword {
    /// Returns the keyword called `name`.
    ///
    /// Returns `None` for unknown keywords, and for keywords beginning with `$`, except `$defs` and
    /// `$comment`.
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
            // OpenAPI also defines formats of numbers.
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

    pub(crate) fn is_annotation(name: &str) -> bool {
        Self::find(name).is_some_and(|keyword| keyword.role == Role::Annotation)
    }

    /// Returns whether `value` has a suitable type, ignoring the schemas inside it.
    pub(crate) fn takes(self, value: &Value) -> bool {
        match self.holds {
            Holds::Any => true,
            Holds::Schema => value.is_object() || value.is_boolean(),
            Holds::Schemas | Holds::Values => value.as_array().is_some_and(|list| !list.is_empty()),
            Holds::NamedSchemas => value.is_object(),
            Holds::List => value.is_array(),
            Holds::Types => match value {
                Value::Array(types) => !types.is_empty() && types.iter().all(is_type_name),
                one => is_type_name(one),
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
    /// Describes the value that the keyword needs, for messages to authors of schemas.
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

const TYPES: &[&str] = &["string", "number", "integer", "boolean", "array", "object", "null"];

/// A schema directly inside another schema, with its position there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Subschema<'a> {
    /// The keyword of the outer schema that contains it.
    pub keyword: &'a str,
    /// The role of `keyword` in the outer schema.
    pub role: Role,
    /// Its name or index, if `keyword` contains several schemas.
    pub key: Option<Cow<'a, str>>,
    /// The inner schema itself.
    pub schema: &'a Value,
}

/// Returns the schemas directly inside `schema`, in the order of keywords.
///
/// Property names, defaults, examples and allowed values are not mistaken for schemas.
///
/// ```
/// let schema = serde_json::json!({"properties": {"a": {}, "items": {}}, "default": {"not": {}}});
/// let keys = toolkit_schema::keyword::subschemas(&schema).filter_map(|inside| inside.key);
/// assert!(keys.eq(["a", "items"]));
/// ```
pub fn subschemas(schema: &Value) -> impl Iterator<Item = Subschema<'_>> {
    let mut found = Vec::new();
    if let Value::Object(keywords) = schema {
        for (keyword, value) in keywords {
            add_held(keyword, value, &mut found);
        }
    }
    // A list, not a chain of iterators: each user of a chain would contain its code.
    found.into_iter()
}

pub(crate) fn held<'a>(keyword: &'a str, value: &'a Value) -> Vec<Subschema<'a>> {
    let mut found = Vec::new();
    add_held(keyword, value, &mut found);
    found
}

pub(crate) fn add_held<'a>(keyword: &'a str, value: &'a Value, found: &mut Vec<Subschema<'a>>) {
    if !(value.is_object() || value.is_array() || value.is_boolean()) {
        return;
    }
    let Some(Keyword { holds, role, .. }) = Keyword::find(keyword) else { return };
    match (holds, value) {
        (Holds::Schema | Holds::Schemas, Value::Array(list)) => {
            for (index, schema) in list.iter().enumerate() {
                found.push(Subschema { keyword, role, key: Some(index.to_string().into()), schema });
            }
        }
        (Holds::NamedSchemas, Value::Object(named)) => {
            for (name, schema) in named {
                found.push(Subschema { keyword, role, key: Some(name.into()), schema });
            }
        }
        (Holds::Schema, schema) => found.push(Subschema { keyword, role, key: None, schema }),
        _ => {}
    }
}

/// Calls `visit` for `schema` and all schemas inside it, inner schemas first. Boolean schemas and schemas
/// nested deeper than 127 levels are skipped.
///
/// ```
/// let mut schema = serde_json::json!({"title": "A", "items": {"title": "B"}, "default": {"title": "C"}});
/// toolkit_schema::keyword::each_subschema(&mut schema, &mut |keywords| drop(keywords.remove("title")));
/// assert_eq!(schema, serde_json::json!({"items": {}, "default": {"title": "C"}}));
/// ```
pub fn each_subschema(schema: &mut Value, visit: &mut dyn FnMut(&mut Map<String, Value>)) {
    visit_within(schema, visit, MAX_DEPTH);
}

fn visit_within(schema: &mut Value, visit: &mut dyn FnMut(&mut Map<String, Value>), levels: usize) {
    let (Value::Object(keywords), Some(levels)) = (schema, levels.checked_sub(1)) else { return };
    each_inside(keywords, &mut |_, _, schema| visit_within(schema, visit, levels));
    visit(keywords);
}

fn is_names(value: &Value) -> bool {
    value.as_array().is_some_and(|names| names.iter().all(Value::is_string))
}

fn is_type_name(value: &Value) -> bool {
    value.as_str().is_some_and(|name| TYPES.contains(&name))
}

/// Calls `visit` for each schema directly inside, with its keyword and its name or index.
pub(crate) fn each_inside(
    keywords: &mut Map<String, Value>,
    visit: &mut dyn FnMut(&str, Option<&str>, &mut Value),
) {
    for (keyword, value) in keywords {
        if !(value.is_object() || value.is_array() || value.is_boolean()) {
            continue;
        }
        match (Keyword::find(keyword).map(|keyword| keyword.holds), value) {
            (Some(Holds::Schema | Holds::Schemas), Value::Array(list)) => {
                for (index, schema) in list.iter_mut().enumerate() {
                    visit(keyword, Some(&index.to_string()), schema);
                }
            }
            (Some(Holds::NamedSchemas), Value::Object(named)) => {
                for (name, schema) in named {
                    visit(keyword, Some(name), schema);
                }
            }
            (Some(Holds::Schema), schema) => visit(keyword, None, schema),
            _ => {}
        }
    }
}

/// Returns whether a boolean is the common form of a schema in this keyword.
pub(crate) fn takes_boolean(keyword: &str) -> bool {
    matches!(keyword, "additionalProperties" | "unevaluatedProperties")
}

/// Writes boolean schemas as objects: `true` becomes `{}`, and `false` becomes `{"not": {}}`.
///
/// Some providers and MCP clients refuse boolean schemas. `additionalProperties` and `unevaluatedProperties`
/// stay boolean, which is their common form.
///
/// ```
/// let mut schema = serde_json::json!({"items": true, "additionalProperties": true});
/// toolkit_schema::keyword::booleans_to_objects(&mut schema);
/// assert_eq!(schema, serde_json::json!({"items": {}, "additionalProperties": true}));
/// ```
pub fn booleans_to_objects(schema: &mut Value) {
    boolean_to_object(schema);
    each_subschema(schema, &mut booleans_inside_to_objects);
}

pub(crate) fn boolean_to_object(schema: &mut Value) {
    match schema {
        Value::Bool(true) => *schema = json!({}),
        Value::Bool(false) => *schema = json!({"not": {}}),
        _ => {}
    }
}

pub(crate) fn booleans_inside_to_objects(keywords: &mut Map<String, Value>) {
    each_inside(keywords, &mut boolean_inside_to_object);
}

fn boolean_inside_to_object(keyword: &str, _: Option<&str>, inside: &mut Value) {
    if !takes_boolean(keyword) {
        boolean_to_object(inside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a schema with every keyword that contains schemas, and their titles: the keywords' names.
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
        let expected = "allOf anyOf oneOf not if then else dependentSchemas properties patternProperties additionalProperties \
                        unevaluatedProperties propertyNames items additionalItems unevaluatedItems contains prefixItems contentSchema $defs definitions";
        (schema, expected.split(' ').collect())
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
    fn boolean_schemas_become_objects_except_for_members_without_a_name() {
        let mut schema = json!({
            "properties": {"a": true, "b": false, "c": {"items": true, "default": true}},
            "prefixItems": [true], "items": [false], "anyOf": [true, {"not": true}],
            "additionalProperties": false, "unevaluatedProperties": true,
            "uniqueItems": true, "const": {"items": true},
        });
        booleans_to_objects(&mut schema);
        let expected = json!({
            "properties": {"a": {}, "b": {"not": {}}, "c": {"items": {}, "default": true}},
            "prefixItems": [{}], "items": [{"not": {}}], "anyOf": [{}, {"not": {}}],
            "additionalProperties": false, "unevaluatedProperties": true,
            "uniqueItems": true, "const": {"items": true},
        });
        assert_eq!(schema, expected);
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
