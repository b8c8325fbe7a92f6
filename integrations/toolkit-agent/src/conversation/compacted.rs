//! The compactions of a conversation: shorter messages for one agent's model.

use super::State;
use super::history::History;
use super::{Conversation, Entry};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toolkit_llm::Message;

/// What one agent's requests leave out or shorten. All indexes are those of messages in the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Compacted {
    /// The first message to send. A summary or a note replaces all earlier ones.
    pub(crate) start: usize,
    pub(crate) left_out: usize,
    /// The summary of messages left out, or empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) summary: String,
    /// The user messages before `start` that are sent nevertheless.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) kept: Vec<usize>,
    /// The index before which long tool results are shortened.
    pub(crate) shortened: usize,
    /// The index before which notes replace tool results.
    pub(crate) dropped: usize,
    pub(crate) result_chars: usize,
    /// The number of messages when the compaction was made. As requests now shorten them, the provider's
    /// token counts and response ids for them are not used again.
    pub(crate) made_at: usize,
}

/// The compactions, by the name of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Compactions {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    agents: BTreeMap<String, Compacted>,
    /// The index before which token counts are invalid, because earlier messages were removed or added.
    #[serde(skip_serializing_if = "is_zero")]
    usage_from: usize,
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
        // Not 0, because a conversation stored by the provider still has the original messages.
        self.made_at = self.made_at.saturating_sub(removed).max(self.made_at.min(1));
        self.kept = self.kept.iter().filter_map(|index| index.checked_sub(removed)).collect();
    }
}

impl Compacted {
    /// Returns the compaction without its effects on messages from the index `end` on.
    ///
    /// Messages from `boundary` to `end` are sent, even if the summary contains them. The conversation has
    /// `len` messages.
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

    /// Returns the indexes that increase with each compaction, for comparisons.
    fn progress(&self) -> (usize, usize, usize) {
        (self.start, self.dropped, self.shortened)
    }
}

/// Returns whether all messages before `index` may be left out of a request.
///
/// This must not separate a call from its result, a paused message from its continuation, or an invalid
/// answer from its feedback.
pub(crate) fn is_boundary(messages: &[Message], index: usize) -> bool {
    let before = index.checked_sub(1).and_then(|before| messages.get(before));
    let is_paused = matches!(before, Some(Message::Assistant(message)) if message.paused);
    let Some(message) = messages.get(index) else { return false };
    !is_paused && (message.is_input() || matches!(message, Message::Assistant(_)))
}

impl Compactions {
    pub(super) fn is_empty(&self) -> bool {
        self.agents.is_empty() && self.usage_from == 0
    }

    pub(super) fn set(&mut self, agent: &str, compacted: Compacted) {
        self.agents.insert(agent.to_owned(), compacted);
    }

    fn of(&self, agent: &str) -> Option<&Compacted> {
        self.agents.get(agent)
    }

    /// Drops the compactions of conversations with more than `len` messages.
    pub(super) fn truncate(&mut self, len: usize) {
        self.agents.retain(|_, compacted| compacted.made_at <= len);
        self.usage_from = self.usage_from.min(len);
    }

    /// Adapts the indexes after the first `removed` messages were removed and `len` are left.
    pub(super) fn remove_first(&mut self, removed: usize, len: usize) {
        if removed > 0 {
            self.agents.values_mut().for_each(|compacted| compacted.remove_first(removed));
            self.usage_from = len;
        }
    }
}

impl Conversation {
    /// Returns the summary of old messages in the agent's requests, if a
    /// [compaction](crate::compaction::Compaction) has created one.
    #[must_use]
    pub fn summary_of(&self, agent: &str) -> Option<&str> {
        let summary = &self.compacted(agent)?.summary;
        (!summary.is_empty()).then_some(summary)
    }

    pub(crate) fn compacted(&self, agent: &str) -> Option<&Compacted> {
        self.state.compactions.of(agent)
    }

    pub(crate) fn set_compacted(&mut self, agent: &str, compacted: Compacted) {
        let compacted = Box::new(compacted);
        self.record(Entry::Compacted { agent: agent.to_owned(), compacted });
    }

    /// Returns the index of the first valid token count.
    pub(crate) fn usage_from(&self) -> usize {
        self.state.compactions.usage_from
    }

    /// Returns the indexes of the user messages that a compaction must not leave out.
    ///
    /// These are the input of the run, the latest message of the user, the latest input, and if the run
    /// repeats an invalid answer, the original question.
    pub(crate) fn unanswered(&self) -> Vec<usize> {
        let State { history: History { messages, copied, .. }, run, .. } = &self.state;
        let mut indexes: Vec<usize> = Vec::new();
        // In the copy for a parallel agent, the run has begun with a copied message.
        if let Some(run) = run
            && run.begin >= copied.count
        {
            indexes.extend(run.question);
            indexes.push(run.begin);
            indexes.retain(|index| matches!(messages.get(*index), Some(Message::User(_))));
        }
        indexes.extend(messages.iter().rposition(|message| matches!(message, Message::User(_))));
        indexes.extend(messages.iter().rposition(Message::is_input));
        indexes.sort_unstable();
        indexes.dedup();
        indexes
    }
}

impl State {
    /// Adopts the compactions from a parallel agent's copy, whose new messages are already at the end. Both
    /// begin with `shared` common messages.
    pub(super) fn adopt_compactions(&mut self, compactions: Compactions, shared: usize) {
        let len = self.history.len();
        for (agent, compacted) in compactions.agents {
            let boundary = if compacted.start > shared {
                (0..=shared).rev().find(|index| is_boundary(&self.history.messages, *index))
            } else {
                Some(compacted.start)
            };
            let Some(boundary) = boundary else { continue };
            let clipped = compacted.clipped(boundary, shared, len);
            let known = self.compactions.of(&agent).map_or((0, 0, 0), Compacted::progress);
            if clipped.progress() > known {
                self.compactions.set(&agent, clipped);
            }
        }
        self.compactions.usage_from = len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::InputId;
    use crate::output::AgentOutput;
    use toolkit_llm::UserMessage;

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

    /// Two parallel agents compact their copies at each possible index.
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
            conversation.enter("group", vec!["a".to_owned(), "b".to_owned()]).unwrap();
            (0..2).for_each(|index| conversation.begin_branch(index));
            let expected = ["a", "b"].map(|agent| {
                let index = usize::from(agent == "b");
                let mut copy = conversation.branch(index);
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
                conversation.return_branch(index, copy);
                compacted
            });
            let [of_a, of_b] = expected;
            conversation.agent_ended(0, &AgentOutput::new("group", "done"));
            // The first agent's messages follow the copied ones directly, so its compaction is unchanged.
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
        conversation.begin_run("input".into(), false, &InputId::default());
        assert_eq!(conversation.unanswered(), [1]);
        let running = conversation.start_run();
        conversation.push(Message::assistant("?"));
        conversation.push(Message::user("more"));
        conversation.push(Message::user("latest"));
        assert_eq!(conversation.unanswered(), [1, 4]);
        drop(running);
        conversation.push(Message::user("new"));
        assert_eq!(conversation.unanswered(), [5]);
        conversation.begin_run("question".into(), false, &InputId::default());
        for (attempt, feedback) in [8, 10].into_iter().enumerate() {
            conversation.push(Message::assistant("wrong"));
            conversation.begin_run(
                UserMessage::feedback(format!("feedback {attempt}")),
                true,
                &InputId::default(),
            );
            assert_eq!(conversation.unanswered(), [6, feedback]);
        }
        conversation.begin_run("another question".into(), false, &InputId::default());
        assert_eq!(conversation.unanswered(), [11]);
        // In the copy for a parallel agent, no run has begun.
        let mut copy = Conversation::new("1");
        copy.push(Message::user("question"));
        copy.push(Message::assistant("wrong"));
        copy.push(Message::User(UserMessage::feedback("again".to_owned())));
        assert_eq!(copy.unanswered(), [0, 2]);
    }
}
