//! Response bodies with limits on time and size.

use super::failure::{HttpError, HttpErrorKind};
use super::limits::{HttpLimits, deadline};
use futures_core::Stream;
use http_body::Body;
use hyper::body::Incoming;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// The byte-order mark, which some servers put before JSON.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A response body with limits on time and size.
///
/// Reading fails if the server is silent for too long or sends too many bytes.
pub struct BoundedBody {
    body: Incoming,
    limits: HttpLimits,
    /// The deadline of the complete answer.
    deadline: Instant,
    alarm: Pin<Box<Sleep>>,
    received: usize,
    /// Returned by the next poll.
    peeked: Option<Vec<u8>>,
    server_name: &'static str,
}

impl Stream for BoundedBody {
    type Item = Result<Vec<u8>, HttpError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(bytes) = self.peeked.take() {
            return Poll::Ready(Some(Ok(bytes)));
        }
        loop {
            let Poll::Ready(next) = Pin::new(&mut self.body).poll_frame(context) else {
                ready!(self.alarm.as_mut().poll(context));
                return Poll::Ready(Some(Err(self.silence())));
            };
            let frame = match next {
                None => return Poll::Ready(None),
                Some(Err(error)) => {
                    let broken = HttpError::of_connection(&error, false, self.server_name);
                    return Poll::Ready(Some(Err(broken)));
                }
                Some(Ok(frame)) => frame,
            };
            let Ok(bytes) = frame.into_data() else { continue };
            self.received = self.received.saturating_add(bytes.len());
            if self.received > self.limits.max_bytes {
                return Poll::Ready(Some(Err(self.too_long())));
            }
            let next_alarm = self.deadline.min(deadline(self.limits.idle));
            self.alarm.as_mut().reset(next_alarm);
            return Poll::Ready(Some(Ok(bytes.into())));
        }
    }
}

impl BoundedBody {
    pub(super) fn new(body: Incoming, limits: HttpLimits, end: Instant, server_name: &'static str) -> Self {
        let alarm = Box::pin(sleep_until(end.min(deadline(limits.idle))));
        Self { body, limits, deadline: end, alarm, received: 0, peeked: None, server_name }
    }

    /// Reads the next bytes; `None` at the end.
    pub async fn chunk(&mut self) -> Option<Result<Vec<u8>, HttpError>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Puts back bytes for the next read.
    pub fn put_back(&mut self, bytes: Vec<u8>) {
        self.peeked = Some(bytes);
    }

    /// Reads the complete body, without a byte-order mark.
    ///
    /// # Errors
    /// A limit is exceeded, or the connection breaks.
    pub async fn all(&mut self) -> Result<Vec<u8>, HttpError> {
        let mut all = Vec::new();
        while let Some(bytes) = self.chunk().await {
            all.extend_from_slice(&bytes?);
        }
        Ok(without_mark(all))
    }

    /// Reads at most the first `most` bytes, without a byte-order mark, and fewer if reading fails or takes
    /// longer than `limit`.
    ///
    /// The bytes are for the message of a failed request, whose status is known.
    pub async fn head(&mut self, most: usize, limit: Duration) -> Vec<u8> {
        self.deadline = self.deadline.min(deadline(limit));
        let next_alarm = self.deadline.min(self.alarm.deadline());
        self.alarm.as_mut().reset(next_alarm);
        let mut head = Vec::new();
        while head.len() < most
            && let Some(Ok(bytes)) = self.chunk().await
        {
            head.extend_from_slice(&bytes);
        }
        head.truncate(most);
        without_mark(head)
    }

    fn silence(&self) -> HttpError {
        if Instant::now() >= self.deadline {
            HttpError::timed_out(self.server_name, "has not said all", self.limits.total)
        } else {
            HttpError::timed_out(self.server_name, "has said nothing more", self.limits.idle)
        }
    }

    fn too_long(&self) -> HttpError {
        let text = format!("the response is longer than {} bytes", self.limits.max_bytes);
        HttpError::new(HttpErrorKind::TooLarge, text).lasting()
    }
}

impl fmt::Debug for BoundedBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundedBody").field("received", &self.received).finish_non_exhaustive()
    }
}

fn without_mark(mut body: Vec<u8>) -> Vec<u8> {
    if body.starts_with(MARK) {
        body.drain(..MARK.len());
    }
    body
}
