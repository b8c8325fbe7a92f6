//! The messages of a conversation, from its log.

use super::ui_encoder::{UiEncoder, message_id};
use super::ui_message::{UiMessage, user_parts};
use crate::page_runs::decides_any;
use serde_json::json;
use toolkit_agent::session::{ConversationEntry, EntryKind};
use toolkit_agent::{Decision, RunEvent};
use toolkit_llm::Message;

/// Returns the messages that a page shows.
pub(super) fn messages_of(entries: &[ConversationEntry]) -> Vec<UiMessage> {
    let mut history = UiHistory::default();
    for entry in entries {
        history.read(entry);
    }
    history.finish();
    history.messages
}

/// Returns how many times a run has waited until it waited for one of these calls last, after this number of steps. `None`
/// if it never did, so that the page has seen what came of them.
pub(super) fn waits_for(
    entries: &[ConversationEntry],
    run: &str,
    steps: usize,
    decisions: &[(String, Decision)],
) -> Option<usize> {
    let mut encoder = UiEncoder::new(run);
    let mut count = 0;
    let mut last = None;
    for entry in entries {
        let Some(event) = entry.event().filter(|_| *entry.run == *run) else { continue };
        // The steps are counted, and the page has the chunks.
        let _ = encoder.event(event);
        let RunEvent::Waiting { pending, .. } = event else { continue };
        count += 1;
        if encoder.steps() == steps && decides_any(decisions, pending) {
            last = Some(count);
        }
    }
    last
}

#[derive(Default)]
struct UiHistory {
    messages: Vec<UiMessage>,
    /// The encoder of the last message, if a run writes it.
    encoder: Option<UiEncoder>,
}

impl UiHistory {
    fn read(&mut self, entry: &ConversationEntry) {
        match &entry.kind {
            EntryKind::Event(event) => self.event(&entry.run, event),
            EntryKind::Input { message, message_id, .. } if entry.path.is_empty() && !message.is_feedback => {
                let is_read_by_run =
                    self.encoder.as_ref().is_some_and(|encoder| encoder.run() == &*entry.run);
                let id =
                    if message_id.is_empty() { format!("{}.input", entry.run) } else { message_id.clone() };
                match self.messages.last_mut() {
                    Some(answer) if is_read_by_run => {
                        let parts = user_parts(message);
                        answer.parts.push(json!({"type": "steering-message", "id": id, "parts": parts}));
                    }
                    _ => {
                        self.give_up();
                        self.messages.push(UiMessage::user(id, message));
                    }
                }
            }
            EntryKind::Abandoned => self.give_up(),
            EntryKind::Added(message) if entry.path.is_empty() => self.add(entry.number, 0, message),
            EntryKind::Snapshot(messages) if entry.path.is_empty() => {
                self.messages.clear();
                self.encoder = None;
                for (index, message) in messages.iter().enumerate() {
                    self.add(entry.number, index, message);
                }
            }
            _ => {}
        }
    }

    fn event(&mut self, run: &str, event: &RunEvent) {
        if self.encoder.as_ref().is_none_or(|encoder| encoder.run() != run) {
            self.finish();
            self.encoder = Some(UiEncoder::new(run));
            self.messages.push(UiMessage::assistant(message_id(run)));
        }
        if let (Some(encoder), Some(message)) = (&mut self.encoder, self.messages.last_mut()) {
            for chunk in encoder.event(event) {
                message.apply(&chunk);
            }
        }
    }

    /// Ends the message of a run that does not go on.
    fn give_up(&mut self) {
        if let (Some(encoder), Some(message)) = (&mut self.encoder, self.messages.last_mut()) {
            for chunk in encoder.give_up() {
                message.apply(&chunk);
            }
        }
        self.finish();
    }

    /// Ends the message that a run writes. A message without parts is not shown.
    fn finish(&mut self) {
        let Some(mut encoder) = self.encoder.take() else { return };
        let Some(message) = self.messages.last_mut() else { return };
        if encoder.has_ended() {
            for chunk in encoder.finish() {
                message.apply(&chunk);
            }
        }
        if message.parts.is_empty() {
            self.messages.pop();
        }
    }

    /// Adds a message of the program, or of a log whose earlier entries are gone, with its text only.
    fn add(&mut self, entry: u64, index: usize, message: &Message) {
        self.finish();
        let id = format!("{entry}.{index}");
        match message {
            Message::User(message) if !message.is_feedback => {
                self.messages.push(UiMessage::user(id, message));
            }
            Message::Assistant(message) if !message.text.is_empty() => {
                let mut shown = UiMessage::assistant(id);
                shown.parts.push(json!({"type": "text", "text": message.text, "state": "done"}));
                self.messages.push(shown);
            }
            _ => {}
        }
    }
}
