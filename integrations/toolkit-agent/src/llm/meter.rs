//! The number of tokens in the requests of a run.

use super::history::visible;
use super::reduce::replacement;
use crate::compaction::CountTokens;
use crate::conversation::Compacted;
use crate::message::{Message, UserMessage};
use crate::model::ModelRequest;

/// Counts the tokens of the requests of one agent in a run. Each message is counted once.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// The index of the first message of the request. The count begins again if it changes.
    start: usize,
    /// The index of the first message not counted yet.
    counted: usize,
    /// The tokens of the counted messages.
    tokens: u64,
    /// Whether the model has refused a request or broken off an answer because of the context window, so that
    /// the next request must be shorter.
    pub(super) is_exceeded: bool,
}

/// The messages of a conversation, as the model of one agent reads them.
#[derive(Clone, Copy)]
pub(super) struct Visible<'a> {
    pub(super) agent: &'a str,
    pub(super) messages: &'a [Message],
    pub(super) compacted: &'a Compacted,
    /// The index of the first message of the request.
    pub(super) start: usize,
    pub(super) counter: &'a dyn CountTokens,
}

impl Visible<'_> {
    /// Estimates the tokens of the message at `index`.
    pub(super) fn tokens(&self, index: usize) -> u64 {
        self.messages.get(index).map_or(0, |message| {
            self.counter.count_message(&visible(self.agent, index, message, self.compacted))
        })
    }

    /// Estimates the tokens of the replacement for older messages.
    pub(super) fn replacement_tokens(&self) -> u64 {
        match replacement(self.compacted, self.messages) {
            content if content.is_empty() => 0,
            content => self.counter.count_message(&Message::User(UserMessage::new(content))),
        }
    }

    /// Returns the index of the agent's latest answer with a token count, at or after `from`, and the tokens
    /// up to the end of this answer.
    fn reported(&self, from: usize) -> Option<(usize, u64)> {
        let from = from.max(self.start).min(self.messages.len());
        let answers = self.messages.iter().enumerate().skip(from).rev();
        let mut counted = answers.filter_map(|(index, message)| match message {
            Message::Assistant(message) if message.agent == self.agent && message.usage.input_tokens > 0 => {
                Some((index, message.usage))
            }
            _ => None,
        });
        let (index, usage) = counted.next()?;
        // The count of an answer that broke off may be incomplete.
        Some((index, usage.input_tokens + usage.output_tokens.max(self.tokens(index))))
    }
}

impl Meter {
    /// Returns the tokens of a request. The token count of the latest answer at or after the index
    /// `usage_from` applies to all messages up to this answer, and all other messages are estimated.
    pub(super) fn count(&mut self, view: Visible<'_>, usage_from: usize, request: &ModelRequest) -> u64 {
        if let Some((index, tokens)) = view.reported(usage_from.max(view.compacted.made_at)) {
            let newer = (index + 1)..view.messages.len();
            return tokens + newer.map(|index| view.tokens(index)).sum::<u64>();
        }
        if self.start != view.start || !(view.start..=view.messages.len()).contains(&self.counted) {
            (self.start, self.counted, self.tokens) = (view.start, view.start, 0);
        }
        self.tokens += (self.counted..view.messages.len()).map(|index| view.tokens(index)).sum::<u64>();
        self.counted = view.messages.len();
        view.counter.count_fixed(request) + view.replacement_tokens() + self.tokens
    }
}
