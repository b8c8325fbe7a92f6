//! Selects the conversion and the schema for the return type of a function, in generated code.
//!
//! Generated code wraps the return value in [`Output`] and calls `toolkit_split` and `toolkit_convert`.
//! For the schema, it calls `Returned::<T>::TYPE.toolkit_success().toolkit_output_schema()`. Method
//! resolution picks the implementation by the concrete type, even behind a type alias. Inherent methods
//! take precedence over trait methods, and methods with `self` over methods with `&self`.

use super::into::{IntoToolOutput, Json, as_json, failed};
use super::{JsonText, Media, OutputForm, ToolOutput};
use crate::error::ToolError;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use std::convert::Infallible as Never;
use std::error::Error;
use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::Deref;

/// The return value of a function, to be converted into tool output.
#[derive(Debug)]
pub struct Output<T>(pub T);

impl<T, E> Output<Result<T, E>> {
    /// Returns the success value, or the error of the function.
    #[inline]
    pub fn toolkit_split(self) -> Result<Output<T>, Failure<E>> {
        self.0.map(Output).map_err(Failure)
    }
}

impl<T, E> Output<Option<Result<T, E>>> {
    /// Returns the success value, or the error of the function.
    #[inline]
    pub fn toolkit_split(self) -> Result<Output<Option<T>>, Failure<E>> {
        self.0.transpose().map(Output).map_err(Failure)
    }
}

/// Provides `toolkit_split` for all return types except `Result` and `Option<Result>`.
pub trait Infallible: Sized {
    /// Returns the value unchanged.
    fn toolkit_split(self) -> Result<Self, Failure<Never>>;
}

impl<T> Infallible for Output<T> {
    #[inline]
    fn toolkit_split(self) -> Result<Self, Failure<Never>> {
        Ok(self)
    }
}

/// Converts types that implement [`IntoToolOutput`]; tried first.
pub trait ByConversion {
    /// Converts the value into output.
    fn toolkit_convert(self) -> Result<ToolOutput, ToolError>;
}

impl<T: IntoToolOutput> ByConversion for Output<T> {
    #[inline]
    fn toolkit_convert(self) -> Result<ToolOutput, ToolError> {
        self.0.into_tool_output()
    }
}

/// Converts `Serialize` types, by writing them as JSON; tried second.
pub trait BySerialize {
    /// Writes the value as JSON.
    fn toolkit_convert(&self) -> Result<ToolOutput, ToolError>;
}

impl<T: Serialize> BySerialize for Output<T> {
    #[inline]
    fn toolkit_convert(&self) -> Result<ToolOutput, ToolError> {
        as_json(&self.0)
    }
}

/// Provides `toolkit_convert` for all other types, as a compile error that names the missing trait.
#[derive(Debug)]
pub struct Unconvertible<T>(PhantomData<T>);

impl<T> Unconvertible<T> {
    /// Fails to compile, with a message about the missing [`IntoToolOutput`].
    pub fn toolkit_convert(&self) -> Result<ToolOutput, ToolError>
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

/// The error returned by a function, to be converted into a [`ToolError`].
#[derive(Debug)]
pub struct Failure<E>(pub E);

/// Implements `toolkit_error` as inherent methods, which precede trait methods.
macro_rules! into_error {
    ($($(#[$doc:meta])* $ty:ty: $error:ident => $converted:expr;)*) => {
        $(impl Failure<$ty> {
            $(#[$doc])*
            #[must_use]
            pub fn toolkit_error(self) -> ToolError {
                let $error = self.0;
                $converted
            }
        })*
    };
}

into_error! {
    /// Returns the error unchanged.
    ToolError: error => error;
    /// Never called.
    Never: never => match never {};
    /// Converts the error, with its causes as details.
    Box<dyn Error + Send + Sync>: error => failed(&*error);
    /// Converts the error, with its causes as details.
    Box<dyn Error>: error => failed(&*error);
}

/// Converts types that implement [`Error`]; tried first.
pub trait ByError {
    /// Converts the error, with its causes as details.
    fn toolkit_error(self) -> ToolError;
}

impl<E: Error> ByError for Failure<E> {
    fn toolkit_error(self) -> ToolError {
        failed(&self.0)
    }
}

/// The bound on the error type of a function, with a compiler message about tool functions.
#[diagnostic::on_unimplemented(
    message = "a tool cannot fail with `{Self}`",
    label = "the model has to read this error, but it does not implement `Display`",
    note = "implement `std::fmt::Display` for it, or return `ToolError`"
)]
pub trait ErrorText: Display {}

#[diagnostic::do_not_recommend]
impl<E: Display> ErrorText for E {}

/// Converts types that implement only `Display`; tried second, because the method takes `&self`.
#[allow(clippy::wrong_self_convention)]
pub trait ByDisplay<E> {
    /// Converts the error. Its text becomes the message for the model.
    ///
    /// The alternate form `{:#}`, if it differs, becomes the details.
    fn toolkit_error(&self) -> ToolError
    where
        E: ErrorText;
}

impl<E> ByDisplay<E> for Failure<E> {
    fn toolkit_error(&self) -> ToolError
    where
        E: ErrorText,
    {
        ToolError::failed(&self.0)
    }
}

/// Generates the schema of a type.
pub type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

/// What a type tells about the output of its values.
#[derive(Debug, Clone, Copy)]
pub struct OutputType {
    pub(crate) form: OutputForm,
    pub(crate) schema: Option<SchemaFn>,
}

impl OutputType {
    pub(crate) const fn json(schema: SchemaFn) -> Self {
        Self { form: OutputForm::Json, schema: Some(schema) }
    }

    pub(crate) const fn new(form: OutputForm) -> Self {
        Self { form, schema: None }
    }
}

/// A placeholder for the return type of a function, which generated code inspects by methods.
#[derive(Debug)]
pub struct Returned<T>(PhantomData<T>);

impl<T> Returned<T> {
    /// The only value of the type.
    pub const TYPE: Self = Self(PhantomData);
}

impl<T, E> Returned<Result<T, E>> {
    /// Returns the success type `T`.
    #[inline]
    pub fn toolkit_success(self) -> Returned<T> {
        Returned::TYPE
    }
}

impl<T, E> Returned<Option<Result<T, E>>> {
    /// Returns the success type `Option<T>`.
    #[inline]
    pub fn toolkit_success(self) -> Returned<Option<T>> {
        Returned::TYPE
    }
}

/// Provides `toolkit_success` for return types other than `Result` and `Option<Result>`.
pub trait AlwaysSuccess: Sized {
    /// Returns the placeholder unchanged.
    #[inline]
    fn toolkit_success(self) -> Self {
        self
    }
}

impl<T> AlwaysSuccess for Returned<T> {}

/// Implements `toolkit_output_schema` as inherent methods, which precede trait methods.
macro_rules! output_schema {
    ($($(#[$doc:meta])* $ty:ty $(where $param:ident)?: $schema:expr;)*) => {
        $(impl$(<$param: JsonSchema>)? Returned<$ty> {
            $(#[$doc])*
            #[inline]
            pub fn toolkit_output_schema(self) -> Option<OutputType> {
                Some($schema)
            }
        })*
    };
}

output_schema! {
    /// Returns the schema of the wrapped type.
    Json<T> where T: OutputType::json(T::json_schema);
    /// Returns the schema of the wrapped type or `null`.
    Option<Json<T>> where T: OutputType::json(Option::<T>::json_schema);
    /// Returns the form of the text "done".
    (): OutputType::new(OutputForm::Text);
    /// Returns the form of JSON with an unknown schema.
    JsonText: OutputType::new(OutputForm::Json);
    /// Returns the form of media.
    Media: OutputType::new(OutputForm::Media);
}

/// Describes types that implement [`IntoToolOutput`]; tried first.
pub trait SchemaByConversion: Sized {
    /// Returns the form of the output, with its schema if the conversion writes JSON.
    ///
    /// Returns `None` if the form is only known at run time.
    fn toolkit_output_schema(self) -> Option<OutputType>;
}

impl<T: IntoToolOutput + Serialize + JsonSchema> SchemaByConversion for Returned<T> {
    #[inline]
    fn toolkit_output_schema(self) -> Option<OutputType> {
        match T::FORM? {
            OutputForm::Json => Some(OutputType::json(T::json_schema)),
            form => Some(OutputType::new(form)),
        }
    }
}

/// Describes `Serialize` types, written as JSON; tried second.
pub trait SchemaByType {
    /// Returns the function to generate the schema of the type.
    fn toolkit_output_schema(&self) -> Option<OutputType>;
}

impl<T: Serialize + JsonSchema> SchemaByType for Returned<T> {
    #[inline]
    fn toolkit_output_schema(&self) -> Option<OutputType> {
        Some(OutputType::json(T::json_schema))
    }
}

/// Describes all other types, which have no schema.
#[derive(Debug)]
pub struct Undescribed;

impl Undescribed {
    /// Returns `None`.
    #[inline]
    pub fn toolkit_output_schema(&self) -> Option<OutputType> {
        None
    }
}

impl<T> Deref for Returned<T> {
    type Target = Undescribed;

    fn deref(&self) -> &Undescribed {
        &Undescribed
    }
}
