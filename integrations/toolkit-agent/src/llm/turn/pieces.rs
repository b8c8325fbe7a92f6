//! The pieces of an arriving response: their events, and when guardrails hold these back.

use super::event_buffer::EventBuffer;
use crate::conversation::Conversation;
use crate::event::RunEvent;
use crate::llm::answer::FinalAnswer;
use crate::llm::scope::TurnScope;
use std::sync::atomic::{AtomicBool, Ordering};
use toolkit_llm::ModelResponse;
use toolkit_llm::hosted::HostedCall;
use toolkit_llm::{AssistantMessage, StreamEvent};

pub(in crate::llm) struct Pieces<'a> {
    pub(in crate::llm) scope: TurnScope<'a>,
    pub(super) buffer: &'a mut EventBuffer,
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
        let is_kept = !self.is_unchecked;
        match piece {
            StreamEvent::Text(text) => {
                if is_kept {
                    conversation.push_text(&text);
                }
                self.emit(HeldPieces::Text, || RunEvent::Text { agent: agent(), text, within: within() });
            }
            StreamEvent::Reasoning(text) => {
                if is_kept {
                    conversation.push_reasoning(&text);
                }
                self.emit(HeldPieces::All, || RunEvent::Reasoning { agent: agent(), text, within: within() });
            }
            StreamEvent::Native(native) if is_kept => conversation.push_native(native),
            StreamEvent::CallStarted { id: call_id, name: tool, .. } => self.emit(HeldPieces::All, || {
                RunEvent::CallStarted { agent: agent(), call_id, tool, within: within() }
            }),
            StreamEvent::Arguments { id: call_id, piece, .. } => self.emit(HeldPieces::Text, || {
                RunEvent::CallArguments { agent: agent(), call_id, piece, within: within() }
            }),
            StreamEvent::Hosted(call) => {
                let call = Box::new(call);
                self.emit(HeldPieces::All, || RunEvent::HostedCall {
                    agent: agent(),
                    call,
                    within: within(),
                });
            }
            _ => {}
        }
    }

    /// Emits or holds the pieces of a response that was not streamed.
    pub(super) fn emit_whole(&mut self, response: &ModelResponse) {
        let scope = self.scope;
        let agent = || scope.agent.to_owned();
        let within = || scope.run.within();
        for call in &response.hosted {
            let call = || Box::new(call.clone());
            self.emit(HeldPieces::All, || RunEvent::HostedCall {
                agent: agent(),
                call: call(),
                within: within(),
            });
        }
        let text = &response.message.text;
        if !text.is_empty() {
            self.emit(HeldPieces::Text, || RunEvent::Text {
                agent: agent(),
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
        let event = || RunEvent::Message { message: Box::new(message.clone()), within: run.within() };
        if self.held == HeldPieces::All {
            // A check may have changed the response, so its own pieces replace the earlier ones.
            self.buffer.clear();
            let agent = || agent.to_owned();
            let within = || run.within();
            if !message.reasoning.is_empty() {
                let text = message.reasoning.clone();
                self.buffer.push(RunEvent::Reasoning { agent: agent(), text, within: within() });
            }
            for call in hosted {
                let call = Box::new(call.clone());
                self.buffer.push(RunEvent::HostedCall { agent: agent(), call, within: within() });
            }
            if !message.text.is_empty() {
                let text = message.text.clone();
                self.buffer.push(RunEvent::Text { agent: agent(), text, within: within() });
            }
        }
        if self.are_held(message, answer) {
            return self.buffer.push(event());
        }
        self.buffer.emit(run);
        run.emit(event);
    }

    pub(super) fn are_held(&self, message: &AssistantMessage, answer: &FinalAnswer<'_>) -> bool {
        let is_answer = message.calls.is_empty() || message.calls.iter().any(|call| answer.is_in(call));
        is_answer && self.holds_text()
    }

    pub(super) fn holds_text(&self) -> bool {
        self.held >= HeldPieces::Text
    }
}
