//! URLs of servers, and segments of their paths.

use super::failure::{HttpError, HttpErrorKind};
use http::Uri;
use http::uri::Scheme;

/// Parses the URL of a request. Errors do not show the URL, because it may contain secrets.
///
/// # Errors
/// The URL has another scheme than `https` or `http`, no host, a user name or an invalid port.
pub fn parse_url(url: &str) -> Result<Uri, HttpError> {
    let text = match url.parse::<Uri>() {
        Ok(uri) if !is_http_with_host(&uri) => INVALID,
        Ok(uri) if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) => {
            "the base URL contains a user name or a password; set the header `authorization` instead"
        }
        Ok(uri) if has_invalid_port(&uri) => "the base URL has an invalid port",
        Ok(uri) => return Ok(uri),
        Err(_) => INVALID,
    };
    Err(HttpError::new(HttpErrorKind::InvalidRequest, text))
}

const INVALID: &str = "the base URL is invalid; it must begin with `https://` or `http://` and a host, and consist of \
                       ASCII characters without spaces";

fn is_http_with_host(uri: &Uri) -> bool {
    matches!(uri.scheme_str(), Some("https" | "http")) && uri.host().is_some_and(|host| !host.is_empty())
}

/// The HTTP client would ignore an invalid port.
fn has_invalid_port(uri: &Uri) -> bool {
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let port = authority.strip_prefix(uri.host().unwrap_or_default()).unwrap_or_default();
    !matches!(port, "" | ":") && uri.port_u16().is_none()
}

/// Returns whether requests are not encrypted.
pub(super) fn is_plain(uri: &Uri) -> bool {
    uri.scheme() == Some(&Scheme::HTTP)
}

/// Returns `text` as one segment of a URL's path.
///
/// Escapes all characters except letters, digits, `-._~` and those in `unescaped`.
///
/// ```
/// use toolkit_http::client::segment;
///
/// assert_eq!(segment("my model:1/x", ":"), "my%20model:1%2Fx");
/// ```
#[must_use]
pub fn segment(text: &str, unescaped: &str) -> String {
    let mut segment = String::with_capacity(text.len());
    for byte in text.bytes() {
        match char::from(byte) {
            c if c.is_ascii_alphanumeric() || "-._~".contains(c) => segment.push(c),
            c if c.is_ascii() && unescaped.contains(c) => segment.push(c),
            _ => segment.push_str(&format!("%{byte:02X}")),
        }
    }
    segment
}
