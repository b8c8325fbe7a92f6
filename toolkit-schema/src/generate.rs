//! Generation of schemas from Rust types with `schemars`.

use crate::keywords::Keywords;
use crate::marks::take_notes;
use crate::tidy::{tidy_arguments, tidy_output};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Returns the schema of JSON that deserializes into `T`.
///
/// It uses draft 2020-12 and is [tidied](crate::tidy). Recursive types become definitions, and all others are
/// inlined.
///
/// ```
/// let schema = toolkit_schema::schema_of::<Vec<u8>>();
/// assert_eq!(
///     schema,
///     serde_json::json!({"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}})
/// );
/// ```
#[must_use]
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut schema = argument_schema_of::<T>();
    take_notes(&mut schema);
    schema
}

/// Returns the schema of JSON that `T` serializes to, or `None` if this is any value.
///
/// It allows `null` wherever the JSON may contain it.
///
/// ```
/// let schema = toolkit_schema::output_schema_of::<Option<bool>>();
/// assert_eq!(schema, Some(serde_json::json!({"type": ["boolean", "null"]})));
/// assert_eq!(toolkit_schema::output_schema_of::<serde_json::Value>(), None);
/// ```
#[must_use]
pub fn output_schema_of<T: JsonSchema>() -> Option<Value> {
    output_schema(T::json_schema)
}

/// Creates the [output schema](output_schema_of) by a type's `json_schema` function.
pub fn output_schema(json_schema: fn(&mut SchemaGenerator) -> Schema) -> Option<Value> {
    let generator = settings().for_serialize().into_generator();
    let schema = SchemaBuilder { generator, tidy: tidy_output }.schema(json_schema);
    if schema.as_object().is_none_or(Map::is_empty) { None } else { Some(schema) }
}

/// Returns the schema of an arguments type, with internal keywords such as aliases.
#[must_use]
pub fn argument_schema_of<T: JsonSchema>() -> Value {
    SchemaBuilder::default().schema(T::json_schema)
}

/// Returns a type's schema name with its arguments, as in `Page_of_Item`.
#[must_use]
pub fn type_name(name: &'static str, arguments: &[Cow<'static, str>]) -> Cow<'static, str> {
    match arguments {
        [] => Cow::Borrowed(name),
        arguments => Cow::Owned(format!("{name}_of_{}", arguments.join("_and_"))),
    }
}

/// Builds schemas of several types with shared definitions.
#[derive(Debug)]
pub struct SchemaBuilder {
    generator: SchemaGenerator,
    tidy: fn(&mut Value),
}

impl SchemaBuilder {
    fn schema(mut self, json_schema: fn(&mut SchemaGenerator) -> Schema) -> Value {
        let mut schema = json_schema(&mut self.generator).to_value();
        (self.tidy)(&mut schema);
        if let Value::Object(root) = &mut schema {
            self.add_definitions(root);
        }
        schema
    }

    /// Returns the generator for all schemas, which collects recursive types.
    pub fn generator(&mut self) -> &mut SchemaGenerator {
        &mut self.generator
    }

    /// Adds recursive types to `root` as `$defs`.
    pub fn add_definitions(&mut self, root: &mut Map<String, Value>) {
        let mut definitions: Map<String, Value> = self.generator.take_definitions(true).into_iter().collect();
        if !definitions.is_empty() {
            for definition in definitions.values_mut() {
                (self.tidy)(definition);
            }
            root.set("$defs", definitions.into());
        }
    }
}

/// Builds schemas of deserialized types.
impl Default for SchemaBuilder {
    fn default() -> Self {
        Self { generator: settings().into_generator(), tidy: tidy_arguments }
    }
}

fn settings() -> SchemaSettings {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    settings
}
