//! Generating the schemas of types, with `schemars`.

use super::aliases::without_aliases;
use super::limits::has_demands;
use super::tidy::tidy;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The schema of a type, as a tool's parameter of that type shows it: draft 2020-12, everything
/// inlined that is not recursive, and [tidied](tidy).
///
/// ```
/// let schema = toolkit_core::schema_of::<Vec<u8>>();
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
pub(crate) fn judged_schema_of<T: JsonSchema>() -> (Value, bool) {
    let mut builder = SchemaBuilder::new();
    let mut schema = T::json_schema(builder.generator()).to_value();
    let mut demanding = has_demands(&schema);
    tidy(&mut schema);
    if let Value::Object(root) = &mut schema {
        demanding |= builder.add_definitions(root);
    }
    (schema, demanding)
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
pub(crate) struct SchemaBuilder {
    generator: SchemaGenerator,
}

impl SchemaBuilder {
    /// A builder without definitions.
    #[must_use]
    pub(crate) fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
        Self { generator: settings.into_generator() }
    }

    /// The generator that types are asked with.
    pub(crate) fn generator(&mut self) -> &mut SchemaGenerator {
        &mut self.generator
    }

    /// Adds the definitions of recursive types, where there are any, as `$defs` of the root, and says
    /// whether they demand more than decoding ensures.
    pub(crate) fn add_definitions(&mut self, root: &mut Map<String, Value>) -> bool {
        let mut definitions: Map<String, Value> = self.generator.take_definitions(true).into_iter().collect();
        let demanding = definitions.values().any(has_demands);
        if !definitions.is_empty() {
            definitions.values_mut().for_each(tidy);
            root.insert("$defs".to_owned(), definitions.into());
        }
        demanding
    }
}
