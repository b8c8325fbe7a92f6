//! Default values of parameters, as the schema shows them.
//!
//! Generated code calls `default_value(value).to_value()`. Method resolution picks the implementation by the type:
//! `Serialize`, then an enum of plain variants, then the compiler's message about the missing `Serialize`.

use super::param::ToolParams;
use schemars::{Schema, schema_for};
use serde::Serialize;
use serde_json::{Map, Value};
use std::mem::discriminant;
use std::ops::Deref;

/// Makes a default value as JSON. Returns `None` if the value has no JSON, such as a map with lists as keys.
pub type ParamDefault = fn() -> Option<Value>;

/// A default value on its way into the schema.
#[derive(Debug)]
pub struct DefaultValue<T>(PlainVariant<T>);

/// A default value that is not `Serialize`.
#[derive(Debug)]
pub struct PlainVariant<T>(Unwritable<T>);

/// A default value that is neither `Serialize` nor an enum of plain variants.
#[derive(Debug)]
pub struct Unwritable<T>(T);

/// Prepares a default value for the schema.
pub const fn default_value<T>(value: T) -> DefaultValue<T> {
    DefaultValue(PlainVariant(Unwritable(value)))
}

/// The implementation of `to_value` for default values of `Serialize` types.
pub trait DefaultBySerialize {
    /// Returns the value as JSON.
    fn to_value(&self) -> Option<Value>;
}

impl<T: Serialize> DefaultBySerialize for DefaultValue<T> {
    fn to_value(&self) -> Option<Value> {
        // Serialize to text first: a direct conversion turns the `f32` 0.1 into 0.10000000149011612.
        serde_json::to_string(&self.0.0.0).ok().and_then(|text| serde_json::from_str(&text).ok())
    }
}

/// An enum of variants without fields. `#[derive(ToolParams)]` implements it.
pub trait PlainVariants: ToolParams {}

/// `to_value` for enums of plain variants: the schema lists the JSON of each.
pub trait DefaultByVariant {
    /// Returns the name of the variant as JSON.
    fn to_value(&self) -> Option<Value>;

    /// Returns the name of the variant as JSON.
    fn plain_variant(&self) -> Option<Value> {
        self.to_value()
    }
}

impl<T: PlainVariants> DefaultByVariant for PlainVariant<T> {
    fn to_value(&self) -> Option<Value> {
        let is_same = |name: &Value| {
            T::deserialize(name).is_ok_and(|variant| discriminant(&variant) == discriminant(&self.0.0))
        };
        names_in(schema_for!(T).as_value()).into_iter().find(is_same)
    }
}

/// Returns the values that the schema of a plain enum allows.
fn names_in(schema: &Value) -> Vec<Value> {
    let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
    let tagged = schema.get("properties").and_then(Value::as_object).map(|properties| {
        let tag = properties.iter().filter_map(|(name, tag)| Some((name.clone(), names_in(tag).pop()?)));
        Value::Object(tag.collect::<Map<String, Value>>())
    });
    let names = schema.get("const").into_iter().chain(list("enum")).cloned();
    names.chain(tagged).chain(list("oneOf").flat_map(names_in)).collect()
}

/// The bound on a default value of any other type, with its own compiler message.
#[diagnostic::on_unimplemented(
    message = "the schema cannot show a default of type `{Self}`",
    label = "a parameter with a default needs a type that is `Serialize`",
    note = "add `#[derive(serde::Serialize)]` to the type, or to the type inside of it"
)]
pub trait WritableDefault: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> WritableDefault for T {}

impl<T> Unwritable<T> {
    /// Causes the compiler's message about the missing `Serialize`; never called.
    pub const fn to_value(&self) -> Option<Value>
    where
        T: WritableDefault,
    {
        None
    }

    /// Returns `None`: the value has no known JSON.
    pub const fn plain_variant(&self) -> Option<Value> {
        None
    }
}

impl<T> Deref for DefaultValue<T> {
    type Target = PlainVariant<T>;

    fn deref(&self) -> &PlainVariant<T> {
        &self.0
    }
}

impl<T> Deref for PlainVariant<T> {
    type Target = Unwritable<T>;

    fn deref(&self) -> &Unwritable<T> {
        &self.0
    }
}

/// Writes the default of a field into its schema.
pub fn set_default(schema: &mut Schema, default: Option<Value>) {
    if let Some(default) = default {
        schema.insert("default".to_owned(), default);
    }
}
