//! Events that wait until a check has passed.

use crate::agent::Run;
use crate::conversation::Conversation;
use crate::event::RunEvent;
use std::sync::Arc;
use toolkit_core::CallId;
use toolkit_llm::{AssistantMessage, Message};

/// The events of a response that wait for guardrails.
#[derive(Default)]
pub(in crate::llm) struct EventBuffer {
    paused: Vec<RunEvent>,
    /// The events of the turn's latest attempt.
    events: Vec<RunEvent>,
}

impl EventBuffer {
    pub(super) fn push(&mut self, event: RunEvent) {
        self.events.push(event);
    }

    /// Holds the events of a paused message until its continuation was checked.
    pub(super) fn pause(&mut self) {
        self.paused.append(&mut self.events);
    }

    /// Holds the events of paused messages of an earlier run.
    pub(super) fn push_paused(&mut self, conversation: &Conversation, run: &Run) {
        for (message, id) in conversation.unchecked().iter().zip(conversation.unchecked_ids()) {
            if let Message::Assistant(message) = message {
                self.paused.extend(events_of(message, &id, run));
            }
        }
    }

    /// Holds the events of a complete message of an earlier run.
    pub(super) fn push_message(&mut self, message: &AssistantMessage, id: &Arc<str>, run: &Run) {
        self.events.extend(events_of(message, id, run));
    }

    pub(super) fn emit(&mut self, run: &Run) {
        for event in self.paused.drain(..).chain(self.events.drain(..)) {
            run.emit(|| event);
        }
    }

    /// Replaces the held message, and removes the pieces of text and answers before it, also before a
    /// pause. Changes nothing if the message was already emitted.
    pub(in crate::llm) fn replace_message(&mut self, new: &AssistantMessage) {
        self.paused.retain(|event| !matches!(event, RunEvent::Text { .. } | RunEvent::Message { .. }));
        self.events.retain(|event| is_no_piece_of(new, event));
        for event in &mut self.events {
            if let RunEvent::Message { message, .. } = event {
                **message = new.clone();
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.paused.is_empty() && self.events.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.events.clear();
    }

    pub(in crate::llm) fn clear_all(&mut self) {
        *self = Self::default();
    }
}

/// Returns whether an event stays beside a message that replaces what was held.
fn is_no_piece_of(new: &AssistantMessage, event: &RunEvent) -> bool {
    match event {
        RunEvent::Text { .. } => false,
        RunEvent::CallArguments { call_id, .. } => has_other_call(new, call_id),
        _ => true,
    }
}

/// Returns whether a call has this id, and none with this id is the answer.
fn has_other_call(message: &AssistantMessage, id: &CallId) -> bool {
    let mut has_call = false;
    // Of several calls with one id, each may be the answer.
    for call in message.calls.iter().filter(|call| call.id == *id) {
        if message.is_answer(call) {
            return false;
        }
        has_call = true;
    }
    has_call
}

fn events_of(message: &AssistantMessage, id: &Arc<str>, run: &Run) -> impl Iterator<Item = RunEvent> {
    let text = (!message.text.is_empty()).then(|| RunEvent::Text {
        agent: message.agent.clone(),
        message_id: id.clone(),
        text: message.text.clone(),
        within: run.within(),
    });
    let message = RunEvent::Message {
        message_id: id.clone(),
        message: Box::new(message.clone()),
        within: run.within(),
    };
    text.into_iter().chain([message])
}
