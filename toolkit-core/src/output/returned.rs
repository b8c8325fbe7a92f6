//! What is known about the JSON that a function returns: found by its type, like the conversion.
//!
//! Generated code asks `Returned::<T>::TYPE.of_success().output_schema()`. The compiler decides which methods
//! these are, in the same order as for [`Output`](super::Output).

use super::{IntoToolOutput, Json};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use std::marker::PhantomData;
use std::ops::Deref;

/// Writes the schema of a type.
pub type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

/// The type that a function returns.
#[derive(Debug)]
pub struct Returned<T>(PhantomData<T>);

impl<T> Returned<T> {
    /// Stands for the type.
    pub const TYPE: Self = Self(PhantomData);
}

impl<T, E> Returned<Result<T, E>> {
    /// The type of what a function returns that did not fail.
    #[inline]
    pub fn of_success(self) -> Returned<T> {
        Returned::TYPE
    }
}

impl<T, E> Returned<Option<Result<T, E>>> {
    /// The type of what a function returns that did not fail.
    #[inline]
    pub fn of_success(self) -> Returned<Option<T>> {
        Returned::TYPE
    }
}

/// `of_success` for everything that is not a `Result`, nor an `Option` of one.
pub trait AlwaysSuccess: Sized {
    /// The type itself.
    #[inline]
    fn of_success(self) -> Self {
        self
    }
}

impl<T> AlwaysSuccess for Returned<T> {}

impl<T: JsonSchema> Returned<Json<T>> {
    /// The schema of what is wrapped.
    #[inline]
    pub fn output_schema(self) -> Option<SchemaFn> {
        Some(T::json_schema)
    }
}

impl<T: JsonSchema> Returned<Option<Json<T>>> {
    /// The schema of what is wrapped, or `null`.
    #[inline]
    pub fn output_schema(self) -> Option<SchemaFn> {
        Some(Option::<T>::json_schema)
    }
}

impl Returned<()> {
    /// Nothing is returned, so there is nothing to describe.
    #[inline]
    pub fn output_schema(self) -> Option<SchemaFn> {
        None
    }
}

/// First choice: the type says itself what it becomes, which may be anything.
pub trait SchemaByConversion: Sized {
    /// None.
    #[inline]
    fn output_schema(self) -> Option<SchemaFn> {
        None
    }
}

impl<T: IntoToolOutput> SchemaByConversion for Returned<T> {}

/// Second choice: the value is written as JSON, and its type says how that looks.
pub trait SchemaByType {
    /// The schema of the type.
    fn output_schema(&self) -> Option<SchemaFn>;
}

impl<T: Serialize + JsonSchema> SchemaByType for Returned<T> {
    #[inline]
    fn output_schema(&self) -> Option<SchemaFn> {
        Some(T::json_schema)
    }
}

/// No choice left: where method look-up ends when a type says nothing about its JSON.
#[derive(Debug)]
pub struct Undescribed;

impl Undescribed {
    /// None.
    #[inline]
    pub fn output_schema(&self) -> Option<SchemaFn> {
        None
    }
}

impl<T> Deref for Returned<T> {
    type Target = Undescribed;

    fn deref(&self) -> &Undescribed {
        &Undescribed
    }
}
