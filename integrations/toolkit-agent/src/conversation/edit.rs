//! Changes of messages that a conversation already contains, and searches for certain messages.

use super::Conversation;
use crate::message::{Message, UserMessage};

/// The content of an input that was blocked.
pub(crate) const REMOVED: &str = "(This message was removed.)";

/// The answer in place of an answer that has not passed its checks.
pub(crate) const WITHHELD: &str = "(The answer was withheld.)";

/// The replacements of messages in the copy for a parallel agent: each message before and after its replacement.
pub(crate) type Replaced = Vec<(Message, Message)>;

/// Returns a message after replacements.
fn resolved<'a>(message: &'a Message, replaced: &'a Replaced) -> &'a Message {
    replaced.iter().fold(message, |message, (old, new)| if message == old { new } else { message })
}

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
        *is_found |= new
            .iter()
            .any(|message| matches!(message, Message::Assistant(said) if !said.answer_tool.is_empty()));
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

    /// Returns whether the latest run repeats an invalid answer: its input is feedback.
    pub(crate) fn is_repetition(&self) -> bool {
        let begin = self.progress.as_ref().map_or(self.messages.len(), |progress| progress.begin);
        matches!(self.messages.get(begin), Some(Message::User(input)) if input.is_feedback)
    }

    /// Replaces the message at `index`.
    pub(crate) fn replace_message(&mut self, index: usize, message: Message) {
        let is_copied = index < self.base;
        let Some(place) = self.messages.get_mut(index) else { return };
        let new = is_copied.then(|| message.clone());
        let old = std::mem::replace(place, message);
        self.replaced.extend(new.map(|new| (old, new)));
        self.mark_changed(index);
    }

    /// Repeats the replacements made in the copies for parallel agents. A message that the agents have replaced
    /// differently is removed, because each of the agents may have found another fault.
    pub(crate) fn replace_as<'a>(&mut self, copies: impl Iterator<Item = &'a Self>) {
        let all: Vec<&Replaced> =
            copies.map(|copy| &copy.replaced).filter(|pairs| !pairs.is_empty()).collect();
        if all.is_empty() {
            return;
        }
        for index in 0..self.messages.len() {
            let Some(message) = self.messages.get(index) else { return };
            let mut others =
                all.iter().map(|pairs| resolved(message, pairs)).filter(|other| *other != message);
            let Some(first) = others.next() else { continue };
            let new = if others.all(|other| other == first) { first.clone() } else { Message::user(REMOVED) };
            self.replace_message(index, new);
        }
    }

    /// Repeats the replacements made in this copy for a parallel agent in the first `base` messages, which were
    /// copied again.
    pub(super) fn replace_copied(&mut self) {
        if self.replaced.is_empty() {
            return;
        }
        let (base, replaced) = (self.base, &self.replaced);
        for message in self.messages.iter_mut().take(base) {
            *message = resolved(message, replaced).clone();
        }
    }

    /// Returns the inputs that an agent has to check, with their indexes: the messages of the user after the
    /// latest answer of any agent, or else the latest message of the user if the agent has not answered it. Feedback
    /// to an invalid answer is no input.
    pub(crate) fn unchecked_inputs(&self, agent: &str) -> Vec<(usize, UserMessage)> {
        let own = |message: &Message| matches!(message, Message::Assistant(said) if said.agent == agent);
        let answered = self.messages.iter().rposition(|message| matches!(message, Message::Assistant(_)));
        let begin = answered.map_or(0, |index| index + 1);
        let users = |(index, message): (usize, &Message)| match message {
            Message::User(input) if !input.is_feedback => Some((index, input.clone())),
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
}
