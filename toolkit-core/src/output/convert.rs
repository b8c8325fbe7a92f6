//! How the value that a function returns becomes a tool's output: chosen by its type.
//!
//! Generated code wraps the value in [`Output`] and calls `split` and `convert` on it. Which method
//! that is, the compiler decides by the concrete type: inherent methods come before those of traits,
//! and methods that take `self` before those that take `&self`. An alias makes no difference.

use super::{Content, JsonText, Media, ToolOutput};
use crate::error::ToolError;
use serde::Serialize;
use std::borrow::Cow;
use std::convert::Infallible as Never;
use std::error::Error;
use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// A type that says itself how it becomes a tool's output.
///
/// Types that implement `Serialize` need not implement it: they are written as JSON.
///
/// ```
/// use toolkit::{IntoToolOutput, ToolError, ToolOutput};
///
/// struct Celsius(f64);
///
/// impl IntoToolOutput for Celsius {
///     fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
///         Ok(ToolOutput::text(format!("{} °C", self.0)))
///     }
/// }
/// ```
pub trait IntoToolOutput {
    /// Makes the output.
    ///
    /// # Errors
    /// What the model should read instead of an output.
    fn into_tool_output(self) -> Result<ToolOutput, ToolError>;
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

impl IntoToolOutput for Content {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self.into())
    }
}

impl IntoToolOutput for Media {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self.into())
    }
}

impl IntoToolOutput for Vec<Content> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new(self))
    }
}

impl IntoToolOutput for JsonText {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(Content::Json(self).into())
    }
}

impl IntoToolOutput for String {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(Content::Text(self).into())
    }
}

impl IntoToolOutput for &str {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self))
    }
}

/// Texts of other types.
macro_rules! are_text {
    ($($ty:ty),*) => {
        $(impl IntoToolOutput for $ty {
            fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
                Ok(ToolOutput::text(self.to_string()))
            }
        })*
    };
}

are_text!(Box<str>, Arc<str>, Rc<str>, Cow<'_, str>, &String, char);

impl IntoToolOutput for &Path {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        let text = self.to_str().ok_or_else(|| ToolError::invalid_output("the path is not valid UTF-8"))?;
        Ok(ToolOutput::text(text))
    }
}

impl IntoToolOutput for PathBuf {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        self.as_path().into_tool_output()
    }
}

/// `None` is `null`.
impl<T: IntoToolOutput> IntoToolOutput for Option<T> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        match self {
            Some(value) => value.into_tool_output(),
            None => ToolOutput::json(&()).map_err(ToolError::invalid_output),
        }
    }
}

/// What a function returned.
#[derive(Debug)]
pub struct Output<T>(pub T);

impl<T, E> Output<Result<T, E>> {
    /// Parts the value from the failure.
    #[inline]
    pub fn split(self) -> Result<Output<T>, Failure<E>> {
        self.0.map(Output).map_err(Failure)
    }
}

impl<T, E> Output<Option<Result<T, E>>> {
    /// Parts the value, or that there is none, from the failure.
    #[inline]
    pub fn split(self) -> Result<Output<Option<T>>, Failure<E>> {
        self.0.transpose().map(Output).map_err(Failure)
    }
}

/// `split` for everything that is not a `Result`, nor an `Option` of one.
pub trait Infallible: Sized {
    /// There is no failure to part.
    fn split(self) -> Result<Self, Failure<Never>>;
}

impl<T> Infallible for Output<T> {
    #[inline]
    fn split(self) -> Result<Self, Failure<Never>> {
        Ok(self)
    }
}

/// First choice: the type says itself what it becomes.
pub trait ByConversion {
    /// Makes the output.
    fn convert(self) -> Result<ToolOutput, ToolError>;
}

impl<T: IntoToolOutput> ByConversion for Output<T> {
    #[inline]
    fn convert(self) -> Result<ToolOutput, ToolError> {
        self.0.into_tool_output()
    }
}

/// Second choice: the value is written as JSON.
pub trait BySerialize {
    /// Makes the output.
    fn convert(&self) -> Result<ToolOutput, ToolError>;
}

impl<T: Serialize> BySerialize for Output<T> {
    #[inline]
    fn convert(&self) -> Result<ToolOutput, ToolError> {
        ToolOutput::json(&self.0).map_err(ToolError::invalid_output)
    }
}

/// A type that a tool may return. No type implements it: it only carries the message for those that
/// neither are `Serialize` nor implement [`IntoToolOutput`].
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "this type cannot become a tool's output",
    note = "derive `serde::Serialize` for it, return `ToolOutput`, or implement `IntoToolOutput`",
    note = "in a `Result<T, E>` this holds for `T`; `E` needs `Display`"
)]
pub trait ToolReturn {}

/// No choice left: where method look-up ends when a type has neither conversion.
#[derive(Debug)]
pub struct Unconvertible<T>(PhantomData<T>);

impl<T> Unconvertible<T> {
    /// Never called: its bound, which no type meets, carries the message.
    pub fn convert(&self) -> Result<ToolOutput, ToolError>
    where
        T: ToolReturn,
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

/// The error that a function returned.
#[derive(Debug)]
pub struct Failure<E>(pub E);

impl Failure<ToolError> {
    /// A [`ToolError`] stays what it is.
    pub fn into_error(self) -> ToolError {
        self.0
    }
}

impl Failure<Never> {
    /// There is no such error, so that nothing is compiled for it.
    #[must_use]
    pub fn into_error(self) -> ToolError {
        match self.0 {}
    }
}

impl Failure<Box<dyn Error + Send + Sync>> {
    /// The error's text; its causes are details.
    #[must_use]
    pub fn into_error(self) -> ToolError {
        failed(&*self.0)
    }
}

impl Failure<Box<dyn Error>> {
    /// The error's text; its causes are details.
    #[must_use]
    pub fn into_error(self) -> ToolError {
        failed(&*self.0)
    }
}

/// `into_error` for errors that may have causes.
pub trait ByError {
    /// The error's text; its causes are details.
    fn into_error(self) -> ToolError;
}

impl<E: Error> ByError for Failure<E> {
    fn into_error(self) -> ToolError {
        failed(&self.0)
    }
}

/// No more causes of an error are told.
const MOST_CAUSES: usize = 8;

/// The author of a tool chose the error's own text; its causes come from further down, and may hold addresses
/// or secrets that the model, and whoever it talks to, should not read.
pub(crate) fn failed(error: &dyn Error) -> ToolError {
    ToolError::failed_with(&error.to_string(), with_causes(error))
}

/// The text of an error and of its causes, less those that the text before repeats.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    for _ in 0..MOST_CAUSES {
        let Some(error) = cause else { break };
        let said = error.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = error.source();
    }
    text
}

/// An error that a tool may return: anything that displays.
#[diagnostic::on_unimplemented(
    message = "a tool cannot fail with `{Self}`",
    label = "the model has to read this error, but it does not implement `Display`",
    note = "implement `std::fmt::Display` for it, or return `ToolError`"
)]
pub trait ErrorText: Display {}

#[diagnostic::do_not_recommend]
impl<E: Display> ErrorText for E {}

/// `into_error` for everything else that displays. It takes a reference, so that the others come first.
#[allow(clippy::wrong_self_convention)]
pub trait ByDisplay<E> {
    /// The error's text; what `{:#}` says beside it is details.
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
