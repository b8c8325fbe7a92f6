//! Boxed models, for choosing a model at run time.

use super::{
    ChatModel, DynModel, ModelError, ModelRequest, ModelResponse, ModelStream, OutputFormat, OutputLosses,
};
use std::sync::Arc;

/// A model of any type, created by [`ChatModel::boxed`]. Clones share the model.
///
/// Use it to choose a model at run time, or to store models of several types in one list.
///
/// ```
/// use toolkit_llm::{ChatModel, ModelResponse, ScriptedModel};
/// use toolkit_llm::model::BoxModel;
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
/// # Ok::<(), toolkit_llm::ModelError>(())
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
    fn name(&self) -> &str {
        self.0.name()
    }

    fn provider(&self) -> &str {
        self.0.provider()
    }

    fn respond(
        &self,
        request: ModelRequest,
    ) -> impl Future<Output = Result<ModelResponse, ModelError>> + Send {
        self.0.respond(request)
    }

    fn stream(&self, request: ModelRequest) -> impl Future<Output = Result<ModelStream, ModelError>> + Send {
        self.0.stream(request)
    }

    fn output_losses(&self, output: &OutputFormat) -> OutputLosses {
        self.0.output_losses(output)
    }

    fn boxed(self) -> BoxModel {
        self
    }
}

debug!(BoxModel, self, "name": ChatModel::name(self));
