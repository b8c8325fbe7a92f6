//! Events that wait until a check has passed.

use crate::agent::Run;
use crate::event::RunEvent;
use crate::message::AssistantMessage;
use toolkit_core::CallId;

/// The events of a response that are not emitted until guardrails have checked the response.
#[derive(Default)]
pub(super) struct Held {
    events: Vec<RunEvent>,
}

impl Held {
    pub(super) fn push(&mut self, event: RunEvent) {
        self.events.push(event);
    }

    /// Moves all events of `earlier` before these events.
    pub(super) fn put_behind(&mut self, earlier: &mut Self) {
        self.events.splice(..0, earlier.events.drain(..));
    }

    pub(super) fn emit(&mut self, run: &Run) {
        for event in self.events.drain(..) {
            run.emit(|| event);
        }
    }

    /// Puts a message in place of the held message, and removes the pieces of text and answers that came before it,
    /// also before a pause.
    /// Changes no event if the message was already emitted.
    pub(super) fn replace_message(&mut self, new: &AssistantMessage) {
        let is_other = |id: &CallId| new.calls.iter().any(|call| call.id == *id && !new.is_answer(call));
        self.events.retain(|event| match event {
            RunEvent::Text { .. } => false,
            RunEvent::Message { message, .. } => !message.paused,
            RunEvent::CallArguments { call_id, .. } => is_other(call_id),
            _ => true,
        });
        for event in &mut self.events {
            if let RunEvent::Message { message, .. } = event {
                **message = new.clone();
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.events.clear();
    }
}
