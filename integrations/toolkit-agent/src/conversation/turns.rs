//! The unfinished turn of a conversation, while a run works on it.

use super::interrupted_calls::not_started;
use super::native::GrowingNative as _;
use super::{Arrived, Conversation, Entry, ModelEnd, Turn, TurnAnswer, TurnVerdict};
use crate::message::store_details;
use crate::output::AgentOutput;
use crate::pending::Decision;
use std::mem::take;
use toolkit_core::{ToolCall, ToolError, ToolResult};
use toolkit_llm::FinishReason;
use toolkit_llm::{AssistantMessage, Message, NativeMessages};

impl Conversation {
    pub(crate) fn turn(&self) -> Option<&Turn> {
        self.state.turn.as_ref()
    }

    /// Returns the message of the unfinished turn, without the pieces since its last complete call.
    pub(crate) fn turn_message(&self) -> Option<&AssistantMessage> {
        self.turn().map(Turn::message)
    }

    pub(crate) fn begin_turn(&mut self, agent: &str, checks_answers: bool) {
        self.keep_arrived();
        let agent = if agent == self.state.innermost() { None } else { Some(agent.to_owned()) };
        self.record(Entry::TurnBegan { agent, checks_answers });
    }

    pub(crate) fn push_text(&mut self, piece: &str) {
        self.live.arrived.text.push_str(piece);
    }

    pub(crate) fn push_reasoning(&mut self, piece: &str) {
        self.live.arrived.reasoning.push_str(piece);
    }

    /// Adds native parts of the arriving message.
    pub(crate) fn push_native(&mut self, native: NativeMessages) {
        match &mut self.live.arrived.native {
            Some(known) => known.extend(native),
            none => *none = Some(native),
        }
    }

    /// Adds a complete call. `is_answer` tells whether its arguments are the answer.
    pub(crate) fn push_call(&mut self, call: ToolCall, is_answer: bool) {
        let answer_tool = if is_answer { call.name.clone() } else { String::new() };
        let arrived = Arrived { call: Some(call), answer_tool, ..take(&mut self.live.arrived) };
        self.record(Entry::Call(Box::new(arrived)));
    }

    /// Adds the pieces since the last call to the turn, because the message has broken off.
    pub(super) fn keep_arrived(&mut self) {
        if self.live.arrived == Arrived::default() {
            return;
        }
        let arrived = take(&mut self.live.arrived);
        if self.state.turn.is_some() {
            self.record(Entry::Call(Box::new(arrived)));
        }
    }

    /// Returns the message of the turn, with all pieces so far.
    pub(crate) fn arrived_message(&mut self) -> Option<&AssistantMessage> {
        self.keep_arrived();
        self.turn_message()
    }

    /// Ends the message of the turn with the complete `message`, which begins with the turn's calls so far.
    /// `is_kept` tells whether the provider knows the message although it is empty.
    pub(crate) fn end_message(&mut self, mut message: AssistantMessage, finish: FinishReason, is_kept: bool) {
        message.agent.clear();
        let usage = take(&mut message.usage);
        let mut arrived = take(&mut self.live.arrived);
        let known = self.turn_message().filter(|known| !known.calls.is_empty());
        let end = match known.and_then(|known| rest(known, &mut arrived, &message)) {
            Some(message) => ModelEnd { finish, is_kept, continues: true, message, usage },
            None => ModelEnd { finish, is_kept, continues: false, message, usage },
        };
        self.record(Entry::ModelEnded(Box::new(end)));
    }

    pub(crate) fn start_calls(&mut self, calls: Vec<usize>) {
        if !calls.is_empty() {
            self.record(Entry::Started(calls));
        }
    }

    /// Adds a result to the unfinished turn, or marks the call as pending if the result is a `Pending`
    /// error.
    pub(crate) fn add_result(&mut self, mut result: ToolResult) {
        if let Some(reason) = result.error().and_then(ToolError::pending) {
            return self.record(Entry::Pending { call: result.position, reason: reason.clone() });
        }
        if self.error_details {
            store_details(&mut result, true);
        }
        self.record(Entry::Result(Box::new(result)));
    }

    /// Returns the result of a call that has not begun, because the run stops.
    pub(crate) fn not_started(&self, position: usize) -> Option<ToolResult> {
        let call = self.turn_message()?.calls.get(position)?;
        Some(ToolResult::of(call, Err(not_started(call))).with_position(position))
    }

    pub(crate) fn check_answers(&mut self) {
        if self.turn().is_some_and(|turn| !turn.checks_answers) {
            self.record(Entry::AnswersChecked);
        }
    }

    /// Notes that a pending call was decided and runs.
    pub(crate) fn decide(&mut self, call: usize, decision: Option<Decision>, by: &str) {
        if self.turn().is_some_and(|turn| turn.pending(call).is_some()) {
            self.record(Entry::Decided { call, decision, by: by.to_owned() });
            self.take_decision(call);
        }
    }

    /// Adds the result that a decision gives a pending call, and notes who has decided.
    pub(crate) fn note_decided(&mut self, call: usize, decision: Decision, by: &str) {
        // After the result: a call whose decision alone is in the log would run.
        self.record(Entry::Decided { call, decision: Some(decision), by: by.to_owned() });
        self.take_decision(call);
    }

    /// Applies the session changes that a stopped run has left in the turn's results.
    pub(crate) fn apply_state_changes(&mut self) {
        let changes = self.turn().map(Turn::state_changes).unwrap_or_default();
        if !changes.is_empty() {
            self.session().apply(&changes);
            self.record(Entry::Applied);
        }
    }

    /// Discards a turn that failed before a call started.
    pub(crate) fn discard_turn(&mut self) {
        self.live.arrived = Arrived::default();
        if self.state.turn.is_some() {
            self.record(Entry::ModelFailed);
        }
    }

    /// Ends the turn before it is complete. An answer that guardrails should check is removed.
    pub(crate) fn stop_turn(&mut self, is_kept: bool) {
        self.keep_arrived();
        if self.state.turn.is_some() {
            self.record(Entry::TurnStopped { is_kept });
        }
    }

    /// Ends the complete turn, and adds to the conversation what the verdict leaves of it.
    pub(crate) fn end_turn(&mut self, verdict: TurnVerdict) {
        self.record(Entry::TurnEnded { verdict, answer: None });
    }

    pub(crate) fn answer_turn(&mut self, verdict: TurnVerdict, output: &AgentOutput) {
        let message = self.turn_message().filter(|message| message.calls.is_empty());
        let said = match &verdict {
            TurnVerdict::Replaced(text) => message.map(|_| text.as_str()),
            _ => message.map(|message| message.text.as_str()),
        };
        let is_known = !output.text.is_empty() && said == Some(output.text.as_str());
        let text = if is_known { None } else { Some(output.text.clone()) };
        let end = self.turn().and_then(Turn::end);
        let is_of_turn = end.is_some_and(|end| end.finish == output.finish);
        let finish = if is_of_turn { None } else { Some(output.finish.clone()) };
        let answer = Some(Box::new(TurnAnswer { text, finish, escalate: output.escalate }));
        self.record(Entry::TurnEnded { verdict, answer });
    }

    pub(crate) fn latest_message(&self) -> Option<&AssistantMessage> {
        self.state.history.latest_message()
    }

    /// Returns the text before a pause that belongs to the turn's answer. The arguments of a call are an
    /// answer of their own.
    pub(crate) fn paused_text(&self) -> String {
        let is_text = self.turn_message().is_none_or(|message| message.calls.is_empty());
        if is_text { self.unchecked().iter().map(Message::to_text).collect() } else { String::new() }
    }

    /// Removes unchecked text before a pause, unless `agent` can continue it.
    pub(crate) fn remove_paused_of_others(&mut self, agent: &str) {
        for message in self.unchecked() {
            if !matches!(message, Message::Assistant(own) if own.agent == agent) {
                return self.record(Entry::PausedRemoved);
            }
        }
    }
}

/// Returns the part of a message that is not in the turn yet, after the pieces in `arrived`. `None` if the
/// message does not continue the turn.
fn rest(
    known: &AssistantMessage,
    arrived: &mut Arrived,
    message: &AssistantMessage,
) -> Option<AssistantMessage> {
    if !message.calls.starts_with(&known.calls) {
        return None;
    }
    let text = message.text.strip_prefix(&known.text)?.to_owned();
    let reasoning = message.reasoning.strip_prefix(&known.reasoning)?.to_owned();
    let calls = message.calls.get(known.calls.len()..).unwrap_or_default().to_vec();
    let is_known = arrived.native.is_none() && message.native == known.native;
    let native = if is_known { None } else { Some(message.native.clone()?) };
    let mut rest = AssistantMessage::text(text).with_calls(calls);
    rest.reasoning = reasoning;
    rest.answer_tool.clone_from(&message.answer_tool);
    rest.native = native;
    rest.paused = message.paused;
    rest.differs_from_server = message.differs_from_server;
    Some(rest)
}
