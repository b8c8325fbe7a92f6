//! Default values of parameters, as the schema shows them.

use serde::Serialize;
use serde_json::Value;
use std::marker::PhantomData;
use std::ops::Deref;

/// The default value of a parameter.
#[derive(Debug, Clone, Copy)]
pub struct ParamDefault {
    /// Makes the value as JSON, if its type is `Serialize`.
    pub value: fn() -> Option<Value>,
    /// The source expression, for the description of a value without JSON.
    pub source: &'static str,
}

/// A default value on its way into the schema: `to_value` resolves to [`DefaultValueBySerialize`] or [`Unwritable`].
#[derive(Debug)]
pub struct DefaultValue<T>(pub T);

/// `to_value` for `Serialize` types.
pub trait DefaultValueBySerialize {
    /// Returns the value as JSON.
    fn to_value(&self) -> Option<Value>;
}

impl<T: Serialize> DefaultValueBySerialize for DefaultValue<T> {
    fn to_value(&self) -> Option<Value> {
        // Through text, so that 0.1 as an `f32` does not become 0.10000000149011612.
        serde_json::to_string(&self.0).ok().and_then(|text| serde_json::from_str(&text).ok())
    }
}

/// `to_value` for all other types.
#[derive(Debug)]
pub struct Unwritable<T>(PhantomData<T>);

impl<T> Unwritable<T> {
    /// Returns `None`: the value has no JSON.
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
