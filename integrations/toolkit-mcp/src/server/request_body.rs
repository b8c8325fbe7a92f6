//! The body of an HTTP request. The SDK reads it after it has checked the headers.

use super::client_lines::RawArguments;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::StatusCode;
use axum::http::request::Parts;
use futures_util::stream;
use http_body_util::LengthLimitError;
use rmcp::model::Extensions;
use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::timeout;

/// The state of a request's body, as an extension of the request. Clones share the state.
#[derive(Clone, Default)]
pub(super) struct RequestBody(Arc<OnceLock<Received>>);

/// A body that has been read to its end.
enum Received {
    /// One message, with the arguments of a call.
    Message(Option<RawArguments>),
    /// Several messages, which the SDK does not read.
    Batch(Bytes),
    Failed(StatusCode, &'static str),
}

impl RequestBody {
    /// Returns the state of a message that has been read.
    pub(super) fn of_message(text: &str) -> Self {
        Self(Arc::new(Received::Message(RawArguments::of(text.as_bytes())).into()))
    }

    /// Returns a body that reads `body` as soon as the SDK does, up to `limit` bytes and for the time `time`.
    pub(super) fn read_later(&self, body: Body, limit: usize, time: Duration) -> Body {
        let state = self.0.clone();
        Body::from_stream(stream::once(async move {
            let (received, bytes) = match timeout(time, to_bytes(body, limit)).await {
                Ok(Ok(bytes)) if bytes.trim_ascii_start().starts_with(b"[") => {
                    (Received::Batch(bytes), Bytes::new())
                }
                Ok(Ok(bytes)) => (Received::Message(RawArguments::of(&bytes)), bytes),
                Ok(Err(error)) => (Received::of(&error), Bytes::new()),
                Err(_) => {
                    let message = "the request did not arrive in time";
                    (Received::Failed(StatusCode::REQUEST_TIMEOUT, message), Bytes::new())
                }
            };
            let _ = state.set(received);
            Ok::<_, axum::Error>(bytes)
        }))
    }

    /// Returns the arguments of the call that came with these extensions.
    pub(super) fn arguments(extensions: &Extensions) -> Option<&RawArguments> {
        let Self(state) = extensions.get::<Parts>()?.extensions.get()?;
        match state.get()? {
            Received::Message(arguments) => arguments.as_ref(),
            Received::Batch(_) | Received::Failed(..) => None,
        }
    }

    pub(super) fn is_read(&self) -> bool {
        self.0.get().is_some()
    }

    /// Returns the status and the message for a body that could not be read.
    pub(super) fn failure(&self) -> Option<(StatusCode, &'static str)> {
        match self.0.get()? {
            Received::Failed(status, message) => Some((*status, message)),
            Received::Message(_) | Received::Batch(_) => None,
        }
    }

    pub(super) fn batch(&self) -> Option<&Bytes> {
        match self.0.get()? {
            Received::Batch(bytes) => Some(bytes),
            Received::Message(_) | Received::Failed(..) => None,
        }
    }
}

impl Received {
    fn of(error: &axum::Error) -> Self {
        let is_limit = |source: &(dyn Error + 'static)| source.is::<LengthLimitError>();
        if error.source().is_some_and(is_limit) {
            Self::Failed(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large")
        } else {
            Self::Failed(StatusCode::BAD_REQUEST, "the request ended too early, or is not valid HTTP")
        }
    }
}
