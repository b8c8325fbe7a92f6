//! The guardrails of an agent: when they run, and what follows from their verdicts.

use super::callbacks::ModelCallbacks;
use super::held::Held;
use crate::agent::Run;
use crate::conversation::{Conversation, REMOVED, Step, WITHHELD};
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::guardrail::{Check, CheckFn, GuardAction, GuardContext, Guardrail, Verdict};
use crate::helpers::BoxFuture;
use crate::message::{AssistantMessage, Message, UserMessage};
use crate::model::{FinishReason, ModelResponse};
use crate::output::AgentOutput;
use std::ops::ControlFlow;
use toolkit_core::middleware::{Callbacks, ToolRequest};
use toolkit_core::{ToolCall, ToolError, ToolOutput};

/// The result of running guardrails on a value.
#[derive(Debug, Clone)]
pub(super) enum Checked<T> {
    Passed(T),
    Replaced(T),
    /// The value was blocked, and this text replaces it.
    Blocked(String),
}

/// The agent and the run in which guardrails check a value.
#[derive(Clone)]
pub(super) struct Situation {
    pub(super) run: Run,
    pub(super) context: GuardContext,
}

impl Situation {
    pub(super) fn new(agent: &str, conversation: &Conversation, run: &Run) -> Self {
        let (agent, session) = (agent.to_owned(), conversation.session());
        let invocation_id = run.invocation_id().to_owned();
        Self { run: run.clone(), context: GuardContext { agent, session, invocation_id, call: None } }
    }

    /// Returns the agent and the run of a tool call. Returns `None` if the call belongs to no run.
    fn of_call(agent: &str, request: &ToolRequest, call: ToolCall) -> Option<Self> {
        let run = request.context().extension::<Run>()?.clone();
        let session = request.context().run().and_then(|run| run.session()).cloned().unwrap_or_default();
        let (agent, invocation_id) = (agent.to_owned(), run.invocation_id().to_owned());
        Some(Self { run, context: GuardContext { agent, session, invocation_id, call: Some(call) } })
    }

    /// Runs checks in order, each on the value returned by the one before, until a check blocks it.
    ///
    /// # Errors
    /// [`AgentError::Blocked`] if a check has ended the run.
    pub(super) async fn judge<T: Clone>(
        &self,
        checks: Vec<(String, CheckFn<T>)>,
        mut value: T,
    ) -> Result<Checked<T>, AgentError> {
        let mut is_replaced = false;
        for (guardrail, check) in checks {
            let (checked, verdict) = check(value, self.context.clone()).await;
            value = checked;
            match verdict {
                Verdict::Pass => {}
                Verdict::Replace(other) => {
                    self.emit(&guardrail, GuardAction::Replaced, "");
                    (value, is_replaced) = (other, true);
                }
                Verdict::Block(text) => {
                    self.emit(&guardrail, GuardAction::Blocked, &text);
                    return Ok(Checked::Blocked(text));
                }
                Verdict::End(reason) => {
                    self.emit(&guardrail, GuardAction::Ended, &reason);
                    let agent = self.context.agent.clone();
                    return Err(self.run.end(AgentError::Blocked { guardrail, agent, reason }));
                }
            }
        }
        Ok(if is_replaced { Checked::Replaced(value) } else { Checked::Passed(value) })
    }

    /// Emits `text`, an answer that replaces another value, and the last message if the model wrote it.
    fn emit_answer(&self, conversation: &Conversation, text: &str) {
        let (run, agent) = (&self.run, || self.context.agent.clone());
        run.emit(|| RunEvent::Text { agent: agent(), text: text.to_owned(), within: run.within() });
        if let Some(Message::Assistant(message)) = conversation.messages().last() {
            run.emit(|| RunEvent::Message { message: Box::new(message.clone()), within: run.within() });
        }
    }

    fn emit(&self, guardrail: &str, action: GuardAction, reason: &str) {
        self.run.emit(|| RunEvent::Guardrail {
            agent: self.context.agent.clone(),
            guardrail: guardrail.to_owned(),
            action,
            reason: reason.to_owned(),
            within: self.run.within(),
        });
    }
}

/// The guardrails for inputs and answers of an agent. All others run as callbacks.
#[derive(Default)]
pub(super) struct Guards {
    inputs: Vec<(Guardrail, CheckFn<UserMessage>)>,
    outputs: Vec<(String, CheckFn<AgentOutput>)>,
    /// Whether guardrails check responses of the model, and may replace them.
    pub(super) checks_responses: bool,
}

impl Guards {
    /// Sorts guardrails by the type of values that they check. Guardrails for tools become two groups of
    /// callbacks: outside and inside of the program's own callbacks.
    pub(super) fn new(
        guardrails: Vec<Guardrail>,
        agent: &str,
        model: &mut ModelCallbacks,
    ) -> (Self, [Option<Callbacks>; 2]) {
        let mut guards = Self::default();
        let (mut calls, mut outputs) = (Vec::new(), Vec::new());
        for guardrail in guardrails {
            let name = guardrail.name.clone();
            match guardrail.check.clone() {
                Check::Input(check) => guards.inputs.push((guardrail, check)),
                Check::Output(check) => guards.outputs.push((name, check)),
                Check::Call(check) => calls.push((name, check)),
                Check::ToolOutput(check) => outputs.push((name, check)),
                Check::Request(check) => model.before.push(Box::new(move |request, situation| {
                    let (checks, situation) = (vec![(name.clone(), check.clone())], situation.clone());
                    Box::pin(async move {
                        Ok(match situation.judge(checks, request).await? {
                            Checked::Passed(request) | Checked::Replaced(request) => {
                                ControlFlow::Continue(request)
                            }
                            Checked::Blocked(text) => ControlFlow::Break(blocked(text)),
                        })
                    })
                })),
                Check::Response(check) => {
                    guards.checks_responses = true;
                    model.after.push(Box::new(move |response, situation| {
                        let (checks, situation) = (vec![(name.clone(), check.clone())], situation.clone());
                        let usage = response.usage;
                        Box::pin(async move {
                            Ok(match situation.judge(checks, response).await? {
                                Checked::Passed(response) | Checked::Replaced(response) => response,
                                Checked::Blocked(text) => blocked(text).with_usage(usage),
                            })
                        })
                    }));
                }
            }
        }
        let outer = (!outputs.is_empty()).then(|| {
            let agent = agent.to_owned();
            Callbacks::new().after_async(move |request, output| {
                check_output(agent.clone(), outputs.clone(), request, output)
            })
        });
        let inner = (!calls.is_empty()).then(|| {
            let agent = agent.to_owned();
            Callbacks::new().before_async(move |request| check_call(agent.clone(), calls.clone(), request))
        });
        (guards, [outer, inner])
    }

    /// Returns whether guardrails check the answers of the agent.
    pub(super) fn check_answers(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// Returns whether text events must wait, because guardrails check responses or answers.
    pub(super) fn hold_text(&self) -> bool {
        !self.outputs.is_empty() || self.checks_responses
    }

    /// Returns a future that checks new inputs, or `None` if there is nothing to check. If `is_beside` is
    /// `true`, only guardrails that run at the same time as the model check the inputs. Otherwise, all others
    /// do.
    pub(super) fn inputs(
        &self,
        situation: &Situation,
        conversation: &Conversation,
        is_beside: bool,
    ) -> Option<InputCheck> {
        let selected = self.inputs.iter().filter(|(guardrail, _)| guardrail.is_beside_model == is_beside);
        let checks: Vec<_> = selected.map(|(guard, check)| (guard.name.clone(), check.clone())).collect();
        if checks.is_empty() {
            return None;
        }
        let inputs = conversation.unchecked_inputs(&situation.context.agent);
        let is_removed = |message: &UserMessage| message.to_text() == REMOVED;
        let inputs: Vec<_> = inputs.into_iter().filter(|(_, message)| !is_removed(message)).collect();
        if inputs.is_empty() {
            return None;
        }
        let situation = situation.clone();
        Some(Box::pin(async move {
            let mut judged = Vec::new();
            for (index, message) in inputs {
                let checked = situation.judge(checks.clone(), message).await;
                judged.push((index, checked));
                if !matches!(judged.last(), Some((_, Ok(Checked::Passed(_) | Checked::Replaced(_))))) {
                    break;
                }
            }
            judged
        }))
    }

    /// Removes an invalid answer of a typed run, because guardrails for answers do not check it.
    ///
    /// `is_added` is `false` if the answer is empty and therefore not in the conversation.
    pub(super) fn withhold(&self, conversation: &mut Conversation, held: &mut Held, is_added: bool) {
        if !self.outputs.is_empty() {
            held.clear();
            if is_added {
                conversation.replace_answer(WITHHELD);
            }
        }
    }

    /// Removes the answers from a turn with a transfer, because guardrails for answers do not check them.
    pub(super) fn withhold_beside_transfer(&self, conversation: &mut Conversation, held: &mut Held) {
        if !self.outputs.is_empty()
            && let Some(message) = conversation.withhold_answers()
        {
            held.replace_message(message);
        }
    }

    /// Runs the guardrails on an answer, and changes the last messages accordingly. Returns the answer or its
    /// replacement. `is_added` is `false` if the answer is empty and therefore not in the conversation.
    ///
    /// # Errors
    /// [`AgentError::Blocked`] if a check has ended the run.
    pub(super) async fn output(
        &self,
        situation: &Situation,
        conversation: &mut Conversation,
        output: AgentOutput,
        is_repair: bool,
        held: &mut Held,
        is_added: bool,
    ) -> Result<AgentOutput, AgentError> {
        if self.outputs.is_empty() {
            return Ok(output);
        }
        let AgentOutput { agent, finish, escalate, .. } = output.clone();
        if is_added {
            conversation.set_step(Step::Unchecked { escalate, is_repair });
        }
        let checked = situation.run.until_stopped(situation.judge(self.outputs.clone(), output)).await;
        let checked = checked.and_then(|checked| checked);
        let (text, finish) = match checked {
            Ok(Checked::Passed(output)) => {
                if is_added && let Some(message) = conversation.withhold_beside_answer() {
                    held.replace_message(message);
                }
                held.emit(&situation.run);
                return Ok(output);
            }
            Ok(Checked::Replaced(output)) => (output.text, finish),
            Ok(Checked::Blocked(text)) => (text, blocked_finish()),
            Err(error) => {
                held.clear();
                if is_added {
                    conversation.replace_answer(WITHHELD);
                }
                return Err(error);
            }
        };
        held.clear();
        match is_added {
            true => conversation.replace_answer(&text),
            false => {
                let agent = agent.clone();
                conversation
                    .push(Message::Assistant(AssistantMessage { agent, ..AssistantMessage::text(&text) }));
            }
        }
        situation.emit_answer(conversation, &text);
        Ok(AgentOutput { text, agent, finish, escalate })
    }
}

/// A future that checks inputs, and returns each result with the index of the input.
pub(super) type InputCheck = BoxFuture<'static, Judged>;
pub(super) type Judged = Vec<(usize, Result<Checked<UserMessage>, AgentError>)>;

/// Applies the results of checks to the inputs. Returns the agent's answer if an input was blocked.
pub(super) fn apply_inputs(
    conversation: &mut Conversation,
    situation: &Situation,
    judged: Judged,
) -> Result<Option<AgentOutput>, AgentError> {
    let agent = situation.context.agent.as_str();
    for (index, checked) in judged {
        match checked {
            Ok(Checked::Passed(_)) => {}
            Ok(Checked::Replaced(message)) => conversation.replace_message(index, Message::User(message)),
            Ok(Checked::Blocked(text)) => {
                conversation.replace_message(index, Message::user(REMOVED));
                let mut message = blocked(text.clone()).message;
                agent.clone_into(&mut message.agent);
                conversation.push(Message::Assistant(message));
                situation.emit_answer(conversation, &text);
                let output = AgentOutput::new(agent, text);
                return Ok(Some(AgentOutput { finish: blocked_finish(), ..output }));
            }
            Err(error) => {
                if matches!(error, AgentError::Blocked { .. }) {
                    conversation.replace_message(index, Message::user(REMOVED));
                }
                return Err(error);
            }
        }
    }
    Ok(None)
}

/// Returns whether the guardrails have accepted all inputs unchanged.
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

/// Returns the tool call of a request with the arguments that the tool receives: near misses are coerced, and
/// parameters have their own names. Arguments that the tool would refuse are unchanged.
fn call_of(request: &ToolRequest) -> ToolCall {
    let id = request.call_id().map(ToString::to_string).unwrap_or_default();
    let arguments = request.arguments_json().unwrap_or_else(|_| request.arguments().to_owned());
    ToolCall::new(id, request.definition().name.to_string(), arguments)
}

async fn check_call(
    agent: String,
    checks: Vec<(String, CheckFn<ToolCall>)>,
    request: ToolRequest,
) -> ControlFlow<Result<ToolOutput, ToolError>, ToolRequest> {
    let call = call_of(&request);
    let Some(situation) = Situation::of_call(&agent, &request, call.clone()) else {
        let text = "the call can only be checked in a run of its agent";
        return ControlFlow::Break(Err(ToolError::denied(&call.name, text)));
    };
    match situation.judge(checks, call.clone()).await {
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
    let withheld = |text: &str| {
        let text = format!("The output of tool `{name}` was withheld: {text}");
        ToolError::new(toolkit_core::ErrorKind::Denied, text)
    };
    let Some(situation) = Situation::of_call(&agent, &request, call) else {
        return Err(withheld("it can only be checked in a run of its agent"));
    };
    match situation.judge(checks, output).await {
        Ok(Checked::Passed(output) | Checked::Replaced(output)) => Ok(output),
        Ok(Checked::Blocked(text)) => Err(withheld(&text)),
        Err(error) => Err(withheld(&error.to_string())),
    }
}

/// Puts the program's own callbacks between guardrails for outputs (outside) and for calls (inside).
pub(super) fn around(
    callbacks: Option<Callbacks>,
    [outer, inner]: [Option<Callbacks>; 2],
) -> impl Iterator<Item = Callbacks> {
    [outer, callbacks, inner].into_iter().flatten()
}
