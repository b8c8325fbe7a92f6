//! Parameters of a tool: their specification and their schema.

use super::default::DefaultJson;
use super::parameter_types::{SharedParams, ToolParams};
use crate::schema::__private::{
    Keywords, ReadError, Reader, SchemaBuilder, check_null_default, set_default, tidy_arguments, with_notes,
};
use crate::schema::Constraints;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};
use std::marker::PhantomData;

/// A slot for a parameter's decoded value.
///
/// Only `fill` is compiled for each type; the rest of decoding is shared.
pub trait Fill {
    /// Decodes the reader's next value into the slot.
    ///
    /// # Errors
    /// The value is not accepted, or not of the type. The slot stays unchanged.
    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), ReadError>;
}

impl<T: ToolParams> Fill for Option<T> {
    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), ReadError> {
        *self = Some(T::deserialize(reader)?);
        Ok(())
    }
}

/// Returns the default value of a parameter as JSON.
pub type ParamDefault = fn() -> DefaultJson;

/// The specification of one parameter. Generated code writes it as a struct literal, which compiles faster
/// than builder calls. It is small, as a program has many.
#[derive(Debug)]
pub struct ParamSpec {
    /// The parameter's name for the model. A literal description follows after a line break.
    pub text: &'static str,
    /// Generates the schema of the parameter's type.
    pub schema: fn(&mut SchemaGenerator) -> ParamSchema,
    /// Optional settings, behind a reference because few parameters have any.
    pub extras: Option<&'static ParamExtras>,
}

/// The optional settings.
#[derive(Debug)]
pub struct ParamExtras {
    /// The description for the model, if it is an expression; else empty.
    pub description: &'static str,
    /// Further names accepted from the model.
    pub aliases: &'static [&'static str],
    /// The function returning the default value, if there is one.
    pub default: Option<ParamDefault>,
    /// Adds the parameter's constraints to the schema.
    pub constrain: Option<fn(&mut Constraints<'_>)>,
}

/// The schema of a parameter's type.
#[derive(Debug)]
pub struct ParamSchema {
    optional: bool,
    /// The schema of the type; for an `Option<T>`, of `T`.
    schema: Schema,
}

impl ParamSpec {
    /// Returns the name and the description for the model. If the description is empty, the type's is used.
    fn name_and_description(&self) -> (&'static str, &'static str) {
        let of_extras = self.extras.map_or("", |extras| extras.description);
        self.text.split_once('\n').unwrap_or((self.text, of_extras))
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.extras.map_or(&[], |extras| extras.aliases)
    }

    fn default(&self) -> Option<ParamDefault> {
        self.extras?.default
    }

    fn constrain(&self) -> Option<fn(&mut Constraints<'_>)> {
        self.extras?.constrain
    }
}

/// What is needed to decode the argument for one parameter.
#[derive(Debug, Clone)]
pub(crate) struct Param<'a> {
    pub(crate) name: &'a str,
    aliases: &'a [&'a str],
    pub(super) required: bool,
    absent_is_none: bool,
}

impl<'a> Param<'a> {
    pub(crate) fn aliases(&self) -> &'a [&'a str] {
        self.aliases
    }
}

/// Returns the object schema, with internal keywords, and the decoding data of each parameter.
pub(crate) fn parameters_schema(specs: &[ParamSpec]) -> (Value, Vec<Param<'static>>) {
    let mut builder = SchemaBuilder::default();
    let mut properties = Map::new();
    let mut params = Vec::with_capacity(specs.len());
    for spec in specs {
        let (name, description) = spec.name_and_description();
        let ParamSchema { optional, schema } = (spec.schema)(builder.generator());
        let default = spec.default().map(|default| default());
        params.push(Param {
            name,
            aliases: spec.aliases(),
            required: !optional && default.is_none(),
            absent_is_none: optional && default.is_none(),
        });
        let mut schema = schema.to_value();
        if let (Some(constrain), Value::Object(schema)) = (spec.constrain(), &mut schema) {
            constrain(&mut Constraints::new(schema));
        }
        tidy_arguments(&mut schema);
        properties.set(name, decorated(schema, description, default, optional));
    }
    let mut root = Map::new();
    root.set("type", "object".into());
    root.set("properties", properties.into());
    let required: Vec<&str> = params.iter().filter(|param| param.required).map(|param| param.name).collect();
    if !required.is_empty() {
        root.set("required", required.into());
    }
    builder.add_definitions(&mut root);
    (root.into(), params)
}

fn is_null(default: &DefaultJson) -> bool {
    matches!(default, Ok(Some(Value::Null)))
}

/// Adds the description and the default of a parameter to `schema`, the schema of its type.
fn decorated(schema: Value, description: &str, default: Option<DefaultJson>, optional: bool) -> Value {
    let mut schema = match schema {
        Value::Object(schema) => schema,
        // `true` accepts any value.
        _ => Map::new(),
    };
    if !description.is_empty() {
        let of_type = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let description = with_notes(description, of_type);
        schema.set("description", description.into());
    }
    // An optional parameter's schema refuses `null`, and an absent argument is `None` anyway.
    if let Some(default) = default.filter(|default| !optional || !is_null(default)) {
        if optional && matches!(&default, Ok(Some(_))) {
            allow_null(&mut schema);
        }
        set_default(&mut schema, default);
        if !optional {
            check_null_default(&mut schema);
        }
    }
    schema.into()
}

/// Extends a schema to accept `null`, for optional parameters with a default.
fn allow_null(schema: &mut Map<String, Value>) {
    match schema.get_mut("type") {
        Some(kind @ Value::String(_)) => *kind = Value::from(vec![kind.take(), "null".into()]),
        Some(_) => {}
        None => {
            let plain = Value::Object(std::mem::take(schema));
            let null = Value::from(Map::only("type", "null".into()));
            schema.set("anyOf", vec![plain, null].into());
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.push(Value::Null);
    }
}

/// Fills an absent parameter's slot with `None`, if it is an `Option` without a default.
pub(super) fn fill_absent(param: &Param<'_>, slot: &mut dyn Fill) {
    if param.absent_is_none {
        let _ = slot.fill(&mut Reader::unchecked("null"));
    }
}

/// Detects at compile time if a type is an `Option`, even behind a type alias.
///
/// Method resolution picks the inherent method for `Option<T>`, and [`PlainParamType`] otherwise.
#[derive(Debug)]
pub struct ParamType<T>(PhantomData<T>);

impl<T> ParamType<Option<T>> {
    /// Returns the schema of an optional `T`.
    pub fn toolkit_schema(generator: &mut SchemaGenerator) -> ParamSchema
    where
        T: ToolParams,
    {
        ParamSchema { optional: true, schema: generator.subschema_for::<T>() }
    }

    /// Returns the schema of an optional `T`, for a parameter `Option<&T>`.
    pub fn toolkit_shared_schema(generator: &mut SchemaGenerator) -> ParamSchema
    where
        T: SharedParams,
    {
        Self::toolkit_schema(generator)
    }
}

/// The counterpart of `ParamType` for other types.
pub trait PlainParamType<T> {
    /// Returns the schema of the type.
    fn toolkit_schema(generator: &mut SchemaGenerator) -> ParamSchema
    where
        T: ToolParams,
    {
        ParamSchema { optional: false, schema: generator.subschema_for::<T>() }
    }

    /// Returns the schema of the type, for a parameter `&T` or `Arc<T>`.
    fn toolkit_shared_schema(generator: &mut SchemaGenerator) -> ParamSchema
    where
        T: SharedParams,
    {
        Self::toolkit_schema(generator)
    }
}

impl<T> PlainParamType<T> for ParamType<T> {}
