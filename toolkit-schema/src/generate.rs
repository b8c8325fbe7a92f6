//! Schemas of Rust types, by `schemars`.

use crate::bounds::has_constraints;
use crate::properties::strip_aliases;
use crate::tidy::{tidy, tidy_output};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Returns the schema of values that a type is read from: draft 2020-12, everything inlined that is not
/// recursive, and [tidied](tidy).
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
    let (mut schema, _) = argument_schema_of::<T>();
    strip_aliases(&mut schema);
    schema
}

/// Returns the schema of values that a type is written as, with `null` wherever it may be written; `None` if
/// any value may be.
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

/// Returns the [output schema](output_schema_of) of the type that `json_schema` belongs to.
pub fn output_schema(json_schema: fn(&mut SchemaGenerator) -> Schema) -> Option<Value> {
    let mut builder = SchemaBuilder::with(settings().for_serialize(), tidy_output);
    let mut schema = json_schema(builder.generator()).to_value();
    tidy_output(&mut schema);
    let root = schema.as_object_mut()?;
    builder.add_definitions(root);
    (!root.is_empty()).then_some(schema)
}

/// Returns the schema of a type with the aliases of its properties, and whether it
/// [has constraints](has_constraints).
#[must_use]
pub fn argument_schema_of<T: JsonSchema>() -> (Value, bool) {
    let mut builder = SchemaBuilder::default();
    let mut schema = T::json_schema(builder.generator()).to_value();
    let mut constrained = has_constraints(&schema);
    tidy(&mut schema);
    if let Value::Object(root) = &mut schema {
        constrained |= builder.add_definitions(root);
    }
    (schema, constrained)
}

/// Returns the name of a type with its arguments, as in `Page_of_Item`.
#[must_use]
pub fn type_name(name: &'static str, arguments: &[Cow<'static, str>]) -> Cow<'static, str> {
    match arguments {
        [] => Cow::Borrowed(name),
        arguments => Cow::Owned(format!("{name}_of_{}", arguments.join("_and_"))),
    }
}

/// Collects the schemas of several types that share their definitions.
#[derive(Debug)]
pub struct SchemaBuilder {
    generator: SchemaGenerator,
    tidy: fn(&mut Value),
}

impl SchemaBuilder {
    fn with(settings: SchemaSettings, tidy: fn(&mut Value)) -> Self {
        Self { generator: settings.into_generator(), tidy }
    }

    /// Returns the generator that types add their definitions to.
    pub fn generator(&mut self) -> &mut SchemaGenerator {
        &mut self.generator
    }

    /// Adds the definitions of recursive types to `root` as `$defs`, and returns whether they
    /// [have constraints](has_constraints).
    pub fn add_definitions(&mut self, root: &mut Map<String, Value>) -> bool {
        let mut definitions: Map<String, Value> = self.generator.take_definitions(true).into_iter().collect();
        let constrained = definitions.values().any(has_constraints);
        if !definitions.is_empty() {
            definitions.values_mut().for_each(self.tidy);
            root.insert("$defs".to_owned(), definitions.into());
        }
        constrained
    }
}

/// A builder for types that are read.
impl Default for SchemaBuilder {
    fn default() -> Self {
        Self::with(settings(), tidy)
    }
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    })
}
