//! The messages of a request as a compaction changes them.

use crate::compaction::indented;
use crate::conversation::Compacted;
use std::borrow::Cow;
use toolkit_core::output::TruncationStrategy;
use toolkit_core::{Content, ToolOutput, ToolResult};
use toolkit_llm::ModelOptions;
use toolkit_llm::model::ServerState;
use toolkit_llm::{AssistantMessage, Message, ToolMessage, UserMessage};

/// Returns the message at `index` as the model reads it after the compaction.
pub(super) fn reduced<'a>(compacted: &Compacted, index: usize, message: &'a Message) -> Cow<'a, Message> {
    let changed = match message {
        Message::Tool(message) if index < compacted.dropped => with_results(message, dropped),
        Message::Tool(message) if index < compacted.shortened => {
            with_results(message, |result| shortened(result, compacted.result_chars))
        }
        Message::Assistant(message) if index < compacted.made_at => without_server_state(message),
        _ => None,
    };
    changed.map_or(Cow::Borrowed(message), Cow::Owned)
}

/// Returns what replaces the messages left out, if any: a note, the summary, and the user messages that
/// stay.
pub(super) fn replacement(compacted: &Compacted, messages: &[Message]) -> Vec<Content> {
    let mut text = match compacted.left_out {
        0 if compacted.summary.is_empty() && compacted.kept.is_empty() => return Vec::new(),
        0 => "[Earlier messages of this conversation were left out.]".to_owned(),
        1 => "[1 earlier message of this conversation was left out.]".to_owned(),
        count => format!("[{count} earlier messages of this conversation were left out.]"),
    };
    if !compacted.summary.is_empty() {
        text.push_str("\n\nSummary of the messages that were left out:\n");
        // Indented, so that no line of the summary looks like a note or a message.
        text.push_str(&indented(&compacted.summary));
        text.push_str("\n[End of the summary. The user has not written it.]");
    }
    let mut kept: Vec<&UserMessage> = Vec::new();
    for index in &compacted.kept {
        if let Some(Message::User(message)) = messages.get(*index) {
            kept.push(message);
        }
    }
    match kept.len() {
        0 => {}
        1 => text.push_str("\n\nThe user's message among them, unchanged:"),
        _ => text.push_str("\n\nThe user's messages among them, unchanged:"),
    }
    let mut contents = vec![Content::Text(text)];
    for message in kept {
        contents.extend(message.content.iter().cloned());
    }
    contents
}

/// Returns whether a conversation kept by the provider still has the originals of messages of `agent` that
/// a compaction or a guardrail has changed. Earlier responses count as changed by the compaction, so their
/// ids are not used again.
pub(super) fn distrust_server(
    compacted: &mut Compacted,
    agent: &str,
    messages: &[Message],
    options: &ModelOptions,
) -> bool {
    if !matches!(options.server_state, Some(ServerState::Conversation(_))) {
        return false;
    }
    for (index, message) in messages.iter().enumerate().skip(compacted.start).rev() {
        if let Message::Assistant(said) = message
            && said.differs_from_server
            && !message.is_of_other(agent)
        {
            compacted.made_at = compacted.made_at.max(index);
            return true;
        }
    }
    compacted.made_at > 0
}

/// Returns the message without the ids of what the provider has stored, if it has any. A request must not
/// continue from them, because they contain the original messages.
fn without_server_state(message: &AssistantMessage) -> Option<Message> {
    let native = message.native.as_ref()?;
    if native.response_id.is_none() && native.conversation.is_none() {
        return None;
    }
    let mut message = message.clone();
    if let Some(native) = &mut message.native {
        native.response_id = None;
        native.conversation = None;
    }
    Some(Message::Assistant(message))
}

/// Applies `change` to each result. `None` if none changes.
fn with_results(
    message: &ToolMessage,
    change: impl Fn(&ToolResult) -> Option<ToolResult>,
) -> Option<Message> {
    let changes: Vec<Option<ToolResult>> = message.results.iter().map(change).collect();
    if changes.iter().all(Option::is_none) {
        return None;
    }
    let mut results = Vec::with_capacity(changes.len());
    for (change, result) in changes.into_iter().zip(&message.results) {
        results.push(change.unwrap_or_else(|| result.clone()));
    }
    Some(Message::Tool(ToolMessage::new(results).by(message.agent.as_str())))
}

/// Returns the result with only the beginning and the end of its text, and notes instead of media. `None`
/// if it is short and has no media.
fn shortened(result: &ToolResult, limit: usize) -> Option<ToolResult> {
    let text = result.to_text();
    let is_short = text.len() <= limit || text.chars().count() <= limit;
    if is_short && !has_media(result) {
        return None;
    }
    Some(with_text(result, TruncationStrategy::HeadTail.cut(&text, limit).into_owned()))
}

/// Returns the result with a note about its length instead of its output. `None` if the output is shorter
/// than the note and has no media.
fn dropped(result: &ToolResult) -> Option<ToolResult> {
    let text = result.to_text();
    let note = format!("[output left out: {} characters]", text.chars().count());
    (text.len() > note.len() || has_media(result)).then(|| with_text(result, note))
}

fn has_media(result: &ToolResult) -> bool {
    let contents = result.output().map(ToolOutput::content).unwrap_or_default();
    contents.iter().any(|part| matches!(part, Content::Image(_) | Content::Audio(_) | Content::File(_)))
}

fn with_text(result: &ToolResult, text: String) -> ToolResult {
    let outcome = match &result.outcome {
        Ok(_) => Ok(ToolOutput::text(text)),
        Err(error) => Err(error.clone().with_message(text)),
    };
    let mut changed = ToolResult::new(result.call_id.clone(), result.name.as_str(), outcome)
        .with_position(result.position)
        .with_extras(result.extras.clone());
    changed.duration = result.duration;
    changed.call_reason.clone_from(&result.call_reason);
    changed
}
