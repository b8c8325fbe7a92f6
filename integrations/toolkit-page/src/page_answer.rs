//! Answers of the page: JSON, files and refusals, each with the headers that keep a browser from more.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
};
use http::header::{REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use serde_json::{Value, json};

/// Only the page's own files run, nothing frames it, and no text can become markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data:; media-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// Sets the headers of every answer.
pub(crate) fn protect(headers: &mut HeaderMap) {
    let value = HeaderValue::from_static;
    headers.insert(CONTENT_SECURITY_POLICY, value(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, value("nosniff"));
    headers.insert(X_FRAME_OPTIONS, value("DENY"));
    headers.insert(REFERRER_POLICY, value("no-referrer"));
    headers.insert(CACHE_CONTROL, value("no-store"));
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), value("same-origin"));
    headers.insert(HeaderName::from_static("cross-origin-opener-policy"), value("same-origin"));
}

pub(crate) fn typed(media_type: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

pub(crate) fn json_answer(value: &Value) -> Response {
    typed("application/json", value.to_string())
}

/// A refused request, with a message for the reader.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) StatusCode, pub(crate) String);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        refusal(self.0, &self.1)
    }
}

/// Returns a refusal with a message for the reader.
pub(crate) fn refusal(status: StatusCode, message: &str) -> Response {
    let mut response = json_answer(&json!({"error": message}));
    *response.status_mut() = status;
    response
}
