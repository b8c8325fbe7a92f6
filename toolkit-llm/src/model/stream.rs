//! Streamed answers of a model.

use super::bill::{Account, AfterAttempts, Bill, Unreported};
use super::{ModelError, ModelResponse, Usage};
use crate::HostedCall;
use crate::message::NativeMessages;
use futures_core::Stream;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use toolkit_core::{CallId, ToolCall};

/// A piece of a streamed response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelDelta {
    /// The next piece of the text.
    Text(String),
    /// The next piece of the reasoning, if the provider returns reasoning.
    Reasoning(String),
    /// The model has started to write a tool call.
    CallStarted {
        /// The id of the call.
        id: CallId,
        /// The name of the tool, as the model wrote it.
        name: String,
    },
    /// The next piece of a tool call's arguments, as the model writes them. Such pieces come between
    /// [`CallStarted`](Self::CallStarted) and [`Call`](Self::Call).
    ///
    /// Together, the pieces of a call are the JSON of its arguments, except that spaces and escapes may
    /// differ. The pieces of a custom tool's call are its free text. Some models return no pieces.
    Arguments {
        /// The id of the call.
        id: CallId,
        /// The next piece of the arguments.
        piece: String,
    },
    /// Further parts of the message in the JSON of the provider's API. A model returns them before a call if later
    /// requests need more than the text and the calls, such as signed thinking. The parts include the call.
    ///
    /// All such pieces together are the message so far. The first JSON message of a piece continues the last one of the
    /// piece before if both have the same fields, except for their lists `content`. Every other is a message of its own.
    Native(NativeMessages),
    /// A tool call that is complete.
    Call(ToolCall),
    /// The token counts that the provider has reported so far, including those of failed attempts before this
    /// response. Each such piece replaces the one before. A run counts them if it stops the stream; otherwise, the
    /// counts of the response apply.
    Usage(Usage),
    /// The provider has called a tool that it runs itself, or the output of this call has arrived.
    Hosted(HostedCall),
    /// The complete response, including all calls returned before. This is the last piece.
    Done(Box<ModelResponse>),
}

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
    type Item = Result<ModelDelta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let (false, Some(failed)) = (self.has_begun, self.failed) {
            self.has_begun = true;
            self.unreported.bill = failed.correction();
            return Poll::Ready(Some(Ok(ModelDelta::Usage(failed.usage))));
        }
        let piece = ready!(Pin::new(&mut self.pieces).poll_next(context));
        if matches!(piece, None | Some(Ok(ModelDelta::Done(_)) | Err(_))) {
            self.unreported.take();
        }
        Poll::Ready(match (piece, self.failed.take()) {
            (Some(Ok(ModelDelta::Done(response))), Some(failed)) => {
                Some(Ok(ModelDelta::Done(Box::new(response.after_attempts(failed, None)))))
            }
            (Some(Err(error)), Some(failed)) => Some(Err(error.reporting(self.reported).after(failed))),
            (Some(Ok(ModelDelta::Usage(mut reported))), Some(failed)) => {
                (self.reported, self.failed) = (reported, Some(failed));
                reported += failed.usage;
                Some(Ok(ModelDelta::Usage(reported)))
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

type Pieces = dyn Stream<Item = Result<ModelDelta, ModelError>> + Send;

/// A streamed response of a model. Dropping the stream cancels the request.
pub struct ModelStream(Source);

enum Source {
    Ready(VecDeque<Result<ModelDelta, ModelError>>),
    Running(Pin<Box<Pieces>>),
    /// A stream whose first pieces were already received.
    Begun(Box<Begun>),
}

struct Begun {
    /// The pieces that were already received.
    first: VecDeque<ModelDelta>,
    rest: ModelStream,
    /// The tokens in `first`, until it is received again.
    unreported: Unreported,
}

impl ModelStream {
    /// Creates a stream from a stream of pieces. The last piece must be [`ModelDelta::Done`] or an error.
    #[must_use]
    pub fn new(pieces: impl Stream<Item = Result<ModelDelta, ModelError>> + Send + 'static) -> Self {
        Self(Source::Running(Box::pin(pieces)))
    }

    /// Creates a stream from pieces that already exist. The last piece must be [`ModelDelta::Done`] or an
    /// error.
    #[must_use]
    pub fn from_pieces(pieces: impl IntoIterator<Item = Result<ModelDelta, ModelError>>) -> Self {
        Self(Source::Ready(pieces.into_iter().collect()))
    }

    /// Returns the next piece. Returns `None` after the last one.
    pub async fn next(&mut self) -> Option<Result<ModelDelta, ModelError>> {
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
                Ok(ModelDelta::Usage(usage)) => unreported.bill = usage.into(),
                Ok(first) => {
                    let reported = unreported.bill.usage;
                    begin.extend((!reported.is_empty()).then_some(ModelDelta::Usage(reported)));
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
                Ok(ModelDelta::Done(response)) => return Ok(*response),
                Ok(ModelDelta::Usage(usage)) => reported = usage,
                Ok(_) => {}
                Err(error) => return Err(error.reporting(reported)),
            }
        }
    }
}

impl ModelResponse {
    /// Returns the response as the pieces of a stream: the reasoning, the text, the calls, and the complete
    /// response.
    pub(crate) fn deltas(self) -> Vec<ModelDelta> {
        let text = |text: &String| (!text.is_empty()).then(|| text.clone());
        let reasoning = text(&self.message.reasoning).map(ModelDelta::Reasoning);
        let said = text(&self.message.text).map(ModelDelta::Text);
        let mut deltas: Vec<ModelDelta> = reasoning.into_iter().collect();
        deltas.extend(self.hosted.iter().cloned().map(ModelDelta::Hosted));
        deltas.extend(said);
        deltas.extend(self.message.calls.iter().cloned().map(ModelDelta::Call));
        deltas.push(ModelDelta::Done(Box::new(self)));
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
    type Item = Result<ModelDelta, ModelError>;

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
