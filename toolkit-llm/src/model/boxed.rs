//! Boxed models.

use super::forward::forward_properties;
use super::{ChatModel, ModelError, ModelRequest, ModelStream, OutputFormat, OutputLosses};
use crate::helpers::BoxFuture;
use crate::message::ModelResponse;
use std::sync::Arc;

/// A boxed model of any type, created by [`ChatModel::boxed`]. Clones share the model.
///
/// ```
/// use toolkit_ai::llm::{ChatModel, ModelResponse, ScriptedModel};
/// use toolkit_ai::llm::model::BoxModel;
///
/// fn model(name: &str) -> BoxModel {
///     match name {
///         "echo" => ScriptedModel::new().respond_with(|request| ModelResponse::text(
///             request.messages[0].to_text(),
///         )).boxed(),
///         _ => ScriptedModel::new().text("Hello.").boxed(),
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// assert_eq!(model("echo").respond("Hi.".into()).await?.message.text, "Hi.");
/// # Ok::<(), toolkit_ai::llm::ModelError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct BoxModel(Arc<dyn DynModel>);

impl BoxModel {
    pub(super) fn new(model: impl ChatModel) -> Self {
        Self(Arc::new(model))
    }
}

impl ChatModel for BoxModel {
    forward_properties!(self => self.0);

    fn respond(
        &self,
        request: ModelRequest,
    ) -> impl Future<Output = Result<ModelResponse, ModelError>> + Send {
        self.0.respond(request)
    }

    fn stream(&self, request: ModelRequest) -> impl Future<Output = Result<ModelStream, ModelError>> + Send {
        self.0.stream(request)
    }

    fn boxed(self) -> BoxModel {
        self
    }
}

/// The object-safe form of [`ChatModel`].
trait DynModel: Send + Sync {
    fn name(&self) -> &str;
    fn provider(&self) -> &str;
    fn output_losses(&self, output: &OutputFormat) -> OutputLosses;
    fn respond(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelResponse, ModelError>>;
    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>>;
}

impl<M: ChatModel> DynModel for M {
    fn name(&self) -> &str {
        ChatModel::name(self)
    }

    fn provider(&self) -> &str {
        ChatModel::provider(self)
    }

    fn output_losses(&self, output: &OutputFormat) -> OutputLosses {
        ChatModel::output_losses(self, output)
    }

    fn respond(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelResponse, ModelError>> {
        Box::pin(ChatModel::respond(self, request))
    }

    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        Box::pin(ChatModel::stream(self, request))
    }
}

debug!(BoxModel, self, "name": ChatModel::name(self));
