//! The schema of a function's return value, chosen by its type in generated code.
//!
//! Generated code calls `Returned::<T>::TYPE.of_success().output_schema()`; method resolution picks the
//! implementation as for [`Output`](super::probes::Output).

use super::{IntoToolOutput, Json};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use std::marker::PhantomData;
use std::ops::Deref;

/// Makes the schema of a type.
pub type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

/// The return type of a function.
#[derive(Debug)]
pub struct Returned<T>(PhantomData<T>);

impl<T> Returned<T> {
    /// The value representing the type.
    pub const TYPE: Self = Self(PhantomData);
}

impl<T, E> Returned<Result<T, E>> {
    /// Returns the type of the value without the error.
    #[inline]
    pub fn of_success(self) -> Returned<T> {
        Returned::TYPE
    }
}

impl<T, E> Returned<Option<Result<T, E>>> {
    /// Returns the type of the value without the error.
    #[inline]
    pub fn of_success(self) -> Returned<Option<T>> {
        Returned::TYPE
    }
}

/// `of_success` for types other than `Result` and `Option<Result>`.
pub trait AlwaysSuccess: Sized {
    /// Returns the type itself.
    #[inline]
    fn of_success(self) -> Self {
        self
    }
}

impl<T> AlwaysSuccess for Returned<T> {}

impl<T: JsonSchema> Returned<Json<T>> {
    /// Returns the schema of the wrapped type.
    #[inline]
    pub fn output_schema(self) -> Option<SchemaFn> {
        Some(T::json_schema)
    }
}

impl<T: JsonSchema> Returned<Option<Json<T>>> {
    /// Returns the schema of the wrapped type or `null`.
    #[inline]
    pub fn output_schema(self) -> Option<SchemaFn> {
        Some(Option::<T>::json_schema)
    }
}

impl Returned<()> {
    /// Returns `None`: there is nothing to describe.
    #[inline]
    pub fn output_schema(self) -> Option<SchemaFn> {
        None
    }
}

/// First choice: a type with its own conversion, possibly to other content than JSON.
pub trait SchemaByConversion: Sized {
    /// Returns the schema of the type, if its output is JSON.
    fn output_schema(self) -> Option<SchemaFn>;
}

impl<T: IntoToolOutput + Serialize + JsonSchema> SchemaByConversion for Returned<T> {
    #[inline]
    fn output_schema(self) -> Option<SchemaFn> {
        if T::IS_JSON { Some(T::json_schema) } else { None }
    }
}

/// Second choice: a value written as JSON.
pub trait SchemaByType {
    /// Returns the schema of the type.
    fn output_schema(&self) -> Option<SchemaFn>;
}

impl<T: Serialize + JsonSchema> SchemaByType for Returned<T> {
    #[inline]
    fn output_schema(&self) -> Option<SchemaFn> {
        Some(T::json_schema)
    }
}

/// The end of method resolution for a type without a schema.
#[derive(Debug)]
pub struct Undescribed;

impl Undescribed {
    /// Returns `None`.
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
