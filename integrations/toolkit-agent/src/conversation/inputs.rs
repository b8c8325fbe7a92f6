//! The inputs of a conversation, as guardrails see them.

use super::{Conversation, Entry};
use toolkit_llm::{Message, UserMessage};

impl Conversation {
    pub(crate) fn last_answer(&self) -> String {
        self.state.history.last_answer().to_owned()
    }

    /// Returns whether the latest run repeats an invalid answer, and so begins with feedback.
    pub(crate) fn is_repetition(&self) -> bool {
        let begin = self.state.run.as_ref().map_or(self.state.history.len(), |run| run.begin);
        matches!(self.state.history.messages.get(begin), Some(Message::User(input)) if input.is_feedback)
    }

    pub(crate) fn replace_input(&mut self, index: usize, message: UserMessage) {
        self.record(Entry::InputReplaced { index, message });
    }

    pub(crate) fn block_input(&mut self, index: usize) {
        self.record(Entry::InputBlocked { index });
    }

    /// Returns the inputs that an agent's guardrails have to check, with their indexes. Feedback is no
    /// input.
    ///
    /// These are the user messages after the latest answer of any agent, or else the latest user message,
    /// unless `agent` has answered it.
    pub(crate) fn unchecked_inputs(&self, agent: &str) -> Vec<(usize, UserMessage)> {
        let mut inputs = Vec::new();
        let mut is_answered = false;
        for (index, message) in self.state.history.messages.iter().enumerate().rev() {
            match message {
                Message::User(input) if !input.is_feedback => {
                    inputs.push((index, input.clone()));
                    if is_answered {
                        break;
                    }
                }
                Message::Assistant(answer) if !inputs.is_empty() || answer.agent == agent => break,
                Message::Assistant(_) => is_answered = true,
                _ => {}
            }
        }
        inputs.reverse();
        inputs.retain(|(index, _)| !self.state.history.blocked.contains(index));
        inputs
    }
}
