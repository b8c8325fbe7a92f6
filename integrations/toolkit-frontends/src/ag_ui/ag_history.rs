//! The messages of a conversation, from its log.

use super::AgMessage;
use super::ag_encoder::AgEncoder;
use super::ag_shown::ShownMessages;
use crate::page_runs::decides_any;
use toolkit_agent::session::{ConversationEntry, EntryKind};
use toolkit_agent::{Decision, RunEvent};
use toolkit_llm::Message;

/// Returns the messages that a page shows up to the run, and of what agents have written in the run all, or those that are
/// shown.
///
/// The log may be ahead of a page, which hears the others later.
pub(super) fn messages_until(
    log: &[ConversationEntry],
    run: &str,
    shown: Option<&ShownMessages>,
) -> Vec<AgMessage> {
    let of_run = |entry: &ConversationEntry| *entry.run == *run;
    let end = log.iter().rposition(of_run).map_or(log.len(), |last| last + 1);
    let begin = log.iter().position(of_run).unwrap_or(end);
    let (before, until) = (log.get(..begin).unwrap_or_default(), log.get(..end).unwrap_or_default());
    let mut messages = messages_of(until);
    for later in messages.split_off(messages_of(before).len().min(messages.len())) {
        let id = later.0["id"].as_str().unwrap_or_default();
        if later.0["role"] == "user" || shown.is_none_or(|shown| shown.has(id)) {
            messages.push(later);
        }
    }
    messages
}

/// Returns the messages that a page shows.
pub(super) fn messages_of(entries: &[ConversationEntry]) -> Vec<AgMessage> {
    let mut messages = Vec::new();
    let mut encoder = AgEncoder::new("", "");
    let mut run = "";
    for entry in entries {
        if *entry.run != *run {
            run = &entry.run;
            encoder = AgEncoder::new("", "");
        }
        match &entry.kind {
            EntryKind::Event(event) => {
                for sent in encoder.event(event) {
                    sent.apply_to(&mut messages);
                }
            }
            EntryKind::Input { message, message_id, .. } if entry.path.is_empty() && !message.is_feedback => {
                let id = if message_id.is_empty() { format!("{run}.input") } else { message_id.clone() };
                messages.push(AgMessage::user(&id, message));
            }
            EntryKind::Added(message) if entry.path.is_empty() => {
                add(&mut messages, entry.number, 0, message);
            }
            EntryKind::Snapshot(all) if entry.path.is_empty() => {
                messages.clear();
                for (index, message) in all.iter().enumerate() {
                    add(&mut messages, entry.number, index, message);
                }
            }
            _ => {}
        }
    }
    messages
}

/// Adds a message of the program, or of a log whose earlier entries are gone, with its text only.
fn add(messages: &mut Vec<AgMessage>, entry: u64, index: usize, message: &Message) {
    let id = format!("{entry}.{index}");
    match message {
        Message::User(message) if !message.is_feedback => messages.push(AgMessage::user(&id, message)),
        Message::Assistant(message) if !message.text.is_empty() => {
            messages.push(AgMessage::assistant(&id, &message.text));
        }
        _ => {}
    }
}

/// Returns whether a client's history leaves that of the log before its end: the user has written what the client does not
/// have, after the last message that it has. `ids` are those of the client. A history whose last message is known asks for its
/// answer, and one without any known message is that of a page that was just loaded.
pub(super) fn leaves(ids: &[&str], log: &[AgMessage]) -> bool {
    let mut is_later = false;
    let mut leaves = None;
    for message in log.iter().rev() {
        let id = message.0["id"].as_str().unwrap_or_default();
        if ids.last() == Some(&id) {
            return false;
        }
        if leaves.is_none() && ids.contains(&id) {
            leaves = Some(is_later);
        }
        is_later |= message.0["role"] == "user";
    }
    leaves.unwrap_or_default()
}

/// Returns how many times a run has waited until it waited for one of these calls last, with the run. `None` if none did.
pub(super) fn waits_for(
    entries: &[ConversationEntry],
    decisions: &[(String, Decision)],
) -> Option<(String, usize)> {
    let mut count = 0;
    let mut run = "";
    let mut last = None;
    for entry in entries {
        if *entry.run != *run {
            run = &entry.run;
            count = 0;
        }
        let Some(RunEvent::Waiting { pending, .. }) = entry.event() else { continue };
        count += 1;
        if decides_any(decisions, pending) {
            last = Some((run.to_owned(), count));
        }
    }
    last
}
