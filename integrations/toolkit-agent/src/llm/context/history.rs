//! The history of a conversation as one agent's model reads it.

use super::reduce::{reduced, replacement};
use crate::conversation::{Compacted, Conversation, Rewrite, Views, start_of_latest};
use crate::llm::answer::quote_answers;
use std::borrow::Cow;
use toolkit_core::Content;
use toolkit_llm::{Message, Messages, UserMessage};

/// The user message after a last message of the agent itself. Providers expect that a history ends with a
/// message of the user or of a tool.
const CONTINUE: &str = "Go on.";

/// How one agent reads a conversation.
///
/// Messages of other agents become user messages, because the model has not written them and does not know
/// their tools. After a compaction, a replacement of older messages comes first.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(in crate::llm) agent: &'a str,
    pub(super) limit: Option<usize>,
    pub(super) compacted: &'a Compacted,
    /// Returns whether the calls of an answer tool become text.
    pub(super) is_quoted: &'a dyn Fn(&str) -> bool,
}

impl Reader<'_> {
    /// Returns the messages to send, shared with the conversation or with a view that later requests
    /// extend.
    pub(super) fn messages(&self, conversation: &mut Conversation) -> Messages {
        let (views, messages) = conversation.views();
        let start = start(views, messages, self.limit, self.compacted);
        let is_whole = start == 0 && *self.compacted == Compacted::default();
        if is_whole && !continues(messages) && views.are_unchanged(self.agent, messages) {
            return messages.clone();
        }
        views.of(self.agent, start, self.compacted, self).extended(messages, self)
    }

    /// Returns the messages from the index `from` on. `is_first` tells whether they begin the request.
    fn visible(&self, messages: &[Message], from: usize, is_first: bool) -> Vec<Message> {
        let latest = messages.get(from..).unwrap_or_default();
        let mut visible = Vec::with_capacity(latest.len() + 1);
        // Consecutive messages of other agents become one user message.
        let mut foreign = if is_first { replacement(self.compacted, messages) } else { Vec::new() };
        let is_replaced = !foreign.is_empty();
        for (index, message) in latest.iter().enumerate() {
            let message = reduced(self.compacted, from + index, message);
            match (foreign_text(self.agent, &message), &*message) {
                (Some(lines), _) => foreign.extend(lines.into_iter().map(Content::Text)),
                // Some models refuse two consecutive user messages.
                (None, Message::User(message)) if is_replaced && visible.is_empty() => {
                    foreign.extend(message.content.iter().cloned());
                    flush(&mut foreign, &mut visible);
                }
                (None, _) => {
                    flush(&mut foreign, &mut visible);
                    visible.push(message.into_owned());
                }
            }
        }
        flush(&mut foreign, &mut visible);
        visible
    }
}

impl Rewrite for Reader<'_> {
    fn is_quoted(&self, tool: &str) -> bool {
        (self.is_quoted)(tool)
    }

    fn is_end(&self, messages: &[Message], end: usize) -> bool {
        let mut before = messages.iter().take(end).rev();
        let last = match before.next() {
            Some(Message::User(_)) => return true,
            Some(results @ Message::Tool(_)) if results.is_of_other(self.agent) => return false,
            // The results of a quoted answer are quoted in the next message.
            Some(Message::Tool(_)) => before.next(),
            message => message,
        };
        let Some(message @ Message::Assistant(answer)) = last else { return false };
        let is_quoted = answer.has_answer() && (self.is_quoted)(&answer.answer_tool);
        !is_quoted && !message.is_of_other(self.agent)
    }

    fn rewrite(&self, messages: &[Message], from: usize, is_first: bool) -> Vec<Message> {
        quote_answers(self.visible(messages, from, is_first), self.is_quoted)
    }

    fn ending(&self, view: &[Message]) -> Option<Message> {
        continues(view).then(|| Message::user(CONTINUE))
    }
}

/// Returns whether the history ends with a complete answer, so that the model is asked to go on.
fn continues(messages: &[Message]) -> bool {
    matches!(messages.last(), Some(Message::Assistant(message)) if !message.paused)
}

pub(super) fn start(
    views: &mut Views,
    messages: &[Message],
    limit: Option<usize>,
    compacted: &Compacted,
) -> usize {
    let mut start = compacted.start;
    if let Some(limit) = limit
        && limit <= messages.len()
    {
        start = start.max(start_of_latest(messages, limit, || views.latest_input(messages)));
    }
    start.min(messages.len())
}

/// Returns the message at `index` as `agent` reads it after the compaction.
pub(super) fn visible<'a>(
    agent: &str,
    index: usize,
    message: &'a Message,
    compacted: &Compacted,
) -> Cow<'a, Message> {
    let message = reduced(compacted, index, message);
    match foreign_text(agent, &message) {
        Some(lines) => Cow::Owned(Message::User(UserMessage::new(lines.into_iter().map(Content::Text)))),
        None => message,
    }
}

fn flush(foreign: &mut Vec<Content>, visible: &mut Vec<Message>) {
    if !foreign.is_empty() {
        visible.push(Message::User(UserMessage::new(std::mem::take(foreign))));
    }
}

/// Describes a message of another agent in lines of text. `None` for the user and `agent` itself.
fn foreign_text(agent: &str, message: &Message) -> Option<Vec<String>> {
    if !message.is_of_other(agent) {
        return None;
    }
    let mut lines = Vec::new();
    match message {
        Message::User(_) => return None,
        Message::Assistant(message) => {
            let author = &message.agent;
            if !message.text.is_empty() {
                lines.push(format!("[{author}] said: {}", message.text));
            }
            for call in &message.calls {
                lines.push(format!("[{author}] called tool `{}` with {}", call.name, call.arguments));
            }
        }
        Message::Tool(message) => {
            let author = &message.agent;
            for result in &message.results {
                lines.push(format!("[{author}] tool `{}` returned: {}", result.name, result.to_text()));
            }
        }
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit_core::{ToolCall, ToolResult};
    use toolkit_llm::{AssistantMessage, ToolMessage};

    /// Returns the messages that `agent` reads, without quoted answers.
    fn visible_to(
        agent: &str,
        conversation: &mut Conversation,
        limit: Option<usize>,
        compacted: &Compacted,
    ) -> Messages {
        Reader { agent, limit, compacted, is_quoted: &|_| false }.messages(conversation)
    }

    fn conversation(messages: impl IntoIterator<Item = Message>) -> Conversation {
        let mut conversation = Conversation::new("1");
        messages.into_iter().for_each(|message| conversation.push(message));
        conversation
    }

    /// A turn of the users and agents in random conversations.
    fn turn(choice: u64) -> Vec<Message> {
        let agent = ["a", "b", "c", ""][(choice >> 8) as usize % 4];
        let answer = ToolCall::new("1", ["answer", "other"][(choice >> 16) as usize % 2], "{}");
        let call = ToolCall::new("2", "look", "{}");
        let said = |calls: &[ToolCall], answer_tool: &str| {
            let mut message = AssistantMessage::text("Hm.").by(agent).with_calls(calls.iter().cloned());
            message.answer_tool = answer_tool.to_owned();
            message.paused = choice.is_multiple_of(7);
            message
        };
        let given = |calls: &[ToolCall]| {
            let outcome = || if choice.is_multiple_of(5) { Err("no".into()) } else { Ok("yes".into()) };
            let results = calls.iter().map(|call| ToolResult::of(call, outcome())).collect();
            Message::Tool(ToolMessage::new(results).by(agent))
        };
        match choice % 6 {
            0 => vec![Message::user("Hi.")],
            1 => vec![Message::Assistant(said(&[], ""))],
            2 => {
                vec![Message::Assistant(said(std::slice::from_ref(&answer), &answer.name)), given(&[answer])]
            }
            3 => vec![
                Message::Assistant(said(&[call.clone(), answer.clone()], &answer.name)),
                given(&[call, answer]),
            ],
            _ => vec![Message::Assistant(said(std::slice::from_ref(&call), "")), given(&[call])],
        }
    }

    /// Compares each request of several agents in a random conversation with one of a copy without views.
    #[test]
    fn a_request_that_extends_earlier_ones_has_the_messages_of_a_new_one() {
        let mut random = 1_u64;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            random >> 33
        };
        for _ in 0..60 {
            let mut conversation = Conversation::new("1");
            let mut compacted = Compacted::default();
            for step in 0..150 {
                let len = conversation.all_messages().len();
                match next() % 24 {
                    0 if len > 0 => {
                        let index = len - 1 - next() as usize % len.min(3);
                        conversation.replace_input(index, "Other.".into());
                    }
                    1 if len > 4 => {
                        let start = next() as usize % (len - 2);
                        compacted = Compacted { start, left_out: start, made_at: len, ..compacted };
                    }
                    2 => conversation.keep_latest(3 + next() as usize % 20),
                    3 => compacted = Compacted::default(),
                    _ => turn(next()).into_iter().for_each(|message| conversation.push(message)),
                }
                compacted.start = compacted.start.min(conversation.all_messages().len());
                for agent in ["a", "b"] {
                    let choice = next();
                    let limit = choice.is_multiple_of(3).then_some(choice as usize % 9);
                    let is_quoted = |tool: &str| choice.is_multiple_of(2) == (tool == "answer");
                    let reader = Reader { agent, limit, compacted: &compacted, is_quoted: &is_quoted };
                    let expected = reader.messages(&mut conversation.clone());
                    assert_eq!(reader.messages(&mut conversation), expected, "step {step}");
                }
            }
        }
    }

    #[test]
    fn messages_of_other_agents_become_user_messages() {
        let call = ToolCall::new("1", "look", "{}");
        let message = AssistantMessage::text("I look.").by("root").with_calls([call.clone()]);
        let results = ToolMessage::new(vec![ToolResult::of(&call, Ok("a cat".into()))]).by("root");
        let messages = [Message::user("What is there?"), Message::Assistant(message), Message::Tool(results)];
        let mut conversation = conversation(messages);
        let visible = visible_to("root", &mut conversation, None, &Compacted::default());
        assert_eq!(visible, conversation.messages());
        let visible = visible_to("spec", &mut conversation, None, &Compacted::default());
        let texts: Vec<String> = visible.iter().map(Message::to_text).collect();
        assert_eq!(
            texts,
            [
                "What is there?",
                "[root] said: I look.\n[root] called tool `look` with {}\n[root] tool `look` returned: a cat"
            ]
        );
    }

    #[test]
    fn after_a_compaction_the_roles_still_alternate() {
        let texts = |compacted: &Compacted| {
            let messages = ["1", "2", "3"].iter();
            let messages = messages.flat_map(|text| [Message::user(*text), Message::assistant(*text)]);
            let visible = visible_to("a", &mut conversation(messages), None, compacted);
            visible.iter().map(Message::to_text).collect::<Vec<_>>()
        };
        let two = Compacted { start: 2, left_out: 2, made_at: 6, ..Compacted::default() };
        let note = "[2 earlier messages of this conversation were left out.]";
        assert_eq!(texts(&two), [&format!("{note}\n2"), "2", "3", "3", CONTINUE]);
        let kept =
            Compacted { start: 3, left_out: 2, summary: "They counted.".to_owned(), kept: vec![2], ..two };
        let head = format!(
            "{note}\n\nSummary of the messages that were left out:\nThey counted.\n[End of the \
             summary. The user has not written it.]\n\nThe user's message among them, \
             unchanged:\n2"
        );
        assert_eq!(texts(&kept), [head.as_str(), "2", "3", "3", CONTINUE]);
    }

    #[test]
    fn limited_history_begins_with_a_user_message() {
        let messages = ["1", "2", "3"].iter();
        let messages = messages.flat_map(|text| [Message::user(*text), Message::assistant(*text)]);
        let mut conversation = conversation(messages);
        for (limit, left) in [(None, 6), (Some(6), 6), (Some(5), 4), (Some(4), 4), (Some(1), 2), (Some(0), 2)]
        {
            let visible = visible_to("a", &mut conversation, limit, &Compacted::default());
            assert_eq!(visible.len(), left + 1, "{limit:?}");
        }
    }
}
