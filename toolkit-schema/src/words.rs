//! Phrases shared by descriptions and messages.

use crate::format;
use serde_json::Value;

/// The maximum number of characters quoted from a name or value sent by the model.
const QUOTED: usize = 60;

/// Returns at most 60 characters of `text`, followed by an ellipsis if `text` is longer.
#[must_use]
pub fn shorten(text: &str) -> String {
    shorten_to(text, QUOTED)
}

/// Returns at most `most` characters of `text`, followed by an ellipsis if `text` is longer.
#[must_use]
pub fn shorten_to(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Returns the type and the shortened text of a JSON value, as in `number 5`. `text` is the JSON text of the
/// value.
#[must_use]
pub fn value_in_words(text: &str) -> String {
    let name = match text.as_bytes().first() {
        Some(b'"') => "string ",
        Some(b'[') => "array ",
        Some(b'{') => "object ",
        Some(b'-' | b'0'..=b'9') => "number ",
        Some(b't' | b'f') => "boolean ",
        _ => "",
    };
    format!("{name}{}", shorten(text))
}

/// Returns the phrase for a bound, a pattern or a format, as in `at most 5 items`.
pub(crate) fn phrase(keyword: &str, value: &Value) -> Option<String> {
    Some(match keyword {
        "minimum" => format!("at least {value}"),
        "maximum" => format!("at most {value}"),
        "exclusiveMinimum" => format!("greater than {value}"),
        "exclusiveMaximum" => format!("less than {value}"),
        "multipleOf" => format!("a multiple of {value}"),
        "pattern" => format!("matching `{}`", value.as_str()?),
        "contentEncoding" => format!("encoded as {}", value.as_str()?),
        "format" => {
            let format = value.as_str()?;
            let example = format::example(format).map(|example| format!(", as in {example}"));
            format!("in the format {format}{}", example.unwrap_or_default())
        }
        _ => match keyword.split_at_checked(3)? {
            ("min", counted) => format!("at least {}", count(counted, value)?),
            ("max", counted) => format!("at most {}", count(counted, value)?),
            _ => return None,
        },
    })
}

/// Returns a count with its unit, as in `5 items`.
///
/// `counted` is the last word of the keyword, such as `Items` for `minItems`.
pub(crate) fn count(counted: &str, value: &Value) -> Option<String> {
    let unit = match counted {
        "Length" => "character",
        "Items" => "item",
        "Properties" => "member",
        _ => return None,
    };
    let plural = if value.as_u64() == Some(1) { "" } else { "s" };
    Some(format!("{value} {unit}{plural}"))
}
