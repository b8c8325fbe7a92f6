//! One model call of a turn, with retries and streaming.

use super::calls::TurnCalls;
use super::started::put_first;
use crate::agent::{Reported, Run, RunAgent};
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::llm::agent::LlmAgent;
use crate::llm::settings::Settings;
use crate::span::error_type;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::Poll;
use tokio::task::coop::consume_budget;
use tokio::time::{sleep, timeout};
use toolkit_core::ToolResult;
use toolkit_llm::__private::{ChatCaller, ChatSpan};
use toolkit_llm::ChatModel as _;
use toolkit_llm::StreamEvent;
use toolkit_llm::{FinishReason, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelStream};

impl LlmAgent {
    /// Calls the model until it responds, and retries temporary failures. Streamed tool calls start as soon
    /// as they are complete, unless an `after_model` callback may change them.
    pub(in crate::llm) async fn ask(
        &self,
        request: &mut ModelRequest,
        calls: &mut TurnCalls<'_>,
    ) -> Result<ModelResponse, AgentError> {
        let (run, Settings { name, model, retry, .. }) = (calls.scope.run, &self.settings);
        calls.attempt.one_call = request.tool_use.parallel == Some(false);
        request.bill_to(calls.caller);
        request.is_traced = true;
        let mut reported = Reported::new(calls.caller.clone());
        if request.options.background {
            request.watch();
        }
        for attempt in 1_u32.. {
            run.emit(|| RunEvent::ModelCalled {
                agent: name.clone(),
                model: model.name().to_owned(),
                within: run.within(),
            });
            let error = match self.attempt(request, calls, &mut reported).await {
                Ok(response) => {
                    reported.answered(&response);
                    return Ok(response);
                }
                // Started calls cannot be undone, so the model continues from their results.
                Err(AgentError::Model(error)) if calls.dispatched.handled > 0 => {
                    let mut error = error.reporting(reported.usage());
                    calls.meter.is_exceeded |= error.kind() == ModelErrorKind::ContextTooLong;
                    let response = interrupted(error.take_partial(), calls.conversation);
                    calls.attempt.broken = Some(error);
                    reported.end(response.billed());
                    return Ok(response);
                }
                Err(AgentError::Model(error)) => error.reporting(reported.usage()),
                Err(error) => return Err(error),
            };
            reported.end(error.billed());
            calls.conversation.log_spent(|| run.0.budget.sum_of_run());
            calls.conversation.discard_turn();
            calls.forget();
            calls.pieces.buffer.clear();
            // A background response runs on after the agent's timeout, so another request would be a second
            // one to pay for.
            let pause = retry.pause_after(attempt, &error).filter(|_| !request.is_running_in_background());
            let Some(pause) = pause else { return Err(error.into()) };
            if calls.attempt.is_billed(&error) {
                // The provider bills an answer that broke off, so the next attempt is another model call.
                run.0.budget.take_model_call()?;
            }
            run.emit(|| RunEvent::ModelRetried {
                agent: name.clone(),
                error: error.to_string(),
                pause,
                within: run.within(),
            });
            run.until_stopped(sleep(pause)).await?;
            self.begin_turn(calls);
        }
        Err(AgentError::Cancelled)
    }

    pub(in crate::llm) fn begin_turn(&self, calls: &mut TurnCalls<'_>) {
        calls.conversation.begin_turn(&self.settings.name, self.settings.guards.check_answers());
        calls.pieces.begin(calls.conversation);
    }

    /// Waits before the model continues an answer that broke off after tool calls had started. `breaks` is
    /// the number of such answers in a row. Each is an attempt, but the model may always continue once.
    ///
    /// # Errors
    /// The error of the stream after the last attempt.
    pub(super) async fn pause_after_break(
        &self,
        run: &Run,
        broken: Option<ModelError>,
        breaks: &mut u32,
    ) -> Result<(), AgentError> {
        let Some(error) = broken else {
            *breaks = 0;
            return Ok(());
        };
        *breaks += 1;
        let Some(pause) = self.settings.retry.pause_after_break(*breaks, &error) else {
            return Err(error.into());
        };
        run.emit(|| RunEvent::AnswerBroken {
            agent: self.settings.name.clone(),
            error: error.to_string(),
            pause,
            within: run.within(),
        });
        run.until_stopped(sleep(pause)).await
    }

    /// Adds the message of a complete response to the turn, and starts the remaining calls.
    pub(super) async fn receive_calls(
        &self,
        response: ModelResponse,
        calls: &mut TurnCalls<'_>,
    ) -> Result<(), AgentError> {
        let ModelResponse { mut message, usage, finish, hosted, .. } = response;
        self.name().clone_into(&mut message.agent);
        message.usage = usage;
        message.paused = finish.is_paused();
        let started = calls.conversation.turn_message().map_or(&[][..], |turn| &turn.calls);
        // A result's position is the index of its call, so started calls come first.
        if put_first(started.get(..calls.dispatched.handled).unwrap_or_default(), &mut message.calls) {
            // The native form lacks the calls that were added here.
            message.drop_native();
        }
        if let Some(call) = message.calls.iter().find(|call| calls.answer.is_in(call)) {
            message.answer_tool.clone_from(&call.name);
        }
        calls.pieces.emit_message(&message, &hosted, calls.answer);
        let counted = calls.count(message.calls.get(calls.counted()..).unwrap_or_default());
        calls.conversation.end_message(message, finish, !hosted.is_empty());
        calls.admit(counted).await
    }

    async fn attempt(
        &self,
        request: &ModelRequest,
        calls: &mut TurnCalls<'_>,
        reported: &mut Reported,
    ) -> Result<ModelResponse, AgentError> {
        let (run, Settings { name, model, streaming, .. }) = (calls.scope.run, &self.settings);
        calls.attempt.has_begun = false;
        // No span contains what guardrails may still block.
        let is_passed = run.0.shared.traced_messages && calls.pieces.gate.load(Ordering::Relaxed);
        let caller = ChatCaller {
            agent: name,
            conversation: calls.conversation.id(),
            shows_request: is_passed,
            shows_response: is_passed && !calls.pieces.holds_text(),
        };
        let span = ChatSpan::open(model, request, *streaming, caller);
        // A function that takes a future by value makes the future of the run larger.
        let mut receiving = pin!(self.receive(request, calls, reported, &span));
        let response = match run.0.budget.limits.model_timeout {
            None => run.until_stopped(receiving.as_mut()).await.unwrap_or_else(Err),
            Some(limit) => match run.until_stopped(timeout(limit, receiving.as_mut())).await {
                Ok(Ok(response)) => response,
                Ok(Err(_)) => {
                    let text = format!("LLM call timed out after {}s", limit.as_secs_f64());
                    Err(ModelError::new(ModelErrorKind::TimedOut, text).into())
                }
                Err(stopped) => Err(stopped),
            },
        };
        let arrived = match &response {
            Ok(response) => Some(response),
            Err(AgentError::Model(error)) => error.partial(),
            Err(_) => None,
        };
        span.end(arrived, response.as_ref().err().map(error_type));
        response
    }

    async fn receive(
        &self,
        request: &ModelRequest,
        calls: &mut TurnCalls<'_>,
        reported: &mut Reported,
        span: &ChatSpan,
    ) -> Result<ModelResponse, AgentError> {
        let (run, Settings { model, callbacks, streaming, .. }) = (calls.scope.run, &self.settings);
        if !streaming {
            let response = span.around(model.respond(request.clone())).await?;
            calls.pieces.emit_whole(&response);
            return Ok(response);
        }
        let mut stream = span.around(model.stream(request.clone())).await?;
        loop {
            // A fast stream must not delay cancellation.
            consume_budget().await;
            let delta = match next(&mut stream, calls, span).await {
                Next::Result(result) => {
                    calls.keep(result);
                    run.save(calls.conversation).await?;
                    continue;
                }
                Next::Delta(delta) => delta.ok_or_else(ModelError::cut)??,
            };
            calls.attempt.has_begun = true;
            match delta {
                StreamEvent::Usage(usage) => reported.set(usage),
                StreamEvent::Call(call) if !callbacks.may_change_calls() && !calls.pieces.is_unchecked => {
                    let is_answer = calls.answer.is_in(&call);
                    let counted = calls.count(std::slice::from_ref(&call));
                    calls.conversation.push_call(call, is_answer);
                    calls.admit(counted).await?;
                }
                StreamEvent::Done(response) => return Ok(*response),
                piece => calls.pieces.receive(piece, calls.conversation),
            }
        }
    }
}

/// A delta of the model's response, or the result of a tool call.
enum Next {
    Delta(Option<Result<StreamEvent, ModelError>>),
    Result(ToolResult),
}

async fn next(stream: &mut ModelStream, calls: &mut TurnCalls<'_>, span: &ChatSpan) -> Next {
    let mut result = pin!(calls.next());
    let mut is_idle = false;
    poll_fn(|cx| {
        if let Poll::Ready(delta) = span.poll_next(stream, cx) {
            return Poll::Ready(Next::Delta(delta));
        }
        if !is_idle {
            match result.as_mut().poll(cx) {
                Poll::Ready(Some(result)) => return Poll::Ready(Next::Result(result)),
                Poll::Ready(None) => is_idle = true,
                Poll::Pending => {}
            }
        }
        Poll::Pending
    })
    .await
}

/// Returns the part of the response before the stream broke, or the message of the turn if `partial` lacks
/// calls.
fn interrupted(partial: Option<ModelResponse>, conversation: &mut Conversation) -> ModelResponse {
    let mut partial = partial.unwrap_or_default();
    if let Some(message) = conversation.arrived_message()
        && partial.message.calls.len() < message.calls.len()
    {
        partial.message = message.clone();
    }
    partial.with_finish(FinishReason::Interrupted)
}
