//! A conversation as one agent sees it.

use crate::message::{Message, UserMessage};
use toolkit_core::Content;

/// What an agent sees of what was said: its own messages as they are; those of other agents as somebody's words, because
/// their tools are not its own and no model should take for its own what another has said.
pub(super) fn seen_by(agent: &str, messages: &[Message], most: Option<usize>) -> Vec<Message> {
    let latest = messages.get(first(messages, most)..).unwrap_or_default();
    let mut seen = Vec::with_capacity(latest.len());
    // Those of one after another are one message.
    let mut foreign: Vec<Content> = Vec::new();
    for message in latest {
        match foreign_words(agent, message) {
            Some(words) => foreign.extend(words.into_iter().map(Content::Text)),
            None => {
                flush(&mut foreign, &mut seen);
                seen.push(message.clone());
            }
        }
    }
    flush(&mut foreign, &mut seen);
    seen
}

fn flush(foreign: &mut Vec<Content>, seen: &mut Vec<Message>) {
    if !foreign.is_empty() {
        seen.push(Message::User(UserMessage::new(std::mem::take(foreign))));
    }
}

/// Where the latest messages begin: with one of the user, or at the latest of them.
fn first(messages: &[Message], most: Option<usize>) -> usize {
    let Some(start) = most.and_then(|most| messages.len().checked_sub(most)) else { return 0 };
    let is_user = |message: &Message| matches!(message, Message::User(_));
    let later = messages.iter().skip(start).position(is_user).map(|at| start + at);
    later.or_else(|| messages.iter().rposition(is_user)).unwrap_or(0)
}

/// What another agent has said and done, in words.
fn foreign_words(agent: &str, message: &Message) -> Option<Vec<String>> {
    match message {
        Message::Assistant(said) if is_other(agent, &said.agent) => {
            let text = (!said.text.is_empty()).then(|| format!("[{}] said: {}", said.agent, said.text));
            let calls = said
                .calls
                .iter()
                .map(|call| format!("[{}] called tool `{}` with {}", said.agent, call.name, call.arguments));
            Some(text.into_iter().chain(calls).collect())
        }
        Message::Tool(given) if is_other(agent, &given.agent) => {
            let results = given.results.iter();
            Some(
                results
                    .map(|result| {
                        format!("[{}] tool `{}` returned: {}", given.agent, result.name, result.to_text())
                    })
                    .collect(),
            )
        }
        _ => None,
    }
}

fn is_other(agent: &str, author: &str) -> bool {
    !author.is_empty() && author != agent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{AssistantMessage, ToolMessage};
    use toolkit_core::{ToolCall, ToolResult};

    #[test]
    fn what_others_have_said_is_told() {
        let call = ToolCall::new("1", "look", "{}");
        let said = AssistantMessage {
            agent: "root".to_owned(),
            ..AssistantMessage::text("I look.").with_calls([call.clone()])
        };
        let given = ToolMessage {
            agent: "root".to_owned(),
            ..ToolMessage::new(vec![ToolResult::of(&call, Ok("a cat".into()))])
        };
        let messages = [Message::user("What is there?"), Message::Assistant(said), Message::Tool(given)];
        assert_eq!(seen_by("root", &messages, None), messages);
        let seen = seen_by("spec", &messages, None);
        let texts: Vec<String> = seen.iter().map(Message::to_text).collect();
        assert_eq!(
            texts,
            [
                "What is there?",
                "[root] said: I look.\n[root] called tool `look` with {}\n[root] tool `look` returned: a cat"
            ]
        );
    }

    #[test]
    fn the_latest_begin_with_the_user() {
        let messages: Vec<Message> = ["1", "2", "3"]
            .iter()
            .flat_map(|text| [Message::user(*text), Message::assistant(*text)])
            .collect();
        for (most, left) in [(None, 6), (Some(6), 6), (Some(5), 4), (Some(4), 4), (Some(1), 2), (Some(0), 2)]
        {
            assert_eq!(seen_by("a", &messages, most).len(), left, "{most:?}");
        }
    }
}
