//! Errors of models.

use super::{FinishReason, ModelResponse, overflow};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;
use std::time::Duration;
use toolkit_wire::WireError;

/// An error that ended a model call without an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelError {
    /// The kind of failure.
    pub kind: ModelErrorKind,
    /// The message of the provider or of the client.
    pub message: String,
    /// The status of the HTTP response, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The waiting time required by the provider before another request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Duration>,
    /// The part of the response received before the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Box<ModelResponse>>,
}

/// The kind of a [`ModelError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// Too many requests were sent.
    RateLimited,
    /// The provider failed or is overloaded.
    Unavailable,
    /// The connection failed or was lost.
    Connection,
    /// The answer did not arrive within the time limit.
    TimedOut,
    /// The API key is missing or invalid.
    Unauthorized,
    /// The provider refused the request.
    InvalidRequest,
    /// The request, or the request together with the maximum answer, is longer than the model's context
    /// window. A shorter history may help.
    ContextTooLong,
    /// The response is not valid for the API.
    InvalidResponse,
    /// The response is empty.
    Empty,
    /// Another failure.
    Other,
}

impl ModelError {
    /// Creates an error of this kind.
    #[must_use]
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), status: None, retry_after: None, partial: None }
    }

    /// Creates an error from an HTTP status and the provider's message.
    #[must_use]
    pub fn from_status(status: u16, message: impl Into<String>) -> Self {
        let kind = match status {
            401 | 403 => ModelErrorKind::Unauthorized,
            408 | 504 => ModelErrorKind::TimedOut,
            429 => ModelErrorKind::RateLimited,
            500..=599 => ModelErrorKind::Unavailable,
            400..=499 => ModelErrorKind::InvalidRequest,
            _ => ModelErrorKind::InvalidResponse,
        };
        Self { status: Some(status), ..Self::new(kind, message) }.classified()
    }

    /// Changes the kind to `ContextTooLong` if the provider's message reports a request that is too long.
    #[must_use]
    pub(crate) fn classified(mut self) -> Self {
        use ModelErrorKind::{InvalidRequest, InvalidResponse, Other, Unavailable};
        let is_unclear = matches!(self.kind, InvalidRequest | InvalidResponse | Other | Unavailable);
        if is_unclear && overflow::is_reported(&self.message) {
            self.kind = ModelErrorKind::ContextTooLong;
        }
        self
    }

    /// Creates the error for a response that ended too early.
    pub(crate) fn cut() -> Self {
        Self::new(ModelErrorKind::Connection, "the answer ended before it was complete")
    }

    /// Returns whether the same request may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        use ModelErrorKind::{Connection, Empty, InvalidResponse, RateLimited, TimedOut, Unavailable};
        matches!(self.kind, RateLimited | Unavailable | Connection | TimedOut | InvalidResponse | Empty)
    }
}

impl ModelResponse {
    /// Returns an error if the response has no content. A response that was cut off or refused is allowed to
    /// be empty.
    pub(crate) fn unless_empty(self) -> Result<Self, ModelError> {
        if !self.message.is_empty() || !self.hosted.is_empty() || self.finish != FinishReason::Stop {
            return Ok(self);
        }
        Err(ModelError::new(ModelErrorKind::Empty, "the API returned an empty response").with_partial(self))
    }
}

setters! { ModelError:
    /// Sets the waiting time required by the provider before another request.
    with_retry_after(retry_after: Duration) = Some(retry_after);
    /// Sets the part of the response received before the failure.
    with_partial(partial: ModelResponse) = Some(Box::new(partial));
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "the model's server answered {status}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl Error for ModelError {}

impl From<WireError> for ModelError {
    fn from(error: WireError) -> Self {
        Self::of_wire(ModelErrorKind::InvalidResponse, &error)
    }
}

impl ModelError {
    /// Creates an error of this kind, or of the kind `ContextTooLong` if the provider reports a request that
    /// is too long.
    pub(crate) fn of_wire(kind: ModelErrorKind, error: &WireError) -> Self {
        let is_too_long = error.code().is_some_and(|code| overflow::CONTEXT_CODES.contains(&code));
        let kind = if is_too_long { ModelErrorKind::ContextTooLong } else { kind };
        Self::new(kind, error.to_string()).classified()
    }
}
