//! Errors of models.

use super::{overflow, report};
use crate::facts::ApiFormat;
use crate::json::WireError;
use crate::message::ModelResponse;
use crate::response::FinishReason;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// An error that ended a model call without an answer.
///
/// ```
/// use toolkit_ai::llm::{ModelError, ModelErrorKind};
///
/// let error = ModelError::from_status(429, "slow down");
/// assert_eq!((error.kind(), error.status()), (ModelErrorKind::RateLimited, Some(429)));
/// let own = ModelError::new(ModelErrorKind::Connection, "the model server is not running");
/// assert!(own.to_string().contains("not running"));
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelError {
    pub(crate) kind: ModelErrorKind,
    pub(crate) message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after: Option<Duration>,
    /// If `None`, the kind decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) should_retry: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) partial: Option<Box<ModelResponse>>,
}

/// The kind of a [`ModelError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// Too many requests were sent (status 429).
    ///
    /// `.retry(ModelRetry::new(5))` tries five times in place of three.
    RateLimited,
    /// The provider failed, is overloaded, or cannot answer yet (status 409, 425, and others from 500 on).
    ///
    /// Wait, or add a [`Fallback`](crate::model::Fallback).
    Unavailable,
    /// The connection failed or was lost.
    ///
    /// - `no connection to …`: check the address, the proxy and the network.
    Connection,
    /// The answer did not arrive within the time limit.
    ///
    /// - `no answer within … s`: raise the limit with `with_limits(HttpLimits…)`.
    TimedOut,
    /// The API key is missing or invalid, or may not use this model (status 401 and 403).
    Unauthorized,
    /// The provider refused the request (another status of 400 to 499).
    ///
    /// Read its text. Some servers need `with_standard_fields(true)`.
    InvalidRequest,
    /// The request is longer than the context window, or leaves too little of it for the answer.
    ///
    /// An agent with a compaction shortens the history and asks again. Otherwise, take a larger window.
    ContextTooLong,
    /// The provider blocked the prompt or the answer, for example for safety. It would also block a
    /// repetition.
    ///
    /// A block reported in a successful response is not an error, but the finish reason
    /// [`Refused`](FinishReason::Refused).
    Blocked,
    /// The response violates the rules of the API.
    ///
    /// - `the response of the model's server is not JSON`: the address may be wrong.
    InvalidResponse,
    /// No answer was valid for the requested type. See [`ChatModel::ask`](crate::ChatModel::ask).
    ///
    /// Simplify the type, or raise the attempts.
    InvalidAnswer,
    /// The response has no content.
    ///
    /// Look at the limit of output tokens.
    Empty,
    /// Another failure.
    Other,
}

impl ModelErrorKind {
    fn of_status(status: u16) -> Self {
        match status {
            401 | 403 => Self::Unauthorized,
            408 | 504 => Self::TimedOut,
            429 => Self::RateLimited,
            409 | 425 | 500..=599 => Self::Unavailable,
            400..=499 => Self::InvalidRequest,
            _ => Self::InvalidResponse,
        }
    }
}

impl ModelErrorKind {
    /// Returns the name of the kind, such as `rate_limited`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RateLimited => "rate_limited",
            Self::Unavailable => "unavailable",
            Self::Connection => "connection",
            Self::TimedOut => "timed_out",
            Self::Unauthorized => "unauthorized",
            Self::InvalidRequest => "invalid_request",
            Self::ContextTooLong => "context_too_long",
            Self::Blocked => "blocked",
            Self::InvalidResponse => "invalid_response",
            Self::InvalidAnswer => "invalid_answer",
            Self::Empty => "empty",
            Self::Other => "other",
        }
    }

    pub(super) fn is_temporary(self) -> bool {
        use ModelErrorKind::{Connection, Empty, InvalidResponse, RateLimited, TimedOut, Unavailable};
        matches!(self, RateLimited | Unavailable | Connection | TimedOut | InvalidResponse | Empty)
    }
}

impl ModelError {
    /// Creates an error of this kind.
    #[must_use]
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, message, status: None, retry_after: None, should_retry: None, partial: None }
    }

    /// Creates an error from an HTTP status and the provider's message, which may request a pause
    /// before a retry.
    #[must_use]
    pub fn from_status(status: u16, message: impl Into<String>) -> Self {
        Self { status: Some(status), ..Self::new(ModelErrorKind::of_status(status), message) }.classified()
    }

    /// Derives the kind `ContextTooLong` or `Blocked` from the provider's message. Also reads the
    /// pause that it requests.
    #[must_use]
    #[doc(hidden)]
    pub fn classified(mut self) -> Self {
        use ModelErrorKind::{InvalidRequest, InvalidResponse, Other, Unauthorized, Unavailable};
        let is_unclear = matches!(self.kind, InvalidRequest | InvalidResponse | Other | Unavailable);
        if is_unclear && overflow::is_reported(&self.message) {
            self.kind = ModelErrorKind::ContextTooLong;
        } else if is_unclear || self.kind == Unauthorized {
            let message = Value::from(self.message.as_str());
            self = self.reported(&message);
        }
        self.retry_after = self.retry_after.or_else(|| report::pause_in_text(&self.message));
        self
    }

    /// Derives the kind `ContextTooLong` or `Blocked` from `body`, and the pause that the provider requests.
    ///
    /// `body` is the body of a failed response, or the provider's message.
    #[must_use]
    #[doc(hidden)]
    pub fn reported(mut self, body: &Value) -> Self {
        let Some(error) = WireError::of_failure(body) else { return self };
        let is_context = error.code().is_some_and(|code| overflow::CONTEXT_CODES.contains(&code));
        if error.is_blocked() {
            self.kind = ModelErrorKind::Blocked;
        } else if is_context && self.kind == ModelErrorKind::InvalidRequest {
            self.kind = ModelErrorKind::ContextTooLong;
        }
        self.retry_after = report::pause_in_body(body).or(self.retry_after);
        self
    }

    /// Creates the error for a response that broke off.
    #[doc(hidden)]
    pub fn cut() -> Self {
        Self::new(ModelErrorKind::Connection, "the answer ended before it was complete")
    }

    /// Returns the kind of failure.
    #[must_use]
    pub const fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// Returns the message of the provider or the client.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the HTTP status, if there was a response.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// Returns how long the provider wants the client to wait before another request.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Returns the part of the response received before the failure.
    #[must_use]
    pub fn partial(&self) -> Option<&ModelResponse> {
        self.partial.as_deref()
    }

    /// Takes the part of the response received before the failure.
    pub fn take_partial(&mut self) -> Option<ModelResponse> {
        self.partial.take().map(|partial| *partial)
    }

    /// Returns whether the same request may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.should_retry.unwrap_or_else(|| self.kind.is_temporary())
    }
}

impl ModelResponse {
    /// Returns an error if the response has no content.
    ///
    /// A response that was cut off or refused may be empty.
    #[doc(hidden)]
    pub fn unless_empty(self) -> Result<Self, ModelError> {
        if !self.message.is_empty() || !self.hosted.is_empty() || self.finish != FinishReason::Stop {
            return Ok(self);
        }
        if let Some(native) = &self.message.native
            && let Ok(format) = native.format.parse::<ApiFormat>()
            && has_media(format, &native.messages)
        {
            return Ok(self);
        }
        Err(ModelError::new(ModelErrorKind::Empty, "the API returned an empty response").with_partial(self))
    }
}

impl ModelResponse {
    /// Returns whether a part of the response has arrived. A provider bills only such a response.
    pub(crate) fn has_arrived(&self) -> bool {
        let Self { message, hosted, usage, .. } = self;
        let has_native = message.native.as_ref().is_some_and(|native| !native.messages.is_empty());
        !message.is_empty()
            || !message.reasoning.is_empty()
            || has_native
            || !hosted.is_empty()
            || !usage.is_empty()
    }
}

const MEDIA: [&str; 7] = ["image", "audio", "video", "file", "document", "inlinedata", "inline_data"];

/// Returns whether messages in the JSON of the API `format` contain a media item.
pub(crate) fn has_media(format: ApiFormat, native: &[Value]) -> bool {
    for kind in format.special_content(native) {
        let lowercase = kind.to_lowercase();
        if MEDIA.iter().any(|word| lowercase.contains(word)) {
            return true;
        }
    }
    false
}

setters! { ModelError:
    /// Sets the kind of failure.
    with_kind(kind: ModelErrorKind) = kind;
    /// Sets the message, for example without secrets.
    with_message(message: impl Into<String>) = message.into();
    /// Sets the status of the HTTP response.
    with_status(status: u16) = Some(status);
    /// Sets how long the provider wants the client to wait before another request.
    with_retry_after(retry_after: Duration) = Some(retry_after);
    /// Sets whether to retry. By default, the kind decides.
    with_should_retry(should_retry: bool) = Some(should_retry);
    /// Sets the part of the response received before the failure.
    with_partial(partial: ModelResponse) = Some(Box::new(partial));
}

/// Prints the message, so that a failed `main` shows it.
impl fmt::Debug for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
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
    /// Creates an error whose kind follows from the code in the provider's report. For an unknown
    /// code, it is `kind`.
    #[doc(hidden)]
    #[must_use]
    pub fn of_wire(kind: ModelErrorKind, error: &WireError) -> Self {
        let code = error.code().unwrap_or_default();
        // A gateway reports the HTTP status of its provider.
        let status = code.parse().ok().filter(|status| (400..600).contains(status));
        let kind = match status.map(ModelErrorKind::of_status) {
            _ if error.is_blocked() => ModelErrorKind::Blocked,
            _ if overflow::CONTEXT_CODES.contains(&code) => ModelErrorKind::ContextTooLong,
            Some(kind) => kind,
            None => report::kind_of_code(code).unwrap_or(kind),
        };
        Self::new(kind, error.to_string()).classified()
    }
}
