//! Refusals of requests.

use super::http_body::HttpBody;
use http::header::{CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use http::{Response, StatusCode};

/// A request that a guard refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The status of the response.
    pub status: StatusCode,
    /// What is wrong.
    pub message: &'static str,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: &'static str) -> Self {
        Self { status, message }
    }

    /// Returns the message as text, with a challenge if a token is required.
    #[must_use]
    pub fn into_response(self) -> Response<HttpBody> {
        let mut response = Response::new(HttpBody::from(self.message));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
