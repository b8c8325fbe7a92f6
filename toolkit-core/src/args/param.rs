//! A parameter: what generated code says about it, and the slot its value is parsed into.

use super::default::ParamDefault;
use crate::schema::{SchemaBuilder, tidy};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::marker::PhantomData;

/// A type that a tool's parameter may have: anything that is `Deserialize` and `JsonSchema`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the type of a tool's parameter",
    label = "this type must be `Deserialize` and `JsonSchema`",
    note = "add `#[derive(serde::Deserialize, schemars::JsonSchema)]` to it; `toolkit` re-exports both crates",
    note = "what the model must not send (connections, handles, configuration) does not belong into the parameters"
)]
pub trait ToolParam: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> ToolParam for T {}

/// What generated code says about one parameter.
#[derive(Debug)]
pub struct Param {
    /// The name that the model sees.
    pub name: &'static str,
    /// Other names that are accepted.
    pub aliases: &'static [&'static str],
    /// Whether the model must give it.
    pub required: bool,
    /// What the model reads about it; empty leaves the description of the type.
    pub description: &'static str,
    /// Its schema, in the plain form: `T` for an `Option<T>`.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// The value it has when the model leaves it out.
    pub default: Option<ParamDefault>,
}

impl Param {
    /// Whether the model may use this name for the parameter.
    #[inline]
    pub(super) fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// The schema of an object with these parameters as its properties, in the order given.
#[must_use]
pub(crate) fn parameters_schema(params: &[Param]) -> Value {
    let mut builder = SchemaBuilder::new();
    let mut properties = Map::new();
    for param in params {
        let mut schema = (param.schema)(builder.generator()).to_value();
        decorate(&mut schema, param);
        properties.insert(param.name.to_owned(), schema);
    }
    let mut root = json!({"type": "object", "properties": properties});
    let required: Vec<&str> = params.iter().filter(|param| param.required).map(|param| param.name).collect();
    if let Some(object) = root.as_object_mut() {
        if !required.is_empty() {
            object.insert("required".to_owned(), json!(required));
        }
        object.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    builder.add_definitions(&mut root);
    tidy(&mut root);
    root
}

fn decorate(schema: &mut Value, param: &Param) {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Value::Object(schema) = schema else { return };
    let mut description = param.description.to_owned();
    if let Some(default) = param.default {
        match (default.value)() {
            Some(value) => {
                schema.insert("default".to_owned(), value);
            }
            None => {
                let gap = if description.is_empty() { "" } else { " " };
                description.push_str(&format!("{gap}(default: {})", default.source));
            }
        }
    }
    if !description.is_empty() {
        schema.insert("description".to_owned(), description.into());
    }
}

/// Takes one argument. The only part of decoding that exists once for each type.
pub trait Fill {
    /// Parses the value at the start of `text` and returns how many bytes it took.
    ///
    /// # Errors
    /// What `serde_json` says; the slot keeps what it had.
    fn fill(&mut self, text: &str) -> Result<usize, serde_json::Error>;
}

/// Where the value of one parameter is parsed into.
#[derive(Debug)]
pub struct Slot<T>(Option<T>);

impl<T> Slot<T> {
    /// An empty slot.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// The value, if the call gave one.
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        self.0.take()
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ToolParam> Fill for Slot<T> {
    fn fill(&mut self, text: &str) -> Result<usize, serde_json::Error> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<T>();
        match values.next() {
            Some(Ok(value)) => {
                self.0 = Some(value);
                Ok(values.byte_offset())
            }
            Some(Err(error)) => Err(error),
            None => Err(serde::de::Error::custom("a value is missing")),
        }
    }
}

/// Asks a type whether it is an `Option`, through any alias: for `Option<T>` the methods here are
/// found, for every other type those of [`ProbePlain`].
#[derive(Debug)]
pub struct Probe<T>(PhantomData<T>);

impl<T> Probe<Option<T>> {
    /// Whether the model may leave the parameter out.
    pub const OPTIONAL: bool = true;

    /// The schema of `T`.
    pub fn schema(generator: &mut SchemaGenerator) -> Schema
    where
        T: ToolParam,
    {
        generator.subschema_for::<T>()
    }

    /// What an absent parameter is.
    #[must_use]
    pub fn absent() -> Option<Option<T>> {
        Some(None)
    }
}

/// The methods of [`Probe`] for types that are not an `Option`.
pub trait ProbePlain<T> {
    /// Whether the model may leave the parameter out.
    const OPTIONAL: bool = false;

    /// The schema of the type.
    fn schema(generator: &mut SchemaGenerator) -> Schema
    where
        T: ToolParam,
    {
        generator.subschema_for::<T>()
    }

    /// What an absent parameter is: nothing.
    #[must_use]
    fn absent() -> Option<T> {
        None
    }
}

impl<T> ProbePlain<T> for Probe<T> {}
