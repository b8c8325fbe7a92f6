//! A parameter: what generated code says about it, and the slot its value is parsed into.

use super::default::ParamDefault;
use crate::schema::__private::{SchemaBuilder, has_constraints, with_notes};
use crate::schema::{Constraints, tidy};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};
use std::marker::PhantomData;

/// A type that arguments can be decoded as: anything that is `Deserialize` and `JsonSchema`.
pub trait ToolParams: Decode + Describe {}

impl<T: Decode + Describe> ToolParams for T {}

/// A type whose values can be read from the arguments of a call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a model's arguments",
    label = "a parameter of a tool must implement `Deserialize`",
    note = "add `#[derive(serde::Deserialize)]` to the type, or to the type inside it",
    note = "what no model can send, such as a connection, does not belong into the parameters"
)]
pub trait Decode: DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> Decode for T {}

/// A type whose values can be described to a model.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be described to a model",
    label = "a parameter of a tool must implement `JsonSchema`",
    note = "add `#[derive(schemars::JsonSchema)]` to the type, or to the type inside it",
    note = "what no model can send, such as a connection, does not belong into the parameters"
)]
pub trait Describe: JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> Describe for T {}

/// What generated code says about one parameter. A literal, because the compiler has less to do for it than
/// for calls.
#[derive(Debug)]
pub struct ParamSpec {
    /// The name that the model sees.
    pub name: &'static str,
    /// What the model reads about it; empty leaves the description of the type.
    pub description: &'static str,
    /// Describes its type.
    pub schema: fn(&mut SchemaGenerator) -> ParamSchema,
    /// What few parameters have.
    pub extras: Option<&'static ParamExtras>,
}

/// What few parameters have.
#[derive(Debug)]
pub struct ParamExtras {
    /// Other names that are accepted.
    pub aliases: &'static [&'static str],
    /// The value it has when the model leaves it out.
    pub default: Option<ParamDefault>,
    /// Writes its constraints into the schema.
    pub constrain: Option<fn(&mut Constraints<'_>)>,
}

/// The type of a parameter.
#[derive(Debug)]
pub struct ParamSchema {
    /// Whether it is an `Option`.
    optional: bool,
    /// Its schema, in the plain form: `T` for an `Option<T>`.
    schema: Schema,
}

impl ParamSpec {
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

/// What decoding has to know about a parameter.
#[derive(Debug, Clone)]
pub(crate) struct Param {
    /// The name that the model sees.
    pub(super) name: &'static str,
    /// Other names that are accepted.
    aliases: &'static [&'static str],
    /// Whether the model must give it.
    pub(super) required: bool,
    /// Whether it is `None` when the model leaves it out.
    absent_is_none: bool,
}

impl Param {
    /// The name that the model reads.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Whether the model may use this name for the parameter.
    #[inline]
    pub(crate) fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// The schema of an object with these parameters as its properties, in the order given, and for each
/// parameter what decoding has to know, and whether its schema demands more than decoding ensures.
pub(crate) fn parameters_schema(specs: &[ParamSpec], refuse_unknown: bool) -> (Value, Vec<Param>, Vec<bool>) {
    let mut builder = SchemaBuilder::default();
    let mut properties = Map::new();
    let mut params = Vec::with_capacity(specs.len());
    let mut demanding = Vec::with_capacity(specs.len());
    for spec in specs {
        let ParamSchema { optional, schema } = (spec.schema)(builder.generator());
        let has_default = spec.default().is_some();
        params.push(Param {
            name: spec.name,
            aliases: spec.aliases(),
            required: !optional && !has_default,
            absent_is_none: optional && !has_default,
        });
        let mut schema = schema.to_value();
        if let (Some(constrain), Value::Object(schema)) = (spec.constrain(), &mut schema) {
            constrain(&mut Constraints::new(schema));
        }
        demanding.push(has_constraints(&schema));
        tidy(&mut schema);
        properties.insert(spec.name.to_owned(), decorated(schema, spec, optional));
    }
    let mut root = Map::new();
    root.insert("type".to_owned(), "object".into());
    root.insert("properties".to_owned(), properties.into());
    let required: Vec<&str> = params.iter().filter(|param| param.required).map(|param| param.name).collect();
    if !required.is_empty() {
        root.insert("required".to_owned(), required.into());
    }
    if refuse_unknown {
        root.insert("additionalProperties".to_owned(), false.into());
    }
    let recursion_demands = builder.add_definitions(&mut root);
    demanding.iter_mut().for_each(|demands| *demands |= recursion_demands);
    (root.into(), params, demanding)
}

/// The schema of a type with what is said about the parameter.
fn decorated(schema: Value, spec: &ParamSpec, optional: bool) -> Value {
    let mut schema = match schema {
        Value::Object(schema) => schema,
        // `true`: a value of any kind.
        _ => Map::new(),
    };
    let default = spec.default().map(|default| ((default.value)(), default.source));
    let mut description = spec.description.to_owned();
    if let Some((None, source)) = default {
        let gap = if description.is_empty() { "" } else { " " };
        description.push_str(&format!("{gap}(default: {source})"));
    }
    if !description.is_empty() {
        let of_type = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let description = with_notes(&description, of_type);
        schema.insert("description".to_owned(), description.into());
    }
    if let Some((Some(value), _)) = default {
        if optional && !value.is_null() {
            allow_null(&mut schema);
        }
        schema.insert("default".to_owned(), value);
    }
    schema.into()
}

/// Where absence means something else, `null` must be said to be allowed.
fn allow_null(schema: &mut Map<String, Value>) {
    match schema.get_mut("type") {
        Some(kind @ Value::String(_)) => *kind = Value::from(vec![kind.take(), "null".into()]),
        Some(_) => {}
        None => {
            let plain = Value::Object(std::mem::take(schema));
            let null = serde_json::json!({"type": "null"});
            schema.insert("anyOf".to_owned(), vec![plain, null].into());
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.push(Value::Null);
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

/// Where the value of one parameter is parsed into: a slot, `None` until there is one.
impl<T: Decode> Fill for Option<T> {
    fn fill(&mut self, text: &str) -> Result<usize, serde_json::Error> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        *self = Some(T::deserialize(&mut deserializer)?);
        // Only the iterator over further values tells how far the parser has come.
        Ok(deserializer.into_iter::<IgnoredAny>().byte_offset())
    }
}

/// Fills the slot of a parameter that the model left out, if it is `None` then, so that generated code
/// need not know which parameters these are. Every `Option` takes a `null`.
pub(super) fn fill_absent(param: &Param, slot: &mut dyn Fill) {
    if param.absent_is_none {
        let _ = slot.fill("null");
    }
}

/// Asks a type whether it is an `Option`, through any alias: for `Option<T>` the methods here are
/// found, for every other type those of [`ProbePlain`].
#[derive(Debug)]
pub struct Probe<T>(PhantomData<T>);

impl<T> Probe<Option<T>> {
    /// The schema of `T`, which may be left out.
    pub fn schema(generator: &mut SchemaGenerator) -> ParamSchema
    where
        T: Describe,
    {
        ParamSchema { optional: true, schema: generator.subschema_for::<T>() }
    }
}

/// The methods of [`Probe`] for types that are not an `Option`.
pub trait ProbePlain<T> {
    /// The schema of the type.
    fn schema(generator: &mut SchemaGenerator) -> ParamSchema
    where
        T: Describe,
    {
        ParamSchema { optional: false, schema: generator.subschema_for::<T>() }
    }
}

impl<T> ProbePlain<T> for Probe<T> {}
