//! The history of a conversation as seen by one agent.

use crate::conversation::start_of_latest;
use crate::message::{Message, Messages, UserMessage};
use toolkit_core::{Content, ToolResult};

/// Returns the messages to send to the model of `agent`. `limit` is the agent's `history_limit`. Messages of
/// other agents become user messages, because this model neither wrote them nor knows the other agents'
/// tools.
pub(super) fn visible_to(agent: &str, messages: &mut Messages, limit: Option<usize>) -> Messages {
    let limit = limit.filter(|limit| *limit <= messages.len());
    if limit.is_none()
        && let Some(shared) = messages.shared_with(agent)
    {
        return shared;
    }
    let start = limit.map_or(0, |limit| start_of_latest(messages, limit));
    let latest = messages.get(start..).unwrap_or_default();
    let mut visible = Vec::with_capacity(latest.len());
    // Adjacent messages of other agents become one user message.
    let mut foreign: Vec<Content> = Vec::new();
    for message in latest {
        match foreign_text(agent, message) {
            Some(lines) => foreign.extend(lines.into_iter().map(Content::Text)),
            None => {
                flush(&mut foreign, &mut visible);
                visible.push(message.clone());
            }
        }
    }
    flush(&mut foreign, &mut visible);
    visible.into()
}

fn flush(foreign: &mut Vec<Content>, visible: &mut Vec<Message>) {
    if !foreign.is_empty() {
        visible.push(Message::User(UserMessage::new(std::mem::take(foreign))));
    }
}

/// Returns the lines that describe a message of another agent. Returns `None` if the message is from the user
/// or from `agent` itself.
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
        assert_eq!(visible_to("root", &mut messages, None), messages);
        let visible = visible_to("spec", &mut messages, None);
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
    fn limited_history_begins_with_a_user_message() {
        let mut messages: Messages = ["1", "2", "3"]
            .iter()
            .flat_map(|text| [Message::user(*text), Message::assistant(*text)])
            .collect();
        for (limit, left) in [(None, 6), (Some(6), 6), (Some(5), 4), (Some(4), 4), (Some(1), 2), (Some(0), 2)]
        {
            assert_eq!(visible_to("a", &mut messages, limit).len(), left, "{limit:?}");
        }
    }
}
