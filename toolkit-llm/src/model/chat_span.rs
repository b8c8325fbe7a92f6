//! The `chat` span of a request to a model, and its measurements, with OpenTelemetry's names. Without the feature
//! `tracing`, all functions here do nothing.
//!
//! The outermost layer opens the span: an agent, [`ask`](super::ChatModel::ask), or the model itself. It marks the
//! request, so that no layer below opens a second one.

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

/// The span of one request to a model. A dropped span without an end is recorded as `cancelled`.
pub struct ChatSpan(Option<Box<OpenRequest>>);

/// What the span of a request contains beside the request: who asks, and whether it contains messages.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChatCaller<'a> {
    /// The name of the agent. Empty if no agent asks.
    pub agent: &'a str,
    /// The id of the conversation. Empty if there is none.
    pub conversation: &'a str,
    /// Whether the span contains the instructions, the messages and the tools of the request.
    pub shows_request: bool,
    /// Whether the span contains the message of the response.
    pub shows_response: bool,
}

impl ChatSpan {
    /// Opens the span of a request. Its parent is the current span.
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

    /// Opens the span of a request that no agent sends, unless a layer above has opened it.
    #[inline]
    pub fn unless_open(model: &impl ChatModel, request: &mut ModelRequest, is_streamed: bool) -> Self {
        if std::mem::replace(&mut request.is_traced, true) {
            return Self(None);
        }
        Self::open(model, request, is_streamed, ChatCaller::default())
    }

    /// Runs the future `work`, which sends the request, within the span.
    #[inline]
    pub fn around<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        let span = match &self.0 {
            Some(open) => open.span.clone(),
            None => OpenSpan::current(),
        };
        span.around(work)
    }

    /// Polls a streamed response within the span, and notes the time of the first piece.
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

    /// Ends the span. After an error, `response` is the part that has arrived, and `error` is the type of the error.
    #[inline]
    pub fn end(&self, response: Option<&ModelResponse>, error: Option<&str>) {
        if let Some(open) = &self.0 {
            open.end(response, error);
        }
    }

    /// Runs the future `work`, which returns the complete response, within the span.
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

    /// Runs the future `work`, which returns a streamed response, within the span. The span ends with the stream.
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

/// A streamed response within its span.
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

/// Adds the address of the server to the `chat` span, if this is the current span.
#[inline]
pub fn record_server(host: &str, port: u16) {
    let span = OpenSpan::current();
    span.record("server.address", host);
    span.record("server.port", port);
}
