//! Generating the schemas of types, with `schemars`.

use super::aliases::without_aliases;
use super::limits::has_demands;
use super::tidy::{tidy, tidy_written};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The schema of a type, as a tool's parameter of that type shows it: draft 2020-12, everything
/// inlined that is not recursive, and [tidied](tidy).
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
    let (mut schema, _) = judged_schema_of::<T>();
    without_aliases(&mut schema);
    schema
}

/// The schema of a type with the other names of its properties, and whether it demands more than decoding
/// ensures.
pub fn judged_schema_of<T: JsonSchema>() -> (Value, bool) {
    let mut builder = SchemaBuilder::new();
    let mut schema = T::json_schema(builder.generator()).to_value();
    let mut demanding = has_demands(&schema);
    tidy(&mut schema);
    if let Value::Object(root) = &mut schema {
        demanding |= builder.add_definitions(root);
    }
    (schema, demanding)
}

/// The schema of what values of a type are written as, with `null` wherever it may stand; `None` if that
/// may be anything.
pub fn written_schema(of_type: fn(&mut SchemaGenerator) -> Schema) -> Option<Value> {
    let mut builder = SchemaBuilder::of_written();
    let mut schema = of_type(builder.generator()).to_value();
    tidy_written(&mut schema);
    let root = schema.as_object_mut()?;
    builder.add_definitions(root);
    (!root.is_empty()).then_some(schema)
}

/// The name of a type with its arguments, as in `Page_of_Item`.
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
    /// A builder without definitions, for what types are read from.
    #[must_use]
    pub fn new() -> Self {
        Self { generator: settings().into_generator(), tidy }
    }

    /// The same for what types are written as.
    #[must_use]
    fn of_written() -> Self {
        Self { generator: settings().for_serialize().into_generator(), tidy: tidy_written }
    }

    /// The generator that types are asked with.
    pub fn generator(&mut self) -> &mut SchemaGenerator {
        &mut self.generator
    }

    /// Adds the definitions of recursive types, where there are any, as `$defs` of the root, and says
    /// whether they demand more than decoding ensures.
    pub fn add_definitions(&mut self, root: &mut Map<String, Value>) -> bool {
        let mut definitions: Map<String, Value> = self.generator.take_definitions(true).into_iter().collect();
        let demanding = definitions.values().any(has_demands);
        if !definitions.is_empty() {
            definitions.values_mut().for_each(self.tidy);
            root.insert("$defs".to_owned(), definitions.into());
        }
        demanding
    }
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    })
}
