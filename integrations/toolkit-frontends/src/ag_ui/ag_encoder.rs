//! From the events of a run to those of AG-UI.

mod ag_end;
mod ag_parts;
mod ag_voice;

use super::AgEvent;
use super::ag_shown::ShownMessages;
pub(super) use ag_parts::result_id;
use ag_parts::{before, custom};
pub(super) use ag_voice::reasoning_id;
use ag_voice::{AgPiece, AgVoice};
use serde_json::json;
use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::vec::Drain;
use toolkit_agent::{RunEvent, RunOutput};
use toolkit_core::ToolResult;

/// Folds the events of one run into those of AG-UI.
///
/// It makes the same messages from live events and from those of the log. Only the order of messages that several agents
/// write at the same time may be another one.
///
/// ```
/// use toolkit_frontends::ag_ui::{AgEncoder, AgEvent};
/// use toolkit_ai::agent::Agent;
/// use toolkit_ai::llm::ScriptedModel;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let agent = Agent::builder(ScriptedModel::new().text("Hello.")).build()?;
/// let mut encoder = AgEncoder::new("thread 1", "run 1");
/// let mut sent = vec![encoder.start()];
/// let mut events = agent.run("Hi.").stream();
/// while let Some(event) = events.next().await {
///     sent.extend(encoder.event(&event?));
/// }
/// sent.extend(encoder.finish());
/// assert!(matches!(sent.last(), Some(AgEvent::RunFinished { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct AgEncoder {
    thread: Arc<str>,
    /// The id that the client gave to the exchange.
    exchange: Arc<str>,
    /// The agents that write, each with its latest message.
    voices: Vec<AgVoice>,
    /// Results of calls whose message is shown later, because a guardrail has to see it.
    early: BTreeMap<String, ToolResult>,
    calls: BTreeMap<String, AgCall>,
    /// The agents inside calls, and the parallel ones, by their path.
    subagents: BTreeMap<String, Arc<str>>,
    /// How often the run has waited. A subagent that waited has another id afterwards.
    waits: usize,
    /// Whether messages inside calls may be missing, because a snapshot came before they were saved.
    is_incomplete: bool,
    end: Option<AgEvent>,
    /// The events of the latest event of the run, until they are taken.
    events: Vec<AgEvent>,
}

/// How much of a call was shown.
#[derive(Debug, Clone, Default)]
struct AgCall {
    tool: String,
    /// The agent inside a call that makes it.
    subagent: Option<Arc<str>>,
    arguments: String,
    is_shown: bool,
    is_complete: bool,
}

impl AgEncoder {
    /// Creates the encoder of a run for an exchange with the client.
    #[must_use]
    pub fn new(thread: impl Into<Arc<str>>, exchange: impl Into<Arc<str>>) -> Self {
        Self {
            thread: thread.into(),
            exchange: exchange.into(),
            voices: Vec::new(),
            early: BTreeMap::new(),
            calls: BTreeMap::new(),
            subagents: BTreeMap::new(),
            waits: 0,
            is_incomplete: false,
            end: None,
            events: Vec::new(),
        }
    }

    /// Returns the event that begins the exchange.
    #[must_use]
    pub fn start(&self) -> AgEvent {
        AgEvent::RunStarted { thread_id: self.thread.clone(), run_id: self.exchange.clone() }
    }

    /// Takes back the message that a retry begins again, or that a guardrail has replaced. `None` if nothing was shown of it.
    /// Otherwise the page needs a snapshot after these events, before those of [`event`](Self::event).
    #[must_use]
    pub fn take_back(&mut self, event: &RunEvent) -> Option<Vec<AgEvent>> {
        let index = self.voices.iter().position(|voice| voice.is_taken_back(event))?;
        let events = self.interrupt();
        let voice = self.voices.remove(index);
        let prefix = format!("{}.", voice.message);
        self.calls.retain(|key, _| !key.starts_with(&prefix));
        self.is_incomplete |= !voice.within.is_empty();
        Some(events)
    }

    /// Ends what is being written, and forgets the messages that the page does not keep: they are told again.
    pub(super) fn go_back(&mut self, kept: &ShownMessages) -> Vec<AgEvent> {
        let events = self.interrupt();
        self.voices.clear();
        self.calls.retain(|key, _| kept.has(before(key, '.')));
        events
    }

    /// Ends what is being written. It is begun again with its next piece.
    fn interrupt(&mut self) -> Vec<AgEvent> {
        let mut events = Vec::new();
        for voice in &mut self.voices {
            voice.interrupt(&mut events);
        }
        for (key, call) in &mut self.calls {
            if call.is_shown && !mem::replace(&mut call.is_complete, true) {
                let subagent_run_id = call.subagent.clone();
                events.push(AgEvent::ToolCallEnd { tool_call_id: key.as_str().into(), subagent_run_id });
            }
        }
        events
    }

    /// Returns the events for an event of the run.
    #[must_use]
    pub fn event(&mut self, event: &RunEvent) -> Drain<'_, AgEvent> {
        let mut events = mem::take(&mut self.events);
        events.clear();
        self.fold(event, &mut events);
        self.events = events;
        self.events.drain(..)
    }

    fn fold(&mut self, event: &RunEvent, events: &mut Vec<AgEvent>) {
        self.end = None;
        match event {
            RunEvent::Text { agent, message_id, text, within, .. } => {
                let voice = self.voice(agent, message_id, within, events);
                voice.piece(AgPiece::Text, text, events);
            }
            RunEvent::Reasoning { agent, message_id, text, within, .. } if within.is_empty() => {
                let voice = self.voice(agent, message_id, within, events);
                voice.piece(AgPiece::Reasoning, text, events);
            }
            RunEvent::CallStarted { agent, message_id, key, tool, within, .. } => {
                let voice = self.voice(agent, message_id, within, events);
                voice.close(events);
                let subagent = voice.subagent.clone();
                let call = AgCall { tool: tool.clone(), subagent, ..AgCall::default() };
                self.calls.insert(key.to_string(), call);
                self.show_call(key, events);
            }
            RunEvent::CallArguments { key, piece, .. } => {
                let call = self.calls.get(&**key);
                if let Some(call) = call.filter(|call| !call.is_complete) {
                    let (tool_call_id, subagent_run_id) = (key.clone(), call.subagent.clone());
                    events.push(AgEvent::ToolCallArgs {
                        tool_call_id,
                        delta: piece.clone(),
                        subagent_run_id,
                    });
                }
            }
            RunEvent::Message { message_id, message, within, .. } => {
                self.message(message_id, message, within, events);
            }
            RunEvent::Result { key, result, .. } if !self.calls.contains_key(&**key) => {
                self.early.insert(key.to_string(), (**result).clone());
            }
            RunEvent::Result { key, result, .. } => self.result(key, result, events),
            RunEvent::AnswerBroken { within, .. } => {
                if let Some(voice) = self.voices.iter_mut().find(|voice| voice.within == *within) {
                    voice.finish(events);
                }
            }
            RunEvent::Waiting { pending, output, .. } => self.waiting(pending, output, events),
            RunEvent::Finished { output, .. } => {
                self.end_subagents(&json!({"type": "success"}), events);
                self.end = Some(self.finished(json!({"type": "success"}), output));
            }
            RunEvent::Stopped { reason, output, .. } => self.end = Some(self.stopped(reason, output)),
            other => events.extend(custom(other)),
        }
    }

    /// Returns whether the page needs a snapshot at the end, when all is saved.
    pub(super) fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }

    /// Returns whether the latest event has ended the run, or lets it wait.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Returns the events that end the exchange.
    #[must_use]
    pub fn finish(&mut self) -> Vec<AgEvent> {
        let mut events = self.interrupt();
        self.end_subagents(&json!({"type": "success"}), &mut events);
        let nothing = RunOutput::default();
        let end = self.end.take();
        events.push(end.unwrap_or_else(|| self.finished(json!({"type": "success"}), &nothing)));
        events
    }
}
