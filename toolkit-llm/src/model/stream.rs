//! Streamed answers of a model.

use super::bill::{Account, AfterAttempts, Bill, Unreported};
use super::{ModelError, ModelResponse, Usage};
use crate::stream::StreamEvent;
use futures_core::Stream;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

impl AfterAttempts for ModelStream {
    fn after_attempts(self, failed: Bill, account: Option<Account>) -> Self {
        if failed.is_empty() {
            return self;
        }
        let mut unreported = Unreported::new(account);
        unreported.bill = failed;
        let has_begun = false;
        let reported = Usage::default();
        Self::new(After { pieces: self, has_begun, reported, failed: Some(failed), unreported })
    }
}

/// A stream after failed attempts. Its first and its last piece have their token counts.
struct After {
    pieces: ModelStream,
    has_begun: bool,
    /// The token counts that the stream itself has reported.
    reported: Usage,
    /// `None` after the last piece.
    failed: Option<Bill>,
    /// What is unknown to the receiver of the pieces so far.
    unreported: Unreported,
}

impl Stream for After {
    type Item = Result<StreamEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let (false, Some(failed)) = (self.has_begun, self.failed) {
            self.has_begun = true;
            self.unreported.bill = failed.correction();
            return Poll::Ready(Some(Ok(StreamEvent::Usage(failed.usage))));
        }
        let piece = ready!(Pin::new(&mut self.pieces).poll_next(context));
        if matches!(piece, None | Some(Ok(StreamEvent::Done(_)) | Err(_))) {
            self.unreported.take();
        }
        Poll::Ready(match (piece, self.failed.take()) {
            (Some(Ok(StreamEvent::Done(response))), Some(failed)) => {
                Some(Ok(StreamEvent::Done(Box::new(response.after_attempts(failed, None)))))
            }
            (Some(Err(error)), Some(failed)) => Some(Err(error.reporting(self.reported).after(failed))),
            (Some(Ok(StreamEvent::Usage(mut reported))), Some(failed)) => {
                (self.reported, self.failed) = (reported, Some(failed));
                reported += failed.usage;
                Some(Ok(StreamEvent::Usage(reported)))
            }
            // A stream may break off without an error.
            (None, Some(failed)) => Some(Err(ModelError::cut().reporting(self.reported).after(failed))),
            (piece, failed) => {
                self.failed = failed;
                piece
            }
        })
    }
}

type Pieces = dyn Stream<Item = Result<StreamEvent, ModelError>> + Send;

/// A streamed response of a model. Dropping the stream cancels the request.
pub struct ModelStream(Source);

enum Source {
    Ready(VecDeque<Result<StreamEvent, ModelError>>),
    Running(Pin<Box<Pieces>>),
    /// A stream whose first pieces were already received.
    Begun(Box<Begun>),
}

struct Begun {
    /// The pieces that were already received.
    first: VecDeque<StreamEvent>,
    rest: ModelStream,
    /// The tokens in `first`, until it is received again.
    unreported: Unreported,
}

impl ModelStream {
    /// Creates a stream from a stream of pieces. The last piece must be [`StreamEvent::Done`] or an error.
    #[must_use]
    pub fn new(pieces: impl Stream<Item = Result<StreamEvent, ModelError>> + Send + 'static) -> Self {
        Self(Source::Running(Box::pin(pieces)))
    }

    /// Creates a stream from pieces that already exist. The last piece must be [`StreamEvent::Done`] or an
    /// error.
    #[must_use]
    pub fn from_pieces(pieces: impl IntoIterator<Item = Result<StreamEvent, ModelError>>) -> Self {
        Self(Source::Ready(pieces.into_iter().collect()))
    }

    /// Returns the next piece. Returns `None` after the last one.
    pub async fn next(&mut self) -> Option<Result<StreamEvent, ModelError>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Waits for the first piece of the answer, to find out whether the request has succeeded. The returned stream
    /// still yields this piece.
    ///
    /// # Errors
    /// [`ModelError`] if the first piece is an error, or if there are no pieces.
    pub(super) async fn begun(mut self, account: Option<Account>) -> Result<Self, ModelError> {
        let mut begin = VecDeque::new();
        let mut unreported = Unreported::new(account);
        loop {
            match self.next().await.unwrap_or_else(|| Err(ModelError::cut())) {
                // A provider may report tokens before it refuses the request.
                Ok(StreamEvent::Usage(usage)) => unreported.bill = usage.into(),
                Ok(first) => {
                    let reported = unreported.bill.usage;
                    begin.extend((!reported.is_empty()).then_some(StreamEvent::Usage(reported)));
                    begin.push_back(first);
                    return Ok(Self(Source::Begun(Box::new(Begun { first: begin, rest: self, unreported }))));
                }
                Err(error) => return Err(error.reporting(unreported.take().usage)),
            }
        }
    }

    /// Waits for the complete response.
    ///
    /// # Errors
    /// [`ModelError`] if the response breaks off.
    pub async fn collect(mut self) -> Result<ModelResponse, ModelError> {
        let mut reported = Usage::default();
        loop {
            match self.next().await.unwrap_or_else(|| Err(ModelError::cut())) {
                Ok(StreamEvent::Done(response)) => return Ok(*response),
                Ok(StreamEvent::Usage(usage)) => reported = usage,
                Ok(_) => {}
                Err(error) => return Err(error.reporting(reported)),
            }
        }
    }
}

impl ModelResponse {
    /// Returns the response as the pieces of a stream: the reasoning, the text, the calls, and the complete
    /// response.
    pub(crate) fn deltas(self) -> Vec<StreamEvent> {
        let text = |text: &String| (!text.is_empty()).then(|| text.clone());
        let reasoning = text(&self.message.reasoning).map(StreamEvent::Reasoning);
        let said = text(&self.message.text).map(StreamEvent::Text);
        let mut deltas: Vec<StreamEvent> = reasoning.into_iter().collect();
        deltas.extend(self.hosted.iter().cloned().map(StreamEvent::Hosted));
        deltas.extend(said);
        deltas.extend(self.message.calls.iter().cloned().map(StreamEvent::Call));
        deltas.push(StreamEvent::Done(Box::new(self)));
        deltas
    }
}

/// Creates a stream from a complete response: the reasoning, the text, the calls, and the response itself.
impl From<ModelResponse> for ModelStream {
    fn from(response: ModelResponse) -> Self {
        Self::from_pieces(response.deltas().into_iter().map(Ok))
    }
}

impl Stream for ModelStream {
    type Item = Result<StreamEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut self.0 {
            Source::Ready(pieces) => Poll::Ready(pieces.pop_front()),
            Source::Running(pieces) => pieces.as_mut().poll_next(context),
            Source::Begun(begun) => match begun.first.pop_front() {
                Some(first) => {
                    begun.unreported.take();
                    Poll::Ready(Some(Ok(first)))
                }
                None => Pin::new(&mut begun.rest).poll_next(context),
            },
        }
    }
}

debug!(ModelStream, self);
