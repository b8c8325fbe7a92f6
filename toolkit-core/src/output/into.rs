//! [`IntoToolOutput`]: conversion of return values into tool output.

use super::{Base64, Content, JsonText, Media, OutputForm, ToolOutput};
use crate::error::ToolError;
use serde::Serialize;
use serde_json::{Map, Value};
use std::any::Any;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// A type usable as the return value of a tool.
///
/// Strings, numbers, lists, maps, media items and [`Json`] are, and so are `Option` and `Result` of such
/// types. An `Err` of a string or an error type becomes a [`ToolError`]. For `()`, the model reads "done".
///
/// Functions marked `#[tool]` may also return any `Serialize` type. Closures cannot: `Result` is
/// `Serialize` too, and generic code cannot tell it from other types.
///
/// ```
/// use toolkit_ai::{IntoToolOutput, ToolError, ToolOutput};
///
/// struct Celsius(f64);
///
/// impl IntoToolOutput for Celsius {
///     fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
///         Ok(ToolOutput::text(format!("{} °C", self.0)))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "this type cannot become a tool's output",
    note = "derive `serde::Serialize` for it (a closure returns it as `Json(value)`), return `ToolOutput`, or implement `IntoToolOutput`",
    note = "in a `Result<T, E>` this holds for `T`; `E` is a string or an error type"
)]
pub trait IntoToolOutput {
    /// The form of all outputs, if there is only one. JSON matches the type's schema, which becomes the
    /// tool's output schema.
    #[doc(hidden)]
    const FORM: Option<OutputForm> = None;

    /// Converts the value into output.
    ///
    /// # Errors
    /// The error for the model.
    fn into_tool_output(self) -> Result<ToolOutput, ToolError>;
}

/// For conversions that cannot fail.
macro_rules! convert {
    ($($form:expr => { $($ty:ty: $value:ident => $output:expr;)* })*) => {
        $($(impl IntoToolOutput for $ty {
            const FORM: Option<OutputForm> = $form;

            fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
                let $value = self;
                Ok($output)
            }
        })*)*
    };
}

convert! {
    None => {
        ToolOutput: output => output;
        Content: content => content.into();
        Vec<Content>: contents => ToolOutput::new(contents);
    }
    Some(OutputForm::Media) => {
        Media: media => media.into();
    }
    Some(OutputForm::Json) => {
        JsonText: json => json.into();
    }
    Some(OutputForm::Text) => {
        String: text => text.into();
        &str: text => ToolOutput::text(text);
        &String: text => ToolOutput::text(text);
        Box<str>: text => ToolOutput::text(text);
        Arc<str>: text => ToolOutput::text(&*text);
        Rc<str>: text => ToolOutput::text(&*text);
        Cow<'_, str>: text => ToolOutput::text(text);
        char: text => ToolOutput::text(text);
        (): _nothing => ToolOutput::text("done");
    }
}

impl IntoToolOutput for &Path {
    const FORM: Option<OutputForm> = Some(OutputForm::Text);

    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        let text = self.to_str().ok_or_else(|| ToolError::invalid_output("the path is not valid UTF-8"))?;
        Ok(ToolOutput::text(text))
    }
}

impl IntoToolOutput for PathBuf {
    const FORM: Option<OutputForm> = Some(OutputForm::Text);

    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        self.as_path().into_tool_output()
    }
}

/// Converts `None` to the JSON value `null`.
impl<T: IntoToolOutput> IntoToolOutput for Option<T> {
    const FORM: Option<OutputForm> = match T::FORM {
        Some(OutputForm::Json) => Some(OutputForm::Json),
        _ => None,
    };

    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        self.map_or_else(|| as_json(&()), IntoToolOutput::into_tool_output)
    }
}

impl<T: IntoToolOutput, E: Into<Box<dyn Error + Send + Sync>>> IntoToolOutput for Result<T, E> {
    const FORM: Option<OutputForm> = T::FORM;

    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        self.map_err(into_error)?.into_tool_output()
    }
}

/// Converts an error returned by a tool, but a [`ToolError`] stays as it is.
fn into_error(error: impl Into<Box<dyn Error + Send + Sync>>) -> ToolError {
    match error.into().downcast::<ToolError>() {
        Ok(own) => *own,
        Err(error) => failed(&*error),
    }
}

const MAX_CAUSES: usize = 8;

/// Converts an error: its text is for the model, and the texts of its causes become details.
///
/// Causes may contain addresses or secrets, so only the program sees them.
pub(crate) fn failed(error: &dyn Error) -> ToolError {
    ToolError::failed_with(&error.to_string(), with_causes(error))
}

/// Returns the text of an error and of its causes, without repetitions.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    for _ in 0..MAX_CAUSES {
        let Some(error) = cause else { break };
        let reason = error.to_string();
        if !text.contains(&reason) {
            text.push_str(": ");
            text.push_str(&reason);
        }
        cause = error.source();
    }
    text
}

/// A wrapper to return any `Serialize` value as JSON, which closures need.
///
/// ```
/// use toolkit_ai::{IntoToolOutput, Json};
///
/// #[derive(serde::Serialize)]
/// struct Weather { city: String, degrees: f64 }
///
/// let output = Json(Weather { city: "Oslo".into(), degrees: -3.5 }).into_tool_output()?;
/// assert_eq!(output.to_text(), r#"{"city":"Oslo","degrees":-3.5}"#);
/// # Ok::<(), toolkit_ai::ToolError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoToolOutput for Json<T> {
    const FORM: Option<OutputForm> = Some(OutputForm::Json);

    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        as_json(&self.0)
    }
}

pub(super) fn as_json<T: Serialize + ?Sized>(value: &T) -> Result<ToolOutput, ToolError> {
    ToolOutput::json(value).map_err(ToolError::invalid_output)
}

macro_rules! write_as_json {
    ($($ty:ty $(where $($param:ident: $bound:path),+)?;)*) => {
        $(impl$(<$($param: $bound),+>)? IntoToolOutput for $ty where Self: Serialize {
            const FORM: Option<OutputForm> = Some(OutputForm::Json);

            fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
                as_json(&self)
            }
        })*
    };
}

write_as_json! {
    bool; f32; f64;
    i8; i16; i32; i64; i128; isize;
    u8; u16; u32; u64; u128; usize;
    Value; Map<String, Value>;
    Base64<T> where T: AsRef<[u8]>;
    Vec<T> where T: Serialize;
    VecDeque<T> where T: Serialize;
    BTreeSet<T> where T: Serialize;
    HashSet<T, S> where T: Serialize, S: Any;
    BTreeMap<K, V> where K: Serialize, V: Serialize;
    HashMap<K, V, S> where K: Serialize, V: Serialize, S: Any;
    (A, B) where A: Serialize, B: Serialize;
    (A, B, C) where A: Serialize, B: Serialize, C: Serialize;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use std::{fmt, io};

    #[track_caller]
    fn check(returned: impl IntoToolOutput, text: &str) {
        assert_eq!(returned.into_tool_output().unwrap().to_text(), text);
    }

    #[test]
    fn return_values_become_text_or_json() {
        check("text", "text");
        check("text".to_owned(), "text");
        check((), "done");
        check(Ok::<_, String>(()), "done");
        check(Some(()), "done");
        check(None::<()>, "null");
        check(0.5, "0.5");
        check(vec!["a"], r#"["a"]"#);
        check(vec![Content::Text("a".to_owned()), Content::Text("b".to_owned())], "a\nb");
        check(Some("a"), "a");
        check(Some(1), "1");
        check(None::<u8>, "null");
        check(Some(vec![1]), "[1]");
        check(BTreeMap::from([("a", 1)]), r#"{"a":1}"#);
        check(("a", 1), r#"["a",1]"#);
        check(Json(("a", 1, true, 0.5)), r#"["a",1,true,0.5]"#);
        check(Ok::<_, String>("text"), "text");
        check(Ok::<_, String>(Json("text")), r#""text""#);
        check(Some(Ok::<_, String>("text")), "text");
        check(None::<Result<u8, String>>, "null");
    }

    #[derive(Debug)]
    struct Unreachable(io::Error);

    impl fmt::Display for Unreachable {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("unreachable")
        }
    }

    impl Error for Unreachable {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn the_causes_of_a_returned_error_are_details() {
        let cause = || Unreachable(io::Error::other("10.0.0.7"));
        let error = Err::<(), _>(cause()).into_tool_output().unwrap_err();
        assert_eq!(error.message(), "Error running tool: unreachable");
        assert_eq!(error.details(), Some("unreachable: 10.0.0.7"));
        let boxed: Box<dyn Error + Send + Sync> = cause().into();
        assert_eq!(Err::<(), _>(boxed).into_tool_output().unwrap_err(), error);
    }

    #[test]
    fn returned_errors_become_failures_and_tool_errors_stay() {
        let error = Err::<(), _>("no such city").into_tool_output().unwrap_err();
        assert_eq!(error.message(), "Error running tool: no such city");
        let error = Some(Err::<(), _>("no such city")).into_tool_output().unwrap_err();
        assert_eq!(error.message(), "Error running tool: no such city");
        let denied = ToolError::denied("x", "no");
        let error = Err::<(), _>(denied.clone()).into_tool_output().unwrap_err();
        assert_eq!(error, denied);
        let map = Json(BTreeMap::from([((1, 2), 3)]));
        assert_eq!(map.into_tool_output().unwrap_err().kind(), ErrorKind::InvalidOutput);
    }
}
