//! Conversion of failed requests to `ModelError`s.

use http::StatusCode;
use http::header::{HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use serde_json::Value;
use std::error::Error;
use std::fmt::Display;
use std::io;
use std::time::{Duration, SystemTime};
use toolkit_llm::model::{ModelError, ModelErrorKind};

/// The maximum number of characters of an unexpected response body in an error message.
const SHOWN_CHARS: usize = 300;

/// Converts a response with an error status to a [`ModelError`].
pub(super) fn of_status(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ModelError {
    if status.is_redirection() {
        // Redirects are not followed, so that the API key reaches only the intended server.
        let to = headers.get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("another address");
        let text = format!("the API is elsewhere: {to}; the base URL must be its own");
        let mut error = ModelError::new(ModelErrorKind::InvalidRequest, text);
        error.status = Some(status.as_u16());
        return error;
    }
    let json: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = ModelError::from_status(status.as_u16(), message(status, &json, body)).reported(&json);
    let error = match retry_after(headers) {
        Some(wait) => error.with_retry_after(wait),
        None => error,
    };
    // Sent by OpenAI and Anthropic, whose SDKs obey it for every status.
    match headers.get("x-should-retry").map(HeaderValue::as_bytes) {
        Some(b"true") => error.with_should_retry(true),
        Some(b"false") => error.with_should_retry(false),
        _ => error,
    }
}

/// Returns the error message in the body of a failed response. Providers use several JSON forms for this
/// message.
fn message(status: StatusCode, json: &Value, body: &[u8]) -> String {
    // For a failed stream, Gemini returns a JSON array with the error.
    let json = json.get(0).unwrap_or(json);
    let texts =
        ["/error/message", "/error", "/message", "/Message", "/detail"].map(|at| json.pointer(at)?.as_str());
    match texts.into_iter().flatten().find(|text| !text.trim().is_empty()) {
        Some(text) => text.trim().to_owned(),
        None if body.trim_ascii().is_empty() => {
            status.canonical_reason().unwrap_or("no reason given").to_owned()
        }
        None => shown(body),
    }
}

/// Returns the beginning of an unexpected body, for an error message.
pub(super) fn shown(body: &[u8]) -> String {
    let head = body.get(..SHOWN_CHARS * 4).unwrap_or(body);
    let text = String::from_utf8_lossy(head);
    let text = text.trim();
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Returns the pause that the headers request before a retry, in seconds, in milliseconds or as a date.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let millis = text("retry-after-ms").and_then(|wait| wait.parse::<f64>().ok());
    let said = text(RETRY_AFTER.as_str());
    let seconds = millis.map(|wait| wait / 1e3).or_else(|| said?.parse().ok());
    if let Some(wait) = seconds {
        return Duration::try_from_secs_f64(wait).ok();
    }
    let date = httpdate::parse_http_date(said?).ok()?;
    // A date in the past allows an immediate retry.
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

/// Converts an error of a connection to a [`ModelError`]. `is_connect` is `true` if the connection could not
/// be opened, and `false` if it broke later.
pub(super) fn broken(error: &(dyn Error + 'static), is_connect: bool) -> ModelError {
    let timed_out = |error: &io::Error| error.kind() == io::ErrorKind::TimedOut;
    let is_timeout = causes(error).any(|cause| cause.downcast_ref().is_some_and(timed_out));
    let kind = if is_timeout { ModelErrorKind::TimedOut } else { ModelErrorKind::Connection };
    let what = if is_connect {
        "no connection to the model's server"
    } else {
        "the connection to the model's server broke"
    };
    let failure = ModelError::new(kind, format!("{what}: {}", cause(error)));
    if causes(error).any(is_lasting) { failure.with_should_retry(false) } else { failure }
}

/// Returns whether another connection would fail for the same reason: the certificate of the server is invalid, or
/// the head of its response is too large.
fn is_lasting(error: &(dyn Error + 'static)) -> bool {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    let is_certificate = inner.and_then(|inner| inner.downcast_ref()).is_some_and(|error| {
        matches!(error, rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented)
    });
    // The method of hyper for this error belongs to its server.
    let is_head = error.is::<hyper::Error>() && error.to_string().contains("message head is too large");
    is_certificate || is_head
}

/// Returns the error and its sources, beginning with `error` itself.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}

/// Returns the message of the innermost cause of `error`. The outer messages only describe where the failure
/// happened.
pub(super) fn cause(error: &(dyn Error + 'static)) -> String {
    causes(error).last().unwrap_or(error).to_string()
}

pub(super) fn timed_out(what: &str, limit: Duration) -> ModelError {
    let text = format!("the model's server {what} within {} s", limit.as_secs_f64());
    ModelError::new(ModelErrorKind::TimedOut, text)
}

pub(super) fn no_json(error: &dyn Display, body: &[u8]) -> ModelError {
    if body.trim_ascii().is_empty() {
        return ModelError::new(ModelErrorKind::Empty, "the response of the model's server is empty");
    }
    let text = format!("the response of the model's server is not JSON ({error}): {}", shown(body));
    ModelError::new(ModelErrorKind::InvalidResponse, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
        list.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let wait = |list: &[(&'static str, &str)]| retry_after(&headers(list));
        assert_eq!(wait(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        assert_eq!(wait(&[("retry-after", " 0.5 ")]), Some(Duration::from_millis(500)));
        assert_eq!(
            wait(&[("retry-after-ms", "250"), ("retry-after", "1")]),
            Some(Duration::from_millis(250))
        );
        assert_eq!(wait(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")]), Some(Duration::ZERO));
        let soon = SystemTime::now() + Duration::from_secs(90);
        let until = wait(&[("retry-after", &httpdate::fmt_http_date(soon))]).unwrap();
        assert!((85..=90).contains(&until.as_secs()), "{until:?}");
        for nonsense in ["soon", "-1", "1e999", ""] {
            assert_eq!(wait(&[("retry-after", nonsense)]), None, "{nonsense}");
        }
    }

    #[test]
    fn the_message_of_the_server_is_found() {
        let said =
            |body: &str| of_status(StatusCode::BAD_REQUEST, &HeaderMap::new(), body.as_bytes()).message;
        assert_eq!(said(r#"{"error": {"message": "no such model", "type": "x"}}"#), "no such model");
        assert_eq!(said(r#"[{"error": {"message": "no such model"}}]"#), "no such model");
        assert_eq!(said(r#"{"error": "no such model"}"#), "no such model");
        assert_eq!(said(r#"{"detail": "no such model"}"#), "no such model");
        assert_eq!(said("<h1>Bad</h1>\n"), "<h1>Bad</h1>");
        assert_eq!(said(""), "Bad Request");
        assert_eq!(said(&"é".repeat(1_000)).chars().count(), SHOWN_CHARS + 1);
    }

    #[test]
    fn blocks_are_recognised_in_the_body() {
        let kind = |status: u16, body: &str| {
            let status = StatusCode::from_u16(status).unwrap();
            of_status(status, &HeaderMap::new(), body.as_bytes()).kind
        };
        let filtered = r#"{"error": {"code": "content_filter", "message": "Filtered", "status": 400}}"#;
        assert_eq!(kind(400, filtered), ModelErrorKind::Blocked);
        let inner = r#"{"error": {"code": "400", "message": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}"#;
        assert_eq!(kind(400, inner), ModelErrorKind::Blocked);
        let flagged = r#"{"error": {"code": 403, "message": "x", "metadata": {"flagged_input": "y"}}}"#;
        assert_eq!(kind(403, flagged), ModelErrorKind::Blocked);
        let text = "Output blocked by content filtering policy";
        assert_eq!(kind(400, &format!(r#"{{"message": "{text}"}}"#)), ModelErrorKind::Blocked);
        assert_eq!(kind(400, text), ModelErrorKind::Blocked);
        for other in ["{}", "[]", "null", "1", "not JSON", r#"{"error": {"code": "x", "message": "x"}}"#] {
            assert_eq!(kind(400, other), ModelErrorKind::InvalidRequest, "{other}");
            assert_eq!(kind(429, other), ModelErrorKind::RateLimited, "{other}");
        }
    }

    #[test]
    fn the_header_x_should_retry_is_obeyed() {
        let is_retryable = |status: u16, list: &[(&'static str, &str)]| {
            of_status(StatusCode::from_u16(status).unwrap(), &headers(list), b"{}").is_retryable()
        };
        for status in [408, 409, 425, 429, 500, 529] {
            assert!(is_retryable(status, &[]), "{status}");
            assert!(!is_retryable(status, &[("x-should-retry", "false")]), "{status}");
        }
        for status in [400, 404, 422] {
            assert!(!is_retryable(status, &[]), "{status}");
            assert!(is_retryable(status, &[("x-should-retry", "true")]), "{status}");
        }
    }

    #[test]
    fn an_invalid_certificate_is_not_tried_again() {
        let invalid = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        assert!(!broken(&io::Error::other(invalid), true).is_retryable());
        assert!(broken(&io::Error::other("reset"), true).is_retryable());
    }

    #[test]
    fn redirects_are_not_tried_again() {
        let error = of_status(StatusCode::FOUND, &headers(&[("location", "https://example.com/v2")]), b"");
        assert!(!error.is_retryable());
        assert!(error.to_string().contains("https://example.com/v2"), "{error}");
    }
}
