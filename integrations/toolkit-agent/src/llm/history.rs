//! The history of a conversation as one agent's model reads it.

use super::reduce::{reduced, replacement};
use crate::conversation::{Compacted, start_of_latest};
use crate::message::{Message, Messages, UserMessage};
use std::borrow::Cow;
use toolkit_core::{Content, ToolResult};

/// Returns the messages to send to the model of `agent`. `limit` is the agent's `history_limit`.
///
/// Messages of other agents become user messages, because the model has not written them and does not know
/// the tools of other agents. After a compaction, the first message begins with the text that replaces older
/// messages.
pub(super) fn visible_to(
    agent: &str,
    messages: &mut Messages,
    limit: Option<usize>,
    compacted: &Compacted,
) -> Messages {
    let is_limited = limit.is_some_and(|limit| limit <= messages.len());
    if !is_limited
        && *compacted == Compacted::default()
        && let Some(shared) = messages.shared_with(agent)
    {
        return shared;
    }
    let start = start(messages, limit, compacted);
    let latest = messages.get(start..).unwrap_or_default();
    let mut visible = Vec::with_capacity(latest.len() + 1);
    // Consecutive messages of other agents become one user message.
    let mut foreign = replacement(compacted, messages);
    let is_replaced = !foreign.is_empty();
    for (index, message) in latest.iter().enumerate() {
        let message = reduced(compacted, start + index, message);
        match (foreign_text(agent, &message), &*message) {
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
    visible.into()
}

/// Returns the index of the first message to send.
pub(super) fn start(messages: &[Message], limit: Option<usize>, compacted: &Compacted) -> usize {
    let limit = limit.filter(|limit| *limit <= messages.len());
    let limited = limit.map_or(0, |limit| start_of_latest(messages, limit));
    limited.max(compacted.start).min(messages.len())
}

/// Returns the message at `index` as the model of `agent` reads it after the compaction.
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

/// Describes a message of another agent in lines of text. Returns `None` if the message is from the user or
/// from `agent` itself.
fn foreign_text(agent: &str, message: &Message) -> Option<Vec<String>> {
    if !message.is_of_other(agent) {
        return None;
    }
    match message {
        Message::User(_) => None,
        Message::Assistant(message) => {
            let author = &message.agent;
            let text = (!message.text.is_empty()).then(|| format!("[{author}] said: {}", message.text));
            let calls = message.calls.iter();
            let calls =
                calls.map(|call| format!("[{author}] called tool `{}` with {}", call.name, call.arguments));
            Some(text.into_iter().chain(calls).collect())
        }
        Message::Tool(message) => {
            let author = &message.agent;
            let results = message.results.iter();
            let line = |result: &ToolResult| {
                format!("[{author}] tool `{}` returned: {}", result.name, result.to_text())
            };
            Some(results.map(line).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{AssistantMessage, ToolMessage};
    use toolkit_core::ToolCall;

    #[test]
    fn messages_of_other_agents_become_user_messages() {
        let call = ToolCall::new("1", "look", "{}");
        let message = AssistantMessage {
            agent: "root".to_owned(),
            ..AssistantMessage::text("I look.").with_calls([call.clone()])
        };
        let results = ToolMessage {
            agent: "root".to_owned(),
            ..ToolMessage::new(vec![ToolResult::of(&call, Ok("a cat".into()))])
        };
        let messages = [Message::user("What is there?"), Message::Assistant(message), Message::Tool(results)];
        let mut messages = Messages::from_iter(messages);
        assert_eq!(visible_to("root", &mut messages, None, &Compacted::default()), messages);
        let visible = visible_to("spec", &mut messages, None, &Compacted::default());
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
            let mut messages: Messages = ["1", "2", "3"]
                .iter()
                .flat_map(|text| [Message::user(*text), Message::assistant(*text)])
                .collect();
            let visible = visible_to("a", &mut messages, None, compacted);
            visible.iter().map(Message::to_text).collect::<Vec<_>>()
        };
        let two = Compacted { start: 2, left_out: 2, made_at: 6, ..Compacted::default() };
        let note = "[2 earlier messages of this conversation were left out.]";
        assert_eq!(texts(&two), [&format!("{note}\n2"), "2", "3", "3"]);
        let kept =
            Compacted { start: 3, left_out: 2, summary: "They counted.".to_owned(), kept: vec![2], ..two };
        let head = format!(
            "{note}\n\nSummary of the messages that were left out:\nThey counted.\n[End of the \
             summary. The user has not written it.]\n\nThe user's message among them, \
             unchanged:\n2"
        );
        assert_eq!(texts(&kept), [head.as_str(), "2", "3", "3"]);
    }

    #[test]
    fn limited_history_begins_with_a_user_message() {
        let mut messages: Messages = ["1", "2", "3"]
            .iter()
            .flat_map(|text| [Message::user(*text), Message::assistant(*text)])
            .collect();
        for (limit, left) in [(None, 6), (Some(6), 6), (Some(5), 4), (Some(4), 4), (Some(1), 2), (Some(0), 2)]
        {
            let visible = visible_to("a", &mut messages, limit, &Compacted::default());
            assert_eq!(visible.len(), left, "{limit:?}");
        }
    }
}
