//! The arguments for calls made by the program.

use crate::call::RawArguments;
use crate::error::ToolError;
use crate::output::Json;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// The arguments of a call: JSON text, a [`Value`], or any `Serialize` type within [`Json`].
///
/// ```
/// use toolkit_ai::{ClosureTool, Json, ToolRegistry};
///
/// #[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
/// struct Add { a: i64, b: i64 }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let add = ClosureTool::new("add", "Adds.", |Add { a, b }: Add| a + b)?;
/// let registry = ToolRegistry::from_tools([add])?;
/// assert_eq!(registry.call("add", r#"{"a": 1, "b": 2}"#).await?.to_text(), "3");
/// assert_eq!(registry.call("add", serde_json::json!({"a": 1, "b": 2})).await?.to_text(), "3");
/// assert_eq!(registry.call("add", Json(Add { a: 1, b: 2 })).await?.to_text(), "3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of a call",
    note = "give JSON text, a `serde_json::Value`, or `Json(value)` for a type that is `serde::Serialize`"
)]
pub trait IntoArguments<'a> {
    /// Converts the arguments to JSON text.
    ///
    /// # Errors
    /// The value has no JSON form.
    fn into_arguments(self) -> Result<Cow<'a, str>, ToolError>;
}

macro_rules! arguments {
    ($($ty:ty: $value:ident => $text:expr;)*) => {
        $(impl<'a> IntoArguments<'a> for $ty {
            fn into_arguments(self) -> Result<Cow<'a, str>, ToolError> {
                let $value = self;
                Ok($text.into())
            }
        })*
    };
}

arguments! {
    &'a str: text => text;
    &'a String: text => text.as_str();
    String: text => text;
    Cow<'a, str>: text => text;
    &'a RawArguments: text => text.as_str();
    Value: value => value.to_string();
    &Value: value => value.to_string();
}

impl<'a, T: Serialize> IntoArguments<'a> for Json<T> {
    fn into_arguments(self) -> Result<Cow<'a, str>, ToolError> {
        serde_json::to_string(&self.0).map(Cow::Owned).map_err(ToolError::invalid_json)
    }
}
