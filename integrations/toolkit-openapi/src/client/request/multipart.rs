//! Bodies of several parts (RFC 7578).

use super::field::{Arguments, Field, WrittenBody};
use super::pairs::content;
use super::style::{is_nested, text};
use crate::client::operation::{BodyKind, OCTETS, Serialization, essence};
use bytes::Bytes;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use toolkit_core::ToolError;

const BOUNDARY: &str = "toolkit-part";

/// The maximum digits of a number in a boundary.
const LONGEST_NUMBER: usize = 15;

struct Part {
    head: String,
    content: Bytes,
}

/// Writes the fields as parts, and each item of an array as one.
pub(super) fn multipart(
    media_type: &str,
    fields: &[Field<'_>],
    arguments: Arguments<'_>,
) -> Result<WrittenBody, ToolError> {
    let mut parts = Vec::new();
    for field in fields {
        match field.value {
            Value::Null => {}
            Value::Array(items) if !is_json(field) => {
                for value in items.iter().filter(|item| !item.is_null()) {
                    parts.push(part(Field { value, ..*field }, arguments)?);
                }
            }
            _ => parts.push(part(*field, arguments)?),
        }
    }
    let boundary = boundary(&parts);
    let mut bytes = Vec::new();
    for Part { head, content } in &parts {
        bytes.extend_from_slice(format!("--{boundary}\r\n{head}\r\n").as_bytes());
        bytes.extend_from_slice(content);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let media_type = format!("{}; boundary={boundary}", essence(media_type));
    Ok(WrittenBody { media_type, bytes: bytes.into() })
}

/// Returns whether a value is one part in JSON, also if it is a list.
fn is_json(field: &Field<'_>) -> bool {
    match field.serialization {
        Serialization::Content(media_type) => BodyKind::from_media_type(media_type) == BodyKind::Json,
        Serialization::Plain => is_nested(field.value),
        Serialization::Style { .. } => false,
    }
}

/// Returns a boundary that is in no part: [`BOUNDARY`], or with the least number that does not follow it in a
/// part.
///
/// The parts are read once. A number in them takes its first digits as well: `toolkit-part-12` contains
/// `toolkit-part-1`.
fn boundary(parts: &[Part]) -> String {
    let mut is_free = true;
    let mut taken = BTreeSet::new();
    for Part { content, .. } in parts {
        for start in 0..content.len() {
            let Some(after) = content[start..].strip_prefix(BOUNDARY.as_bytes()) else { continue };
            is_free = false;
            let Some(digits) = after.strip_prefix(b"-") else { continue };
            let mut number = 0;
            for digit in digits.iter().take(LONGEST_NUMBER) {
                if !digit.is_ascii_digit() {
                    break;
                }
                number = 10 * number + u64::from(digit - b'0');
                taken.insert(number);
            }
        }
    }
    if is_free {
        return BOUNDARY.to_owned();
    }
    let number = (1..).find(|number| !taken.contains(number)).unwrap_or_default();
    format!("{BOUNDARY}-{number}")
}

fn part(field: Field<'_>, arguments: Arguments<'_>) -> Result<Part, ToolError> {
    let declared = match field.serialization {
        Serialization::Content(media_type) => {
            media_type.split(',').next().map(str::trim).filter(|first| !first.contains('*'))
        }
        Serialization::Style { .. } | Serialization::Plain => None,
    };
    let name = quoted(field.name);
    if field.is_binary {
        let file = arguments.file(field.argument, field.value)?;
        let file_name = quoted(file.name.as_deref().unwrap_or(field.name));
        let media_type = file.media_type.as_deref().or(declared).unwrap_or(OCTETS);
        let disposition = format!("form-data; name=\"{name}\"; filename=\"{file_name}\"");
        return Ok(Part { head: head(&disposition, Some(media_type)), content: file.bytes });
    }
    let disposition = format!("form-data; name=\"{name}\"");
    let (media_type, content) = match (declared, field.value) {
        (Some(media_type), value) => (Some(media_type), content(media_type, value)),
        (None, Value::Array(_) | Value::Object(_)) => (Some("application/json"), field.value.to_string()),
        (None, scalar) => (None, text(scalar).into_owned()),
    };
    Ok(Part { head: head(&disposition, media_type), content: content.into() })
}

fn head(disposition: &str, media_type: Option<&str>) -> String {
    let mut head = format!("Content-Disposition: {disposition}\r\n");
    if let Some(media_type) = media_type.filter(|media_type| !media_type.contains(['\r', '\n'])) {
        head.push_str(&format!("Content-Type: {media_type}\r\n"));
    }
    head
}

/// Escapes a name in the head of a part, as browsers do.
fn quoted(name: &str) -> Cow<'_, str> {
    if !name.contains(['"', '\r', '\n']) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn boundary_of(contents: Vec<String>) -> String {
        let part = |content: String| Part { head: String::new(), content: content.into() };
        boundary(&contents.into_iter().map(part).collect::<Vec<_>>())
    }

    #[test]
    fn a_boundary_is_found_beside_all_that_a_part_has_taken() {
        let taken: String = (1..100_000).map(|number| format!("{BOUNDARY}-{number} ")).collect();
        assert_eq!(boundary_of(vec![taken]), "toolkit-part-100000");
        assert_eq!(boundary_of(vec!["toolkit-part-12".to_owned()]), "toolkit-part-2");
        assert_eq!(boundary_of(vec!["toolkit-par".to_owned(), "t".to_owned()]), "toolkit-part");
    }

    proptest! {
        #[test]
        fn a_boundary_is_in_no_part(
            pieces in vec(select(&["toolkit-part", "toolkit-part-", "1", "2", "3", "10", "-", " "][..]), 0..40),
        ) {
            let content = pieces.concat();
            prop_assert!(!content.contains(&boundary_of(vec![content.clone()])), "{content}");
        }
    }
}
