//! Default values of parameters, and their conversion to JSON for the schema.

use serde::Serialize;
use serde_json::Value;
use std::marker::PhantomData;
use std::ops::Deref;

/// The default value of a parameter.
#[derive(Debug, Clone, Copy)]
pub struct ParamDefault {
    /// Returns the default value as JSON, or `None` if the value cannot be serialized.
    pub value: fn() -> Option<Value>,
    /// The Rust source of the default expression. The description shows the source if the value has no JSON
    /// form.
    pub source: &'static str,
}

/// A wrapper to convert a default value to JSON if its type is `Serialize`.
///
/// For `Serialize` types, method resolution picks `to_value` of [`DefaultValueBySerialize`]. For all other
/// types, method resolution falls through `Deref` to [`Unwritable`].
#[derive(Debug)]
pub struct DefaultValue<T>(pub T);

/// The implementation of `to_value` for default values of `Serialize` types.
pub trait DefaultValueBySerialize {
    /// Returns the value as JSON.
    fn to_value(&self) -> Option<Value>;
}

impl<T: Serialize> DefaultValueBySerialize for DefaultValue<T> {
    fn to_value(&self) -> Option<Value> {
        // Serialize to text first: a direct conversion turns the `f32` 0.1 into 0.10000000149011612.
        serde_json::to_string(&self.0).ok().and_then(|text| serde_json::from_str(&text).ok())
    }
}

/// The implementation of `to_value` for default values of all other types.
#[derive(Debug)]
pub struct Unwritable<T>(PhantomData<T>);

impl<T> Unwritable<T> {
    /// Returns `None`, because the value cannot be written as JSON.
    #[must_use]
    pub fn to_value(&self) -> Option<Value> {
        None
    }
}

impl<T> Deref for DefaultValue<T> {
    type Target = Unwritable<T>;

    fn deref(&self) -> &Unwritable<T> {
        &Unwritable(PhantomData)
    }
}
