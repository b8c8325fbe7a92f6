//! The pieces of a streamed response, and the secrets to keep out of its errors.

use crate::model::ModelError;
use futures_core::Stream;
use serde_json::Value;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A piece of a streamed response.
pub(super) enum Fragment {
    Event(Value),
    Bytes(Vec<u8>),
    Response(Value),
}

/// A streamed response as received.
pub struct EventStream {
    fragments: Received<Fragment>,
    secrets: Vec<String>,
}

impl EventStream {
    /// Creates a stream from the bytes of the body: server-sent events, lines of JSON, a list in JSON, or the binary
    /// event stream of Amazon Web Services. The bytes may be split anywhere.
    #[must_use]
    pub fn bytes(bytes: impl Stream<Item = Result<Vec<u8>, ModelError>> + Send + 'static) -> Self {
        Self::new(bytes, Fragment::Bytes)
    }

    /// Creates a stream from the JSON of its events.
    #[must_use]
    pub fn events(events: impl Stream<Item = Result<Value, ModelError>> + Send + 'static) -> Self {
        Self::new(events, Fragment::Event)
    }

    /// Creates a stream from the complete response of a server that ignores the wish for a stream. A list contains the
    /// events of the stream.
    #[must_use]
    pub fn response(response: Value) -> Self {
        let fragment = if response.is_array() { Fragment::Event } else { Fragment::Response };
        Self::new(Once(Some(response)), fragment)
    }

    fn new<T: 'static>(
        stream: impl Stream<Item = Result<T, ModelError>> + Send + 'static,
        fragment: fn(T) -> Fragment,
    ) -> Self {
        Self { fragments: Box::pin(Fragments { stream: Box::pin(stream), fragment }), secrets: Vec::new() }
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

type Received<T> = Pin<Box<dyn Stream<Item = Result<T, ModelError>> + Send>>;

/// A stream whose items become fragments.
struct Fragments<T> {
    stream: Received<T>,
    fragment: fn(T) -> Fragment,
}

impl<T> Stream for Fragments<T> {
    type Item = Result<Fragment, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let fragment = self.fragment;
        self.stream.as_mut().poll_next(context).map(|next| next.map(|next| next.map(fragment)))
    }
}

/// A stream with one item.
struct Once(Option<Value>);

impl Stream for Once {
    type Item = Result<Value, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take().map(Ok))
    }
}

/// Returns a text with `…` in place of each secret.
#[must_use]
pub fn without_secrets(text: &str, secrets: &[String]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "…"))
}
