//! The pieces of an arriving response: their events, and when guardrails hold these back.

use super::event_buffer::EventBuffer;
use crate::conversation::Conversation;
use crate::event::RunEvent;
use crate::llm::answer::FinalAnswer;
use crate::llm::scope::TurnScope;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use toolkit_core::CallId;
use toolkit_llm::ModelResponse;
use toolkit_llm::hosted::HostedCall;
use toolkit_llm::{AssistantMessage, StreamEvent};

pub(in crate::llm) struct Pieces<'a> {
    pub(in crate::llm) scope: TurnScope<'a>,
    pub(super) buffer: &'a mut EventBuffer,
    /// The id of the message. Empty without a listener.
    pub(in crate::llm) message_id: Arc<str>,
    /// The provider's ids of the calls in the events of the message so far.
    pub(super) announced: Vec<CallId>,
    /// Whether guardrails have accepted the input. Until then, no event of the response is emitted.
    pub(in crate::llm) gate: &'a AtomicBool,
    /// Whether the input is checked beside the model, or the response afterwards. Then no call starts
    /// before the complete response, and the turn stays empty until the checks have passed.
    pub(super) is_unchecked: bool,
    pub(super) held: HeldPieces,
}

/// Which events wait until the response was checked, fewest first.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum HeldPieces {
    Nothing,
    /// Those of text, and of arguments, which may be the answer.
    Text,
    All,
}

impl Pieces<'_> {
    /// Adds a piece to the arriving message, and emits its event or holds it back. Ignores other events.
    pub(super) fn receive(&mut self, piece: StreamEvent, conversation: &mut Conversation) {
        let scope = self.scope;
        let agent = || scope.agent.to_owned();
        let within = || scope.run.within();
        let id = self.message_id.clone();
        let is_kept = !self.is_unchecked;
        match piece {
            StreamEvent::Text(text) => {
                if is_kept {
                    conversation.push_text(&text);
                }
                self.emit(HeldPieces::Text, || RunEvent::Text {
                    agent: agent(),
                    message_id: id,
                    text,
                    within: within(),
                });
            }
            StreamEvent::Reasoning(text) => {
                if is_kept {
                    conversation.push_reasoning(&text);
                }
                self.emit(HeldPieces::All, || RunEvent::Reasoning {
                    agent: agent(),
                    message_id: id,
                    text,
                    within: within(),
                });
            }
            StreamEvent::Native(native) if is_kept => conversation.push_native(native),
            StreamEvent::CallStarted { id: call_id, name: tool, .. } => {
                let key = self.announce(&call_id);
                self.emit(HeldPieces::All, || RunEvent::CallStarted {
                    agent: agent(),
                    message_id: id,
                    key,
                    call_id,
                    tool,
                    within: within(),
                });
            }
            StreamEvent::Arguments { id: call_id, piece, .. } => {
                let key = self.announced_key(&call_id);
                self.emit(HeldPieces::Text, || RunEvent::CallArguments {
                    agent: agent(),
                    message_id: id,
                    key,
                    call_id,
                    piece,
                    within: within(),
                });
            }
            StreamEvent::Hosted(call) => {
                let call = Box::new(call);
                self.emit(HeldPieces::All, || RunEvent::HostedCall {
                    agent: agent(),
                    message_id: id,
                    call,
                    within: within(),
                });
            }
            _ => {}
        }
    }

    /// Begins the events of another message. The id is made only for a listener.
    pub(in crate::llm) fn begin(&mut self, conversation: &Conversation) {
        if self.scope.run.has_listener() {
            self.message_id = conversation.turn_path().message();
            self.announced.clear();
        }
    }

    /// Returns the key of the next call of the message. Calls are announced in their order.
    fn announce(&mut self, call_id: &CallId) -> Arc<str> {
        if !self.scope.run.has_listener() {
            return Arc::default();
        }
        self.announced.push(call_id.clone());
        self.announced_key(call_id)
    }

    fn announced_key(&self, call_id: &CallId) -> Arc<str> {
        match self.announced.iter().rposition(|known| known == call_id) {
            Some(position) => format!("{}.{position}", self.message_id).into(),
            None => Arc::default(),
        }
    }

    /// Emits or holds the pieces of a response that was not streamed.
    pub(super) fn emit_whole(&mut self, response: &ModelResponse) {
        let scope = self.scope;
        let agent = || scope.agent.to_owned();
        let within = || scope.run.within();
        let id = self.message_id.clone();
        for call in &response.hosted {
            let call = || Box::new(call.clone());
            self.emit(HeldPieces::All, || RunEvent::HostedCall {
                agent: agent(),
                message_id: id.clone(),
                call: call(),
                within: within(),
            });
        }
        let text = &response.message.text;
        if !text.is_empty() {
            self.emit(HeldPieces::Text, || RunEvent::Text {
                agent: agent(),
                message_id: id,
                text: text.clone(),
                within: within(),
            });
        }
    }

    /// Emits the event of a piece, unless at least `held_from` is held.
    fn emit(&mut self, held_from: HeldPieces, event: impl FnOnce() -> RunEvent) {
        let run = self.scope.run;
        if !run.has_listener() {
            return;
        }
        // Events after a held event are held too, to preserve their order.
        let is_behind = self.holds_text() && !self.buffer.is_empty();
        if self.held >= held_from || is_behind || !self.gate.load(Ordering::Relaxed) {
            return self.buffer.push(event());
        }
        self.buffer.emit(run);
        run.emit(event);
    }

    /// Emits the complete message, unless it contains an answer and text events wait for checks.
    pub(super) fn emit_message(
        &mut self,
        message: &AssistantMessage,
        hosted: &[HostedCall],
        answer: &FinalAnswer<'_>,
    ) {
        let TurnScope { run, agent, .. } = self.scope;
        let id = self.message_id.clone();
        let event = || RunEvent::Message {
            message_id: id.clone(),
            message: Box::new(message.clone()),
            within: run.within(),
        };
        if self.held == HeldPieces::All && run.has_listener() {
            // A check may have changed the response, so its own pieces replace the earlier ones.
            self.buffer.clear();
            let agent = || agent.to_owned();
            let message_id = || id.clone();
            let within = || run.within();
            if !message.reasoning.is_empty() {
                let text = message.reasoning.clone();
                let message_id = message_id();
                self.buffer.push(RunEvent::Reasoning { agent: agent(), message_id, text, within: within() });
            }
            for call in hosted {
                let call = Box::new(call.clone());
                let message_id = message_id();
                self.buffer.push(RunEvent::HostedCall { agent: agent(), message_id, call, within: within() });
            }
            if !message.text.is_empty() {
                let text = message.text.clone();
                let message_id = message_id();
                self.buffer.push(RunEvent::Text { agent: agent(), message_id, text, within: within() });
            }
        }
        if self.are_held(message, answer) {
            return self.buffer.push(event());
        }
        self.buffer.emit(run);
        run.emit(event);
    }

    /// Emits the message of a restarted turn, of which the earlier run has emitted only pieces.
    pub(super) fn emit_restarted(&self, message: &AssistantMessage) {
        let run = self.scope.run;
        run.emit(|| RunEvent::Message {
            message_id: self.message_id.clone(),
            message: Box::new(message.clone()),
            within: run.within(),
        });
    }

    pub(super) fn are_held(&self, message: &AssistantMessage, answer: &FinalAnswer<'_>) -> bool {
        let is_answer = message.calls.is_empty() || message.calls.iter().any(|call| answer.is_in(call));
        is_answer && self.holds_text()
    }

    pub(super) fn holds_text(&self) -> bool {
        self.held >= HeldPieces::Text
    }
}
