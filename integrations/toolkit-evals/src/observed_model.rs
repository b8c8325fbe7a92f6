//! A wrapper of a model that collects the tool registries of its requests.

use std::sync::{Arc, Mutex};
use toolkit_core::__private::lock;
use toolkit_core::ToolRegistry;
use toolkit_llm::model::{BoxModel, OutputFormat, OutputLosses};
use toolkit_llm::{ChatModel, ModelError, ModelRequest, ModelResponse, ModelStream};

/// The tool registries of the requests to a model, without repetitions. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Registries(Arc<Mutex<Vec<Arc<ToolRegistry>>>>);

impl Registries {
    pub(crate) fn list(&self) -> Vec<Arc<ToolRegistry>> {
        lock(&self.0).clone()
    }

    fn add(&self, tools: &Arc<ToolRegistry>) {
        let mut list = lock(&self.0);
        if !list.iter().any(|known| Arc::ptr_eq(known, tools)) {
            list.push(tools.clone());
        }
    }
}

pub(crate) struct ObservedModel {
    pub(crate) model: BoxModel,
    pub(crate) registries: Registries,
}

impl ChatModel for ObservedModel {
    fn name(&self) -> &str {
        ChatModel::name(&self.model)
    }

    fn provider(&self) -> &str {
        ChatModel::provider(&self.model)
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        self.registries.add(&request.tools);
        ChatModel::respond(&self.model, request).await
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        self.registries.add(&request.tools);
        ChatModel::stream(&self.model, request).await
    }

    fn output_losses(&self, output: &OutputFormat) -> OutputLosses {
        ChatModel::output_losses(&self.model, output)
    }
}
