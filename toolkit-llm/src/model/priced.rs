//! A model with a price.

use super::bill::{Bill, Unreported};
use super::{
    ChatModel, ModelError, ModelRequest, ModelResponse, ModelStream, OutputFormat, OutputLosses, Price,
};
use crate::StreamEvent;
use futures_core::Stream;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A model with the price of its tokens. It takes the place of the price of an agent.
///
/// Use it where an agent asks several models, as in a [`Fallback`](super::Fallback): the cost of a run then has the
/// price of each model that was asked, also if its answer broke off.
///
/// ```
/// use toolkit_llm::model::{Fallback, Priced};
/// use toolkit_llm::{ChatModel, ModelError, ModelResponse, Price, ScriptedModel, Usage};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let cheap = ScriptedModel::new().error(ModelError::from_status(503, "overloaded"));
/// let answer = ModelResponse::text("Hello.").with_usage(Usage::new(2_000, 500));
/// let model = Fallback::new(Priced::new(cheap, Price::per_million(1.0, 2.0)))
///     .or(Priced::new(ScriptedModel::new().response(answer), Price::per_million(5.0, 20.0)));
/// assert_eq!(model.respond("Hi.".into()).await?.cost(), Some(0.02));
/// # Ok::<(), ModelError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Priced<M> {
    model: M,
    price: Price,
}

impl<M: ChatModel> Priced<M> {
    /// Adds a price to a model.
    #[must_use]
    pub fn new(model: M, price: Price) -> Self {
        Self { model, price }
    }
}

impl<M: ChatModel> ChatModel for Priced<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn provider(&self) -> &str {
        self.model.provider()
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        let price = &self.price;
        let response = self.model.respond(request.at(*price)).await;
        response.map(|response| response.at(price)).map_err(|error| error.at(price))
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let price = self.price;
        let unreported = Unreported::new(request.account.clone());
        match self.model.stream(request.at(price)).await {
            Ok(pieces) => Ok(ModelStream::new(PricedStream { pieces, price, unreported })),
            Err(error) => Err(error.at(&price)),
        }
    }

    fn output_losses(&self, output: &OutputFormat) -> OutputLosses {
        self.model.output_losses(output)
    }
}

/// A stream of a model with a price.
struct PricedStream {
    pieces: ModelStream,
    price: Price,
    /// The tokens reported so far. Their pieces have no price, so only the difference is unreported.
    unreported: Unreported,
}

impl Stream for PricedStream {
    type Item = Result<StreamEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let piece = ready!(Pin::new(&mut self.pieces).poll_next(context));
        let price = self.price;
        Poll::Ready(match piece {
            Some(Ok(StreamEvent::Usage(reported))) => {
                self.unreported.bill = Bill::from(reported).at(&price).correction();
                Some(Ok(StreamEvent::Usage(reported)))
            }
            Some(Ok(StreamEvent::Done(response))) => {
                self.unreported.take();
                Some(Ok(StreamEvent::Done(Box::new(response.at(&price)))))
            }
            Some(Err(error)) => Some(Err(self.ended(error))),
            // A stream may break off without an error.
            None if !self.unreported.bill.is_empty() => Some(Err(self.ended(ModelError::cut()))),
            piece => piece,
        })
    }
}

impl PricedStream {
    /// Adds the tokens reported so far to an error.
    fn ended(&mut self, error: ModelError) -> ModelError {
        error.reporting(self.unreported.take().paid.usage).at(&self.price)
    }
}
