//! An agent with a model: the turns from the input to the final answer.

use super::answer::FinalAnswer;
use super::beside::beside;
use super::calls::TurnCalls;
use super::guards::apply_inputs;
use super::held::Held;
use super::meter::Meter;
use super::repetitions::Repetitions;
use super::settings::Settings;
use super::situation::GuardScope;
use super::tools::Tools;
use crate::agent::{Agent, Caller, Run, RunAgent, agent_facts};
use crate::conversation::{Conversation, Step, Turn};
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::helpers::BoxFuture;
use crate::limits::Limits;
use crate::output::AgentOutput;
use crate::span::AgentSpan;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use toolkit_core::context::ToolActions;
use toolkit_core::{Dispatcher, ToolResult};
use toolkit_llm::__private::Billing as _;
use toolkit_llm::ChatModel as _;
use toolkit_llm::model::{ModelErrorKind, ModelResponse};
use toolkit_llm::{Message, UserMessage};

/// An agent that calls a model and runs its tool calls.
pub(super) struct LlmAgent {
    pub(super) settings: Settings,
    pub(super) tools: Tools,
}

impl RunAgent for LlmAgent {
    agent_facts!(settings);

    async fn run(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentOutput, AgentError> {
        AgentSpan::with_model(self.settings.model.provider(), self.settings.model.name());
        run.emit(|| RunEvent::AgentStarted { agent: self.name().to_owned(), within: run.within() });
        let outcome = match run.enter(conversation, self.name()) {
            Ok(Some(Step::Transfer(to))) => Ok(Outcome::Transfer(to)),
            Ok(step) => self.boxed_turns(conversation, run, step).await,
            Err(error) => Err(error),
        };
        run.emit(|| RunEvent::AgentEnded { agent: self.name().to_owned(), within: run.within() });
        match outcome? {
            Outcome::Answer(output) => Ok(output),
            Outcome::Transfer(to) => {
                let below = self.sub_agents().iter().find_map(|agent| agent.find(&to));
                let found = below.or_else(|| run.root().find(&to));
                let agent = found.ok_or_else(|| AgentError::UnknownAgent(to.clone()))?;
                run.emit(|| RunEvent::Transferred { from: self.name().to_owned(), to, within: run.within() });
                agent.join_run(conversation, &run.without_limits_of(self.name())).await
            }
        }
    }
}

/// The end of an agent's turns: an answer or a transfer.
enum Outcome {
    Answer(AgentOutput),
    /// The conversation was transferred to the agent with this name.
    Transfer(String),
}

impl LlmAgent {
    /// Boxes the future of [`turns`](Self::turns), because the futures of a chain of transfers are nested in
    /// each other. The function is not inlined: otherwise, the stack would hold an unboxed future for each
    /// agent of the chain.
    #[inline(never)]
    fn boxed_turns<'a>(
        &'a self,
        conversation: &'a mut Conversation,
        run: &'a Run,
        step: Option<Step>,
    ) -> BoxFuture<'a, Result<Outcome, AgentError>> {
        Box::pin(self.turns(conversation, run, step))
    }

    /// Calls the model and runs its tool calls, turn by turn, until a turn gives the answer or transfers the
    /// conversation.
    async fn turns(
        &self,
        conversation: &mut Conversation,
        run: &Run,
        step: Option<Step>,
    ) -> Result<Outcome, AgentError> {
        let (mut escalate, is_repair) = match step {
            Some(Step::Escalated) => (true, false),
            Some(Step::Repair { escalate }) => (escalate, true),
            Some(Step::Unchecked { escalate, is_repair }) => (escalate, is_repair),
            _ => (false, false),
        };
        let mut held = Held::default();
        conversation.withhold_unchecked(Some(self.name()));
        if self.settings.hold_text() {
            held.push_paused(conversation.unchecked(), run);
        }
        let mut answer = FinalAnswer::new(run, is_repair);
        let mut repetitions = Repetitions::new(&run.0.budget.limits);
        let mut meter = Meter::default();
        let session = conversation.session();
        let scope = GuardScope { run, agent: self.name(), session: &session };
        // Calls start after the input has passed its checks.
        let has_begun = |turn: &Turn| turn.message().agent == self.name() && !turn.message().calls.is_empty();
        let has_inputs = !is_repair && !conversation.unfinished().is_some_and(has_begun);
        let guards = &self.settings.guards;
        if has_inputs && let Some(check) = guards.inputs(scope, conversation, false) {
            let judged = run.until_stopped(check).await?;
            if let Some(output) = apply_inputs(conversation, scope, judged)? {
                return Ok(Outcome::Answer(output));
            }
        }
        let mut beside_check = if has_inputs { guards.inputs(scope, conversation, true) } else { None };
        let mut breaks = 0;
        let caller = Arc::new(Caller::new(run, self.settings.price));
        let mut last = None;
        loop {
            run.check_cancelled()?;
            let current = self.tools.current()?;
            answer.begin_turn(&self.settings, &current, run)?;
            let restart = self.restart(conversation, run, &answer)?;
            if restart.is_none() {
                run.check_decisions(conversation, self.name())?;
                // If another agent has left a turn unfinished, the model reads what this turn contains.
                conversation.stop_turn(false);
            } else if guards.check_answers() {
                // The turn may have begun before the agent had this guardrail.
                conversation.turn().set_checks_answers(true);
            }
            held.clear();
            caller.called.begin_turn();
            let decided = restart.as_ref().map(|restart| &restart.approvals);
            let dispatcher = Tools::of_run(current, self.name(), conversation, &caller, decided, last.take());
            let gate = AtomicBool::new(beside_check.is_none());
            let mut calls = TurnCalls {
                conversation,
                run,
                agent: self.name(),
                batch: dispatcher.batch([]),
                repetitions: &mut repetitions,
                meter: &mut meter,
                started: 0,
                dispatched: Vec::new(),
                counted: VecDeque::new(),
                has_invalid: false,
                one_call: false,
                caller: &caller,
                answer: &answer,
                scope,
                is_unchecked: beside_check.is_some() || guards.checks_responses,
                gate: &gate,
                held: &mut held,
                hold_text: self.settings.hold_text(),
                hold_pieces: self.settings.hold_text() && guards.checks_responses,
                broken: None,
                has_begun: false,
            };
            // Not reused after a restarted turn, because the dispatcher contains the approvals of this turn.
            last = restart.is_none().then(|| dispatcher.clone());
            let response = match restart {
                Some(restart) => Box::pin(calls.restart(restart, guards)).await,
                None => {
                    let asked = {
                        // Pinned here, because a future passed by value makes the future of the run larger.
                        let ask = pin!(self.answer(&dispatcher, &mut calls));
                        if beside_check.is_some() {
                            run.until_stopped(pin!(beside(&mut beside_check, &gate, ask))).await
                        } else {
                            Ok(Ok(ask.await))
                        }
                    };
                    match asked.unwrap_or_else(|error| Ok(Err(error))) {
                        Ok(Ok(mut response)) => {
                            self.receive_calls(&mut response, &mut calls).await.map(|()| response)
                        }
                        Ok(Err(error)) => Err(error),
                        Err(judged) => {
                            drop(calls);
                            conversation.discard_turn();
                            match apply_inputs(conversation, scope, judged)? {
                                Some(output) => return Ok(Outcome::Answer(output)),
                                None => continue,
                            }
                        }
                    }
                }
            };
            let response = match response {
                Ok(response) => response,
                Err(error) => {
                    calls.stop().await;
                    if answer.falls_back(&error) {
                        continue;
                    }
                    return Err(error);
                }
            };
            let broken = calls.broken.take();
            let before = calls.conversation.all_messages().len();
            let finished = calls.finish().await;
            let results = calls.end_turn(finished, !response.hosted.is_empty())?;
            let ToolActions { transfer_to_agent, skip_summarization, escalate: now, .. } =
                ToolResult::merged_actions(results);
            let accepted = answer.accepted(&response.message.calls, results);
            let is_accepted = accepted.is_some();
            let is_paused = results.is_empty() && response.finish.is_paused();
            let is_answer = is_accepted || skip_summarization || results.is_empty() && !is_paused;
            let invalid = answer.invalid(&response.message.calls, results).filter(|_| !is_answer);
            let text = is_answer.then(|| {
                accepted.unwrap_or_else(|| {
                    if results.is_empty() {
                        response.message.text
                    } else {
                        results.iter().map(ToolResult::to_text).collect::<Vec<_>>().join("\n")
                    }
                })
            });
            let is_added = conversation.all_messages().len() > before;
            if now {
                escalate = true;
                conversation.set_step(Step::Escalated);
            }
            if let Some(invalid) = invalid {
                if response.message.calls.iter().any(|call| answer.is_in(call)) {
                    if transfer_to_agent.is_some() {
                        guards.withhold_beside_transfer(conversation, &mut held);
                    } else {
                        guards.withhold(conversation, &mut held, is_added);
                    }
                }
                let repeated = answer.repeat(&invalid);
                conversation.set_invalid_answers(answer.invalid_answers());
                repeated?;
                conversation.set_step(Step::Repair { escalate });
            }
            if let Some(to) = &transfer_to_agent {
                if is_accepted || skip_summarization {
                    // The answer comes from the other agent.
                    guards.withhold_beside_transfer(conversation, &mut held);
                }
                conversation.set_step(Step::Transfer(to.clone()));
            }
            if transfer_to_agent.is_some() || !is_answer {
                if conversation.unchecked().is_empty() {
                    held.emit(run);
                } else {
                    // The text before a pause is checked together with the rest of the answer.
                    held.pause();
                }
                run.save(conversation).await?;
            }
            if let Some(to) = transfer_to_agent {
                return Ok(Outcome::Transfer(to));
            }
            if let Some(text) = text {
                let feedback = if is_accepted { Ok(None) } else { answer.feedback(&text, &response.finish) };
                if !matches!(feedback, Ok(None)) {
                    conversation.set_invalid_answers(answer.invalid_answers());
                    guards.withhold(conversation, &mut held, is_added);
                }
                if let Some(feedback) = feedback? {
                    conversation.set_step(Step::Repair { escalate });
                    conversation.push(Message::User(UserMessage::feedback(feedback)));
                    run.save(conversation).await?;
                    continue;
                }
                let agent = self.name().to_owned();
                let output = AgentOutput { text, agent, finish: response.finish, escalate };
                let is_repair = answer.is_repair();
                let output =
                    guards.output(scope, conversation, output, is_repair, &mut held, is_added).await?;
                held.emit(run);
                if let Some(key) = &self.settings.output_key {
                    conversation.session().apply(&[(key.clone(), Some(output.text.as_str().into()))].into());
                }
                return Ok(Outcome::Answer(output));
            }
            self.pause_after_break(run, broken, &mut breaks).await?;
        }
    }

    /// Returns the response of a turn: the response of a `before_model` callback if it returns one, or else
    /// of the model.
    async fn answer(
        &self,
        dispatcher: &Dispatcher,
        calls: &mut TurnCalls<'_>,
    ) -> Result<ModelResponse, AgentError> {
        let (run, Settings { name, callbacks, .. }) = (calls.run, &self.settings);
        run.0.budget.take_model_call()?;
        let mut request = self.fitting_request(dispatcher, calls).await?;
        let mut is_compacted = false;
        let response = loop {
            self.begin_turn(calls.conversation);
            let proceed = if callbacks.before.is_empty() {
                ControlFlow::Continue(request)
            } else {
                run.until_stopped(Box::pin(callbacks.before(request, calls.scope))).await??
            };
            let asked = match proceed {
                ControlFlow::Break(response) => break response,
                ControlFlow::Continue(mut request) => self.ask(&mut request, calls).await,
            };
            let error = match asked {
                Ok(response) => break response,
                Err(AgentError::Model(error))
                    if error.kind == ModelErrorKind::ContextTooLong && !is_compacted =>
                {
                    error
                }
                Err(error) => return Err(error),
            };
            // After one compaction, the program gets the error.
            let Some(shorter) = Box::pin(self.shorter_request(dispatcher, calls)).await? else {
                return Err(error.into());
            };
            if calls.is_billed(&error) {
                run.0.budget.take_model_call()?;
            }
            let agent = || name.clone();
            let error = error.to_string();
            run.emit(|| RunEvent::ModelRetried {
                agent: agent(),
                error,
                pause: Duration::ZERO,
                within: run.within(),
            });
            (request, is_compacted) = (shorter, true);
        };
        run.emit_losses(name, &response.losses);
        calls.caller.add(response.billed());
        if callbacks.may_change_calls() {
            run.until_stopped(Box::pin(callbacks.after(response, calls.scope))).await?
        } else {
            Ok(response)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_of_future<'a, F>(
        _: impl Fn(&'a LlmAgent, &'a mut Conversation, &'a Run, Option<Step>) -> F,
    ) -> usize {
        size_of::<F>()
    }

    /// The future of a run is moved into a box once for each run. Functions that take a future by value once
    /// made this future four times as large.
    #[test]
    fn the_future_of_a_run_is_small() {
        let size = size_of_future(LlmAgent::turns);
        assert!(size < 10_000, "{size} bytes");
    }
}
