//! The secrets of requests, and what servers answer without them.

use bytes::Bytes;
use http::Request;
use http::header::{COOKIE, HeaderMap, HeaderName, HeaderValue};
use toolkit_core::redaction::{Redacted, Redactor, is_secret_name};

const SECRET_NAMES: [&str; 5] = ["auth", "cookie", "key", "secret", "token"];

const SHOWN_CHARS: usize = 300;

/// Returns the secrets in the headers of a request, to remove from the answer.
///
/// ```
/// use http::HeaderMap;
/// use toolkit_http::client::secrets;
///
/// let mut headers = HeaderMap::new();
/// headers.insert("authorization", "Bearer sk-123456".parse().expect("a value"));
/// assert_eq!(secrets(&headers).redact("`sk-123456` is no valid key"), "`…` is no valid key");
/// ```
#[must_use]
pub fn secrets(headers: &HeaderMap) -> Redactor {
    let mut redactor = Redactor::new();
    for (name, value) in headers {
        let is_secret = SECRET_NAMES.iter().any(|part| name.as_str().contains(part));
        let Some(value) = value.to_str().ok().filter(|_| is_secret) else { continue };
        // The scheme, such as `Bearer`, is no secret.
        let scheme = value.split_once(' ').filter(|_| name.as_str().ends_with("authorization"));
        redactor.add(scheme.map_or(value, |(_, secret)| secret));
        for cookie in value.split(';').filter(|_| name == COOKIE) {
            redactor.add_encoded(cookie.split_once('=').map_or(cookie, |(_, secret)| secret).trim());
        }
    }
    redactor
}

/// Returns the secrets in a URL: the password, and parameters of the query by their names.
#[must_use]
pub fn url_secrets(url: &str) -> Redactor {
    let mut redactor = Redactor::new();
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if let Some((login, _)) = authority.rsplit_once('@') {
        redactor.add_encoded(login.split_once(':').map_or(login, |(_, password)| password));
    }
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    for parameter in query.split(['&', '#']) {
        if let Some((name, value)) = parameter.split_once('=')
            && is_secret_name(name)
        {
            redactor.add_encoded(value);
        }
    }
    redactor
}

pub(super) fn request_secrets(request: &Request<Bytes>) -> Redactor {
    let mut redactor = secrets(request.headers());
    redactor.extend(&url_secrets(&request.uri().to_string()));
    redactor
}

/// Returns headers without secrets. Values with `…` are UTF-8, which [`header_text`] reads.
#[must_use]
pub fn redacted_headers(headers: &HeaderMap, redactor: &Redactor) -> HeaderMap {
    let mut redacted = headers.clone();
    if redactor.is_empty() {
        return redacted;
    }
    for value in redacted.values_mut() {
        let text = String::from_utf8_lossy(value.as_bytes());
        let clean = redactor.redact(&text);
        if clean != text {
            *value = HeaderValue::from_bytes(clean.as_bytes()).unwrap_or(HeaderValue::from_static(""));
        }
    }
    redacted
}

/// Returns the text of a header, if there is one.
#[must_use]
pub fn header_text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// Returns at most 300 characters of a body, for errors.
#[must_use]
pub fn shown(body: &Redacted) -> String {
    let text = body.as_str().trim();
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
