//! The pieces of a streamed response, and the secrets to keep out of its errors.

use crate::model::ModelError;
use futures_core::Stream;
use serde_json::Value;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A piece of a streamed response.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Fragment {
    /// The JSON of one event.
    Event(Value),
    /// The next bytes of a stream of server-sent events. The bytes may end anywhere, even in the middle of an
    /// event.
    Bytes(Vec<u8>),
    /// The JSON of the complete response, from a server that ignores the wish for a stream.
    Response(Value),
}

/// The pieces of a streamed response.
pub struct EventStream {
    fragments: Pin<Box<dyn Stream<Item = Result<Fragment, ModelError>> + Send>>,
    secrets: Vec<String>,
}

impl EventStream {
    /// Creates a stream from the pieces of a response.
    #[must_use]
    pub fn new(fragments: impl Stream<Item = Result<Fragment, ModelError>> + Send + 'static) -> Self {
        Self { fragments: Box::pin(fragments), secrets: Vec::new() }
    }

    /// Sets the secrets of the request, such as its key. They are removed from the errors of the response, because
    /// some servers repeat them there.
    #[must_use]
    pub fn with_secrets(mut self, secrets: Vec<String>) -> Self {
        self.secrets = secrets;
        self
    }

    pub(super) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Fragment, ModelError>>> {
        self.fragments.as_mut().poll_next(context)
    }

    /// Returns an error without the secrets in its message.
    pub(super) fn without_secrets(&self, mut error: ModelError) -> ModelError {
        error.message = self.redacted(&error.message);
        error
    }

    /// Returns the text of an error without secrets.
    pub(super) fn redacted(&self, text: &str) -> String {
        without_secrets(text, &self.secrets)
    }
}

debug!(EventStream, self);

/// Returns a text with `…` in place of each secret.
#[must_use]
pub fn without_secrets(text: &str, secrets: &[String]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "…"))
}
