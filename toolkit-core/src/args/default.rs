//! The value of a parameter that the model leaves out, as the schema shows it.

use serde::Serialize;
use serde_json::Value;
use std::marker::PhantomData;
use std::ops::Deref;

/// The value that a parameter has when the model leaves it out.
#[derive(Debug, Clone, Copy)]
pub struct ParamDefault {
    /// The value, if its type can be written as JSON.
    pub value: fn() -> Option<Value>,
    /// The expression in the source, for the description if the value cannot be written.
    pub source: &'static str,
}

/// A default on its way into the schema: `to_value` is found here if the type is `Serialize`, else on
/// [`Unwritable`].
#[derive(Debug)]
pub struct DefaultValue<T>(pub T);

/// `to_value` for types that are `Serialize`.
pub trait DefaultValueBySerialize {
    /// The value as JSON.
    fn to_value(&self) -> Option<Value>;
}

impl<T: Serialize> DefaultValueBySerialize for DefaultValue<T> {
    fn to_value(&self) -> Option<Value> {
        // By way of text, so that 0.1 as an `f32` is not 0.10000000149011612.
        serde_json::to_string(&self.0).ok().and_then(|text| serde_json::from_str(&text).ok())
    }
}

/// `to_value` for all other types.
#[derive(Debug)]
pub struct Unwritable<T>(PhantomData<T>);

impl<T> Unwritable<T> {
    /// There is no JSON for the value.
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
