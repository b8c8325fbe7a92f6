//! URLs of servers, and segments of their paths.

use super::failure::{HttpError, HttpErrorKind};
use http::Uri;
use http::uri::Scheme;

/// Parses the URL of a request. Error messages do not contain the URL, because it may contain secrets.
///
/// # Errors
/// The URL does not begin with `https://` or `http://` and a host, or it contains a user name or an invalid port.
pub fn parse_url(url: &str) -> Result<Uri, HttpError> {
    let invalid = |text: &str| Err(HttpError::new(HttpErrorKind::InvalidRequest, text));
    let uri = url.parse::<Uri>().ok();
    let is_http = |uri: &Uri| matches!(uri.scheme_str(), Some("https" | "http"));
    match uri.filter(|uri| is_http(uri) && uri.host().is_some_and(|host| !host.is_empty())) {
        Some(uri) if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) => {
            invalid("the base URL contains a user name or a password; set the header `authorization` instead")
        }
        Some(uri) if has_invalid_port(&uri) => invalid("the base URL has an invalid port"),
        Some(uri) => Ok(uri),
        None => invalid(
            "the base URL is invalid; it must begin with `https://` or `http://` and a host, and consist of \
             ASCII characters without spaces",
        ),
    }
}

/// Returns whether the URL has an invalid port after the host. The HTTP client would ignore such a port.
fn has_invalid_port(uri: &Uri) -> bool {
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let port = authority.strip_prefix(uri.host().unwrap_or_default()).unwrap_or_default();
    !matches!(port, "" | ":") && uri.port_u16().is_none()
}

/// Returns whether requests to the URL are not encrypted.
pub(super) fn is_plain(uri: &Uri) -> bool {
    uri.scheme() == Some(&Scheme::HTTP)
}

/// Returns `text` as one segment of a URL's path. Escapes all characters except letters, digits, `-._~` and
/// the characters in `unescaped`.
///
/// ```
/// use toolkit_http::client::segment;
///
/// assert_eq!(segment("my model:1/x", ":"), "my%20model:1%2Fx");
/// ```
#[must_use]
pub fn segment(text: &str, unescaped: &str) -> String {
    let escaped = |byte: u8| match char::from(byte) {
        c if c.is_ascii_alphanumeric() || "-._~".contains(c) || c.is_ascii() && unescaped.contains(c) => {
            c.to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escaped).collect()
}
