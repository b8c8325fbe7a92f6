//! The callbacks that run before and after each model call.

use super::situation::GuardScope;
use crate::error::AgentError;
use crate::helpers::BoxFuture;
use std::ops::ControlFlow;
use toolkit_llm::model::{ModelRequest, ModelResponse};

type Proceed = ControlFlow<ModelResponse, ModelRequest>;
type Before =
    dyn Fn(ModelRequest, GuardScope<'_>) -> BoxFuture<'static, Result<Proceed, AgentError>> + Send + Sync;
type After = dyn Fn(ModelResponse, GuardScope<'_>) -> BoxFuture<'static, Result<ModelResponse, AgentError>>
    + Send
    + Sync;

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
        scope: GuardScope<'_>,
    ) -> Result<Proceed, AgentError> {
        for callback in &self.before {
            request = match callback(request, scope).await? {
                ControlFlow::Continue(request) => request,
                response => return Ok(response),
            };
        }
        Ok(ControlFlow::Continue(request))
    }

    pub(super) async fn after(
        &self,
        mut response: ModelResponse,
        scope: GuardScope<'_>,
    ) -> Result<ModelResponse, AgentError> {
        let is_kept = |response: &ModelResponse| {
            response.message.native.as_ref().is_some_and(|native| native.conversation.is_some())
        };
        let was_kept = is_kept(&response);
        for callback in &self.after {
            response = callback(response, scope).await?;
        }
        response.message.differs_from_server |= was_kept && !is_kept(&response);
        Ok(response)
    }

    /// Returns whether tool calls must wait for the complete response, because an `after` callback may change
    /// them.
    pub(super) fn may_change_calls(&self) -> bool {
        !self.after.is_empty()
    }
}
