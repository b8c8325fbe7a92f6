//! What is called before and after a model.

use crate::model::{ModelRequest, ModelResponse};
use std::fmt;
use std::ops::ControlFlow;
use std::pin::Pin;

type Going = ControlFlow<ModelResponse, ModelRequest>;
type Before = dyn Fn(ModelRequest) -> Pin<Box<dyn Future<Output = Going> + Send>> + Send + Sync;
type After = dyn Fn(ModelResponse) -> Pin<Box<dyn Future<Output = ModelResponse> + Send>> + Send + Sync;

/// What is called before and after a model, in this order.
#[derive(Default)]
pub(crate) struct ModelCallbacks {
    pub(crate) before: Vec<Box<Before>>,
    pub(crate) after: Vec<Box<After>>,
}

impl ModelCallbacks {
    pub(super) async fn before(&self, mut request: ModelRequest) -> Going {
        for callback in &self.before {
            request = match callback(request).await {
                ControlFlow::Continue(request) => request,
                answer => return answer,
            };
        }
        ControlFlow::Continue(request)
    }

    pub(super) async fn after(&self, mut response: ModelResponse) -> ModelResponse {
        for callback in &self.after {
            response = callback(response).await;
        }
        response
    }

    /// Whether calls have to wait because a callback may change them.
    pub(super) fn may_change_calls(&self) -> bool {
        !self.after.is_empty()
    }
}

impl fmt::Debug for ModelCallbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelCallbacks")
            .field("before", &self.before.len())
            .field("after", &self.after.len())
            .finish()
    }
}
