//! Refused requests, in words for users.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;
use std::fmt;
use toolkit_agent::runs::RunsError;

/// Why a request is refused.
pub(crate) enum PageError {
    NoUser,
    MayNot(&'static str),
    BadRequest(String),
    NotFound,
    Conflict(String),
    /// The store failed, which users cannot change.
    Store,
}

impl PageError {
    /// The page shows what the conversation does not have any more.
    pub(crate) fn left_out() -> Self {
        Self::Conflict(
            "the message is no part of the conversation any more; load its messages again".to_owned(),
        )
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::NoUser => StatusCode::UNAUTHORIZED,
            Self::MayNot(_) => StatusCode::FORBIDDEN,
            Self::BadRequest(_) => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::Store => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoUser => f.write_str("log in, and send the request again"),
            Self::MayNot(what) => write!(f, "you may not {what}"),
            Self::BadRequest(reason) | Self::Conflict(reason) => f.write_str(reason),
            Self::NotFound => f.write_str("there is no such conversation"),
            Self::Store => f.write_str("the conversation cannot be read or saved now; try again later"),
        }
    }
}

impl From<RunsError> for PageError {
    fn from(error: RunsError) -> Self {
        match error {
            RunsError::Store(_) => Self::Store,
            refused => Self::Conflict(refused.to_string()),
        }
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        (self.status(), Json(json!({"error": self.to_string()}))).into_response()
    }
}
