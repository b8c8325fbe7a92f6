//! The unfinished turn in the fold of a log.

use super::State;
use super::Turn;
use super::branches::is_branch;
use super::verdict::{is_answer_call_only, replace_answer, withhold, withhold_alongside};
use super::{ModelEnd, TurnAnswer, TurnVerdict};
use crate::output::AgentOutput;
use toolkit_core::ToolResult;
use toolkit_core::error::Pending;
use toolkit_llm::{AssistantMessage, Message, ToolMessage};

impl State {
    pub(super) fn begin_turn(&mut self, agent: String, checks_answers: bool, at: u64) {
        self.stop_turn(false, at);
        self.run().turns += 1;
        self.turn = Some(Turn::new(agent, checks_answers));
    }

    pub(super) fn add_result(&mut self, result: ToolResult) {
        if !self.children.is_empty() {
            let key = self.call_key(result.position);
            self.children.remove(&key);
        }
        self.turn().add_result(result);
    }

    /// Starts calls. Their tools then have been called again.
    pub(super) fn start(&mut self, calls: Vec<usize>) {
        let Self { turn, origin, .. } = self;
        let turn = turn.get_or_insert_default();
        if !origin.calls.is_empty() {
            for position in &calls {
                if let Some(call) = turn.message().calls.get(*position) {
                    origin.forget(call);
                }
            }
        }
        turn.start(calls);
    }

    pub(super) fn set_pending(&mut self, position: usize, reason: Pending) {
        let call = self.turn.as_ref().and_then(|turn| turn.message().calls.get(position));
        let is_repeated = call.is_some_and(|call| self.origin.has(call));
        self.turn().set_pending(position, reason, is_repeated);
    }

    /// Drops the unfinished turn with the conversations of agents called in it.
    pub(super) fn drop_turn(&mut self) {
        self.turn = None;
        self.drop_called();
    }

    pub(super) fn turn(&mut self) -> &mut Turn {
        self.turn.get_or_insert_default()
    }

    fn drop_called(&mut self) {
        self.children.retain(|key, _| is_branch(key));
    }

    pub(super) fn end_message(&mut self, end: ModelEnd) {
        self.turn().end_message(end);
        let message = self.turn().message();
        if !message.calls.is_empty() && !message.has_answer() {
            // Text before calls is not an answer.
            self.history.unchecked = None;
        }
    }

    /// Ends the turn before it is complete. An answer that guardrails should check is removed.
    pub(super) fn stop_turn(&mut self, is_kept: bool, at: u64) {
        let Some(turn) = self.turn.take() else { return };
        let mut turn = self.ended(turn);
        turn.is_kept = is_kept && turn.message.native.is_some();
        if turn.is_checked {
            if !is_answer_call_only(&turn.message) && turn.message.has_answer() {
                // A resumed run does not continue text before calls that have run.
                self.history.remove_paused();
            }
            withhold(&mut turn.message, &mut turn.results);
        }
        self.add_turn(turn, at);
    }

    /// Ends the complete turn with a verdict, and its agent's answer if it gives one.
    pub(super) fn end_turn(&mut self, verdict: TurnVerdict, answer: Option<TurnAnswer>, at: u64) {
        let Some(turn) = self.turn.take() else { return };
        let end = turn.end().map(|end| end.finish.clone());
        let mut turn = self.ended(turn);
        if turn.results.iter().any(|result| result.actions.escalate) {
            self.frame().escalate = true;
        }
        let agent = answer.as_ref().map(|_| turn.message.agent.clone());
        if verdict != TurnVerdict::Unchanged {
            self.judge(&mut turn, verdict);
            self.history.unchecked = None;
            turn.is_checked = false;
        }
        self.add_turn(turn, at);
        if let (Some(TurnAnswer { text, finish, escalate }), Some(agent)) = (answer, agent) {
            let text = text.unwrap_or_else(|| self.history.last_answer().to_owned());
            let finish = finish.or(end).unwrap_or_default();
            self.frame().answer = Some(AgentOutput { text, agent, finish, escalate });
        }
    }

    /// Removes from a turn what its verdict does not leave.
    fn judge(&mut self, turn: &mut EndedTurn, verdict: TurnVerdict) {
        let EndedTurn { message, results, .. } = turn;
        // Text before a pause does not belong to an answer that is the output of a tool.
        let continues_text = message.calls.is_empty() || message.has_answer();
        // An answer in a call's arguments is complete without the text before a pause.
        let replaces_text = verdict != TurnVerdict::Accepted || !message.calls.is_empty();
        let was_paused = continues_text && replaces_text && self.history.remove_paused();
        match verdict {
            TurnVerdict::Unchanged => {}
            TurnVerdict::Accepted => withhold_alongside(message, results, was_paused),
            TurnVerdict::Replaced(text) => replace_answer(message, results, &text),
            TurnVerdict::Withheld => withhold(message, results),
        }
    }

    fn ended(&mut self, turn: Turn) -> EndedTurn {
        let keys: Vec<String> = if self.children.is_empty() {
            Vec::new()
        } else {
            (0..turn.message().calls.len()).map(|position| self.call_key(position)).collect()
        };
        let is_kept = turn.end().is_some_and(|end| end.is_kept);
        let is_checked = turn.checks_answers;
        let children = &mut self.children;
        let (message, results) = turn.into_parts(|position| children.remove(keys.get(position)?));
        self.drop_called();
        EndedTurn { message, results, is_checked, is_kept }
    }

    fn add_turn(&mut self, turn: EndedTurn, at: u64) {
        let EndedTurn { message, results, is_checked, is_kept } = turn;
        if message.is_empty() && !is_kept {
            return;
        }
        if !message.calls.is_empty() && !message.has_answer() {
            self.history.unchecked = None;
        }
        let given = (!results.is_empty()).then(|| ToolMessage::new(results).by(message.agent.as_str()));
        let is_paused = message.paused && message.calls.is_empty() && !message.text.is_empty();
        let index = self.history.len();
        self.history.add(Message::Assistant(message), at);
        if is_checked && is_paused {
            // The text is checked with the rest of the answer.
            let is_first = self.history.unchecked.is_none();
            self.history.unchecked.get_or_insert(index);
            let run = self.run();
            if is_first {
                run.paused.clear();
            }
            run.paused.push(run.turns);
        }
        if let Some(given) = given {
            self.history.add(Message::Tool(given), at);
        }
    }
}

/// An ended turn, before it joins the conversation.
struct EndedTurn {
    message: AssistantMessage,
    results: Vec<ToolResult>,
    is_checked: bool,
    /// Whether an empty message is added, because the provider knows it.
    is_kept: bool,
}
