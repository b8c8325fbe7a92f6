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

    pub(super) fn emit(&mut self, run: &Run) {
        for event in self.events.drain(..) {
            run.emit(|| event);
        }
    }

    /// Replaces the message among the waiting events with `new`. Removes the waiting pieces of text and
    /// answers. Changes nothing that was already emitted.
    pub(super) fn replace_message(&mut self, new: &AssistantMessage) {
        let is_other = |id: &CallId| new.calls.iter().any(|call| call.id == *id && !new.is_answer(call));
        self.events.retain(|event| match event {
            RunEvent::Text { .. } => false,
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
