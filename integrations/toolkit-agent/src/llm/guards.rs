//! The guardrails of an agent, and what follows from their verdicts.

pub(super) mod parallel_check;

use super::callbacks::ModelCallbacks;
use super::scope::{CheckScope, Checked, TurnScope};
use super::turn::event_buffer::EventBuffer;
use crate::conversation::{Conversation, TurnVerdict, accepted_alongside};
use crate::error::AgentError;
use crate::guardrail::{Check, CheckFn, Guardrail};
use crate::helpers::BoxFuture;
use crate::output::AgentOutput;
use std::ops::ControlFlow;
use toolkit_core::middleware::{Callbacks, ToolRequest};
use toolkit_core::{ToolCall, ToolError, ToolOutput, ToolResult};
use toolkit_llm::UserMessage;
use toolkit_llm::{FinishReason, ModelRequest, ModelResponse};

/// An agent's guardrails for inputs and answers. The others run as callbacks.
#[derive(Default)]
pub(super) struct Guards {
    inputs: Vec<(Guardrail, CheckFn<UserMessage>)>,
    outputs: Vec<(String, CheckFn<AgentOutput>)>,
    /// The checks of tool outputs supplied by the program. A callback checks other outputs.
    tool_outputs: Vec<(String, CheckFn<ToolOutput>)>,
    /// Whether checks may replace responses of the model.
    pub(super) checks_responses: bool,
}

impl Guards {
    /// Sorts guardrails by type. Those for tools become two groups of callbacks: outside and inside of the
    /// program's own.
    pub(super) fn new(
        guardrails: Vec<Guardrail>,
        agent: &str,
        model: &mut ModelCallbacks,
    ) -> (Self, [Option<Callbacks>; 2]) {
        let mut guards = Self::default();
        let mut calls = Vec::new();
        let mut outputs = Vec::new();
        for guardrail in guardrails {
            let name = guardrail.name.clone();
            match guardrail.check.clone() {
                Check::Input(check) => guards.inputs.push((guardrail, check)),
                Check::Output(check) => guards.outputs.push((name, check)),
                Check::Call(check) => calls.push((name, check)),
                Check::ToolOutput(check) => outputs.push((name, check)),
                Check::Request(check) => model.before.push(Box::new(move |request, scope| {
                    let checks = vec![(name.clone(), check.clone())];
                    Box::pin(check_request(scope.for_check(), checks, request))
                })),
                Check::Response(check) => {
                    guards.checks_responses = true;
                    model.after.push(Box::new(move |response, scope| {
                        let checks = vec![(name.clone(), check.clone())];
                        Box::pin(check_response(scope.for_check(), checks, response))
                    }));
                }
            }
        }
        guards.tool_outputs.clone_from(&outputs);
        let outer = if outputs.is_empty() { None } else { Some(output_checks(agent.to_owned(), outputs)) };
        let inner = if calls.is_empty() { None } else { Some(call_checks(agent.to_owned(), calls)) };
        (guards, [outer, inner])
    }

    pub(super) fn check_answers(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// Checks the successful results that the program has supplied for the turn.
    pub(super) async fn decided(&self, scope: TurnScope<'_>, calls: &[ToolCall], results: &mut [ToolResult]) {
        if self.tool_outputs.is_empty() {
            return;
        }
        for result in results {
            let Ok(output) = result.outcome.clone() else { continue };
            let check_scope = scope.for_check().about(calls.get(result.position).cloned());
            let judged = check_scope.judge(self.tool_outputs.clone(), output).await;
            result.outcome = kept_output(&result.name, judged);
        }
    }

    /// Returns whether a response's text must wait until the response was checked.
    pub(super) fn hold_text(&self) -> bool {
        !self.outputs.is_empty() || self.checks_responses
    }

    /// Returns a future that checks new inputs, if there is something to check: with `is_parallel` by the
    /// guardrails beside the model, otherwise by all others.
    pub(super) fn inputs(
        &self,
        scope: TurnScope<'_>,
        conversation: &Conversation,
        is_parallel: bool,
    ) -> Option<InputCheck> {
        let selected = self.inputs.iter().filter(|(guardrail, _)| guardrail.is_beside_model == is_parallel);
        let checks: Vec<_> = selected.map(|(guard, check)| (guard.name.clone(), check.clone())).collect();
        if checks.is_empty() {
            return None;
        }
        let inputs = conversation.unchecked_inputs(scope.agent);
        if inputs.is_empty() {
            return None;
        }
        let check_scope = scope.for_check().within(conversation);
        Some(Box::pin(async move {
            let mut judged = Vec::new();
            for (index, message) in inputs {
                let checked = check_scope.judge(checks.clone(), message).await;
                judged.push((index, checked));
                if !matches!(judged.last(), Some((_, Ok(Checked::Passed(_) | Checked::Replaced(_))))) {
                    break;
                }
            }
            judged
        }))
    }

    /// Checks the answer in the unfinished turn, and ends the turn with the verdict. Returns the answer or
    /// its replacement. If the run stops meanwhile, a resumed run checks it again.
    ///
    /// # Errors
    /// [`AgentError::Blocked`] if a check has ended the run.
    pub(super) async fn output(
        &self,
        scope: TurnScope<'_>,
        conversation: &mut Conversation,
        output: AgentOutput,
        buffer: &mut EventBuffer,
    ) -> Result<AgentOutput, AgentError> {
        if self.outputs.is_empty() {
            conversation.answer_turn(TurnVerdict::Unchanged, &output);
            return Ok(output);
        }
        let check_scope = scope.for_check().within(conversation);
        let text = conversation.paused_text() + &output.text;
        let whole = AgentOutput { text, ..output.clone() };
        let judged = scope.run.until_stopped(check_scope.judge(self.outputs.clone(), whole)).await?;
        // Adding to a shared list of messages copies it.
        drop(check_scope);
        let checked = match judged {
            Ok(checked) => checked,
            Err(error) => {
                conversation.end_turn(TurnVerdict::Withheld);
                return Err(error);
            }
        };
        let AgentOutput { agent, finish, escalate, .. } = output.clone();
        let (text, finish) = match checked {
            Checked::Passed(_) => {
                let was_paused = !conversation.unchecked().is_empty();
                let turn = conversation.turn();
                let accepted =
                    turn.and_then(|turn| accepted_alongside(turn.message(), turn.results(), was_paused));
                conversation.answer_turn(TurnVerdict::Accepted, &output);
                if accepted.is_some()
                    && let Some(message) = conversation.latest_message()
                {
                    buffer.replace_message(message);
                }
                return Ok(output);
            }
            Checked::Replaced(output) => (output.text, finish),
            Checked::Blocked(text) => (text, blocked_finish()),
        };
        buffer.clear_all();
        let output = AgentOutput { text, agent, finish, escalate };
        conversation.answer_turn(TurnVerdict::Replaced(output.text.clone()), &output);
        scope.emit_answer(conversation, &output.text);
        Ok(output)
    }
}

/// A future that checks inputs, and returns each result with the input's index.
pub(super) type InputCheck = BoxFuture<'static, Judged>;
pub(super) type Judged = Vec<(usize, Result<Checked<UserMessage>, AgentError>)>;

/// Applies the results to the inputs. Returns the agent's answer if an input was blocked.
pub(super) fn apply_inputs(
    conversation: &mut Conversation,
    scope: TurnScope<'_>,
    judged: Judged,
) -> Result<Option<AgentOutput>, AgentError> {
    let agent = scope.agent;
    for (index, checked) in judged {
        match checked {
            Ok(Checked::Passed(_)) => {}
            Ok(Checked::Replaced(message)) => conversation.replace_input(index, message),
            Ok(Checked::Blocked(text)) => {
                conversation.block_input(index);
                // In a turn of its own, so that the message has an id.
                conversation.begin_turn(agent, false);
                let ModelResponse { message, finish, .. } = blocked(text.clone());
                conversation.end_message(message, finish, true);
                conversation.end_turn(TurnVerdict::Unchanged);
                scope.emit_answer(conversation, &text);
                let output = AgentOutput::new(agent, text);
                return Ok(Some(AgentOutput { finish: blocked_finish(), ..output }));
            }
            Err(error) => {
                if matches!(error, AgentError::Blocked { .. }) {
                    conversation.block_input(index);
                }
                return Err(error);
            }
        }
    }
    Ok(None)
}

/// Returns whether the inputs were accepted unchanged.
pub(super) fn have_passed(judged: &Judged) -> bool {
    judged.iter().all(|(_, checked)| matches!(checked, Ok(Checked::Passed(_))))
}

/// Returns the finish reason of an answer that replaces a blocked value.
pub(super) fn blocked_finish() -> FinishReason {
    FinishReason::Other(crate::answer::BLOCKED.to_owned())
}

fn blocked(text: String) -> ModelResponse {
    ModelResponse::text(text).with_finish(blocked_finish())
}

/// Returns a request's tool call as the tool receives it: near misses are coerced, and parameters have
/// their own names. Invalid arguments are unchanged.
fn call_of(request: &ToolRequest) -> ToolCall {
    let id = request.call_id().map(ToString::to_string).unwrap_or_default();
    let arguments = request.arguments_json().unwrap_or_else(|_| request.arguments().to_owned());
    ToolCall::new(id, request.definition().name.to_string(), arguments)
}

async fn check_request(
    check_scope: CheckScope,
    checks: Vec<(String, CheckFn<ModelRequest>)>,
    request: ModelRequest,
) -> Result<ControlFlow<ModelResponse, ModelRequest>, AgentError> {
    match check_scope.judge(checks, request).await? {
        Checked::Passed(request) | Checked::Replaced(request) => Ok(ControlFlow::Continue(request)),
        Checked::Blocked(text) => Ok(ControlFlow::Break(blocked(text))),
    }
}

async fn check_response(
    check_scope: CheckScope,
    checks: Vec<(String, CheckFn<ModelResponse>)>,
    response: ModelResponse,
) -> Result<ModelResponse, AgentError> {
    let usage = response.usage;
    match check_scope.judge(checks, response).await? {
        Checked::Passed(response) | Checked::Replaced(response) => Ok(response),
        Checked::Blocked(text) => Ok(blocked(text).with_usage(usage)),
    }
}

fn output_checks(agent: String, checks: Vec<(String, CheckFn<ToolOutput>)>) -> Callbacks {
    Callbacks::new()
        .after_async(move |request, output| check_output(agent.clone(), checks.clone(), request, output))
}

fn call_checks(agent: String, checks: Vec<(String, CheckFn<ToolCall>)>) -> Callbacks {
    Callbacks::new().before_async(move |request| check_call(agent.clone(), checks.clone(), request))
}

async fn check_call(
    agent: String,
    checks: Vec<(String, CheckFn<ToolCall>)>,
    request: ToolRequest,
) -> ControlFlow<Result<ToolOutput, ToolError>, ToolRequest> {
    let call = call_of(&request);
    let Some(check_scope) = CheckScope::from_call(&agent, &request, call.clone()) else {
        let text = "the call can only be checked in a run of its agent";
        return ControlFlow::Break(Err(ToolError::denied(&call.name, text)));
    };
    match check_scope.judge(checks, call.clone()).await {
        Ok(Checked::Passed(_)) => ControlFlow::Continue(request),
        Ok(Checked::Replaced(other)) if other.name == call.name => {
            ControlFlow::Continue(request.with_arguments(other.arguments.as_str()))
        }
        Ok(Checked::Replaced(other)) => {
            let text = format!(
                "a guardrail replaced it with a call of `{}`; it can only change arguments",
                other.name
            );
            ControlFlow::Break(Err(ToolError::denied(&call.name, &text)))
        }
        Ok(Checked::Blocked(text)) => ControlFlow::Break(Err(ToolError::denied(&call.name, &text))),
        Err(error) => ControlFlow::Break(Err(ToolError::denied(&call.name, &error.to_string()))),
    }
}

async fn check_output(
    agent: String,
    checks: Vec<(String, CheckFn<ToolOutput>)>,
    request: ToolRequest,
    output: ToolOutput,
) -> Result<ToolOutput, ToolError> {
    let call = call_of(&request);
    let name = call.name.clone();
    match CheckScope::from_call(&agent, &request, call) {
        Some(check_scope) => kept_output(&name, check_scope.judge(checks, output).await),
        None => Err(withheld(&name, "it can only be checked in a run of its agent")),
    }
}

fn kept_output(tool: &str, judged: Result<Checked<ToolOutput>, AgentError>) -> Result<ToolOutput, ToolError> {
    match judged {
        Ok(Checked::Passed(output) | Checked::Replaced(output)) => Ok(output),
        Ok(Checked::Blocked(text)) => Err(withheld(tool, &text)),
        Err(error) => Err(withheld(tool, &error.to_string())),
    }
}

fn withheld(tool: &str, text: &str) -> ToolError {
    let text = format!("The output of tool `{tool}` was withheld: {text}");
    ToolError::new(toolkit_core::ErrorKind::Denied, text)
}

/// Adds the guardrails of tools around and inside of the other callbacks.
pub(super) fn around(
    callbacks: Option<Callbacks>,
    [outer, inner]: [Option<Callbacks>; 2],
) -> impl Iterator<Item = Callbacks> {
    [outer, callbacks, inner].into_iter().flatten()
}
