//! Removal or replacement of answers that guardrails have not checked.

use super::{Conversation, WITHHELD};
use serde_json::Value;
use std::ops::Range;
use toolkit_core::{ToolOutput, ToolResult};
use toolkit_llm::{AssistantMessage, Message};

/// Removes the answer from a message whose turn ended before the answer was checked. Other calls, and the
/// text of a message with other calls, stay.
///
/// - A text answer is removed.
/// - If the arguments of a call are the answer, they become empty, and the call loses its result.
/// - If the output of a tool is the answer, another text replaces the output.
pub(super) fn withhold(message: &mut AssistantMessage, results: &mut Vec<ToolResult>) {
    // The text of a paused message belongs to a turn that is not finished, so it is not an answer.
    if message.calls.is_empty() && !message.paused {
        message.text.clear();
        drop_draft(message);
    }
    let is_answer: Vec<bool> = message.calls.iter().map(|call| message.is_answer(call)).collect();
    if is_answer.contains(&true) {
        replace_calls(message, "{}", |_| true);
        results.retain(|result| is_answer.get(result.position) != Some(&true));
    }
    withhold_outputs(results);
}

/// Replaces the output of each tool whose output is the answer.
fn withhold_outputs(results: &mut [ToolResult]) {
    for result in results.iter_mut().filter(|result| result.actions.skip_summarization) {
        result.outcome = Ok(ToolOutput::text(WITHHELD));
    }
}

/// Replaces the arguments of calls that give an answer, and removes the text of the message, which was not
/// checked either. `is_selected` gets the index of a call, and returns whether to replace its arguments.
fn replace_calls(said: &mut AssistantMessage, arguments: &str, is_selected: impl Fn(usize) -> bool) {
    let tool = std::mem::take(&mut said.answer_tool);
    for (index, call) in said.calls.iter_mut().enumerate() {
        if call.name == tool && is_selected(index) {
            call.arguments = arguments.into();
        }
    }
    said.answer_tool = tool;
    said.text.clear();
    drop_draft(said);
}

/// Removes the reasoning and the native form of a message whose answer was removed, because both may contain the
/// answer.
fn drop_draft(said: &mut AssistantMessage) {
    said.reasoning.clear();
    said.drop_native();
}

/// Returns whether the provider has paused the turn after this message.
fn is_paused(message: &Message) -> bool {
    matches!(message, Message::Assistant(said) if said.paused)
}

/// Returns whether any call of a message does not give an answer.
fn has_other_calls(said: &AssistantMessage) -> bool {
    said.calls.iter().any(|call| !said.is_answer(call))
}

/// A turn whose answer guardrails are checking.
pub(crate) struct HiddenAnswer {
    /// The message and the results with the answer.
    turn: Box<[Message; 2]>,
    /// Whether there was text before a pause.
    was_paused: bool,
}

impl Conversation {
    /// Returns the number of messages before those that guardrails have not checked.
    pub(super) fn checked(&self) -> usize {
        let unchecked = self.progress.as_ref().and_then(|progress| progress.unchecked);
        unchecked.unwrap_or(usize::MAX).min(self.messages.len())
    }

    /// Returns the messages that guardrails have not checked.
    pub(crate) fn unchecked(&self) -> &[Message] {
        self.messages.get(self.checked()..).unwrap_or_default()
    }

    /// Notes that guardrails have not checked the last message, or the last message and the results of its calls.
    pub(crate) fn set_unchecked(&mut self) {
        let count = if let Some(Message::Tool(_)) = self.messages.last() { 2 } else { 1 };
        let begin = self.checked().min(self.messages.len().saturating_sub(count));
        self.progress.get_or_insert_default().unchecked = Some(begin);
    }

    /// Removes unchecked text before a message, if calls of the message have run beside an answer. A resumed run does
    /// not continue such text.
    pub(super) fn withhold_before(&mut self, message: &AssistantMessage) {
        if message.has_answer() && has_other_calls(message) {
            self.withhold_unchecked(None);
        }
    }

    /// Hides the answer of the last turn until guardrails have checked it. If other calls have run beside the answer,
    /// their message and their results are shown without it. Returns what [`show_answer`](Self::show_answer) needs
    /// then.
    pub(crate) fn hide_answer(&mut self) -> Option<HiddenAnswer> {
        let begin = self.messages.len().saturating_sub(2);
        let turn = match self.messages.get(begin..) {
            Some([message @ Message::Assistant(said), given @ Message::Tool(_)]) if has_other_calls(said) => {
                Box::new([message.clone(), given.clone()])
            }
            _ => {
                self.set_unchecked();
                return None;
            }
        };
        let len = self.messages.len();
        self.withhold_answers();
        self.set_checked();
        Some(HiddenAnswer { turn, was_paused: self.messages.len() < len })
    }

    /// Shows the answer that [`hide_answer`](Self::hide_answer) has taken out of the last turn. Returns whether it has
    /// removed text before a pause.
    pub(crate) fn show_answer(&mut self, hidden: Option<HiddenAnswer>) -> bool {
        let Some(HiddenAnswer { turn, was_paused }) = hidden else { return false };
        let begin = self.messages.len().saturating_sub(turn.len());
        self.messages.splice(begin.., *turn);
        self.mark_changed(begin);
        was_paused
    }

    /// Notes that no message has to be checked by guardrails any more.
    pub(crate) fn set_checked(&mut self) {
        if let Some(progress) = &mut self.progress {
            progress.unchecked = None;
        }
    }

    /// Removes what guardrails have not checked, because the check was stopped: replaces the answer, and removes the
    /// text before it. If `agent` can continue this text, because the provider has paused the turn, removes only the
    /// rest.
    pub(crate) fn withhold_unchecked(&mut self, agent: Option<&str>) {
        let begin = self.checked();
        if begin == self.messages.len() {
            return self.set_checked();
        }
        let is_continued = |message: &&Message| match message {
            Message::Assistant(said) => said.paused && agent == Some(said.agent.as_str()),
            _ => false,
        };
        let kept = self.unchecked().iter().take_while(is_continued).count();
        if kept > 0 {
            return self.remove_messages(begin + kept..self.messages.len());
        }
        let paused = self.unchecked().iter().take_while(|message| is_paused(message)).count();
        self.remove_messages(begin..begin + paused);
        if begin < self.messages.len() {
            self.replace_answer(WITHHELD);
        }
        self.set_checked();
    }

    fn remove_messages(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.times.resize(self.messages.len(), 0);
            self.messages.drain(range.clone());
            self.times.drain(range.clone());
            self.mark_changed(range.start);
        }
    }

    /// Returns the index of the message with the answer, or 0 if the answer is the output of a tool, which text before
    /// it does not belong to. `is_added` is `false` if the answer is empty and not in the conversation.
    pub(crate) fn begin_of_answer(&self, is_added: bool) -> usize {
        match self.messages.as_slice() {
            [.., Message::Assistant(said), Message::Tool(_)] => {
                if said.has_answer() {
                    self.messages.len() - 2
                } else {
                    0
                }
            }
            all => all.len() - usize::from(is_added),
        }
    }

    /// Returns the messages before `end` that the provider has paused. They are the beginning of an answer.
    fn paused(&self, end: usize) -> &[Message] {
        let before = self.messages.get(..end).unwrap_or_default();
        let count = before.iter().rev().take_while(|message| is_paused(message)).count();
        before.get(before.len() - count..).unwrap_or_default()
    }

    /// Returns the text of the paused messages before a text answer at `end`. The arguments of a call are an answer of
    /// their own.
    pub(crate) fn paused_text(&self, end: usize) -> String {
        match self.messages.get(end) {
            Some(Message::Assistant(said)) if !said.calls.is_empty() => String::new(),
            _ => self.paused(end).iter().map(Message::to_text).collect(),
        }
    }

    /// Removes the paused messages before `end`. Returns whether there were any.
    pub(crate) fn remove_paused(&mut self, end: usize) -> bool {
        let begin = end - self.paused(end).len();
        self.remove_messages(begin..end);
        begin < end
    }

    /// Withholds everything beside the accepted answer of the last turn: the arguments of other answers in the same
    /// turn, the text of the message, and text before a pause. `was_paused` is `true` if such text was already removed.
    /// Returns the changed message, or `None` if there was nothing to withhold.
    pub(crate) fn withhold_beside_answer(&mut self, was_paused: bool) -> Option<&AssistantMessage> {
        let was_paused = was_paused
            || matches!(self.messages.last(), Some(Message::Tool(_)))
                && self.remove_paused(self.begin_of_answer(true));
        let begin = self.messages.len().checked_sub(2)?;
        let Some([Message::Assistant(said), Message::Tool(given)]) = self.messages.get_mut(begin..) else {
            return None;
        };
        let mut answers = said.calls.iter().zip(&given.results).enumerate();
        let is_accepted =
            |(_, (call, result)): &(usize, (&_, &ToolResult))| said.is_answer(call) && result.outcome.is_ok();
        let (accepted, _) = answers.find(is_accepted)?;
        let count = said.calls.iter().filter(|call| said.is_answer(call)).count();
        if count == 1 && said.text.is_empty() && !was_paused {
            return None;
        }
        replace_calls(said, "{}", |index| index != accepted);
        self.mark_changed(begin);
        match self.messages.get(begin) {
            Some(Message::Assistant(said)) => Some(said),
            _ => None,
        }
    }

    /// Removes all answers from the calls and results of the last turn. Other calls and their text stay.
    /// Returns the message of the turn, or `None` if the last turn has no calls.
    pub(crate) fn withhold_answers(&mut self) -> Option<&AssistantMessage> {
        self.remove_paused(self.begin_of_answer(true));
        let begin = self.messages.len().checked_sub(2)?;
        let Some([Message::Assistant(said), Message::Tool(given)]) = self.messages.get_mut(begin..) else {
            return None;
        };
        if said.has_answer() {
            replace_calls(said, "{}", |_| true);
        }
        withhold_outputs(&mut given.results);
        self.mark_changed(begin);
        match self.messages.get(begin) {
            Some(Message::Assistant(said)) => Some(said),
            _ => None,
        }
    }

    /// Replaces the answer in the last messages with `text`. The answer is the text of a message, the
    /// arguments of a call, or the output of a tool.
    pub(crate) fn replace_answer(&mut self, text: &str) {
        let Some(last) = self.messages.len().checked_sub(1) else { return };
        let begin = last.saturating_sub(1);
        let changed = match self.messages.get_mut(begin..) {
            Some([.., Message::Assistant(said)]) => {
                text.clone_into(&mut said.text);
                drop_draft(said);
                last
            }
            Some([Message::Assistant(said), Message::Tool(given)]) => {
                if said.has_answer() {
                    let is_object = serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
                    replace_calls(said, if is_object { text } else { "{}" }, |_| true);
                    withhold_outputs(&mut given.results);
                } else {
                    let mut texts = Some(text);
                    for result in &mut given.results {
                        result.outcome = Ok(ToolOutput::text(texts.take().unwrap_or_default()));
                    }
                }
                begin
            }
            _ => return,
        };
        self.mark_changed(changed);
    }
}
