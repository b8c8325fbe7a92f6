//! Texts of servers in error messages: without the secrets of the request, and short.

use http::header::{HeaderMap, HeaderName};

/// Substrings that mark a header as secret if its name contains one of them.
const SECRET_NAMES: [&str; 5] = ["auth", "cookie", "key", "secret", "token"];

/// The minimum length, in bytes, of a secret to remove from a server's message. Shorter secrets stay in the
/// message, because they could be ordinary words.
pub const SHORTEST_SECRET: usize = 6;

/// The maximum number of characters of an unexpected response body in an error message.
const SHOWN_CHARS: usize = 300;

/// Returns the secrets in the headers of a request.
#[must_use]
pub fn secrets(headers: &HeaderMap) -> Vec<String> {
    let is_secret = |name: &HeaderName| SECRET_NAMES.iter().any(|part| name.as_str().contains(part));
    let values = headers.iter().filter(|(name, _)| is_secret(name)).filter_map(|(name, value)| {
        let value = value.to_str().ok()?;
        // The scheme is no secret: `Bearer`, for example.
        let scheme = value.split_once(' ').filter(|_| name.as_str().ends_with("authorization"));
        Some(scheme.map_or(value, |(_, secret)| secret).to_owned())
    });
    values.filter(|value| value.len() >= SHORTEST_SECRET).collect()
}

/// Returns a text with `…` in place of each secret.
///
/// ```
/// use toolkit_http::client::without_secrets;
///
/// let text = without_secrets("`sk-123456` is no valid key", &["sk-123456".to_owned()]);
/// assert_eq!(text, "`…` is no valid key");
/// ```
#[must_use]
pub fn without_secrets(text: &str, secrets: &[String]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "…"))
}

/// Returns the beginning of an unexpected body, for an error message: at most 300 characters.
#[must_use]
pub fn shown(body: &[u8]) -> String {
    let head = body.get(..SHOWN_CHARS * 4).unwrap_or(body);
    let text = String::from_utf8_lossy(head);
    let text = text.trim();
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
