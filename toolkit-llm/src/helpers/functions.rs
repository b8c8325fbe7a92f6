//! Boxed futures, and the depth of JSON.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};
use toolkit_schema::__private::MAX_DEPTH;

/// The maximum nesting depth of a value that `serde_json` can parse.
pub const MAX_NESTING: usize = MAX_DEPTH;

/// Appends the JSON of a value to `json`. The depth is counted while it is written, so that no byte is read twice.
///
/// # Errors
/// A message if the value cannot be written, or is nested deeper than `max` levels. Then `json` is unchanged.
pub fn append_json(json: &mut Vec<u8>, value: &impl Serialize, max: usize) -> Result<(), String> {
    let len = json.len();
    let mut deepest = 0;
    let nesting = Nesting { depth: 0, deepest: &mut deepest };
    let written = value.serialize(&mut Serializer::with_formatter(&mut *json, nesting));
    let reason = match written {
        Ok(()) if deepest <= max => return Ok(()),
        Ok(()) => format!(
            "is nested {deepest} levels deep, and could not be read again; flatten it to {max} levels"
        ),
        Err(error) => error.to_string(),
    };
    json.truncate(len);
    Err(reason)
}

/// Writes compact JSON, and counts its levels.
struct Nesting<'a> {
    depth: usize,
    deepest: &'a mut usize,
}

impl Nesting<'_> {
    fn begin(&mut self) {
        self.depth += 1;
        *self.deepest = (*self.deepest).max(self.depth);
    }

    fn end(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}

impl Formatter for Nesting<'_> {
    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin();
        writer.write_all(b"[")
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end();
        writer.write_all(b"]")
    }

    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin();
        writer.write_all(b"{")
    }

    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end();
        writer.write_all(b"}")
    }

    /// Raw JSON is written as it is, so its levels are counted in the text.
    fn write_raw_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        *self.deepest = (*self.deepest).max(self.depth + levels(fragment));
        writer.write_all(fragment.as_bytes())
    }
}

/// Returns how many levels valid JSON has.
fn levels(json: &str) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    let mut in_string = false;
    let mut is_escaped = false;
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// A boxed `Send` future.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use serde_json::value::RawValue;

    /// Appends a value to a text that must stay if it is refused.
    fn appended(value: &impl Serialize, max: usize) -> Result<String, String> {
        let mut json = b"before ".to_vec();
        let result = append_json(&mut json, value, max);
        let text = String::from_utf8(json).unwrap();
        let written = text.strip_prefix("before ").unwrap().to_owned();
        assert!(result.is_ok() || written.is_empty(), "{written}");
        result.map(|()| written)
    }

    /// The nesting of a value, or of raw JSON in two levels, is the depth at which it is refused.
    #[test]
    fn levels_are_counted_as_they_are_written() {
        let raw = |json: &str| RawValue::from_string(json.to_owned()).unwrap();
        for (value, depth) in [
            (json!(1), 0),
            (json!("[[{"), 0),
            (json!([]), 1),
            (json!({}), 1),
            (json!([[], {}, [1]]), 2),
            (json!([{"}]": [[1]]}, "]]\\\"}}", [[[{"\"[": "[["}]]]]), 5),
        ] {
            let text = value.to_string();
            assert_eq!(appended(&value, depth), Ok(text.clone()));
            let wrapped = [[raw(&text)]];
            assert_eq!(appended(&wrapped, depth + 2), Ok(format!("[[{text}]]")));
            assert!(appended(&wrapped, depth + 1).is_err());
            if let Some(less) = depth.checked_sub(1) {
                let error = appended(&value, less).unwrap_err();
                assert!(error.starts_with(&format!("is nested {depth} levels deep")), "{error}");
            }
        }
    }
}
