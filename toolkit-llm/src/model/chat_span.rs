//! The `chat` span of a request and its measurements, with OpenTelemetry's names. Without the feature
//! `tracing`, all functions here do nothing.
//!
//! The outermost layer opens the span: an agent, [`ask`](super::ChatModel::ask), or the model itself. It
//! marks the request, so that no layer below opens a second one.

mod attributes;
mod open_span;

use super::{ChatModel, ModelError, ModelRequest, ModelStream};
use crate::message::ModelResponse;
use crate::stream::StreamEvent;
use futures_core::Stream;
use open_span::OpenRequest;
use std::pin::Pin;
use std::task::{Context, Poll};
use toolkit_core::__private::trace::{OpenSpan, is_observed};

/// The span of one request. Dropped without an end, it is recorded as `cancelled`.
pub struct ChatSpan(Option<Box<OpenRequest>>);

/// What the span contains beside the request.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChatCaller<'a> {
    /// The name of the agent. Empty if there is none.
    pub agent: &'a str,
    /// The id of the conversation. Empty if there is none.
    pub conversation: &'a str,
    /// Whether the span contains instructions, messages and tools.
    pub shows_request: bool,
    /// Whether the span contains the message of the response.
    pub shows_response: bool,
}

impl ChatSpan {
    /// Opens the span of a request, below the current span.
    #[inline]
    pub fn open(
        model: &impl ChatModel,
        request: &ModelRequest,
        is_streamed: bool,
        caller: ChatCaller<'_>,
    ) -> Self {
        // Without a subscriber, nothing is allocated.
        if !is_observed() {
            return Self(None);
        }
        Self(Some(Box::new(OpenRequest::new(model, request, is_streamed, caller))))
    }

    /// Opens the span of a request without an agent, unless a layer above has opened it.
    #[inline]
    pub fn unless_open(model: &impl ChatModel, request: &mut ModelRequest, is_streamed: bool) -> Self {
        if std::mem::replace(&mut request.is_traced, true) {
            return Self(None);
        }
        Self::open(model, request, is_streamed, ChatCaller::default())
    }

    /// Runs the future `work` within the span.
    #[inline]
    pub fn around<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        let span = match &self.0 {
            Some(open) => open.span.clone(),
            None => OpenSpan::current(),
        };
        span.around(work)
    }

    /// Polls a stream within the span, and notes the time of the first piece.
    #[inline]
    pub fn poll_next(
        &self,
        stream: &mut ModelStream,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<StreamEvent, ModelError>>> {
        if let Some(open) = &self.0 {
            return open.poll_next(stream, context);
        }
        Pin::new(stream).poll_next(context)
    }

    /// Ends the span. After an error of the type `error`, `response` is the part that has arrived.
    #[inline]
    pub fn end(&self, response: Option<&ModelResponse>, error: Option<&str>) {
        if let Some(open) = &self.0 {
            open.end(response, error);
        }
    }

    /// Runs `work`, which returns the complete response, within the span.
    ///
    /// # Errors
    /// The error of `work`.
    pub async fn respond(
        self,
        work: impl Future<Output = Result<ModelResponse, ModelError>>,
    ) -> Result<ModelResponse, ModelError> {
        let response = self.around(work).await.inspect_err(|error| self.fail(error))?;
        self.end(Some(&response), None);
        Ok(response)
    }

    /// Runs `work`, which returns a stream, within the span. The span ends with the stream.
    ///
    /// # Errors
    /// The error of `work`.
    pub async fn stream(
        self,
        work: impl Future<Output = Result<ModelStream, ModelError>>,
    ) -> Result<ModelStream, ModelError> {
        let stream = self.around(work).await.inspect_err(|error| self.fail(error))?;
        if self.0.is_some() {
            return Ok(ModelStream::new(TracedStream { stream, span: self }));
        }
        Ok(stream)
    }

    fn fail(&self, error: &ModelError) {
        self.end(error.partial.as_deref(), Some(error.kind.as_str()));
    }
}

debug!(ChatSpan, self);

struct TracedStream {
    stream: ModelStream,
    span: ChatSpan,
}

impl Stream for TracedStream {
    type Item = Result<StreamEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { stream, span } = &mut *self;
        let piece = std::task::ready!(span.poll_next(stream, context));
        match &piece {
            Some(Ok(StreamEvent::Done(response))) => span.end(Some(response), None),
            Some(Err(error)) => span.fail(error),
            None => span.end(None, Some(super::ModelErrorKind::Connection.as_str())),
            Some(Ok(_)) => {}
        }
        Poll::Ready(piece)
    }
}

/// Adds the address of the server to the current span, if it is a `chat` span.
#[inline]
pub fn record_server(host: &str, port: u16) {
    let span = OpenSpan::current();
    span.record("server.address", host);
    span.record("server.port", port);
}
