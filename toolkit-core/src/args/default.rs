//! Converts the default values of parameters to JSON for the schema.
//!
//! Generated code calls `default_value(value).to_value()`. Method resolution picks the implementation by the
//! type: `Serialize`, then an enum of plain variants, then the compiler's message about the missing
//! `Serialize`.

use super::slot::ToolParams;
use crate::schema::__private::Json;
use schemars::{Schema, schema_for};
use serde::Serialize;
use serde_json::{Map, Value};
use std::mem::discriminant;
use std::ops::Deref;

/// A wrapper around a default value. The type of the value selects the conversion to JSON. For a type without
/// `Serialize`, method resolution continues with the inner [`PlainVariant`].
#[derive(Debug)]
pub struct DefaultValue<T>(PlainVariant<T>);

/// The inner wrapper of [`DefaultValue`], used for types without `Serialize`.
#[derive(Debug)]
pub struct PlainVariant<T>(Unwritable<T>);

/// The inner wrapper of [`PlainVariant`], used for types with neither `Serialize` nor [`PlainVariants`].
#[derive(Debug)]
pub struct Unwritable<T>(T);

/// Wraps a default value for the conversion to JSON with `to_value`.
pub const fn default_value<T>(value: T) -> DefaultValue<T> {
    DefaultValue(PlainVariant(Unwritable(value)))
}

/// The implementation of `to_value` for default values of `Serialize` types.
pub trait DefaultBySerialize {
    /// Returns the value as JSON. Returns `None` if a [`Value`] cannot hold the value exactly, such as an
    /// integer beyond 64 bits.
    fn to_value(&self) -> Option<Value>;
}

impl<T: Serialize> DefaultBySerialize for DefaultValue<T> {
    fn to_value(&self) -> Option<Value> {
        // Serialize to text first: a direct conversion turns the `f32` 0.1 into 0.10000000149011612.
        let text = serde_json::to_string(&self.0.0.0).ok()?;
        let is_exact = Json::parse(&text).is_ok_and(|value| value.is_exact());
        if is_exact { serde_json::from_str(&text).ok() } else { None }
    }
}

/// An enum without fields in any variant. `#[derive(ToolParams)]` implements this trait for such enums.
pub trait PlainVariants: ToolParams {}

/// The implementation of `to_value` for [`PlainVariants`]. It takes the JSON of the variant from the schema of the
/// enum.
pub trait DefaultByVariant {
    /// Returns the name of the variant as JSON, even if the enum is `Serialize`.
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

/// Returns the values allowed by `schema`, the schema of an enum without fields in any variant.
fn names_in(schema: &Value) -> Vec<Value> {
    let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
    let tagged = schema.get("properties").and_then(Value::as_object).map(|properties| {
        let tag = properties.iter().filter_map(|(name, tag)| Some((name.clone(), names_in(tag).pop()?)));
        Value::Object(tag.collect::<Map<String, Value>>())
    });
    let names = schema.get("const").into_iter().chain(list("enum")).cloned();
    names.chain(tagged).chain(list("oneOf").flat_map(names_in)).collect()
}

/// A type with default values that a schema can show: any `Serialize` type. For other types, the compiler shows a
/// message about defaults.
#[diagnostic::on_unimplemented(
    message = "the schema cannot show a default of type `{Self}`",
    label = "a parameter with a default needs a type that is `Serialize`",
    note = "add `#[derive(serde::Serialize)]` to the type, or to the type inside of it"
)]
pub trait WritableDefault: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> WritableDefault for T {}

impl<T> Unwritable<T> {
    /// Makes the compiler report the missing `Serialize` implementation; never called.
    pub const fn to_value(&self) -> Option<Value>
    where
        T: WritableDefault,
    {
        None
    }

    /// Returns `None`: a type without `Serialize` has no known JSON.
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

/// Writes the default value of a field into the field's schema. Does nothing if `default` is `None`.
pub fn set_default(schema: &mut Schema, default: Option<Value>) {
    if let Some(default) = default {
        schema.insert("default".to_owned(), default);
    }
}
