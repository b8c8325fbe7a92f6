//! Bytes in JSON, written as Base64 strings.

use crate::schema::__private::base64;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// Bytes, serialized as a standard Base64 string.
///
/// Serde writes a plain `Vec<u8>` as a list of numbers. For an image, audio or a file, use
/// [`Media`](crate::Media).
///
/// ```
/// use toolkit_ai::output::Base64;
///
/// #[derive(serde::Serialize)]
/// struct Signed { text: &'static str, signature: Base64<[u8; 2]> }
///
/// let signed = Signed { text: "pay", signature: Base64(*b"hi") };
/// assert_eq!(serde_json::to_string(&signed)?, r#"{"text":"pay","signature":"aGk="}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Base64<T = Vec<u8>>(pub T);

impl<T: AsRef<[u8]>> Serialize for Base64<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64(self.0.as_ref()))
    }
}

impl<T> JsonSchema for Base64<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Base64".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "contentEncoding": "base64"})
    }
}
