//! The pieces of an answer of `genai`.

use super::{fault, reply};
use crate::clients::fault::timed_out;
use crate::model::{ModelDelta, ModelError, ModelRequest};
use futures_core::Stream;
use genai::adapter::AdapterKind;
use genai::chat::{ChatStream, ChatStreamEvent, StreamEnd};
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;

/// The pieces of an answer. Its calls come at its end, because before they are not complete.
pub(super) struct Pieces {
    /// Until the answer has ended.
    pub(super) stream: Option<ChatStream>,
    pub(super) request: ModelRequest,
    pub(super) adapter: AdapterKind,
    pub(super) limit: Duration,
    pub(super) deadline: Pin<Box<Sleep>>,
    pub(super) ready: VecDeque<Result<ModelDelta, ModelError>>,
}

impl Pieces {
    fn fail(&mut self, error: ModelError) {
        self.stream = None;
        self.ready.push_back(Err(error));
    }

    fn end(&mut self, end: StreamEnd) {
        self.stream = None;
        match reply::streamed(end, &self.request, self.adapter) {
            Ok(response) => {
                let calls = response.message.calls.iter().cloned().map(ModelDelta::Call);
                self.ready.extend(calls.map(Ok));
                self.ready.push_back(Ok(ModelDelta::Done(Box::new(response))));
            }
            Err(error) => self.ready.push_back(Err(error)),
        }
    }

    fn take(&mut self, event: Option<Result<ChatStreamEvent, genai::Error>>) {
        match event {
            Some(Ok(ChatStreamEvent::Chunk(piece))) => {
                self.ready.push_back(Ok(ModelDelta::Text(piece.content)));
            }
            Some(Ok(ChatStreamEvent::ReasoningChunk(piece))) => {
                self.ready.push_back(Ok(ModelDelta::Reasoning(piece.content)));
            }
            Some(Ok(ChatStreamEvent::End(end))) => self.end(end),
            Some(Ok(_)) => {}
            Some(Err(error)) => self.fail(fault::of_genai(error)),
            None => self.fail(ModelError::cut()),
        }
    }
}

impl Stream for Pieces {
    type Item = Result<ModelDelta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Poll::Ready(Some(piece));
            }
            let Some(stream) = &mut self.stream else { return Poll::Ready(None) };
            match Pin::new(stream).poll_next(context) {
                Poll::Ready(event) => self.take(event),
                Poll::Pending if self.deadline.as_mut().poll(context).is_ready() => {
                    let error = timed_out("has not said all", self.limit);
                    self.fail(error);
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
