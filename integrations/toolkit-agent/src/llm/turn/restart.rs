//! The continuation of an unfinished turn after an interruption or a crash.

use super::calls::TurnCalls;
use super::refusal::repeated;
use crate::agent::{CallIds, Run};
use crate::conversation::{Conversation, Entry, Turn, unknown};
use crate::error::AgentError;
use crate::llm::answer::FinalAnswer;
use crate::llm::guards::Guards;
use crate::pending::Decision;
use serde_json::Value;
use std::collections::BTreeMap;
use toolkit_core::definition::ToolSource;
use toolkit_core::error::Pending;
use toolkit_core::middleware::{Approval, DecidedApprovals};
use toolkit_core::{ToolCall, ToolRegistry, ToolResult};
use toolkit_llm::FinishReason;

/// The plan for the unfinished calls of a continued turn. Calls not listed stay pending.
#[derive(Debug, Default)]
pub(super) struct Restart {
    pub(super) positions: Vec<usize>,
    pub(super) results: Vec<ToolResult>,
    /// The program's approvals, by the index of the call.
    approvals: BTreeMap<usize, Approval>,
    /// The arguments that the program has given calls of tools with earlier calls.
    changed: BTreeMap<usize, Value>,
}

impl Restart {
    /// Decides for each call without a result whether it runs, gets a result, or stays pending.
    pub(super) fn new(
        turn: &Turn,
        conversation: &Conversation,
        run: &Run,
        tools: &ToolRegistry,
        answer: &FinalAnswer<'_>,
    ) -> Result<Self, AgentError> {
        let mut restart = Self::default();
        let calls = &turn.message().calls;
        // Calls after an accepted answer had been started, so they are not refused, even if the answer
        // would be invalid now.
        let mut invalid = calls.len();
        for (position, call) in calls.iter().enumerate() {
            if answer.is_invalid(call) && !turn.has_succeeded(position) {
                invalid = position;
                break;
            }
        }
        let decisions = &run.0.place.decisions;
        for position in turn.unanswered() {
            let Some(call) = calls.get(position) else { continue };
            let id = conversation.path_of_call(position);
            let is_agent = conversation.has_called(position);
            let refusal = answer.refusal(call, invalid < position);
            if let Some(error) = refusal.filter(|_| turn.pending(position).is_none()) {
                restart.results.push(ToolResult::of(call, Err(error)).with_position(position));
                continue;
            }
            let decision = decisions.get(&id);
            let runs = decision.is_some_and(Decision::runs_the_call) || is_agent && decisions.are_within(&id);
            if runs && !tools.contains(&call.name) {
                let text = format!(
                    "call `{id}` waits for tool `{}`, which the agent no longer has; resume the run with the earlier \
                     program, or abandon it",
                    call.name
                );
                return Err(AgentError::TeamChanged(text));
            }
            match turn.pending(position) {
                Some(_) if is_agent && !decisions.are_within(&id) => {}
                // The agent had begun, so its call needs no further approval.
                _ if is_agent => restart.run(position, Some(Approval::Approve)),
                Some(_) if turn.is_repeated(position) => restart.decide_again(position, call, decision),
                Some(_) => restart.decide(position, call, decision),
                None if !turn.may_have_run(position)
                    && let Some(error) = repeated(conversation, tools, call) =>
                {
                    restart.results.push(ToolResult::of(call, Err(error)).with_position(position));
                }
                // A call that was cut keeps its earlier decision.
                None if may_run(turn, position, answer, tools) => {
                    restart.run(position, turn.decided(position).and_then(approval));
                }
                None => {
                    restart.results.push(ToolResult::of(call, Err(unknown(call))).with_position(position));
                }
            }
        }
        Ok(restart)
    }

    fn decide(&mut self, position: usize, call: &ToolCall, decision: Option<&Decision>) {
        let Some(decision) = decision else { return };
        match approval(decision) {
            Some(approval) => self.run(position, Some(approval)),
            None => {
                let outcome = decision.clone().into_outcome(&call.name);
                self.results.push(ToolResult::of(call, outcome).with_position(position));
            }
        }
    }

    /// Decides a call that waits because of earlier calls. Permissions of the tool still ask for their approval.
    fn decide_again(&mut self, position: usize, call: &ToolCall, decision: Option<&Decision>) {
        if let Some(Decision::Change(arguments)) = decision {
            self.changed.insert(position, arguments.clone());
        }
        match decision {
            Some(decision) if decision.runs_the_call() => self.run(position, None),
            decision => self.decide(position, call, decision),
        }
    }

    /// Returns the call with the arguments that the program has given it.
    pub(super) fn changed(&self, position: usize, mut call: ToolCall) -> ToolCall {
        if let Some(arguments) = self.changed.get(&position) {
            call.arguments = arguments.to_string().into();
        }
        call
    }

    fn run(&mut self, position: usize, approval: Option<Approval>) {
        self.positions.push(position);
        self.approvals.extend(approval.map(|approval| (position, approval)));
    }

    /// Returns the approvals by the ids under which `calls`, those of the turn, run.
    pub(super) fn approvals(&self, calls: &[ToolCall]) -> DecidedApprovals {
        let mut ids = CallIds::default();
        let mut approvals = DecidedApprovals::new();
        for (position, call) in calls.iter().enumerate() {
            let id = ids.add(call.id.clone());
            let Some(approval) = self.approvals.get(&position) else { continue };
            let mut dispatched = call.clone();
            dispatched.id = id;
            approvals = approvals.with(&dispatched, approval.clone());
        }
        approvals
    }
}

impl TurnCalls<'_> {
    /// Adds the results in `restart` to the unfinished turn, and starts its calls.
    pub(super) async fn restart(&mut self, mut restart: Restart, guards: &Guards) -> Result<(), AgentError> {
        let Some(message) = self.conversation.arrived_message().cloned() else { return Ok(()) };
        self.dispatched.handled = message.calls.len();
        let decided = guards.decided(self.scope, &message.calls, &mut restart.results);
        self.scope.run.until_stopped(decided).await?;
        let is_held = self.pieces.are_held(&message, self.answer);
        if !is_held {
            // Text before calls is no answer, so its events come before those of the calls.
            self.pieces.buffer.emit(self.scope.run);
        }
        self.conversation.apply_state_changes();
        if self.conversation.turn().is_some_and(|turn| turn.end().is_none()) {
            self.conversation.end_message(message.clone(), FinishReason::Interrupted, false);
            if !is_held {
                self.pieces.emit_restarted(&message);
            }
        }
        self.record_decisions(&mut restart).await?;
        if is_held {
            // The earlier run has not emitted it, because the answer was not checked.
            self.pieces.buffer.push_message(&message, &self.pieces.message_id, self.scope.run);
        }
        self.caller.called.begin_turn(self.conversation);
        for (position, call) in message.calls.into_iter().enumerate() {
            if restart.positions.contains(&position) {
                self.start_call(position, restart.changed(position, call));
            } else {
                self.caller.called.add(call.id);
            }
        }
        Ok(())
    }

    /// Records what was decided about pending calls, and saves it before these calls run, so that they are
    /// not pending again after a crash. If the save fails, they stay pending.
    async fn record_decisions(&mut self, restart: &mut Restart) -> Result<(), AgentError> {
        let pending = self.pending_among(&restart.positions);
        let decisions = &self.scope.run.0.place.decisions;
        for position in &restart.positions {
            if self.conversation.turn().is_some_and(|turn| !turn.has_started(*position)) {
                // The earlier run may have stopped before it counted the call.
                self.scope.run.0.budget.take_tool_call();
            }
            let id = self.conversation.path_of_call(*position);
            self.conversation.decide(*position, decisions.get(&id).cloned(), decisions.decider(&id));
        }
        for result in std::mem::take(&mut restart.results) {
            let position = result.position;
            self.keep(result);
            let id = self.conversation.path_of_call(position);
            if let Some(decision) = decisions.get(&id).cloned() {
                self.conversation.note_decided(position, decision, decisions.decider(&id));
            }
        }
        self.conversation.start_calls(restart.positions.clone());
        let saved = self.scope.run.save(self.conversation).await;
        if saved.is_err() {
            // The decisions count again once they can be saved.
            self.conversation.give_back();
            for (call, reason) in pending {
                self.conversation.record(Entry::Pending { call, reason });
            }
        }
        saved
    }

    /// Returns those of `positions` whose calls are pending, with the reason.
    fn pending_among(&self, positions: &[usize]) -> Vec<(usize, Pending)> {
        let mut pending = Vec::new();
        for position in positions {
            if let Some(reason) = self.conversation.turn().and_then(|turn| turn.pending(*position)) {
                pending.push((*position, reason.clone()));
            }
        }
        pending
    }
}

/// Returns the approval that a decision gives. `None` if the call does not run.
fn approval(decision: &Decision) -> Option<Approval> {
    match decision {
        Decision::Approve => Some(Approval::Approve),
        Decision::ApproveForSession => Some(Approval::ApproveForSession),
        Decision::Change(arguments) => Some(Approval::Change(arguments.clone())),
        Decision::Deny(_) | Decision::Answer(_) | Decision::Output(_) | Decision::Fail(_) => None,
    }
}

/// Returns whether a call without a result may run: it was not started, gives an answer, its tool is marked
/// as repeatable, or is an agent that has not begun.
fn may_run(turn: &Turn, position: usize, answer: &FinalAnswer<'_>, tools: &ToolRegistry) -> bool {
    let Some(call) = turn.message().calls.get(position) else { return false };
    if !turn.may_have_run(position) || answer.is_in(call) {
        return true;
    }
    let Some(tool) = tools.get(&call.name) else { return false };
    let metadata = &tool.definition().metadata;
    metadata.is_repeatable() || metadata.source == ToolSource::Agent && !turn.agent_may_have_begun(position)
}
