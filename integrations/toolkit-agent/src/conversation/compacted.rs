//! The compactions of a conversation: for each agent, a shorter form of the messages sent to its model.

use super::Conversation;
use super::branches::is_branch;
use crate::message::Message;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The shorter form of a conversation for one agent. All numbers of messages are indexes in the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Compacted {
    /// The index of the first message to send. A summary or a note takes the place of all earlier
    /// messages.
    pub(crate) start: usize,
    /// The number of messages left out.
    pub(crate) left_out: usize,
    /// The summary of messages left out. Empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) summary: String,
    /// The indexes of the user messages before `start` to send nevertheless.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) kept: Vec<usize>,
    /// Long tool results before this index are shortened.
    pub(crate) shortened: usize,
    /// Tool results before this index become a note.
    pub(crate) dropped: usize,
    /// The maximum length of a shortened tool result, in characters.
    pub(crate) result_chars: usize,
    /// The number of messages when the compaction was made. The provider has read these messages in another
    /// form, so the responses and the token counts before this index do not apply any more.
    pub(crate) made_at: usize,
}

/// The compactions of a conversation, by the name of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Compactions {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    agents: BTreeMap<String, Compacted>,
    /// Token counts of messages before this index do not apply any more, because messages before them were
    /// removed or added.
    #[serde(skip_serializing_if = "is_zero")]
    usage_from: usize,
    /// The number of changes. A save compares it to recognize a change.
    #[serde(skip)]
    revision: u64,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Compacted {
    /// Adapts the indexes after the first `removed` messages were removed.
    fn remove_first(&mut self, removed: usize) {
        for index in [&mut self.start, &mut self.shortened, &mut self.dropped] {
            *index = index.saturating_sub(removed);
        }
        // Not 0: a conversation kept by the provider still has the original messages.
        self.made_at = self.made_at.saturating_sub(removed).max(self.made_at.min(1));
        self.kept = self.kept.iter().filter_map(|index| index.checked_sub(removed)).collect();
    }
}

impl Compacted {
    /// Returns a compaction without its effects on messages at or after `end`. The messages from the index
    /// `boundary` to `end` are sent, although the summary may contain them. `len` is the number of messages.
    fn clipped(mut self, boundary: usize, end: usize, len: usize) -> Self {
        let hidden = self.left_out + self.kept.len();
        let shown = self.start.saturating_sub(boundary);
        self.start = self.start.min(boundary);
        self.kept.retain(|index| *index < boundary);
        self.left_out = hidden.saturating_sub(shown + self.kept.len());
        self.shortened = self.shortened.min(end);
        self.dropped = self.dropped.min(end);
        self.made_at = len;
        self
    }

    /// Returns the indexes that grow with each compaction.
    fn progress(&self) -> (usize, usize, usize) {
        (self.start, self.dropped, self.shortened)
    }
}

/// Returns whether the messages before `index` can be left out. A call must not lose its result, and a paused
/// message must not lose its continuation. Feedback must not lose the answer that it is about.
pub(crate) fn is_boundary(messages: &[Message], index: usize) -> bool {
    let before = index.checked_sub(1).and_then(|before| messages.get(before));
    let is_paused = matches!(before, Some(Message::Assistant(message)) if message.paused);
    let begins = |message: &Message| message.is_input() || matches!(message, Message::Assistant(_));
    !is_paused && messages.get(index).is_some_and(begins)
}

impl Compactions {
    pub(super) fn is_empty(&self) -> bool {
        self.agents.is_empty() && self.usage_from == 0
    }

    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// Notes that the token counts of the first `len` messages do not apply any more.
    pub(super) fn distrust_usage(&mut self, len: usize) {
        self.usage_from = len;
        self.revision += 1;
    }
}

impl Conversation {
    /// Returns the summary of old messages for an agent, made by a
    /// [compaction](crate::compaction::Compaction). Returns `None` if there is no summary.
    #[must_use]
    pub fn summary_of(&self, agent: &str) -> Option<&str> {
        let summary = &self.compacted(agent)?.summary;
        (!summary.is_empty()).then_some(summary)
    }

    /// Returns the latest compaction for an agent.
    pub(crate) fn compacted(&self, agent: &str) -> Option<&Compacted> {
        self.compactions.agents.get(agent)
    }

    pub(crate) fn set_compacted(&mut self, agent: &str, compacted: Compacted) {
        self.compactions.agents.insert(agent.to_owned(), compacted);
        self.compactions.revision += 1;
    }

    /// Returns the index of the first message with a token count that still applies.
    pub(crate) fn usage_from(&self) -> usize {
        self.compactions.usage_from
    }

    /// Returns the indexes of the unanswered user messages: the input of the run, the question if the run
    /// repeats an invalid answer, and the latest message and the latest input of the user. A compaction does not leave them out.
    pub(crate) fn unanswered(&self) -> Vec<usize> {
        let is_user = |index: &usize| matches!(self.messages.get(*index), Some(Message::User(_)));
        // In the copy for a parallel agent, the run of the copy has no input of its own.
        let progress = self.progress.as_ref().filter(|progress| progress.begin >= self.base);
        let inputs =
            progress.into_iter().flat_map(|progress| progress.question.into_iter().chain([progress.begin]));
        let latest = self.messages.iter().rposition(|message| matches!(message, Message::User(_)));
        let question = self.messages.iter().rposition(Message::is_input);
        let mut indexes: Vec<usize> = inputs.filter(is_user).chain(latest).chain(question).collect();
        indexes.sort_unstable();
        indexes.dedup();
        indexes
    }

    /// Takes over the compactions of a parallel agent, whose messages were added last. `shared` is the number
    /// of messages at the beginning that the copy of the agent and this conversation have in common. `outer`
    /// is the number of messages in the enclosing conversations, included in all indexes.
    pub(super) fn take_over(&mut self, compactions: Compactions, shared: usize, outer: usize) {
        let len = outer + self.messages.len();
        for (agent, compacted) in compactions.agents {
            let is_boundary = |index: &usize| {
                index.checked_sub(outer).is_some_and(|index| is_boundary(&self.messages, index))
            };
            let boundary = match compacted.start > shared {
                true => (outer..=shared).rev().find(is_boundary),
                false => Some(compacted.start),
            };
            let Some(boundary) = boundary else { continue };
            let clipped = compacted.clipped(boundary, shared, len);
            let known = self.compacted(&agent).map_or((0, 0, 0), Compacted::progress);
            if clipped.progress() > known {
                self.set_compacted(&agent, clipped);
            }
        }
        self.compactions.distrust_usage(len);
    }

    /// Adapts the compactions after the first `removed` messages were removed. `outer` is the number of
    /// messages in the enclosing conversations, for an unfinished copy for a parallel agent.
    pub(super) fn move_compactions(&mut self, removed: usize, outer: usize) {
        let len = outer + self.messages.len();
        self.compactions.agents.values_mut().for_each(|compacted| compacted.remove_first(removed));
        self.compactions.distrust_usage(len);
        // The indexes in an unfinished copy also count the messages of this conversation.
        let branches = self.children.iter_mut().filter(|(key, _)| is_branch(key));
        branches.for_each(|(_, branch)| branch.move_compactions(removed, len));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::UserMessage;

    #[test]
    fn removed_messages_shift_the_indexes() {
        let mut conversation = Conversation::new("1");
        for text in ["1", "2", "3"] {
            conversation.push(Message::user(text));
            conversation.push(Message::assistant(text));
        }
        let compacted = Compacted {
            start: 5,
            left_out: 3,
            kept: vec![0, 4],
            shortened: 5,
            dropped: 1,
            made_at: 6,
            ..Compacted::default()
        };
        conversation.set_compacted("a", compacted.clone());
        conversation.keep_latest(4);
        let shifted =
            Compacted { start: 3, kept: vec![2], shortened: 3, dropped: 0, made_at: 4, ..compacted };
        assert_eq!((conversation.compacted("a"), conversation.usage_from()), (Some(&shifted), 4));
        conversation.keep_latest(2);
        let shifted = Compacted { start: 1, kept: vec![0], shortened: 1, made_at: 2, ..shifted };
        assert_eq!((conversation.compacted("a"), conversation.usage_from()), (Some(&shifted), 2));
    }

    #[test]
    fn a_compaction_of_removed_messages_stays_known() {
        let mut conversation = Conversation::new("1");
        conversation.push(Message::user("1"));
        conversation.set_compacted("a", Compacted { start: 1, made_at: 1, ..Compacted::default() });
        for text in ["2", "3"] {
            conversation.push(Message::assistant(text));
            conversation.push(Message::user(text));
        }
        for max in [3, 1] {
            conversation.keep_latest(max);
            assert_eq!(conversation.compacted("a").unwrap().made_at, 1);
        }
    }

    /// Two parallel agents compact their copies, at each possible position.
    #[test]
    fn the_compactions_of_parallel_agents_are_clipped_to_the_common_messages() {
        for start in 2..8_usize {
            let mut conversation = Conversation::new("1");
            for text in ["1", "2"] {
                conversation.push(Message::user(text));
                conversation.push(Message::assistant(text));
            }
            conversation.push(Message::user("3"));
            let base = conversation.messages().len();
            let copies = ["a", "b"].map(|agent| {
                let mut copy = conversation.branch(0);
                for _ in 0..4 {
                    copy.push(Message::assistant(agent));
                }
                let kept = if start > 4 { vec![4] } else { Vec::new() };
                let compacted = Compacted {
                    start,
                    left_out: start - kept.len(),
                    kept,
                    shortened: 7,
                    dropped: 3,
                    made_at: 8,
                    summary: agent.to_owned(),
                    ..Compacted::default()
                };
                copy.set_compacted(agent, compacted.clone());
                (copy, compacted)
            });
            let [(a, of_a), (b, of_b)] = copies;
            conversation.add_branch(a, base);
            conversation.add_branch(b, base);
            // No messages of other agents are between the messages that the first agent knows.
            assert_eq!(conversation.compacted("a"), Some(&Compacted { made_at: 9, ..of_a }));
            let clipped = start.min(base);
            let left_out = clipped - of_b.kept.len();
            let expected = Compacted { start: clipped, left_out, shortened: 5, made_at: 13, ..of_b };
            assert_eq!(conversation.compacted("b"), Some(&expected), "{start}");
            assert_eq!(conversation.usage_from(), 13);
        }
    }

    #[test]
    fn the_input_and_the_latest_user_message_are_unanswered() {
        let mut conversation = Conversation::new("1");
        conversation.push(Message::user("old"));
        assert_eq!(conversation.unanswered(), [0]);
        conversation.begin_run("input".into());
        assert_eq!(conversation.unanswered(), [1]);
        let running = conversation.start_run();
        conversation.push(Message::assistant("?"));
        conversation.push(Message::user("more"));
        conversation.push(Message::user("latest"));
        assert_eq!(conversation.unanswered(), [1, 4]);
        drop(running);
        conversation.push(Message::user("new"));
        assert_eq!(conversation.unanswered(), [5]);
        conversation.begin_run("question".into());
        for (attempt, feedback) in [8, 10].into_iter().enumerate() {
            conversation.push(Message::assistant("wrong"));
            conversation.begin_attempt(format!("feedback {attempt}").as_str().into());
            assert_eq!(conversation.unanswered(), [6, feedback]);
        }
        conversation.begin_run("another question".into());
        assert_eq!(conversation.unanswered(), [11]);
        // The copy for a parallel agent has no run of its own.
        let mut copy = Conversation::new("1");
        copy.push(Message::user("question"));
        copy.push(Message::assistant("wrong"));
        copy.push(Message::User(UserMessage::feedback("again".to_owned())));
        assert_eq!(copy.unanswered(), [0, 2]);
    }
}
