//! The callbacks that run before and after each model call.

use super::guards::Situation;
use crate::error::AgentError;
use crate::helpers::BoxFuture;
use crate::model::{ModelRequest, ModelResponse};
use std::ops::ControlFlow;

type Proceed = ControlFlow<ModelResponse, ModelRequest>;
type Before =
    dyn Fn(ModelRequest, &Situation) -> BoxFuture<'static, Result<Proceed, AgentError>> + Send + Sync;
type After =
    dyn Fn(ModelResponse, &Situation) -> BoxFuture<'static, Result<ModelResponse, AgentError>> + Send + Sync;

/// The callbacks that run before and after each model call, in the order of registration.
#[derive(Default)]
pub(super) struct ModelCallbacks {
    pub(super) before: Vec<Box<Before>>,
    pub(super) after: Vec<Box<After>>,
}

impl ModelCallbacks {
    /// Runs the `before` callbacks in order. Stops at the first callback that returns a response, and returns
    /// this response.
    pub(super) async fn before(
        &self,
        mut request: ModelRequest,
        situation: &Situation,
    ) -> Result<Proceed, AgentError> {
        for callback in &self.before {
            request = match callback(request, situation).await? {
                ControlFlow::Continue(request) => request,
                response => return Ok(response),
            };
        }
        Ok(ControlFlow::Continue(request))
    }

    pub(super) async fn after(
        &self,
        mut response: ModelResponse,
        situation: &Situation,
    ) -> Result<ModelResponse, AgentError> {
        for callback in &self.after {
            response = callback(response, situation).await?;
        }
        Ok(response)
    }

    /// Returns whether tool calls must wait for the complete response, because an `after` callback may change
    /// them.
    pub(super) fn may_change_calls(&self) -> bool {
        !self.after.is_empty()
    }
}
