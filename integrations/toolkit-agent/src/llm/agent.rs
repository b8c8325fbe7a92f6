//! An agent with a model, and one request to its model.

use super::settings::Settings;
use super::tools::Tools;
use super::turn::calls::TurnCalls;
use crate::error::AgentError;
use crate::event::RunEvent;
use std::ops::ControlFlow;
use std::time::Duration;
use toolkit_core::Dispatcher;
use toolkit_llm::__private::Billing as _;
use toolkit_llm::{ModelErrorKind, ModelResponse};

pub(super) struct LlmAgent {
    pub(super) settings: Settings,
    pub(super) tools: Tools,
}

impl LlmAgent {
    /// Returns the response of a turn, from a `before_model` callback or else from the model.
    pub(super) async fn answer(
        &self,
        dispatcher: &Dispatcher,
        calls: &mut TurnCalls<'_>,
    ) -> Result<ModelResponse, AgentError> {
        let (run, Settings { name, callbacks, .. }) = (calls.scope.run, &self.settings);
        run.0.budget.take_model_call()?;
        let mut request = self.fitting_request(dispatcher, calls).await?;
        let mut is_compacted = false;
        let response = loop {
            self.begin_turn(calls);
            let proceed = if callbacks.before.is_empty() {
                ControlFlow::Continue(request)
            } else {
                run.until_stopped(Box::pin(callbacks.before(request, calls.scope))).await??
            };
            let asked = match proceed {
                ControlFlow::Break(response) => {
                    calls.caller.add(response.billed());
                    break response;
                }
                ControlFlow::Continue(mut request) => self.ask(&mut request, calls).await,
            };
            let error = match asked {
                Ok(response) => break response,
                Err(AgentError::Model(error))
                    if error.kind() == ModelErrorKind::ContextTooLong && !is_compacted =>
                {
                    error
                }
                Err(error) => return Err(error),
            };
            // After one compaction, the program gets the error.
            let Some(shorter) = Box::pin(self.shorter_request(dispatcher, calls)).await? else {
                return Err(error.into());
            };
            if calls.attempt.is_billed(&error) {
                run.0.budget.take_model_call()?;
            }
            run.emit(|| RunEvent::ModelRetried {
                agent: name.clone(),
                error: error.to_string(),
                pause: Duration::ZERO,
                within: run.within(),
            });
            (request, is_compacted) = (shorter, true);
        };
        run.emit_losses(name, &response.losses);
        if callbacks.may_change_calls() {
            run.until_stopped(Box::pin(callbacks.after(response, calls.scope))).await?
        } else {
            Ok(response)
        }
    }
}
