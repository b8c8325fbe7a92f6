//! From the events of a run to those of AG-UI.

mod ag_end;
mod ag_parts;

use super::AgEvent;
use ag_parts::custom;
use serde_json::json;
use std::collections::BTreeMap;
use std::mem;
use toolkit_agent::{RunEvent, RunOutput};

/// Folds the events of one run into those of AG-UI.
///
/// It makes the same messages from live events and from those of the log. What an agent inside a call or a parallel agent
/// writes comes when its message is complete.
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
    thread: String,
    /// The id that the client gave to the exchange.
    exchange: String,
    /// The text or the reasoning that is being written, by its message.
    open: Option<(AgPiece, String)>,
    /// The unfinished message, of which a retry takes back what was shown.
    unfinished: Option<String>,
    calls: BTreeMap<String, AgCall>,
    /// The agents inside calls, and the parallel ones, by their path.
    subagents: BTreeMap<String, String>,
    /// How often the run has waited. A subagent that waited has another id afterwards.
    waits: usize,
    end: Option<AgEvent>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AgPiece {
    Text,
    Reasoning,
}

/// How much of a call was shown.
#[derive(Debug, Clone, Default)]
struct AgCall {
    tool: String,
    arguments: String,
    is_shown: bool,
    is_complete: bool,
}

impl AgEncoder {
    /// Creates the encoder of a run for an exchange with the client.
    #[must_use]
    pub fn new(thread: impl Into<String>, exchange: impl Into<String>) -> Self {
        Self {
            thread: thread.into(),
            exchange: exchange.into(),
            open: None,
            unfinished: None,
            calls: BTreeMap::new(),
            subagents: BTreeMap::new(),
            waits: 0,
            end: None,
        }
    }

    /// Returns the event that begins the exchange.
    #[must_use]
    pub fn start(&self) -> AgEvent {
        AgEvent::RunStarted { thread_id: self.thread.clone(), run_id: self.exchange.clone() }
    }

    /// Returns whether an event takes back what was shown, so that the page needs a snapshot after [`close`](Self::close).
    #[must_use]
    pub fn takes_back(&self, event: &RunEvent) -> bool {
        matches!(event, RunEvent::ModelRetried { within, .. } if within.is_empty())
            && self.unfinished.is_some()
    }

    /// Ends what is being written, and forgets the unfinished message.
    #[must_use]
    pub fn close(&mut self) -> Vec<AgEvent> {
        let mut events = Vec::new();
        self.close_piece(&mut events);
        for (key, call) in &mut self.calls {
            if call.is_shown && !mem::replace(&mut call.is_complete, true) {
                events.push(AgEvent::ToolCallEnd { tool_call_id: key.clone(), subagent_run_id: None });
            }
        }
        if let Some(message) = self.unfinished.take() {
            let prefix = format!("{message}.");
            self.calls.retain(|key, _| !key.starts_with(&prefix));
        }
        events
    }

    /// Returns the events for an event of the run.
    #[must_use]
    pub fn event(&mut self, event: &RunEvent) -> Vec<AgEvent> {
        let mut events = Vec::new();
        self.end = None;
        match event {
            RunEvent::Text { message_id, text, within, .. } if within.is_empty() => {
                self.piece(message_id, AgPiece::Text, text, &mut events);
            }
            RunEvent::Reasoning { message_id, text, within, .. } if within.is_empty() => {
                self.piece(message_id, AgPiece::Reasoning, text, &mut events);
            }
            RunEvent::CallStarted { message_id, key, tool, within, .. } => {
                let call = AgCall { tool: tool.clone(), ..AgCall::default() };
                self.calls.insert(key.to_string(), call);
                if within.is_empty() {
                    self.unfinished = Some(message_id.to_string());
                    self.close_piece(&mut events);
                    self.show_call(key, None, &mut events);
                }
            }
            RunEvent::CallArguments { key, piece, within, .. } => {
                let call = self.calls.entry(key.to_string()).or_default();
                call.arguments.push_str(piece);
                if within.is_empty() && call.is_shown {
                    let tool_call_id = key.to_string();
                    events.push(AgEvent::ToolCallArgs {
                        tool_call_id,
                        delta: piece.clone(),
                        subagent_run_id: None,
                    });
                }
            }
            RunEvent::Message { message_id, message, within, .. } => {
                self.message(message_id, message, !within.is_empty(), &mut events);
            }
            RunEvent::Result { key, result, .. } => self.result(key, result, &mut events),
            RunEvent::AnswerBroken { within, .. } if within.is_empty() => self.unfinished = None,
            RunEvent::Waiting { pending, output, .. } => self.waiting(pending, output, &mut events),
            RunEvent::Finished { output, .. } => {
                self.end_subagents(&json!({"type": "success"}), &mut events);
                self.end = Some(self.finished(json!({"type": "success"}), output));
            }
            RunEvent::Stopped { reason, output, .. } => self.end = Some(self.stopped(reason, output)),
            other => events.extend(custom(other)),
        }
        events
    }

    /// Returns whether the latest event has ended the run, or lets it wait.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Returns the events that end the exchange.
    #[must_use]
    pub fn finish(&mut self) -> Vec<AgEvent> {
        let mut events = self.close();
        self.end_subagents(&json!({"type": "success"}), &mut events);
        let nothing = RunOutput::default();
        let end = self.end.take();
        events.push(end.unwrap_or_else(|| self.finished(json!({"type": "success"}), &nothing)));
        events
    }
}
