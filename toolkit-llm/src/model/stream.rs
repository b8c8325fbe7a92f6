//! Streamed answers of a model.

use super::bill::{Account, Attempt, Bill, Unreported};
use super::{ChatModel, ModelError, ModelRequest, Price};
use crate::message::ModelResponse;
use crate::response::Usage;
use crate::stream::StreamEvent;
use futures_core::Stream;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::mem::take;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

type Pieces = dyn Stream<Item = Result<StreamEvent, ModelError>> + Send;

/// A streamed response of a model. Dropping the stream cancels the request.
///
/// ```
/// use toolkit_ai::llm::{ModelResponse, ModelStream, StreamEvent};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let pieces = [
///     Ok(StreamEvent::Text("It is ".to_owned())),
///     Ok(StreamEvent::Text("42.".to_owned())),
///     Ok(StreamEvent::Done(Box::new(ModelResponse::text("It is 42.")))),
/// ];
/// let mut stream = ModelStream::from_pieces(pieces);
/// let mut text = String::new();
/// while let Some(event) = stream.next().await {
///     if let StreamEvent::Text(piece) = event? {
///         text += &piece;
///     }
/// }
/// assert_eq!(text, "It is 42.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub struct ModelStream {
    /// The pieces that already exist.
    ready: VecDeque<Result<StreamEvent, ModelError>>,
    rest: Option<Pin<Box<Pieces>>>,
    /// The tokens in the received pieces, until the first of them is received again.
    unreported: Option<Box<Unreported>>,
}

impl ModelStream {
    /// Creates a stream from pieces. The last one must be [`StreamEvent::Done`] or an error.
    #[must_use]
    pub fn new(pieces: impl Stream<Item = Result<StreamEvent, ModelError>> + Send + 'static) -> Self {
        Self { ready: VecDeque::new(), rest: Some(Box::pin(pieces)), unreported: None }
    }

    /// Creates a stream from existing pieces. The last one must be [`StreamEvent::Done`] or an error.
    #[must_use]
    pub fn from_pieces(pieces: impl IntoIterator<Item = Result<StreamEvent, ModelError>>) -> Self {
        Self { ready: pieces.into_iter().collect(), rest: None, unreported: None }
    }

    /// Adds the tokens of failed attempts, and the price of the stream's own tokens.
    ///
    /// If the stream is dropped, `account` counts what its pieces do not report.
    pub(super) fn counted(self, failed: Bill, price: Option<Price>, account: Option<Account>) -> Self {
        let first = if failed.is_empty() { None } else { Some(StreamEvent::Usage(failed.usage)) };
        let mut unreported = Unreported::new(account);
        unreported.bill = failed;
        let reported = Usage::default();
        Self::new(CountedStream { pieces: self, first, failed, price, reported, unreported })
    }

    /// Returns the next piece, or `None` after the last one.
    pub async fn next(&mut self) -> Option<Result<StreamEvent, ModelError>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Waits for the first piece, which shows whether the request has succeeded. The returned stream still
    /// yields it.
    ///
    /// # Errors
    /// [`ModelError`] if the first piece is an error, or if there are no pieces.
    pub(super) async fn begun(mut self, account: Option<Account>) -> Result<Self, ModelError> {
        let mut unreported = Unreported::new(account);
        loop {
            match self.next().await.unwrap_or_else(|| Err(ModelError::cut())) {
                // A provider may report tokens before it refuses the request.
                Ok(StreamEvent::Usage(usage)) => unreported.bill = usage.into(),
                Ok(first) => {
                    self.ready.push_front(Ok(first));
                    let reported = unreported.bill.usage;
                    if !reported.is_empty() {
                        self.ready.push_front(Ok(StreamEvent::Usage(reported)));
                    }
                    self.unreported = Some(Box::new(unreported));
                    return Ok(self);
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
    /// Returns the reasoning, the text, the calls, and the complete response as pieces.
    pub(crate) fn deltas(self) -> Vec<StreamEvent> {
        let message = &self.message;
        let mut deltas = Vec::new();
        if !message.reasoning.is_empty() {
            deltas.push(StreamEvent::Reasoning(message.reasoning.clone()));
        }
        deltas.extend(self.hosted.iter().cloned().map(StreamEvent::Hosted));
        if !message.text.is_empty() {
            deltas.push(StreamEvent::Text(message.text.clone()));
        }
        deltas.extend(self.message.calls.iter().cloned().map(StreamEvent::Call));
        deltas.push(StreamEvent::Done(Box::new(self)));
        deltas
    }
}

/// Creates a stream from a complete response.
impl From<ModelResponse> for ModelStream {
    fn from(response: ModelResponse) -> Self {
        Self::from_pieces(response.deltas().into_iter().map(Ok))
    }
}

impl Stream for ModelStream {
    type Item = Result<StreamEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(piece) = self.ready.pop_front() {
            if let Some(mut unreported) = self.unreported.take() {
                unreported.take();
            }
            return Poll::Ready(Some(piece));
        }
        match &mut self.rest {
            Some(rest) => rest.as_mut().poll_next(context),
            None => Poll::Ready(None),
        }
    }
}

debug!(ModelStream, self);

impl Attempt for ModelStream {
    async fn ask(model: &impl ChatModel, request: ModelRequest) -> Result<Self, ModelError> {
        let account = request.account.clone();
        model.stream(request).await?.begun(account).await
    }

    fn after_attempts(self, failed: Bill, account: Option<Account>) -> Self {
        if failed.is_empty() { self } else { self.counted(failed, None, account) }
    }
}

/// A stream after failed attempts, or of a model with a price.
struct CountedStream {
    pieces: ModelStream,
    /// The token counts of the failed attempts, until the first piece reports them.
    first: Option<StreamEvent>,
    failed: Bill,
    price: Option<Price>,
    reported: Usage,
    /// The tokens that the pieces have not reported.
    unreported: Unreported,
}

impl CountedStream {
    fn bill(&self) -> Bill {
        let mut bill = Bill::from(self.reported);
        if let Some(price) = &self.price {
            bill = bill.at(price);
        }
        bill += self.failed;
        bill
    }

    /// Ends the stream. Returns its reported token counts, and the tokens of the failed attempts.
    fn end(&mut self) -> (Usage, Bill) {
        self.unreported.take();
        (take(&mut self.reported), take(&mut self.failed))
    }

    fn end_with(&mut self, error: ModelError) -> ModelError {
        let (reported, failed) = self.end();
        let mut error = error.reporting(reported);
        if let Some(price) = &self.price {
            error = error.at(price);
        }
        error.after(failed)
    }
}

impl Stream for CountedStream {
    type Item = Result<StreamEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(first) = self.first.take() {
            self.unreported.bill = self.failed.correction();
            return Poll::Ready(Some(Ok(first)));
        }
        let piece = ready!(Pin::new(&mut self.pieces).poll_next(context));
        Poll::Ready(match piece {
            Some(Ok(StreamEvent::Usage(reported))) => {
                self.reported = reported;
                let bill = self.bill();
                self.unreported.bill = bill.correction();
                Some(Ok(StreamEvent::Usage(bill.usage)))
            }
            Some(Ok(StreamEvent::Done(mut response))) => {
                let (_, failed) = self.end();
                if let Some(price) = &self.price {
                    *response = response.at(price);
                }
                Some(Ok(StreamEvent::Done(Box::new(response.after(failed)))))
            }
            Some(Err(error)) => Some(Err(self.end_with(error))),
            // A stream may break off without an error.
            None if !self.bill().is_empty() => Some(Err(self.end_with(ModelError::cut()))),
            piece => piece,
        })
    }
}
