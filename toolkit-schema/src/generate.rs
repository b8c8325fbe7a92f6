//! Generation of schemas from Rust types with the `schemars` crate.

use crate::marks::take_notes;
use crate::tidy::{tidy_arguments, tidy_output};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Returns the schema of JSON values that deserialize into `T`.
///
/// The schema uses draft 2020-12 and is [tidied](crate::tidy). Only recursive types become definitions; all other types
/// are inlined.
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

/// Returns the schema of JSON values that `T` serializes to, or `None` if any JSON value is possible.
///
/// The schema allows `null` wherever the serialized JSON may contain `null`.
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

/// Creates the [output schema](output_schema_of) of a type by calling the type's `json_schema` function.
pub fn output_schema(json_schema: fn(&mut SchemaGenerator) -> Schema) -> Option<Value> {
    let mut builder = SchemaBuilder::with(settings().for_serialize(), tidy_output);
    let mut schema = json_schema(builder.generator()).to_value();
    tidy_output(&mut schema);
    let root = schema.as_object_mut()?;
    builder.add_definitions(root);
    (!root.is_empty()).then_some(schema)
}

/// Returns the schema of a tool's arguments type. It includes internal keywords for checks, such as the aliases of
/// properties.
#[must_use]
pub fn argument_schema_of<T: JsonSchema>() -> Value {
    let mut builder = SchemaBuilder::default();
    let mut schema = T::json_schema(builder.generator()).to_value();
    tidy_arguments(&mut schema);
    if let Value::Object(root) = &mut schema {
        builder.add_definitions(root);
    }
    schema
}

/// Returns the schema name of a type with its type arguments, as in `Page_of_Item`.
#[must_use]
pub fn type_name(name: &'static str, arguments: &[Cow<'static, str>]) -> Cow<'static, str> {
    match arguments {
        [] => Cow::Borrowed(name),
        arguments => Cow::Owned(format!("{name}_of_{}", arguments.join("_and_"))),
    }
}

/// Builds the schemas of several types that share their definitions.
#[derive(Debug)]
pub struct SchemaBuilder {
    generator: SchemaGenerator,
    tidy: fn(&mut Value),
}

impl SchemaBuilder {
    fn with(settings: SchemaSettings, tidy: fn(&mut Value)) -> Self {
        Self { generator: settings.into_generator(), tidy }
    }

    /// Returns the schema generator. Create the schemas of all types with it, because it collects the definitions of
    /// recursive types.
    pub fn generator(&mut self) -> &mut SchemaGenerator {
        &mut self.generator
    }

    /// Adds the collected definitions of recursive types to `root` as `$defs`.
    pub fn add_definitions(&mut self, root: &mut Map<String, Value>) {
        let mut definitions: Map<String, Value> = self.generator.take_definitions(true).into_iter().collect();
        if !definitions.is_empty() {
            definitions.values_mut().for_each(self.tidy);
            root.insert("$defs".to_owned(), definitions.into());
        }
    }
}

/// Creates a builder for the schemas of deserialized types.
impl Default for SchemaBuilder {
    fn default() -> Self {
        Self::with(settings(), tidy_arguments)
    }
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    })
}
