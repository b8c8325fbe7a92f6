//! A list of messages shared by a conversation and its requests.

use super::Message;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::{Deref, RangeBounds};
use std::sync::Arc;

/// A list of messages, read like a slice.
///
/// Clones share the messages. The first change of a shared list copies all messages.
///
/// ```
/// use toolkit_ai::llm::{Message, Messages};
///
/// let history = Messages::from(vec![Message::user("Hello.")]);
/// let mut longer = history.clone();
/// longer.push(Message::assistant("Hello, Ada."));
/// assert_eq!((history.len(), longer.len()), (1, 2));
/// assert_eq!(longer[0], history[0]);
/// ```
#[derive(Clone, Default)]
pub struct Messages {
    list: Arc<Vec<Message>>,
}

impl Messages {
    /// Adds a message at the end.
    #[inline]
    pub fn push(&mut self, message: Message) {
        Arc::make_mut(&mut self.list).push(message);
    }

    /// Returns the message at `index`, to be changed.
    #[must_use]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut Message> {
        Arc::make_mut(&mut self.list).get_mut(index)
    }

    /// Replaces the messages in a range.
    ///
    /// ```
    /// use toolkit_ai::llm::{Message, Messages};
    ///
    /// let mut history = Messages::from([Message::user("Hello."), Message::assistant("Hello."), Message::user("Bye.")]);
    /// history.replace(..2, [Message::user("We greeted each other.")]);
    /// assert_eq!(history.len(), 2);
    /// ```
    ///
    /// # Panics
    /// If the range ends behind the list.
    pub fn replace(&mut self, range: impl RangeBounds<usize>, messages: impl IntoIterator<Item = Message>) {
        Arc::make_mut(&mut self.list).splice(range, messages);
    }

    /// Keeps the first `length` messages.
    pub fn truncate(&mut self, length: usize) {
        Arc::make_mut(&mut self.list).truncate(length);
    }
}

impl Deref for Messages {
    type Target = [Message];

    fn deref(&self) -> &[Message] {
        &self.list
    }
}

impl Extend<Message> for Messages {
    fn extend<I: IntoIterator<Item = Message>>(&mut self, messages: I) {
        Arc::make_mut(&mut self.list).extend(messages);
    }
}

impl From<Vec<Message>> for Messages {
    fn from(messages: Vec<Message>) -> Self {
        Self { list: Arc::new(messages) }
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

impl AsRef<[Message]> for Messages {
    fn as_ref(&self) -> &[Message] {
        &self.list
    }
}

/// Compares with another list, a `Vec` or a slice.
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

    #[test]
    fn a_change_of_a_shared_list_is_not_seen_by_its_clones() {
        let mut list = Messages::from(vec![said_by("a")]);
        let shared = list.clone();
        list.push(said_by("a"));
        *list.get_mut(0).unwrap() = Message::user("Hi.");
        assert_eq!((shared.len(), &shared[0]), (1, &said_by("a")));
        assert_eq!((list.len(), &list[0]), (2, &Message::user("Hi.")));
    }
}
