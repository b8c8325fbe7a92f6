//! Conversion and schema of a function's return value, chosen by its type in generated code.
//!
//! Generated code wraps the value in [`Output`] and calls `split` and `convert`; for the schema it calls
//! `Returned::<T>::TYPE.of_success().output_schema()`. Method resolution picks the implementation by the concrete
//! type, through any alias: inherent methods before those of traits, `self` before `&self`.

use super::ToolOutput;
use super::into::{IntoToolOutput, Json, as_json, failed};
use crate::error::ToolError;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use std::convert::Infallible as Never;
use std::error::Error;
use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::Deref;

/// The return value of a function.
#[derive(Debug)]
pub struct Output<T>(pub T);

impl<T, E> Output<Result<T, E>> {
    /// Separates the value from the error.
    #[inline]
    pub fn split(self) -> Result<Output<T>, Failure<E>> {
        self.0.map(Output).map_err(Failure)
    }
}

impl<T, E> Output<Option<Result<T, E>>> {
    /// Separates the optional value from the error.
    #[inline]
    pub fn split(self) -> Result<Output<Option<T>>, Failure<E>> {
        self.0.transpose().map(Output).map_err(Failure)
    }
}

/// `split` for types other than `Result` and `Option<Result>`.
pub trait Infallible: Sized {
    /// Returns the value; there is no error.
    fn split(self) -> Result<Self, Failure<Never>>;
}

impl<T> Infallible for Output<T> {
    #[inline]
    fn split(self) -> Result<Self, Failure<Never>> {
        Ok(self)
    }
}

/// First choice: the type's own conversion.
pub trait ByConversion {
    /// Converts the value into output.
    fn convert(self) -> Result<ToolOutput, ToolError>;
}

impl<T: IntoToolOutput> ByConversion for Output<T> {
    #[inline]
    fn convert(self) -> Result<ToolOutput, ToolError> {
        self.0.into_tool_output()
    }
}

/// Second choice: JSON.
pub trait BySerialize {
    /// Writes the value as JSON.
    fn convert(&self) -> Result<ToolOutput, ToolError>;
}

impl<T: Serialize> BySerialize for Output<T> {
    #[inline]
    fn convert(&self) -> Result<ToolOutput, ToolError> {
        as_json(&self.0)
    }
}

/// The end of method resolution for a type without conversion.
#[derive(Debug)]
pub struct Unconvertible<T>(PhantomData<T>);

impl<T> Unconvertible<T> {
    /// Carries the compiler's message about the missing conversion; never called.
    pub fn convert(&self) -> Result<ToolOutput, ToolError>
    where
        T: IntoToolOutput,
    {
        Err(ToolError::invalid_output("its type has no conversion"))
    }
}

impl<T> Deref for Output<T> {
    type Target = Unconvertible<T>;

    fn deref(&self) -> &Unconvertible<T> {
        &Unconvertible(PhantomData)
    }
}

/// The error returned by a function.
#[derive(Debug)]
pub struct Failure<E>(pub E);

/// Conversions by inherent methods, which precede all others.
macro_rules! into_error {
    ($($(#[$doc:meta])* $ty:ty: $error:ident => $converted:expr;)*) => {
        $(impl Failure<$ty> {
            $(#[$doc])*
            #[must_use]
            pub fn into_error(self) -> ToolError {
                let $error = self.0;
                $converted
            }
        })*
    };
}

into_error! {
    /// Returns the error as it is.
    ToolError: error => error;
    /// Compiles to nothing: the type has no values.
    Never: never => match never {};
    /// Converts the error; its causes become details.
    Box<dyn Error + Send + Sync>: error => failed(&*error);
    /// Converts the error; its causes become details.
    Box<dyn Error>: error => failed(&*error);
}

/// First choice: an error with causes.
pub trait ByError {
    /// Converts the error; its causes become details.
    fn into_error(self) -> ToolError;
}

impl<E: Error> ByError for Failure<E> {
    fn into_error(self) -> ToolError {
        failed(&self.0)
    }
}

/// The bound on a function's error type, with its own compiler message.
#[diagnostic::on_unimplemented(
    message = "a tool cannot fail with `{Self}`",
    label = "the model has to read this error, but it does not implement `Display`",
    note = "implement `std::fmt::Display` for it, or return `ToolError`"
)]
pub trait ErrorText: Display {}

#[diagnostic::do_not_recommend]
impl<E: Display> ErrorText for E {}

/// Second choice: any other `Display` error. It takes a reference, so that the others come first.
#[allow(clippy::wrong_self_convention)]
pub trait ByDisplay<E> {
    /// Converts the error's text; the rest of its `{:#}` form becomes details.
    fn into_error(&self) -> ToolError
    where
        E: ErrorText;
}

impl<E> ByDisplay<E> for Failure<E> {
    fn into_error(&self) -> ToolError
    where
        E: ErrorText,
    {
        ToolError::failed(&self.0)
    }
}

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

/// Schemas by inherent methods, which precede all others.
macro_rules! output_schema {
    ($($(#[$doc:meta])* $ty:ty $(where $param:ident)?: $schema:expr;)*) => {
        $(impl$(<$param: JsonSchema>)? Returned<$ty> {
            $(#[$doc])*
            #[inline]
            pub fn output_schema(self) -> Option<SchemaFn> {
                $schema
            }
        })*
    };
}

output_schema! {
    /// Returns the schema of the wrapped type.
    Json<T> where T: Some(T::json_schema);
    /// Returns the schema of the wrapped type or `null`.
    Option<Json<T>> where T: Some(Option::<T>::json_schema);
    /// Returns `None`: there is nothing to describe.
    (): None;
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
