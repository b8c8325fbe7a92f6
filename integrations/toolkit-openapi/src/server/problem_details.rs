//! Errors as problems (RFC 9457).

use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use serde::Serialize;
use std::time::Duration;
use toolkit_core::error::{Pending, ViolationKind};
use toolkit_core::{ErrorKind, ToolError};
use toolkit_http::server::{HttpBody, Refusal};

#[derive(Debug, Serialize)]
pub(super) struct ProblemDetails {
    title: &'static str,
    status: u16,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<ErrorKind>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<InvalidArgument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<Pending>,
    #[serde(skip)]
    retry_after: Option<Duration>,
}

#[derive(Debug, Serialize)]
struct InvalidArgument {
    /// The argument's path, such as `filters[2].max`.
    path: String,
    kind: ViolationKind,
    detail: String,
}

impl ProblemDetails {
    pub(super) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail: detail.into(),
            kind: None,
            errors: Vec::new(),
            pending: None,
            retry_after: None,
        }
    }

    pub(super) fn with_retry_after(self, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..self }
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn into_response(self) -> Response<HttpBody> {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = Response::new(HttpBody::from(self.json()));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(wait) = self.retry_after {
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            headers.insert(RETRY_AFTER, seconds.into());
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<&ToolError> for ProblemDetails {
    fn from(error: &ToolError) -> Self {
        let errors = error.violations().iter().map(|violation| InvalidArgument {
            path: violation.path.clone(),
            kind: violation.kind,
            detail: violation.message.clone(),
        });
        Self {
            kind: Some(error.kind()),
            errors: errors.collect(),
            pending: error.pending().cloned(),
            retry_after: error.retry_after(),
            ..Self::new(status(error), error.message())
        }
    }
}

impl From<Refusal> for ProblemDetails {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.status, refusal.message)
    }
}

fn status(error: &ToolError) -> StatusCode {
    match error.kind() {
        ErrorKind::InvalidJson => StatusCode::BAD_REQUEST,
        ErrorKind::Denied => StatusCode::FORBIDDEN,
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::Pending => StatusCode::CONFLICT,
        // The tool works, but cannot do this call now or ever. A defect of the tool is one of the other
        // kinds.
        ErrorKind::Failed if error.is_retryable() => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Failed | ErrorKind::InvalidArguments | ErrorKind::Retry => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        ErrorKind::RateLimited | ErrorKind::Exhausted => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::Cancelled | ErrorKind::Disabled => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
