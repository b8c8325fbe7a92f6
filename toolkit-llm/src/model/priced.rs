//! A model with a price.

use super::bill::Bill;
use super::forward::forward_properties;
use super::{ChatModel, ModelError, ModelRequest, ModelStream, Price};
use crate::message::ModelResponse;

/// A model with the price of its tokens, which replaces the price of its agent.
///
/// Use it where an agent asks several models, as in a [`Fallback`](super::Fallback). The cost of a run then
/// has the price of each model that was asked, also for broken answers.
///
/// ```
/// use toolkit_ai::llm::model::{Fallback, Priced};
/// use toolkit_ai::llm::{ChatModel, ModelError, ModelResponse, Price, ScriptedModel, Usage};
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
    forward_properties!(self => self.model);

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        let price = &self.price;
        match self.model.respond(request.at(*price)).await {
            Ok(response) => Ok(response.at(price)),
            Err(error) => Err(error.at(price)),
        }
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let account = request.account.clone();
        match self.model.stream(request.at(self.price)).await {
            Ok(pieces) => Ok(pieces.counted(Bill::default(), Some(self.price), account)),
            Err(error) => Err(error.at(&self.price)),
        }
    }
}
