//! A list of models, asked in order until one answers.

use super::bill::{Attempt, Unreported};
use super::{
    BoxModel, ChatModel, ModelError, ModelErrorKind, ModelRequest, ModelStream, OutputFormat, OutputLosses,
};
use crate::message::ModelResponse;

/// A list of models. If one fails, the next gets the same request.
///
/// By default, every [retryable](ModelError::is_retryable) error leads to the next model: too many requests,
/// an overloaded server, a broken connection, a timeout, or an invalid or empty response. Other errors are
/// returned at once, because they are usually mistakes of the program, such as an invalid API key.
/// [`with_kinds`](Self::with_kinds) changes this.
///
/// Each request begins with the first model. A stream moves to the next model only before its first piece. If
/// no model answers, the last error is returned, and its message lists the earlier errors. The tokens of
/// failed models are [counted](ModelResponse::failed_usage). The request counts as one model call. If the
/// models have different prices, wrap each in [`Priced`](super::Priced).
///
/// ```
/// use toolkit_ai::llm::{ChatModel, ModelError, ScriptedModel};
/// use toolkit_ai::llm::model::Fallback;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let busy = ScriptedModel::new().error(ModelError::from_status(503, "overloaded"));
/// let model = Fallback::new(busy).or(ScriptedModel::new().text("Hello."));
/// assert_eq!(model.respond("Hi.".into()).await?.message.text, "Hello.");
/// # Ok::<(), ModelError>(())
/// # }).unwrap();
/// ```
///
/// Agents repeat a request to the whole list after the pause of their [`ModelRetry`](crate::ModelRetry). To
/// retry a single model of the list, wrap it in [`Retrying`](super::Retrying).
#[doc(alias("with_fallbacks"))]
#[derive(Debug, Clone)]
pub struct Fallback {
    models: Vec<BoxModel>,
    /// The errors after which the next model is asked. `None` means all temporary ones, also those without a
    /// retry.
    kinds: Option<Vec<ModelErrorKind>>,
}

impl Fallback {
    /// Creates a list with one model.
    #[must_use]
    pub fn new(first: impl ChatModel) -> Self {
        Self { models: vec![first.boxed()], kinds: None }
    }

    /// Adds a model to the end.
    #[must_use]
    pub fn or(mut self, next: impl ChatModel) -> Self {
        self.models.push(next.boxed());
        self
    }

    fn moves_on(&self, error: &ModelError) -> bool {
        match &self.kinds {
            Some(kinds) => kinds.contains(&error.kind),
            None => error.is_retryable() || error.kind.is_temporary(),
        }
    }

    /// Asks the models in order, until one answers or fails with another kind of error.
    async fn first<T: Attempt>(&self, request: ModelRequest) -> Result<T, ModelError> {
        let mut earlier = String::new();
        let mut failed = Unreported::new(request.account.clone());
        for (index, model) in self.models.iter().enumerate() {
            let mut error = match T::ask(model, request.clone()).await {
                Ok(answer) => return Ok(failed.before(answer)),
                Err(error) => error,
            };
            if index + 1 == self.models.len() || !self.moves_on(&error) {
                if !earlier.is_empty() {
                    error.message = format!("{} (before: {earlier})", error.message);
                }
                return Err(error.after(failed.take()));
            }
            failed.bill += error.billed();
            if !earlier.is_empty() {
                earlier.push_str("; ");
            }
            earlier.push_str(&format!("`{}`: {error}", model.name()));
        }
        Err(ModelError::new(ModelErrorKind::Other, "the list of models is empty"))
    }
}

setters! { Fallback:
    /// Sets the kinds of errors after which the next model is asked, in place of the default.
    ///
    /// ```
    /// use toolkit_ai::llm::ModelErrorKind::{ContextTooLong, RateLimited, Unavailable};
    /// use toolkit_ai::llm::{ModelError, ModelErrorKind, ScriptedModel};
    /// use toolkit_ai::llm::model::Fallback;
    ///
    /// // The second model has a larger context window.
    /// let model = Fallback::new(ScriptedModel::new())
    ///     .or(ScriptedModel::new())
    ///     .with_kinds([ContextTooLong, RateLimited, Unavailable]);
    /// ```
    with_kinds(kinds: impl IntoIterator<Item = ModelErrorKind>) = Some(kinds.into_iter().collect());
}

impl ChatModel for Fallback {
    fn name(&self) -> &str {
        self.models.first().map_or("fallback", ChatModel::name)
    }

    fn provider(&self) -> &str {
        self.models.first().map_or("", ChatModel::provider)
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        self.first(request).await
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        self.first(request).await
    }

    fn output_losses(&self, output: &OutputFormat) -> OutputLosses {
        let mut losses = OutputLosses::default();
        for model in &self.models {
            losses = losses.join(ChatModel::output_losses(model, output));
        }
        losses
    }
}
