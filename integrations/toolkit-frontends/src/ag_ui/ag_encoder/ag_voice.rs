//! An agent that writes a message.

use crate::ag_ui::AgEvent;
use toolkit_agent::RunScope;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgPiece {
    Text,
    Reasoning,
}

/// The agent of the conversation, one inside a call, or a parallel one, while it writes a message.
#[derive(Debug, Clone)]
pub(super) struct AgVoice {
    pub(super) within: Vec<RunScope>,
    pub(super) message: String,
    pub(super) subagent: Option<String>,
    /// The text of the message so far, and how many of its bytes the page has.
    text: String,
    pub(super) shown: usize,
    open: Option<AgPiece>,
}

impl AgVoice {
    pub(super) fn new(within: &[RunScope], message: &str, subagent: Option<String>) -> Self {
        let (within, message) = (within.to_vec(), message.to_owned());
        Self { within, message, subagent, text: String::new(), shown: 0, open: None }
    }

    pub(super) fn piece(&mut self, kind: AgPiece, piece: &str, events: &mut Vec<AgEvent>) {
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

    /// Ends the message. What a snapshot has taken away is shown again.
    pub(super) fn finish(&mut self, events: &mut Vec<AgEvent>) {
        if self.shown < self.text.len() {
            self.open(AgPiece::Text, events);
            self.show(events);
        }
        self.close(events);
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
        let message_id = self.message.clone();
        match self.open.take() {
            Some(AgPiece::Text) => {
                let subagent_run_id = self.subagent.clone();
                events.push(AgEvent::TextMessageEnd { message_id, subagent_run_id });
            }
            Some(AgPiece::Reasoning) => {
                let message_id = reasoning_id(&message_id);
                events.push(AgEvent::ReasoningMessageEnd { message_id: message_id.clone() });
                events.push(AgEvent::ReasoningEnd { message_id });
            }
            None => {}
        }
    }
}

fn reasoning_id(message: &str) -> String {
    format!("{message}.reasoning")
}
