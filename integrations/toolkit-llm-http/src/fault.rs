//! Conversion of failed requests to `ModelError`s.

use http::StatusCode;
use http::header::{HeaderMap, HeaderValue, LOCATION};
use serde_json::Value;
use std::error::Error;
use std::fmt::Display;
use std::time::Duration;
use toolkit_core::redaction::Redacted;
use toolkit_http::client::{HttpError, HttpErrorKind, header_text, retry_after, shown};
use toolkit_llm::{ModelError, ModelErrorKind};

/// The words for the server in error messages.
pub(super) const SERVER: &str = "the model's server";

pub(super) fn of_http(error: HttpError) -> ModelError {
    let kind = match error.kind() {
        HttpErrorKind::Connection => ModelErrorKind::Connection,
        HttpErrorKind::InvalidResponse => ModelErrorKind::InvalidResponse,
        HttpErrorKind::TimedOut => ModelErrorKind::TimedOut,
        HttpErrorKind::TooLarge => ModelErrorKind::Other,
        _ => ModelErrorKind::InvalidRequest,
    };
    let converted = ModelError::new(kind, error.to_string());
    if error.is_lasting() { converted.with_should_retry(false) } else { converted }
}

/// Converts a response with an error status. Its headers are without secrets, too.
pub(super) fn of_status(status: StatusCode, headers: &HeaderMap, body: &Redacted) -> ModelError {
    if status.is_redirection() {
        // Not followed, so that the API key reaches only the intended server.
        let to = header_text(headers, &LOCATION).unwrap_or_else(|| "another address".to_owned());
        let text = format!("the API is elsewhere: {to}; the base URL must be its own");
        return ModelError::new(ModelErrorKind::InvalidRequest, text).with_status(status.as_u16());
    }
    let json = body.json().unwrap_or_default();
    let mut error = ModelError::from_status(status.as_u16(), message(status, &json, body)).reported(&json);
    if let Some(wait) = retry_after(headers) {
        error = error.with_retry_after(wait);
    }
    // Sent by OpenAI and Anthropic, whose SDKs obey it for every status.
    match headers.get("x-should-retry").map(HeaderValue::as_bytes) {
        Some(b"true") => error.with_should_retry(true),
        Some(b"false") => error.with_should_retry(false),
        _ => error,
    }
}

/// Returns the message in a failed response of any form.
fn message(status: StatusCode, json: &Value, body: &Redacted) -> String {
    // For a failed stream, Gemini returns an array.
    let json = json.get(0).unwrap_or(json);
    for pointer in ["/error/message", "/error", "/message", "/Message", "/detail"] {
        if let Some(Value::String(text)) = json.pointer(pointer)
            && !text.trim().is_empty()
        {
            return text.trim().to_owned();
        }
    }
    if body.as_str().trim().is_empty() {
        return status.canonical_reason().unwrap_or("no reason given").to_owned();
    }
    shown(body)
}

/// Converts an error of a connection, which could not be opened (`is_connect`) or broke later.
pub(super) fn broken(error: &(dyn Error + 'static), is_connect: bool) -> ModelError {
    of_http(HttpError::of_connection(error, is_connect, SERVER))
}

pub(super) fn timed_out(what: &str, limit: Duration) -> ModelError {
    of_http(HttpError::timed_out(SERVER, what, limit))
}

pub(super) fn no_json(error: &dyn Display, body: &Redacted) -> ModelError {
    if body.as_str().trim().is_empty() {
        return ModelError::new(ModelErrorKind::Empty, "the response of the model's server is empty");
    }
    let text = format!("the response of the model's server is not JSON ({error}): {}", shown(body));
    ModelError::new(ModelErrorKind::InvalidResponse, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit_core::redaction::{Redactor, Unread};

    fn body(text: &str) -> Redacted {
        Unread::new(text).text(&Redactor::new())
    }

    fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
        list.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn the_message_of_the_server_is_found() {
        let said = |text: &str| {
            of_status(StatusCode::BAD_REQUEST, &HeaderMap::new(), &body(text)).message().to_owned()
        };
        assert_eq!(said(r#"{"error": {"message": "no such model", "type": "x"}}"#), "no such model");
        assert_eq!(said(r#"[{"error": {"message": "no such model"}}]"#), "no such model");
        assert_eq!(said(r#"{"error": "no such model"}"#), "no such model");
        assert_eq!(said(r#"{"detail": "no such model"}"#), "no such model");
        assert_eq!(said("<h1>Bad</h1>\n"), "<h1>Bad</h1>");
        assert_eq!(said(""), "Bad Request");
        assert_eq!(said(&"é".repeat(1_000)).chars().count(), 301);
    }

    #[test]
    fn blocks_are_recognised_in_the_body() {
        let kind = |status: u16, text: &str| {
            let status = StatusCode::from_u16(status).unwrap();
            of_status(status, &HeaderMap::new(), &body(text)).kind()
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
            of_status(StatusCode::from_u16(status).unwrap(), &headers(list), &body("{}")).is_retryable()
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
    fn redirects_are_not_tried_again() {
        let error =
            of_status(StatusCode::FOUND, &headers(&[("location", "https://example.com/v2")]), &body(""));
        assert!(!error.is_retryable());
        assert!(error.to_string().contains("https://example.com/v2"), "{error}");
    }
}
