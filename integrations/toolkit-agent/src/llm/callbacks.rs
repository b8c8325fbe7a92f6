//! The callbacks that run before and after each model call.

use super::scope::TurnScope;
use crate::error::AgentError;
use crate::helpers::{BoxFuture, guarded_future};
use std::ops::ControlFlow;
use toolkit_llm::{ModelRequest, ModelResponse};

type Proceed = ControlFlow<ModelResponse, ModelRequest>;
type Before =
    dyn Fn(ModelRequest, TurnScope<'_>) -> BoxFuture<'static, Result<Proceed, AgentError>> + Send + Sync;
type After = dyn Fn(ModelResponse, TurnScope<'_>) -> BoxFuture<'static, Result<ModelResponse, AgentError>>
    + Send
    + Sync;

/// The callbacks around model calls, in the order of registration.
#[derive(Default)]
pub(super) struct ModelCallbacks {
    pub(super) before: Vec<Box<Before>>,
    pub(super) after: Vec<Box<After>>,
}

impl ModelCallbacks {
    /// Runs the `before` callbacks, up to the first that returns a response.
    pub(super) async fn before(
        &self,
        mut request: ModelRequest,
        scope: TurnScope<'_>,
    ) -> Result<Proceed, AgentError> {
        for callback in &self.before {
            let called = guarded_future(async { callback(request, scope).await }).await;
            request = match called.map_err(|panic| panicked("before_model", scope, &panic))?? {
                ControlFlow::Continue(request) => request,
                response => return Ok(response),
            };
        }
        Ok(ControlFlow::Continue(request))
    }

    pub(super) async fn after(
        &self,
        mut response: ModelResponse,
        scope: TurnScope<'_>,
    ) -> Result<ModelResponse, AgentError> {
        let was_kept = is_kept(&response);
        for callback in &self.after {
            let called = guarded_future(async { callback(response, scope).await }).await;
            response = called.map_err(|panic| panicked("after_model", scope, &panic))??;
        }
        response.message.differs_from_server |= was_kept && !is_kept(&response);
        Ok(response)
    }

    /// Returns whether an `after` callback may change tool calls, so that they wait for the complete
    /// response.
    pub(super) fn may_change_calls(&self) -> bool {
        !self.after.is_empty()
    }
}

/// Returns whether the provider stores a conversation with the response.
fn is_kept(response: &ModelResponse) -> bool {
    response.message.native.as_ref().is_some_and(|native| native.conversation.is_some())
}

fn panicked(callback: &str, scope: TurnScope<'_>, panic: &str) -> AgentError {
    AgentError::Other(format!("a `{callback}` callback of agent `{}` has panicked: {panic}", scope.agent))
}
