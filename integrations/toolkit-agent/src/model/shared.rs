//! A type-erased model.

use super::{ChatModel, ModelError, ModelRequest, ModelResponse, ModelStream};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, ModelError>> + Send + 'a>>;

/// [`ChatModel`] as a trait object; implemented for every model.
pub(crate) trait AnyModel: Send + Sync {
    fn name(&self) -> &str;
    fn respond(&self, request: ModelRequest) -> Answer<'_, ModelResponse>;
    fn stream(&self, request: ModelRequest) -> Answer<'_, ModelStream>;
}

impl<M: ChatModel> AnyModel for M {
    fn name(&self) -> &str {
        ChatModel::name(self)
    }

    fn respond(&self, request: ModelRequest) -> Answer<'_, ModelResponse> {
        Box::pin(ChatModel::respond(self, request))
    }

    fn stream(&self, request: ModelRequest) -> Answer<'_, ModelStream> {
        Box::pin(ChatModel::stream(self, request))
    }
}

/// A model shared by several agents.
#[derive(Clone)]
pub(crate) struct SharedModel(Arc<dyn AnyModel>);

impl SharedModel {
    pub(crate) fn new(model: impl ChatModel) -> Self {
        Self(Arc::new(model))
    }
}

impl std::ops::Deref for SharedModel {
    type Target = dyn AnyModel;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for SharedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedModel").field(&self.0.name()).finish()
    }
}
