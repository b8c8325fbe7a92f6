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
        message.native = None;
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
    said.native = None;
}

impl Conversation {
    /// Replaces the final answer if the run has stopped while guardrails were checking the answer.
    pub(super) fn withhold_unchecked(&mut self) {
        if self.progress.as_ref().is_some_and(Progress::is_unchecked) {
            self.replace_answer(WITHHELD);
        }
    }

    /// Removes all parts of the last turn except for its accepted answer and other calls: the text of the
    /// message, and the arguments of other answers. Returns the changed message, or `None` if there was
    /// nothing to remove.
    pub(crate) fn withhold_beside_answer(&mut self) -> Option<&AssistantMessage> {
        let begin = self.messages.len().checked_sub(2)?;
        let Some([Message::Assistant(said), Message::Tool(given)]) = self.messages.get_mut(begin..) else {
            return None;
        };
        let mut answers = said.calls.iter().zip(&given.results).enumerate();
        let is_accepted =
            |(_, (call, result)): &(usize, (&_, &ToolResult))| said.is_answer(call) && result.outcome.is_ok();
        let (accepted, _) = answers.find(is_accepted)?;
        let count = said.calls.iter().filter(|call| said.is_answer(call)).count();
        if count == 1 && said.text.is_empty() {
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
                said.native = None;
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
