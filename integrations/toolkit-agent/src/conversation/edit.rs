//! Replacements of messages in a conversation, and searches for certain messages.

use super::Conversation;
use toolkit_llm::{Message, UserMessage};

/// The text that replaces an input after a guardrail has blocked it.
pub(crate) const REMOVED: &str = "(This message was removed.)";

/// The text that replaces an answer that a guardrail has not accepted.
pub(crate) const WITHHELD: &str = "(The answer was withheld.)";

/// The messages that were replaced in the copy for a parallel agent, each as a pair of the old and the new
/// message.
pub(crate) type Replaced = Vec<(Message, Message)>;

/// Returns the replacement of `message` after all replacements in their order, or `message` itself if it was
/// not replaced.
fn resolved<'a>(message: &'a Message, replaced: &'a Replaced) -> &'a Message {
    replaced.iter().fold(message, |message, (old, new)| if message == old { new } else { message })
}

impl Conversation {
    /// Returns the text of the latest message of a model. If it has no text, returns the arguments of its
    /// last call.
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

    /// Returns whether the latest run is another attempt after an invalid answer. Such a run begins with
    /// feedback.
    pub(crate) fn is_repetition(&self) -> bool {
        let begin = self.progress.as_ref().map_or(self.messages.len(), |progress| progress.begin);
        matches!(self.messages.get(begin), Some(Message::User(input)) if input.is_feedback)
    }

    /// Replaces the message at `index`. In the copy for a parallel agent, also records the replacement of a
    /// copied message.
    pub(crate) fn replace_message(&mut self, index: usize, message: Message) {
        let is_copied = index < self.base;
        let Some(place) = self.messages.get_mut(index) else { return };
        let new = is_copied.then(|| message.clone());
        let old = std::mem::replace(place, message);
        self.replaced.extend(new.map(|new| (old, new)));
        self.mark_changed(index);
    }

    /// Repeats replacements that parallel agents have made in their copies of this conversation. If agents
    /// have replaced the same message differently, it is replaced with `REMOVED`, because each agent may have
    /// found another fault.
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

    /// Repeats the recorded replacements in the first `base` messages, after these messages were copied
    /// again.
    pub(super) fn replace_copied(&mut self) {
        if self.replaced.is_empty() {
            return;
        }
        let base = self.base;
        let replaced = &self.replaced;
        for message in self.messages.iter_mut().take(base) {
            *message = resolved(message, replaced).clone();
        }
    }

    /// Returns the inputs that the guardrails of an agent have to check, with their indexes. Feedback about
    /// an invalid answer is not an input.
    ///
    /// These are the user messages after the latest answer of any agent. If there are none, it is the latest
    /// user message, unless `agent` has answered it.
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
