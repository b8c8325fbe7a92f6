//! The request for a summary of old messages.

use crate::message::Message;
use std::fmt::Write as _;

/// A request for a summary, passed to the function set by
/// [`Compaction::with_summary`](super::Compaction::with_summary).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SummaryRequest {
    /// The name of the agent that reads the summary.
    pub agent: String,
    /// The summary of the messages before `messages`. Empty if there is none. The new summary replaces it.
    pub previous: String,
    /// The messages to summarize, oldest first, as the agent's model reads them. Long tool results are
    /// shortened.
    pub messages: Vec<Message>,
    /// The maximum length of the summary, in tokens. A longer summary is cut.
    pub max_tokens: u64,
}

impl SummaryRequest {
    /// Creates a request.
    pub(crate) fn new(agent: &str, previous: &str, messages: Vec<Message>, max_tokens: u64) -> Self {
        Self { agent: agent.to_owned(), previous: previous.to_owned(), messages, max_tokens }
    }

    /// Returns the messages as text, with a paragraph for each message, call and result.
    #[must_use]
    pub fn transcript(&self) -> String {
        let paragraphs: Vec<String> = self.messages.iter().map(paragraphs).collect();
        paragraphs.join("\n\n")
    }
}

/// Returns a message as text, with a paragraph for each text, call and result.
pub(crate) fn paragraphs(message: &Message) -> String {
    match message {
        Message::User(message) => format!("User: {}", message.to_text()),
        Message::Assistant(message) => {
            let mut text = match message.text.is_empty() {
                true => String::new(),
                false => format!("Assistant: {}", message.text),
            };
            for call in &message.calls {
                let separator = if text.is_empty() { "" } else { "\n\n" };
                // Writing to a string cannot fail.
                let _ = write!(
                    text,
                    "{separator}Assistant called tool `{}` with {}",
                    call.name,
                    call.arguments.as_str()
                );
            }
            text
        }
        Message::Tool(message) => {
            let results = message.results.iter();
            let results: Vec<String> = results
                .map(|result| format!("Tool `{}` returned: {}", result.name, result.to_text()))
                .collect();
            results.join("\n\n")
        }
    }
}
