//! Changes of messages that a conversation already contains, and searches for certain messages.

use super::Conversation;
use crate::message::{ACCEPTED, Message, UserMessage};
use serde_json::Value;
use toolkit_core::{ToolOutput, ToolResult};

/// The search for calls whose arguments are the answer of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Answers {
    /// The number of messages searched so far.
    searched: usize,
    is_found: bool,
}

impl Conversation {
    /// Returns whether the arguments of any call are the answer of a run. Searches only the messages added since
    /// the last search.
    pub(crate) fn has_answers(&mut self) -> bool {
        let Answers { searched, is_found } = &mut self.answers;
        let new = self.messages.get(*searched..).unwrap_or(&self.messages);
        let is_answer = |result: &ToolResult| result.to_text() == ACCEPTED;
        *is_found |= new
            .iter()
            .any(|message| matches!(message, Message::Tool(given) if given.results.iter().any(is_answer)));
        *searched = self.messages.len();
        *is_found
    }

    /// Returns the text of the latest message of a model, or the arguments of its last call if it has no text.
    pub(crate) fn last_answer(&self) -> String {
        let latest = self.messages.iter().rev().find_map(|message| match message {
            Message::Assistant(message) => Some(message),
            _ => None,
        });
        let Some(message) = latest else { return String::new() };
        match message.calls.last() {
            Some(call) if message.text.is_empty() => call.arguments.as_str().to_owned(),
            _ => message.text.clone(),
        }
    }

    /// Replaces the message at `index`.
    pub(crate) fn replace_message(&mut self, index: usize, message: Message) {
        let Some(old) = self.messages.get_mut(index) else { return };
        *old = message;
        self.mark_changed(index);
    }

    /// Returns the inputs that an agent has to check, with their indexes: the messages of the user after the
    /// latest answer of any agent, or else the latest message of the user if the agent has not answered it.
    pub(crate) fn unchecked_inputs(&self, agent: &str) -> Vec<(usize, UserMessage)> {
        let own = |message: &Message| matches!(message, Message::Assistant(said) if said.agent == agent);
        let answered = self.messages.iter().rposition(|message| matches!(message, Message::Assistant(_)));
        let begin = answered.map_or(0, |index| index + 1);
        let users = |(index, message): (usize, &Message)| match message {
            Message::User(message) => Some((index, message.clone())),
            _ => None,
        };
        let new: Vec<_> = self.messages.iter().enumerate().skip(begin).filter_map(users).collect();
        if !new.is_empty() {
            return new;
        }
        let latest = self.messages.iter().enumerate().rev();
        let latest = latest.take_while(|(_, message)| !own(message)).find_map(users);
        latest.into_iter().collect()
    }

    /// Replaces the answer in the last messages: the text, the arguments of a call whose arguments are the answer,
    /// or the output of a tool.
    pub(crate) fn replace_answer(&mut self, text: &str) {
        let Some(last) = self.messages.len().checked_sub(1) else { return };
        let begin = last.saturating_sub(1);
        match self.messages.get_mut(begin..) {
            Some([.., Message::Assistant(said)]) => {
                text.clone_into(&mut said.text);
                said.native = None;
            }
            Some([Message::Assistant(said), Message::Tool(given)]) => {
                let is_answer = |result: &ToolResult| result.to_text() == ACCEPTED;
                if given.results.iter().any(is_answer) {
                    let is_object = serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
                    let arguments = if is_object { text } else { "{}" };
                    for (call, _) in
                        said.calls.iter_mut().zip(&given.results).filter(|(_, result)| is_answer(result))
                    {
                        call.arguments = arguments.into();
                    }
                    said.native = None;
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
