//! A list of messages that a conversation and its requests share.

use super::Message;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A list of messages, used like a `Vec<Message>`.
///
/// Clones are cheap: they share the messages. The first change of a shared list copies all messages.
///
/// ```
/// use toolkit_agent::{Message, Messages};
///
/// let history = Messages::from(vec![Message::user("Hello.")]);
/// let mut longer = history.clone();
/// longer.push(Message::assistant("Hello, Ada."));
/// assert_eq!((history.len(), longer.len()), (1, 2));
/// assert_eq!(longer[0], history[0]);
/// ```
#[derive(Default)]
pub struct Messages {
    list: Arc<Vec<Message>>,
    /// The name of the agent in the last call of `shared_with`, and how many messages at the beginning come
    /// from no other agent.
    checked: (String, usize),
}

impl Messages {
    /// Adds a message at the end.
    pub fn push(&mut self, message: Message) {
        // Not through `DerefMut`, which would forget the messages that were already checked.
        Arc::make_mut(&mut self.list).push(message);
    }

    /// Returns a clone of the list if no message is from an agent other than `agent`. Otherwise, returns
    /// `None`.
    ///
    /// Checks only the messages added since the last call for the same agent.
    pub(crate) fn shared_with(&mut self, agent: &str) -> Option<Self> {
        let (name, checked) = &mut self.checked;
        if name != agent {
            agent.clone_into(name);
            *checked = 0;
        }
        let unchecked = self.list.iter().skip(*checked);
        *checked += unchecked.take_while(|message| !message.is_of_other(agent)).count();
        (*checked == self.list.len()).then(|| self.clone())
    }
}

impl Clone for Messages {
    fn clone(&self) -> Self {
        Self { list: self.list.clone(), checked: Default::default() }
    }
}

impl Deref for Messages {
    type Target = Vec<Message>;

    fn deref(&self) -> &Vec<Message> {
        &self.list
    }
}

impl DerefMut for Messages {
    fn deref_mut(&mut self) -> &mut Vec<Message> {
        self.checked.1 = 0;
        Arc::make_mut(&mut self.list)
    }
}

impl From<Vec<Message>> for Messages {
    fn from(messages: Vec<Message>) -> Self {
        Self { list: Arc::new(messages), checked: Default::default() }
    }
}

impl<const N: usize> From<[Message; N]> for Messages {
    fn from(messages: [Message; N]) -> Self {
        Vec::from(messages).into()
    }
}

impl From<Messages> for Vec<Message> {
    fn from(messages: Messages) -> Self {
        messages.into_iter().collect()
    }
}

impl FromIterator<Message> for Messages {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Self {
        messages.into_iter().collect::<Vec<_>>().into()
    }
}

impl IntoIterator for Messages {
    type Item = Message;
    type IntoIter = std::vec::IntoIter<Message>;

    fn into_iter(self) -> Self::IntoIter {
        Arc::unwrap_or_clone(self.list).into_iter()
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Message;
    type IntoIter = std::slice::Iter<'a, Message>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Messages {
    type Item = &'a mut Message;
    type IntoIter = std::slice::IterMut<'a, Message>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl AsRef<[Message]> for Messages {
    fn as_ref(&self) -> &[Message] {
        &self.list
    }
}

/// Compares the messages with another list, a `Vec` or a slice.
impl<T: AsRef<[Message]> + ?Sized> PartialEq<T> for Messages {
    fn eq(&self, other: &T) -> bool {
        self.list.as_slice() == other.as_ref()
    }
}

impl PartialEq<Messages> for Vec<Message> {
    fn eq(&self, other: &Messages) -> bool {
        other == self
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.list.fmt(f)
    }
}

impl Serialize for Messages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.as_slice().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Messages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::AssistantMessage;

    fn said_by(agent: &str) -> Message {
        AssistantMessage { agent: agent.to_owned(), ..AssistantMessage::text("Hello.") }.into()
    }

    /// Changes a list at random. After each change, compares `shared_with` with a check of all messages.
    #[test]
    fn a_list_is_shared_if_no_message_is_of_another_agent() {
        let mut list = Messages::default();
        let mut random = 1_u64;
        for step in 0..5_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let choice = random >> 33;
            match choice % 16 {
                0 => list.clear(),
                1 => drop(list.pop()),
                2 if !list.is_empty() => drop(list.remove(0)),
                3 => list.push(said_by("b")),
                4..8 => list.push(said_by("a")),
                8 => list.push(said_by("")),
                9 => list.insert(0, said_by("b")),
                _ => list.push(Message::user("Hi.")),
            }
            let agent = if choice.is_multiple_of(5) { "b" } else { "a" };
            let expected = list.iter().all(|message| !message.is_of_other(agent)).then(|| list.clone());
            assert_eq!(list.shared_with(agent), expected, "step {step}");
        }
    }

    #[test]
    fn a_change_of_a_shared_list_is_not_seen_by_its_clones() {
        let mut list = Messages::from(vec![said_by("a")]);
        let shared = list.shared_with("a").unwrap();
        list.push(said_by("a"));
        list[0] = Message::user("Hi.");
        assert_eq!((shared.len(), &shared[0]), (1, &said_by("a")));
        assert_eq!((list.len(), &list[0]), (2, &Message::user("Hi.")));
    }
}
