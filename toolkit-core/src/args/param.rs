//! A parameter: what generated code says about it, and the slot its value is parsed into.

use super::default::ParamDefault;
use crate::schema::{Constraints, SchemaBuilder, has_demands, keep_notes, tidy};
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

/// What generated code says about one parameter.
#[derive(Debug)]
pub struct Param {
    /// The name that the model sees.
    pub(super) name: &'static str,
    /// Other names that are accepted.
    aliases: &'static [&'static str],
    /// Whether its type is an `Option`.
    optional: bool,
    /// Whether the model must give it.
    pub(super) required: bool,
    /// What the model reads about it; empty leaves the description of the type.
    description: &'static str,
    /// Its schema, in the plain form: `T` for an `Option<T>`.
    schema: fn(&mut SchemaGenerator) -> Schema,
    /// The value it has when the model leaves it out.
    default: Option<ParamDefault>,
    /// Writes its constraints into the schema.
    constrain: Option<fn(&mut Constraints<'_>)>,
}

impl Param {
    /// A parameter without other names and without a default.
    #[must_use]
    pub const fn new(
        name: &'static str,
        optional: bool,
        description: &'static str,
        schema: fn(&mut SchemaGenerator) -> Schema,
    ) -> Self {
        Self {
            name,
            aliases: &[],
            optional,
            required: !optional,
            description,
            schema,
            default: None,
            constrain: None,
        }
    }

    /// Sets other names that are accepted.
    #[must_use]
    pub const fn with_aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Sets the value that it has when the model leaves it out, and the expression that makes it.
    #[must_use]
    pub const fn with_default(mut self, value: fn() -> Option<Value>, source: &'static str) -> Self {
        self.default = Some(ParamDefault { value, source });
        self.required = false;
        self
    }

    /// Sets what writes its constraints into the schema.
    #[must_use]
    pub const fn with_constraints(mut self, constrain: fn(&mut Constraints<'_>)) -> Self {
        self.constrain = Some(constrain);
        self
    }

    /// Whether it is `None` when the model leaves it out.
    #[inline]
    pub(super) fn absent_is_none(&self) -> bool {
        self.optional && self.default.is_none()
    }

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
/// parameter whether its schema demands more than decoding ensures.
pub(crate) fn parameters_schema(params: &[Param], refuse_unknown: bool) -> (Value, Vec<bool>) {
    let mut builder = SchemaBuilder::new();
    let mut properties = Map::new();
    let mut demanding = Vec::with_capacity(params.len());
    for param in params {
        let mut schema = (param.schema)(builder.generator()).to_value();
        if let (Some(constrain), Value::Object(schema)) = (param.constrain, &mut schema) {
            constrain(&mut Constraints::new(schema));
        }
        demanding.push(has_demands(&schema));
        tidy(&mut schema);
        properties.insert(param.name.to_owned(), decorated(schema, param));
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
    (root.into(), demanding)
}

/// The schema of a type with what is said about the parameter.
fn decorated(schema: Value, param: &Param) -> Value {
    let mut schema = match schema {
        Value::Object(schema) => schema,
        // `true`: a value of any kind.
        _ => Map::new(),
    };
    let default = param.default.map(|default| ((default.value)(), default.source));
    let mut description = param.description.to_owned();
    if let Some((None, source)) = default {
        let gap = if description.is_empty() { "" } else { " " };
        description.push_str(&format!("{gap}(default: {source})"));
    }
    if !description.is_empty() {
        let of_type = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let description = keep_notes(&description, of_type);
        schema.insert("description".to_owned(), description.into());
    }
    if let Some((Some(value), _)) = default {
        if param.optional && !value.is_null() {
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
    if param.absent_is_none() {
        let _ = slot.fill("null");
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
        T: Describe,
    {
        generator.subschema_for::<T>()
    }
}

/// The methods of [`Probe`] for types that are not an `Option`.
pub trait ProbePlain<T> {
    /// Whether the model may leave the parameter out.
    const OPTIONAL: bool = false;

    /// The schema of the type.
    fn schema(generator: &mut SchemaGenerator) -> Schema
    where
        T: Describe,
    {
        generator.subschema_for::<T>()
    }
}

impl<T> ProbePlain<T> for Probe<T> {}
