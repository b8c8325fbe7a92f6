//! The work of an agent in a run, turn by turn.

use super::calls::{Attempt, DispatchedCalls, TurnCalls};
use super::event_buffer::EventBuffer;
use super::pieces::{HeldPieces, Pieces};
use super::repetitions::Repetitions;
use super::restart::Restart;
use super::step::{Step, next_step};
use crate::agent::{Caller, RunAgent as _, SteeredInput};
use crate::conversation::{Conversation, Entry, Turn, TurnVerdict};
use crate::error::AgentError;
use crate::llm::agent::LlmAgent;
use crate::llm::answer::{FinalAnswer, begin_turn, feedback, final_answer};
use crate::llm::context::meter::Meter;
use crate::llm::guards::parallel_check::ask_alongside;
use crate::llm::guards::{InputCheck, Judged, apply_inputs};
use crate::llm::scope::TurnScope;
use crate::llm::tools::{Extended, Tools};
use crate::output::AgentOutput;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use toolkit_core::Dispatcher;
use toolkit_llm::{FinishReason, ModelError, ModelResponse};
use toolkit_llm::{Message, UserMessage};

pub(super) enum TurnOutcome {
    Answer(AgentOutput),
    /// The conversation was transferred to this agent.
    Transfer(String),
}

pub(super) struct TurnRunner<'a> {
    agent: &'a LlmAgent,
    scope: TurnScope<'a>,
    answer: FinalAnswer<'a>,
    repetitions: Repetitions,
    meter: Meter,
    buffer: EventBuffer,
    caller: Arc<Caller>,
    /// The input's check beside the model, until it has passed.
    parallel_check: Option<InputCheck>,
    last: Option<Dispatcher>,
    run_tools: Extended,
    /// The number of consecutive answers that broke off.
    breaks: u32,
}

impl<'a> TurnRunner<'a> {
    pub(super) fn new(agent: &'a LlmAgent, scope: TurnScope<'a>, is_repair: bool) -> Self {
        let run = scope.run;
        Self {
            agent,
            scope,
            answer: final_answer(run, is_repair),
            repetitions: Repetitions::new(&run.0.budget.limits),
            meter: Meter::default(),
            buffer: EventBuffer::default(),
            caller: Arc::new(Caller::new(run, agent.settings.price)),
            parallel_check: None,
            last: None,
            run_tools: Extended::default(),
            breaks: 0,
        }
    }

    /// Checks the input, and begins the check beside the model. Returns the agent's answer if the input was
    /// blocked.
    pub(super) async fn begin(
        &mut self,
        conversation: &mut Conversation,
    ) -> Result<Option<AgentOutput>, AgentError> {
        conversation.remove_paused_of_others(self.agent.name());
        let settings = &self.agent.settings;
        if settings.hold_text() {
            self.buffer.push_paused(conversation, self.scope.run);
        }
        // Calls start after the input has passed its checks.
        let has_begun = match self.own_turn(conversation) {
            Some(turn) => !turn.message().calls.is_empty() || turn.end().is_some(),
            None => false,
        };
        if self.answer.is_repair() || has_begun {
            return Ok(None);
        }
        if let Some(check) = settings.guards.inputs(self.scope, conversation, false) {
            let judged = self.scope.run.until_stopped(check).await?;
            if let Some(output) = apply_inputs(conversation, self.scope, judged)? {
                return Ok(Some(output));
            }
        }
        self.parallel_check = settings.guards.inputs(self.scope, conversation, true);
        Ok(None)
    }

    fn own_turn<'c>(&self, conversation: &'c Conversation) -> Option<&'c Turn> {
        conversation.turn().filter(|turn| turn.message().agent == self.agent.name())
    }

    /// Makes or continues one turn, and does what follows from it. `None` if another turn follows.
    pub(super) async fn turn(
        &mut self,
        conversation: &mut Conversation,
    ) -> Result<Option<TurnOutcome>, AgentError> {
        self.scope.run.check_cancelled()?;
        if let Some(output) = self.steer(conversation).await? {
            return Ok(Some(TurnOutcome::Answer(output)));
        }
        let current = self.agent.tools.current(self.scope.run, &mut self.run_tools)?;
        current.registry().check_run_state(&self.scope.run.0.shared.context)?;
        begin_turn(&mut self.answer, &self.agent.settings, current.registry(), self.scope.run)?;
        let open = self
            .own_turn(conversation)
            .filter(|turn| !turn.message().calls.is_empty() || turn.end().is_some());
        let is_complete = open.is_some_and(Turn::is_complete);
        self.buffer.clear();
        let restart = match open {
            Some(turn) if !is_complete => {
                let tools = current.registry();
                Some(Restart::new(turn, conversation, self.scope.run, &tools, &self.answer)?)
            }
            _ => None,
        };
        if open.is_none() {
            // The model reads what another agent's unfinished turn contains.
            conversation.stop_turn(false);
        } else if self.agent.settings.guards.check_answers() {
            // The turn may have begun before the agent had this guardrail.
            conversation.check_answers();
        }
        let broken = if is_complete {
            conversation.apply_state_changes();
            self.hold_message(conversation);
            None
        } else {
            match self.calls(conversation, current, restart).await? {
                Some(CallsEnd::Turn(broken)) => broken,
                Some(CallsEnd::Input(output)) => return Ok(Some(TurnOutcome::Answer(output))),
                None => return Ok(None),
            }
        };
        self.follow(conversation, broken).await
    }

    /// Adds the inputs that the owner of the run has for it, and checks them. Returns the agent's answer if they were
    /// blocked.
    async fn steer(&mut self, conversation: &mut Conversation) -> Result<Option<AgentOutput>, AgentError> {
        // Text before a provider's pause goes on without an input between.
        if conversation.turn().is_some() || !conversation.unchecked().is_empty() {
            return Ok(None);
        }
        let inputs = self.scope.run.steered().await?;
        if inputs.is_empty() {
            return Ok(None);
        }
        for SteeredInput { number, id, input } in inputs {
            conversation.take_up(&[number]);
            // It may have been submitted again while it was read.
            if !conversation.has_input(&id.run) {
                conversation.steer(input, id);
            }
        }
        self.scope.run.save(conversation).await?;
        self.begin(conversation).await
    }

    /// Does what follows from a complete turn. `broken` is the error of a message that broke off. `None` if
    /// another turn follows.
    async fn follow(
        &mut self,
        conversation: &mut Conversation,
        broken: Option<ModelError>,
    ) -> Result<Option<TurnOutcome>, AgentError> {
        let Some(turn) = conversation.turn() else { return Ok(None) };
        match next_step(turn, &self.answer) {
            Step::Ask | Step::Continue => conversation.end_turn(TurnVerdict::Unchanged),
            Step::Repair { invalid, has_answer } => {
                let repeated = self.repeat(conversation, invalid);
                self.withhold(conversation, has_answer);
                repeated?;
            }
            Step::Transfer { to, invalid, has_answer } => {
                return self.transfer(conversation, to, invalid, has_answer).await.map(Some);
            }
            Step::Answer { text, finish, is_accepted } => {
                return self.judge(conversation, text, finish, is_accepted).await;
            }
        }
        self.end_turn(conversation).await?;
        self.agent.pause_after_break(self.scope.run, broken, &mut self.breaks).await?;
        Ok(None)
    }

    /// Asks the model or continues the unfinished turn, and waits for all results. `None` if the turn has
    /// to be made again.
    async fn calls(
        &mut self,
        conversation: &mut Conversation,
        current: Dispatcher,
        restart: Option<Restart>,
    ) -> Result<Option<CallsEnd>, AgentError> {
        let Self { agent, scope, .. } = *self;
        let guards = &agent.settings.guards;
        let called = conversation.turn_message().map_or(&[][..], |message| &message.calls);
        let decided = restart.as_ref().map(|restart| restart.approvals(called));
        let last = self.last.take();
        let dispatcher = Tools::of_run(current, agent.name(), conversation, &self.caller, decided, last);
        let gate = AtomicBool::new(self.parallel_check.is_none());
        let held = match (agent.settings.hold_text(), guards.checks_responses) {
            (false, _) => HeldPieces::Nothing,
            (true, false) => HeldPieces::Text,
            (true, true) => HeldPieces::All,
        };
        let mut calls = TurnCalls {
            conversation,
            scope,
            caller: &self.caller,
            answer: &self.answer,
            repetitions: &mut self.repetitions,
            meter: &mut self.meter,
            pieces: Pieces {
                scope,
                buffer: &mut self.buffer,
                message_id: Arc::default(),
                announced: Vec::new(),
                gate: &gate,
                is_unchecked: self.parallel_check.is_some() || guards.checks_responses,
                held,
            },
            attempt: Attempt::default(),
            dispatched: DispatchedCalls::new(&dispatcher),
        };
        // Not reused after a restart, because the dispatcher contains the approvals of this turn.
        self.last = restart.is_none().then(|| dispatcher.clone());
        calls.pieces.begin(calls.conversation);
        let response = match restart {
            Some(restart) => Box::pin(calls.restart(restart, guards)).await,
            None => match response(agent, &dispatcher, &mut calls, &mut self.parallel_check).await {
                Ok(Ok(response)) => agent.receive_calls(response, &mut calls).await,
                Ok(Err(judged)) => {
                    drop(calls);
                    conversation.discard_turn();
                    return Ok(apply_inputs(conversation, scope, judged)?.map(CallsEnd::Input));
                }
                Err(error) => Err(error),
            },
        };
        if let Err(error) = response {
            calls.stop().await;
            return match error {
                AgentError::Model(error) if self.answer.falls_back(&error) => Ok(None),
                error => Err(error),
            };
        }
        let broken = calls.attempt.broken.take();
        calls.finish().await?;
        Ok(Some(CallsEnd::Turn(broken)))
    }

    /// Holds the events of an earlier run's complete message, which has not emitted them.
    fn hold_message(&mut self, conversation: &Conversation) {
        let settings = &self.agent.settings;
        let Some(message) = conversation.turn_message().filter(|_| settings.hold_text()) else { return };
        let is_answer = message.calls.is_empty() || message.calls.iter().any(|call| self.answer.is_in(call));
        if is_answer {
            self.buffer.push_message(message, &conversation.turn_path().message(), self.scope.run);
        }
    }

    /// Emits an ended turn's held events, and saves the conversation.
    async fn end_turn(&mut self, conversation: &mut Conversation) -> Result<(), AgentError> {
        self.emit_turn(conversation);
        self.scope.run.save(conversation).await
    }

    fn emit_turn(&mut self, conversation: &Conversation) {
        if conversation.unchecked().is_empty() {
            self.buffer.emit(self.scope.run);
        } else {
            // The text before a pause is checked with the rest of the answer.
            self.buffer.pause();
        }
    }

    /// Emits outputs of tools that are the answer, once they were checked.
    fn emit_outputs(&self, conversation: &Conversation) {
        if self.agent.settings.guards.check_answers() {
            self.scope.emit_outputs(conversation);
        }
    }

    /// Counts an invalid answer.
    ///
    /// # Errors
    /// [`AgentError::InvalidOutput`] if no attempt is left.
    fn repeat(&mut self, conversation: &mut Conversation, invalid: String) -> Result<(), AgentError> {
        let may_repeat = self.answer.repeat();
        conversation.set_invalid_answers(self.answer.invalid_answers(), true);
        if may_repeat { Ok(()) } else { Err(AgentError::InvalidOutput(invalid)) }
    }

    /// Ends a turn with an invalid answer, which guardrails do not check.
    fn withhold(&mut self, conversation: &mut Conversation, has_answer: bool) {
        if has_answer && self.agent.settings.guards.check_answers() {
            self.buffer.clear_all();
            conversation.end_turn(TurnVerdict::Withheld);
        } else {
            conversation.end_turn(TurnVerdict::Unchanged);
        }
    }

    async fn transfer(
        &mut self,
        conversation: &mut Conversation,
        to: String,
        invalid: Option<String>,
        has_answer: bool,
    ) -> Result<TurnOutcome, AgentError> {
        if let Some(invalid) = invalid {
            self.repeat(conversation, invalid)?;
        }
        // The answer comes from the other agent.
        let is_withheld = has_answer && self.agent.settings.guards.check_answers();
        // Recorded first, so that a run cut before the end of the turn continues with the other agent.
        conversation.record(Entry::Transferred(to.clone()));
        conversation.end_turn(if is_withheld { TurnVerdict::Withheld } else { TurnVerdict::Unchanged });
        if is_withheld && let Some(message) = conversation.latest_message() {
            self.buffer.replace_message(message);
        }
        self.emit_turn(conversation);
        self.emit_outputs(conversation);
        self.agent.emit_transfer(&to, self.scope.run);
        self.scope.run.save(conversation).await?;
        Ok(TurnOutcome::Transfer(to))
    }

    /// Checks the form of an answer, then its guardrails. `None` if the model answers again.
    async fn judge(
        &mut self,
        conversation: &mut Conversation,
        text: String,
        finish: FinishReason,
        is_accepted: bool,
    ) -> Result<Option<TurnOutcome>, AgentError> {
        let settings = &self.agent.settings;
        let feedback = if is_accepted { Ok(None) } else { feedback(&mut self.answer, &text, &finish) };
        if !matches!(feedback, Ok(None)) {
            conversation.set_invalid_answers(self.answer.invalid_answers(), feedback.is_ok());
            self.withhold(conversation, true);
        }
        if let Some(feedback) = feedback? {
            conversation.push(Message::User(UserMessage::feedback(feedback)));
            self.scope.run.save(conversation).await?;
            return Ok(None);
        }
        let mut escalate = conversation.frame().is_some_and(|frame| frame.escalate);
        if let Some(turn) = conversation.turn() {
            escalate |= turn.results().iter().any(|result| result.actions.escalate);
        }
        let unchecked = AgentOutput { text, agent: self.agent.name().to_owned(), finish, escalate };
        let output = settings.guards.output(self.scope, conversation, unchecked, &mut self.buffer).await?;
        self.buffer.emit(self.scope.run);
        self.emit_outputs(conversation);
        if let Some(key) = &settings.output_key {
            conversation.session().apply(&[(key.clone(), Some(output.text.as_str().into()))].into());
        }
        Ok(Some(TurnOutcome::Answer(output)))
    }
}

/// Returns the model's response, or the verdicts of the input check beside it, unless it has passed.
async fn response(
    agent: &LlmAgent,
    dispatcher: &Dispatcher,
    calls: &mut TurnCalls<'_>,
    check: &mut Option<InputCheck>,
) -> Result<Result<ModelResponse, Judged>, AgentError> {
    let run = calls.scope.run;
    let gate = calls.pieces.gate;
    // A future passed by value would make the future of the run larger.
    let ask = pin!(agent.answer(dispatcher, calls));
    if check.is_none() {
        return ask.await.map(Ok);
    }
    match run.until_stopped(pin!(ask_alongside(check, gate, ask))).await? {
        Ok(response) => response.map(Ok),
        Err(judged) => Ok(Err(judged)),
    }
}

enum CallsEnd {
    /// All calls have results. The error is of a stream that broke off after a call had started.
    Turn(Option<ModelError>),
    /// A guardrail has blocked the input with this answer.
    Input(AgentOutput),
}
