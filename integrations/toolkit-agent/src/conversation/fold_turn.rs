//! The unfinished turn in the fold of a log.

use super::State;
use super::Turn;
use super::branches::is_branch;
use super::verdict::{is_answer_call_only, replace_answer, withhold, withhold_beside};
use super::{Entry, ModelEnd, TurnAnswer, Verdict};
use crate::output::AgentOutput;
use toolkit_core::ToolResult;
use toolkit_llm::{AssistantMessage, Message, ToolMessage};

impl State {
    /// Applies an entry of the unfinished turn.
    pub(super) fn apply_to_turn(&mut self, entry: Entry, at: u64) {
        match entry {
            Entry::TurnBegan { agent, checks_answers } => {
                self.stop_turn(false, at);
                self.run().turns += 1;
                self.turn = Some(Turn::new(agent, checks_answers));
            }
            Entry::Call(arrived) => self.turn().arrive(*arrived),
            Entry::Started(calls) => self.turn().start(calls),
            Entry::Result(result) => {
                if !self.children.is_empty() {
                    let key = self.call_key(result.position);
                    self.children.remove(&key);
                }
                self.turn().add_result(*result);
            }
            Entry::Pending { call, reason } => self.turn().set_pending(call, reason),
            Entry::Decided(call) => self.turn().decide(call),
            Entry::Applied => self.turn().set_applied(),
            Entry::AnswersChecked => self.turn().checks_answers = true,
            Entry::ModelEnded(end) => self.end_message(*end),
            Entry::ModelFailed => {
                self.turn = None;
                self.drop_called();
            }
            Entry::TurnStopped { is_kept } => self.stop_turn(is_kept, at),
            Entry::TurnEnded { verdict, answer } => {
                let agent = self.turn().message().agent.clone();
                self.end_turn(verdict, at);
                if let Some(answer) = answer {
                    let TurnAnswer { text, finish, escalate } = *answer;
                    let text = text.unwrap_or_else(|| self.history.last_answer().to_owned());
                    self.frame().answer = Some(AgentOutput { text, agent, finish, escalate });
                }
            }
            _ => {}
        }
    }

    fn turn(&mut self) -> &mut Turn {
        self.turn.get_or_insert_default()
    }

    /// Removes the conversations of agents called as tools.
    fn drop_called(&mut self) {
        self.children.retain(|key, _| is_branch(key));
    }

    fn end_message(&mut self, end: ModelEnd) {
        self.turn().end_message(end);
        let message = self.turn().message();
        if !message.calls.is_empty() && !message.has_answer() {
            // Text before calls is not an answer.
            self.history.unchecked = None;
        }
    }

    /// Ends the unfinished turn before it is complete. If the agent of the turn checks its answers, removes the answer.
    pub(super) fn stop_turn(&mut self, is_kept: bool, at: u64) {
        let Some(turn) = self.turn.take() else { return };
        let is_kept = is_kept && turn.message().native.is_some();
        let is_checked = turn.checks_answers;
        let (mut message, mut results) = self.parts(turn);
        if is_checked {
            if !is_answer_call_only(&message) && message.has_answer() {
                // A resumed run does not continue text before calls that have run.
                self.history.remove_paused();
            }
            withhold(&mut message, &mut results);
        }
        self.add_turn((message, results), is_checked, is_kept, at);
    }

    fn end_turn(&mut self, verdict: Verdict, at: u64) {
        let Some(turn) = self.turn.take() else { return };
        let is_kept = turn.end().is_some_and(|end| end.is_kept);
        let is_checked = turn.checks_answers;
        let (mut message, mut results) = self.parts(turn);
        if results.iter().any(|result| result.actions.escalate) {
            self.frame().escalate = true;
        }
        // The output of a tool is an answer that text before it does not belong to.
        let continues_text = message.calls.is_empty() || message.has_answer();
        let is_text = message.calls.is_empty();
        match verdict {
            Verdict::Unchanged => return self.add_turn((message, results), is_checked, is_kept, at),
            Verdict::Accepted => {
                let was_paused = continues_text && !is_text && self.history.remove_paused();
                withhold_beside(&mut message, &results, was_paused);
            }
            Verdict::Replaced(text) => {
                if continues_text {
                    self.history.remove_paused();
                }
                replace_answer(&mut message, &mut results, &text);
            }
            Verdict::Withheld => {
                if continues_text {
                    self.history.remove_paused();
                }
                withhold(&mut message, &mut results);
            }
        }
        self.history.unchecked = None;
        self.add_turn((message, results), false, is_kept, at);
    }

    fn parts(&mut self, turn: Turn) -> (AssistantMessage, Vec<ToolResult>) {
        let keys: Vec<String> = if self.children.is_empty() {
            Vec::new()
        } else {
            (0..turn.message().calls.len()).map(|position| self.call_key(position)).collect()
        };
        let children = &mut self.children;
        let parts = turn.into_parts(|position| children.remove(keys.get(position)?));
        self.drop_called();
        parts
    }

    /// Adds the message of a turn and the results of its calls.
    fn add_turn(
        &mut self,
        (message, results): (AssistantMessage, Vec<ToolResult>),
        is_checked: bool,
        is_kept: bool,
        at: u64,
    ) {
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
            // The text is checked together with the rest of the answer.
            self.history.unchecked.get_or_insert(index);
        }
        if let Some(given) = given {
            self.history.add(Message::Tool(given), at);
        }
    }
}
