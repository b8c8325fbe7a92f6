//! Refusals of requests.

use axum::body::Body;
use axum::http::header::{HeaderValue, WWW_AUTHENTICATE};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;

/// A request that a guard refuses, before the server acts on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The status of the response.
    pub status: StatusCode,
    /// What is wrong with the request.
    pub message: &'static str,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: &'static str) -> Self {
        Self { status, message }
    }
}

/// A response with the message as text, and with a challenge if a token is required.
impl IntoResponse for Refusal {
    fn into_response(self) -> Response<Body> {
        let mut response = (self.status, self.message).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
