//! Conversion of a function's return value, chosen by its type in generated code.
//!
//! Generated code wraps the value in [`Output`] and calls `split` and `convert`. Method resolution picks the
//! implementation by the concrete type, through any alias: inherent methods before those of traits, `self` before
//! `&self`.

use super::ToolOutput;
use super::into::{IntoToolOutput, as_json, failed};
use crate::error::ToolError;
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

impl Failure<ToolError> {
    /// Returns the error as it is.
    pub fn into_error(self) -> ToolError {
        self.0
    }
}

impl Failure<Never> {
    /// Compiles to nothing: the type has no values.
    #[must_use]
    pub fn into_error(self) -> ToolError {
        match self.0 {}
    }
}

impl Failure<Box<dyn Error + Send + Sync>> {
    /// Converts the error; its causes become details.
    #[must_use]
    pub fn into_error(self) -> ToolError {
        failed(&*self.0)
    }
}

impl Failure<Box<dyn Error>> {
    /// Converts the error; its causes become details.
    #[must_use]
    pub fn into_error(self) -> ToolError {
        failed(&*self.0)
    }
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
