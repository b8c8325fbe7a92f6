//! Phrases shared by descriptions and messages.

use crate::format;
use serde_json::Value;

/// The maximum number of characters quoted from the model.
const QUOTED: usize = 60;

/// Returns at most 60 characters, with an ellipsis if `text` is longer.
#[must_use]
pub fn shorten(text: &str) -> String {
    shorten_to(text, QUOTED)
}

/// Returns at most `most` characters, with an ellipsis if `text` is longer.
#[must_use]
pub fn shorten_to(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Returns the type and shortened text of JSON, as in `number 5`.
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

/// Returns a phrase for a bound, pattern or format, as in `at most 5 items`.
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

/// Returns a count as in `5 items`, with the last word of `minItems` for `counted`.
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
