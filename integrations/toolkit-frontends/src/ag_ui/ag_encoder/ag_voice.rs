//! An agent that writes a message.

use crate::ag_ui::AgEvent;
use std::sync::Arc;
use toolkit_agent::{RunEvent, RunOutput, RunScope};
use toolkit_llm::{AssistantMessage, Message};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgPiece {
    Text,
    Reasoning,
}

/// The agent of the conversation, one inside a call, or a parallel one, while it writes a message.
#[derive(Debug, Clone)]
pub(super) struct AgVoice {
    pub(super) within: Vec<RunScope>,
    pub(super) message: Arc<str>,
    pub(super) subagent: Option<Arc<str>>,
    /// The text of the message so far, and how many of its bytes the page has.
    pub(super) text: String,
    pub(super) shown: usize,
    open: Option<AgPiece>,
    is_begun: bool,
    is_complete: bool,
}

impl AgVoice {
    pub(super) fn new(within: &[RunScope], message: &str, subagent: Option<Arc<str>>) -> Self {
        let (within, message) = (within.to_vec(), message.into());
        Self {
            within,
            message,
            subagent,
            text: String::new(),
            shown: 0,
            open: None,
            is_begun: false,
            is_complete: false,
        }
    }

    /// Returns whether an event takes back what is shown of the message.
    pub(super) fn is_taken_back(&self, event: &RunEvent) -> bool {
        if event.within() != self.within {
            return false;
        }
        match event {
            RunEvent::ModelRetried { .. } => self.is_begun && !self.is_complete,
            // It was complete, and a guardrail writes another one in its place.
            RunEvent::Text { message_id, .. } => self.is_complete && **message_id == *self.message,
            RunEvent::Message { message_id, message, .. } => {
                self.is_begun && **message_id == *self.message && self.text != message.text
            }
            // Text that no guardrail has seen is gone.
            RunEvent::Stopped { output, .. } => self.is_begun && !self.is_complete && !self.is_in(output),
            _ => false,
        }
    }

    /// Returns whether the text so far is a message of a run that has stopped.
    fn is_in(&self, output: &RunOutput) -> bool {
        output
            .messages
            .iter()
            .any(|message| matches!(message, Message::Assistant(kept) if kept.text == self.text))
    }

    pub(super) fn piece(&mut self, kind: AgPiece, piece: &str, events: &mut Vec<AgEvent>) {
        self.is_begun = true;
        if self.open != Some(kind) {
            self.close(events);
            self.open(kind, events);
        }
        if kind == AgPiece::Reasoning {
            let message_id = reasoning_id(&self.message);
            return events.push(AgEvent::ReasoningMessageContent { message_id, delta: piece.to_owned() });
        }
        self.text.push_str(piece);
        self.show(events);
    }

    /// Shows the text that the page does not have.
    fn show(&mut self, events: &mut Vec<AgEvent>) {
        let delta = self.text.get(self.shown..).unwrap_or_default().to_owned();
        self.shown = self.text.len();
        let (message_id, subagent_run_id) = (self.message.clone(), self.subagent.clone());
        events.push(AgEvent::TextMessageContent { message_id, delta, subagent_run_id });
    }

    /// Shows a complete message, unless it was begun.
    pub(super) fn whole(&mut self, message: &AssistantMessage, events: &mut Vec<AgEvent>) {
        if self.is_begun {
            return;
        }
        if self.subagent.is_none() && !message.reasoning.is_empty() {
            self.piece(AgPiece::Reasoning, &message.reasoning, events);
        }
        if !message.text.is_empty() {
            self.piece(AgPiece::Text, &message.text, events);
        }
    }

    /// Ends the message. What a snapshot has taken away is shown again.
    pub(super) fn finish(&mut self, events: &mut Vec<AgEvent>) {
        if self.shown < self.text.len() {
            self.open(AgPiece::Text, events);
            self.show(events);
        }
        self.close(events);
        self.is_complete = true;
    }

    /// Ends what is being written. A snapshot does not have it, so it is shown again with its next piece.
    pub(super) fn interrupt(&mut self, events: &mut Vec<AgEvent>) {
        self.close(events);
        if !self.is_complete {
            self.shown = 0;
        }
    }

    fn open(&mut self, kind: AgPiece, events: &mut Vec<AgEvent>) {
        self.open = Some(kind);
        let message_id = self.message.clone();
        match kind {
            AgPiece::Text => events.push(AgEvent::TextMessageStart {
                message_id,
                role: "assistant".to_owned(),
                subagent_run_id: self.subagent.clone(),
            }),
            AgPiece::Reasoning => {
                let message_id = reasoning_id(&message_id);
                events.push(AgEvent::ReasoningStart { message_id: message_id.clone() });
                events.push(AgEvent::ReasoningMessageStart { message_id, role: "reasoning".to_owned() });
            }
        }
    }

    pub(super) fn close(&mut self, events: &mut Vec<AgEvent>) {
        match self.open.take() {
            Some(AgPiece::Text) => {
                let (message_id, subagent_run_id) = (self.message.clone(), self.subagent.clone());
                events.push(AgEvent::TextMessageEnd { message_id, subagent_run_id });
            }
            Some(AgPiece::Reasoning) => {
                let message_id = reasoning_id(&self.message);
                events.push(AgEvent::ReasoningMessageEnd { message_id: message_id.clone() });
                events.push(AgEvent::ReasoningEnd { message_id });
            }
            None => {}
        }
    }
}

/// Returns the id of the reasoning of a message.
pub(in crate::ag_ui) fn reasoning_id(message: &str) -> Arc<str> {
    format!("{message}.reasoning").into()
}
