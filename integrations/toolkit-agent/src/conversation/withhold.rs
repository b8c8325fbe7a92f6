//! Removal or replacement of answers that guardrails have not checked.

use super::{Conversation, Progress, WITHHELD};
use crate::message::{AssistantMessage, Message};
use serde_json::Value;
use toolkit_core::{ToolOutput, ToolResult};

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
        message.drop_native();
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
    said.drop_native();
}

impl Conversation {
    /// Replaces the final answer if the run has stopped while guardrails were checking the answer.
    pub(super) fn withhold_unchecked(&mut self) {
        if self.progress.as_ref().is_some_and(Progress::is_unchecked) {
            self.replace_answer(WITHHELD);
        }
    }

    /// Returns the index of the message with the answer, or 0 if the answer is the output of a tool, which text before
    /// it does not belong to. `is_added` is `false` if the answer is empty and not in the conversation.
    pub(crate) fn begin_of_answer(&self, is_added: bool) -> usize {
        match self.messages.as_slice() {
            [.., Message::Assistant(said), Message::Tool(_)] => {
                let is_answer = said.calls.iter().any(|call| said.is_answer(call));
                if is_answer { self.messages.len() - 2 } else { 0 }
            }
            all => all.len() - usize::from(is_added),
        }
    }

    /// Returns the messages before `end` that the provider has paused. They are the beginning of an answer.
    fn paused(&self, end: usize) -> &[Message] {
        let before = self.messages.get(..end).unwrap_or_default();
        let is_paused = |message: &&Message| matches!(message, Message::Assistant(said) if said.paused);
        let count = before.iter().rev().take_while(is_paused).count();
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

    /// Removes the paused messages at the end, unless pending calls continue them: their text was not checked.
    pub(crate) fn remove_unchecked_pause(&mut self) {
        if self.turn.as_ref().is_none_or(|turn| !turn.has_pending()) {
            self.remove_paused(self.messages.len());
        }
    }

    /// Removes the paused messages before `end`. Returns whether there were any.
    pub(crate) fn remove_paused(&mut self, end: usize) -> bool {
        let begin = end - self.paused(end).len();
        if begin < end {
            self.times.resize(self.messages.len(), 0);
            self.messages.drain(begin..end);
            self.times.drain(begin..end);
            self.mark_changed(begin);
        }
        begin < end
    }

    /// Withholds everything beside the accepted answer of the last turn: the arguments of other answers in the same
    /// turn, the text of the message, and text before a pause. Returns the changed message, or `None` if there was
    /// nothing to withhold.
    pub(crate) fn withhold_beside_answer(&mut self) -> Option<&AssistantMessage> {
        let was_paused = matches!(self.messages.last(), Some(Message::Tool(_)))
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
        if said.calls.iter().any(|call| said.is_answer(call)) {
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
        match self.messages.get_mut(begin..) {
            Some([.., Message::Assistant(said)]) => {
                text.clone_into(&mut said.text);
                said.drop_native();
            }
            Some([Message::Assistant(said), Message::Tool(given)]) => {
                if said.calls.iter().any(|call| said.is_answer(call)) {
                    let is_object = serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
                    replace_calls(said, if is_object { text } else { "{}" }, |_| true);
                    withhold_outputs(&mut given.results);
                } else {
                    let mut texts = Some(text);
                    for result in &mut given.results {
                        result.outcome = Ok(ToolOutput::text(texts.take().unwrap_or_default()));
                    }
                }
            }
            _ => return,
        }
        self.mark_changed(begin);
    }
}
