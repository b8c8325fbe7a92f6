//! The pieces of a streamed response, and the secrets to keep out of its errors.

use crate::model::ModelError;
use futures_core::Stream;
use serde_json::Value;
use std::pin::Pin;
use std::task::{Context, Poll};
use toolkit_core::redaction::Redactor;

pub(super) enum ReceivedPiece {
    Event(Value),
    Bytes(Vec<u8>),
    Response(Value),
}

type Received<T> = Pin<Box<dyn Stream<Item = Result<T, ModelError>> + Send>>;

enum Source {
    Bytes(Received<Vec<u8>>),
    Events(Received<Value>),
    /// `None` after the response was returned.
    Complete(Option<ReceivedPiece>),
}

/// A streamed response as received.
///
/// ```
/// use toolkit_ai::llm::{ApiFormat, ChatModel, ModelError};
/// use toolkit_ai::llm::transport::{EventStream, Transport, WireModel};
/// use toolkit_ai::serde_json::{Value, json};
///
/// /// A server in this program that never streams. Here stands the call of an HTTP library, whose body is a stream for
/// /// `EventStream::bytes`.
/// struct Server;
///
/// impl Transport for Server {
///     async fn send(&self, _body: Value) -> Result<Value, ModelError> {
///         Ok(json!({"choices": [{"message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}]}))
///     }
///
///     async fn stream(&self, body: Value) -> Result<EventStream, ModelError> {
///         Ok(EventStream::response(self.send(body).await?).with_secrets(vec!["sk-key".to_owned()]))
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let model = WireModel::new(ApiFormat::OpenAiChat, "any", Server);
/// let answer = model.stream("Hi.".into()).await?.collect().await?;
/// assert_eq!(answer.message.text, "Hello.");
/// # Ok::<(), ModelError>(())
/// # }).unwrap();
/// ```
pub struct EventStream {
    source: Source,
    redactor: Redactor,
}

impl EventStream {
    /// Creates a stream from the bytes of the body, split anywhere: server-sent events, lines of JSON, a JSON
    /// list, or the binary event stream of Amazon Web Services.
    #[must_use]
    pub fn bytes(bytes: impl Stream<Item = Result<Vec<u8>, ModelError>> + Send + 'static) -> Self {
        Self { source: Source::Bytes(Box::pin(bytes)), redactor: Redactor::new() }
    }

    /// Creates a stream from the JSON of its events.
    #[must_use]
    pub fn events(events: impl Stream<Item = Result<Value, ModelError>> + Send + 'static) -> Self {
        Self { source: Source::Events(Box::pin(events)), redactor: Redactor::new() }
    }

    /// Creates a stream from the complete response of a server that does not stream. A list contains events.
    #[must_use]
    pub fn response(response: Value) -> Self {
        let piece = if response.is_array() { ReceivedPiece::Event } else { ReceivedPiece::Response };
        Self { source: Source::Complete(Some(piece(response))), redactor: Redactor::new() }
    }

    pub(super) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<ReceivedPiece, ModelError>>> {
        match &mut self.source {
            Source::Bytes(bytes) => bytes.as_mut().poll_next(context).map_ok(ReceivedPiece::Bytes),
            Source::Events(events) => events.as_mut().poll_next(context).map_ok(ReceivedPiece::Event),
            Source::Complete(piece) => Poll::Ready(piece.take().map(Ok)),
        }
    }

    pub(super) fn without_secrets(&self, mut error: ModelError) -> ModelError {
        error.message = self.redacted(&error.message);
        error
    }

    pub(super) fn redacted(&self, text: &str) -> String {
        self.redactor.redact(text)
    }
}

setters! { EventStream:
    /// Sets the secrets to remove from errors, because some servers repeat them there.
    with_secrets(redactor: impl Into<Redactor>) = redactor.into();
}

debug!(EventStream, self);
