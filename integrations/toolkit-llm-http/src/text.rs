//! Headers and URLs from the settings of the program.

use http::header::{HeaderName, HeaderValue};
use toolkit_llm::model::{ModelError, ModelErrorKind};

/// Parses a header. Errors and logs do not show the value, because it may be an API key.
pub(super) fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), ModelError> {
    let illegal = |text: String| ModelError::new(ModelErrorKind::InvalidRequest, text);
    let parsed = HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| illegal(format!("`{name}` is no name of a header")))?;
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| illegal(format!("the value of the header `{name}` must be visible ASCII characters")))?;
    value.set_sensitive(true);
    Ok((parsed, value))
}

/// Returns `text` as one segment of a URL's path. Escapes all characters except letters, digits, `-._~` and
/// the characters in `kept`.
pub(super) fn segment(text: &str, kept: &str) -> String {
    let escaped = |byte: u8| match char::from(byte) {
        c if c.is_ascii_alphanumeric() || "-._~".contains(c) || c.is_ascii() && kept.contains(c) => {
            c.to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escaped).collect()
}
