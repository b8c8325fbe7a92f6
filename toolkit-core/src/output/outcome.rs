//! What a closure may return: anything that has a form for the model, or a `Result` of it.

use super::convert::failed;
use super::{Base64, ErrorText, IntoToolOutput, ToolOutput};
use crate::error::ToolError;
use serde::Serialize;
use serde_json::{Map, Value};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::error::Error;

/// A value that is written as JSON: how a closure returns a type of its own.
///
/// ```
/// use toolkit::{IntoToolOutput, Json};
///
/// #[derive(serde::Serialize)]
/// struct Weather { city: String, degrees: f64 }
///
/// let output = Json(Weather { city: "Oslo".into(), degrees: -3.5 }).into_tool_output()?;
/// assert_eq!(output.to_text(), r#"{"city":"Oslo","degrees":-3.5}"#);
/// # Ok::<(), toolkit::ToolError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoToolOutput for Json<T> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        as_json(&self.0)
    }
}

/// What a closure may return: text, numbers, lists, maps, whatever is [`IntoToolOutput`] (as is
/// [`Json`] of any type that is `Serialize`), and a `Result` of these.
///
/// `#[tool]` functions may return any type that is `Serialize`, because there the macro sees to it. A
/// generic function cannot tell a `Result`, which is `Serialize` too, from other types.
#[diagnostic::on_unimplemented(
    message = "a closure cannot return `{Self}` as a tool's output",
    label = "this type has no form for the model",
    note = "return `Json(value)` for a type that is `serde::Serialize`, or text, or `ToolOutput`",
    note = "in a `Result<T, E>` this holds for `T`; `E` needs `Display`"
)]
pub trait IntoOutcome {
    /// Makes the output.
    ///
    /// # Errors
    /// What the model should read instead of an output.
    fn into_outcome(self) -> Result<ToolOutput, ToolError>;
}

impl<T: IntoToolOutput> IntoOutcome for T {
    fn into_outcome(self) -> Result<ToolOutput, ToolError> {
        self.into_tool_output()
    }
}

impl<T: IntoOutcome, E: ErrorText + 'static> IntoOutcome for Result<T, E> {
    fn into_outcome(self) -> Result<ToolOutput, ToolError> {
        match self {
            Ok(value) => value.into_outcome(),
            Err(error) => Err(into_error(error)),
        }
    }
}

/// `None` is `null`.
impl<T: IntoOutcome, E: ErrorText + 'static> IntoOutcome for Option<Result<T, E>> {
    fn into_outcome(self) -> Result<ToolOutput, ToolError> {
        self.map_or_else(|| as_json(&()), IntoOutcome::into_outcome)
    }
}

/// A [`ToolError`] stays what it is; of any other error the model reads the text. Its causes are details,
/// where they can be seen.
fn into_error<E: ErrorText + 'static>(error: E) -> ToolError {
    let mut error = Some(error);
    let any: &mut dyn Any = &mut error;
    if let Some(own) = any.downcast_mut::<Option<ToolError>>().and_then(Option::take) {
        return own;
    }
    if let Some(Some(boxed)) = any.downcast_ref::<Option<Box<dyn Error + Send + Sync>>>() {
        return failed(&**boxed);
    }
    if let Some(Some(boxed)) = any.downcast_ref::<Option<Box<dyn Error>>>() {
        return failed(&**boxed);
    }
    error.map_or_else(|| ToolError::failed("the reason is not known"), ToolError::failed)
}

fn as_json<T: Serialize + ?Sized>(value: &T) -> Result<ToolOutput, ToolError> {
    ToolOutput::json(value).map_err(ToolError::invalid_output)
}

/// An `Option` of a type that is [`IntoToolOutput`] is one too; those of all others are listed.
macro_rules! written_as_json {
    ($($ty:ty $(where $($param:ident: $bound:path),+)?;)*) => {
        $(impl$(<$($param: $bound),+>)? IntoOutcome for $ty where Self: Serialize {
            fn into_outcome(self) -> Result<ToolOutput, ToolError> {
                as_json(&self)
            }
        }

        impl$(<$($param: $bound),+>)? IntoOutcome for Option<$ty> where Self: Serialize {
            fn into_outcome(self) -> Result<ToolOutput, ToolError> {
                as_json(&self)
            }
        })*
    };
}

written_as_json! {
    (); bool; f32; f64;
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
    use crate::output::Content;

    #[track_caller]
    fn check(returned: impl IntoOutcome, text: &str) {
        assert_eq!(returned.into_outcome().unwrap().to_text(), text);
    }

    #[test]
    fn every_kind_of_value() {
        check("text", "text");
        check("text".to_owned(), "text");
        check((), "null");
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

    #[test]
    fn errors_are_told_and_tool_errors_stay_what_they_are() {
        let error = Err::<(), _>("no such city").into_outcome().unwrap_err();
        assert_eq!(error.message(), "Error running tool: no such city");
        let error = Some(Err::<(), _>("no such city")).into_outcome().unwrap_err();
        assert_eq!(error.message(), "Error running tool: no such city");
        let denied = ToolError::denied("x", "no");
        let error = Err::<(), _>(denied.clone()).into_outcome().unwrap_err();
        assert_eq!(error, denied);
        let map = Json(BTreeMap::from([((1, 2), 3)]));
        assert_eq!(map.into_outcome().unwrap_err().kind(), ErrorKind::InvalidOutput);
    }
}
