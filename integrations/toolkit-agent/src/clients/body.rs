//! The body of a response, within its limits.

use super::fault;
use super::limits::{HttpLimits, after};
use crate::model::{ModelError, ModelErrorKind};
use bytes::Bytes;
use http_body::{Body, Frame};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::time::{Instant, Sleep, sleep_until};

/// The body of a response. A server that is silent for too long, or says too much, ends it with an error.
pub(super) struct BoundedBody {
    body: reqwest::Body,
    limits: HttpLimits,
    /// When the whole answer has to be there.
    deadline: Instant,
    /// The end of the silence, or the deadline.
    alarm: Pin<Box<Sleep>>,
    received: usize,
}

impl BoundedBody {
    pub(super) fn new(response: reqwest::Response, limits: HttpLimits, deadline: Instant) -> Self {
        let alarm = Box::pin(sleep_until(deadline.min(after(limits.idle))));
        Self { body: response.into(), limits, deadline, alarm, received: 0 }
    }

    /// Returns the next bytes; `None` after the last.
    pub(super) fn poll_bytes(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, ModelError>>> {
        loop {
            let Poll::Ready(next) = Pin::new(&mut self.body).poll_frame(context) else {
                ready!(self.alarm.as_mut().poll(context));
                return Poll::Ready(Some(Err(self.silence())));
            };
            let frame = match next {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(fault::of_client(&error)))),
                Some(Ok(frame)) => frame,
            };
            // Trailers say nothing that matters here.
            let Ok(bytes) = frame.into_data() else { continue };
            self.received = self.received.saturating_add(bytes.len());
            if self.received > self.limits.max_bytes {
                return Poll::Ready(Some(Err(self.too_long())));
            }
            self.alarm.as_mut().reset(self.deadline.min(after(self.limits.idle)));
            return Poll::Ready(Some(Ok(bytes)));
        }
    }

    /// Reads all bytes.
    pub(super) async fn all(&mut self) -> Result<Vec<u8>, ModelError> {
        let mut all = Vec::new();
        while let Some(bytes) = poll_fn(|context| self.poll_bytes(context)).await {
            all.extend_from_slice(&bytes?);
        }
        Ok(all)
    }

    /// Returns the first bytes, as many as are there before something goes wrong.
    pub(super) async fn head(&mut self, most: usize) -> Vec<u8> {
        let mut head = Vec::new();
        while head.len() < most
            && let Some(Ok(bytes)) = poll_fn(|context| self.poll_bytes(context)).await
        {
            head.extend_from_slice(&bytes);
        }
        head.truncate(most);
        head
    }

    fn silence(&self) -> ModelError {
        if Instant::now() >= self.deadline {
            fault::timed_out("has not said all", self.limits.total)
        } else {
            fault::timed_out("has said nothing more", self.limits.idle)
        }
    }

    fn too_long(&self) -> ModelError {
        let text = format!("the response is longer than {} bytes", self.limits.max_bytes);
        // It would be as long the next time.
        ModelError::new(ModelErrorKind::Other, text)
    }
}

impl Body for BoundedBody {
    type Data = Bytes;
    type Error = ModelError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ModelError>>> {
        self.poll_bytes(context).map(|next| next.map(|bytes| bytes.map(Frame::data)))
    }
}
