//! Converts default values to JSON.
//!
//! Generated code calls `default_value(value).toolkit_value()` for an expression, and
//! `default_value(value).toolkit_value_of_type()` for the value of `Default`. Method resolution picks the
//! implementation by the type: `Serialize`, then an enum of plain variants, then an empty container, then
//! the compiler's message about the missing `Serialize`.

use super::parameter_types::ToolParams;
use crate::schema::__private::{self as schema, Json};
use schemars::{Schema, schema_for};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::mem::discriminant;
use std::ops::Deref;

/// A default value as JSON; `None` if a [`Value`] cannot hold it exactly, such as a longer integer than 64
/// bits. An error says why it has no JSON; the tool is then refused.
pub type DefaultJson = Result<Option<Value>, String>;

/// A default value, whose type selects the conversion to JSON. Without `Serialize`, method resolution
/// continues with the inner [`PlainVariant`].
#[derive(Debug)]
pub struct DefaultValue<T>(PlainVariant<T>);

/// The inner wrapper for types without `Serialize`.
#[derive(Debug)]
pub struct PlainVariant<T>(Emptiable<T>);

/// The inner wrapper for types with neither `Serialize` nor [`PlainVariants`].
#[derive(Debug)]
pub struct Emptiable<T>(Unwritable<T>);

/// The inner wrapper for types that are no container either.
#[derive(Debug)]
pub struct Unwritable<T>(T);

/// Wraps a default value for the conversion.
pub const fn default_value<T>(value: T) -> DefaultValue<T> {
    DefaultValue(PlainVariant(Emptiable(Unwritable(value))))
}

/// The conversion for `Serialize` types.
pub trait DefaultBySerialize {
    /// Returns the value as JSON.
    fn toolkit_value(&self) -> DefaultJson;

    /// Returns the type's `Default` as JSON.
    fn toolkit_value_of_type(&self) -> DefaultJson {
        self.toolkit_value()
    }
}

impl<T: Serialize> DefaultBySerialize for DefaultValue<T> {
    fn toolkit_value(&self) -> DefaultJson {
        // Serialize to text first: a direct conversion turns the `f32` 0.1 into 0.10000000149011612.
        let text = serde_json::to_string(&self.0.0.0.0).map_err(|error| error.to_string())?;
        Ok(exact_value(&text))
    }
}

/// Returns the value of a JSON text, if it holds all digits of the numbers.
fn exact_value(text: &str) -> Option<Value> {
    let is_exact = Json::parse(text).is_ok_and(|value| value.is_exact());
    if is_exact { text.parse().ok() } else { None }
}

/// An enum without fields in any variant, implemented by `#[derive(ToolParams)]`.
pub trait PlainVariants: ToolParams {}

/// The conversion for [`PlainVariants`]. The schema lists the JSON of each variant.
pub trait DefaultByVariant {
    /// Returns the variant's name as JSON.
    fn toolkit_value(&self) -> DefaultJson;

    /// Returns the name of the type's `Default` variant as JSON.
    fn toolkit_value_of_type(&self) -> DefaultJson {
        self.toolkit_value()
    }
}

impl<T: PlainVariants> DefaultByVariant for PlainVariant<T> {
    fn toolkit_value(&self) -> DefaultJson {
        for name in names_in(schema_for!(T).as_value()) {
            if let Ok(variant) = T::deserialize(&name)
                && discriminant(&variant) == discriminant(&self.0.0.0)
            {
                return Ok(Some(name));
            }
        }
        Err("the model can give no name for its variant; take an `Option`".to_owned())
    }
}

/// Returns the values allowed by `schema`, the schema of a [`PlainVariants`] enum.
fn names_in(schema: &Value) -> Vec<Value> {
    let mut names = Vec::new();
    names.extend(schema.get("const").cloned());
    if let Some(Value::Array(listed)) = schema.get("enum") {
        names.extend_from_slice(listed);
    }
    if let Some(Value::Object(properties)) = schema.get("properties") {
        let mut tagged = Map::new();
        for (name, tag) in properties {
            if let Some(value) = names_in(tag).pop() {
                tagged.insert(name.clone(), value);
            }
        }
        names.push(Value::Object(tagged));
    }
    if let Some(Value::Array(branches)) = schema.get("oneOf") {
        names.extend(branches.iter().flat_map(names_in));
    }
    names
}

/// A type whose empty value has the same JSON for any inner type.
pub trait Container {
    /// Returns the JSON of the empty value; `None` if the value is not empty.
    fn empty(&self) -> Option<Value>;
}

impl<T> Container for Option<T> {
    fn empty(&self) -> Option<Value> {
        if self.is_none() { Some(Value::Null) } else { None }
    }
}

macro_rules! containers {
    ($($ty:ty where $($param:ident),* => $empty:expr;)*) => {
        $(impl<$($param),*> Container for $ty {
            fn empty(&self) -> Option<Value> {
                if self.is_empty() { Some($empty) } else { None }
            }
        })*
    };
}

containers! {
    Vec<T> where T => json!([]);
    VecDeque<T> where T => json!([]);
    LinkedList<T> where T => json!([]);
    BinaryHeap<T> where T => json!([]);
    BTreeSet<T> where T => json!([]);
    HashSet<T, S> where T, S => json!([]);
    Box<[T]> where T => json!([]);
    BTreeMap<K, V> where K, V => json!({});
    HashMap<K, V, S> where K, V, S => json!({});
}

/// The conversion of a container's `Default`.
pub trait DefaultByContainer {
    /// Returns the type's `Default` as JSON.
    fn toolkit_value_of_type(&self) -> DefaultJson;
}

impl<T: Container> DefaultByContainer for Emptiable<T> {
    fn toolkit_value_of_type(&self) -> DefaultJson {
        if let Some(empty) = self.0.0.empty() {
            return Ok(Some(empty));
        }
        Err("it is not empty, and the type inside is not `Serialize`; derive `Serialize`, or add \
             `#[serde(skip_serializing)]` to the field to leave the default out of the schema"
            .to_owned())
    }
}

/// A type whose default values a schema can show: every `Serialize` type.
#[diagnostic::on_unimplemented(
    message = "the schema cannot show a default of type `{Self}`",
    label = "a parameter with a default needs a type that is `Serialize`",
    note = "add `#[derive(serde::Serialize)]` to the type, or to the type inside of it; a type parameter needs the bound",
    note = "for `None` or an empty value, write `#[param(default)]`, which needs no `Serialize`",
    note = "to leave the default of a field out of the schema, add `#[serde(skip_serializing)]` to the field"
)]
pub trait WritableDefault: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> WritableDefault for T {}

impl<T> Unwritable<T> {
    /// Makes the compiler report the missing `Serialize`; never called.
    pub const fn toolkit_value(&self) -> DefaultJson
    where
        T: WritableDefault,
    {
        Ok(None)
    }

    /// Makes the compiler report the missing `Serialize`; never called.
    pub const fn toolkit_value_of_type(&self) -> DefaultJson
    where
        T: WritableDefault,
    {
        Ok(None)
    }
}

impl<T> Deref for DefaultValue<T> {
    type Target = PlainVariant<T>;

    fn deref(&self) -> &PlainVariant<T> {
        &self.0
    }
}

impl<T> Deref for PlainVariant<T> {
    type Target = Emptiable<T>;

    fn deref(&self) -> &Emptiable<T> {
        &self.0
    }
}

impl<T> Deref for Emptiable<T> {
    type Target = Unwritable<T>;

    fn deref(&self) -> &Unwritable<T> {
        &self.0
    }
}

/// Writes the default value of a field into its schema.
pub fn set_default(schema: &mut Schema, default: DefaultJson) {
    schema::set_default(schema.ensure_object(), default);
}
