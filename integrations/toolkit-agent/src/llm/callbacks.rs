//! Callbacks before and after each model call.

use crate::helpers::BoxFuture;
use crate::model::{ModelRequest, ModelResponse};
use std::ops::ControlFlow;

type Proceed = ControlFlow<ModelResponse, ModelRequest>;
type Before = dyn Fn(ModelRequest) -> BoxFuture<'static, Proceed> + Send + Sync;
type After = dyn Fn(ModelResponse) -> BoxFuture<'static, ModelResponse> + Send + Sync;

/// Callbacks before and after each model call, in the order of registration.
#[derive(Default)]
pub(super) struct ModelCallbacks {
    pub(super) before: Vec<Box<Before>>,
    pub(super) after: Vec<Box<After>>,
}

impl ModelCallbacks {
    /// Runs the `before` callbacks until a callback returns a response.
    pub(super) async fn before(&self, mut request: ModelRequest) -> Proceed {
        for callback in &self.before {
            request = match callback(request).await {
                ControlFlow::Continue(request) => request,
                response => return response,
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

    /// Returns whether tool calls must wait for the complete response, because a callback may change them.
    pub(super) fn may_change_calls(&self) -> bool {
        !self.after.is_empty()
    }
}
