//! From the events of a run to the chunks of its message.

mod ui_end;
mod ui_outcome;
mod ui_step;

pub(super) use ui_outcome::url_of;

use super::UiChunk;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::mem;
use std::vec::Drain;
use toolkit_agent::RunEvent;
use toolkit_agent::runs::{Cursor, RunUpdate};
use toolkit_core::ToolResult;
use toolkit_core::events::{ToolEvent, ToolEventKind};
use toolkit_llm::AssistantMessage;
use ui_end::{has_text, reason, stopped};
use ui_step::{Piece, UiStep};

/// Folds the events of one run into the chunks of its message.
///
/// It makes the same parts of a message from live events and from those of the log. What an agent inside a call or a
/// parallel agent writes comes when its message is complete.
///
/// ```
/// use toolkit_frontends::ai_sdk::{UiChunk, UiEncoder};
/// use toolkit_ai::agent::Agent;
/// use toolkit_ai::llm::ScriptedModel;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let agent = Agent::builder(ScriptedModel::new().text("Hello.")).build()?;
/// let mut encoder = UiEncoder::new("run 1");
/// let mut chunks = vec![encoder.start()];
/// let mut events = agent.run("Hi.").stream();
/// while let Some(event) = events.next().await {
///     chunks.extend(encoder.event(&event?));
/// }
/// chunks.extend(encoder.finish());
/// assert!(chunks.contains(&UiChunk::TextDelta { id: "1.1".into(), delta: "Hello.".to_owned() }));
/// assert!(matches!(chunks.last(), Some(UiChunk::Finish { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct UiEncoder {
    run: String,
    step: UiStep,
    /// The calls of the run, by their key.
    calls: BTreeMap<String, UiCall>,
    /// Results of calls whose message is shown later, because a guardrail has to see it.
    early: BTreeMap<String, ToolResult>,
    /// The chunks of the last event, if it is one that ends the run or lets it wait.
    end: Vec<UiChunk>,
    /// The place after the latest event.
    last: Option<Cursor>,
    /// The place after the latest event before the step.
    before_step: Option<Cursor>,
    /// The chunks of the latest event, until they are taken.
    chunks: Vec<UiChunk>,
}

/// What the page knows of a call.
#[derive(Debug, Clone, Default)]
struct UiCall {
    tool: String,
    /// The arguments so far.
    arguments: String,
    is_complete: bool,
    /// Whether the page shows that it waits for an approval.
    waits: bool,
    has_result: bool,
}

impl UiEncoder {
    /// Creates the encoder of a run.
    #[must_use]
    pub fn new(run: impl Into<String>) -> Self {
        Self {
            run: run.into(),
            step: UiStep::default(),
            calls: BTreeMap::new(),
            early: BTreeMap::new(),
            end: Vec::new(),
            last: None,
            before_step: None,
            chunks: Vec::new(),
        }
    }

    /// Returns the run.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Returns the chunk that begins the message.
    #[must_use]
    pub fn start(&self) -> UiChunk {
        UiChunk::Start { message_id: message_id(&self.run).into() }
    }

    /// Returns the chunks of an update. `None` if it takes back what is beyond the current step, so that the page has to
    /// read the message again. Updates of other runs have no chunks.
    #[must_use]
    pub fn update(&mut self, update: &RunUpdate) -> Option<Drain<'_, UiChunk>> {
        self.chunks.clear();
        let is_whole = match update {
            RunUpdate::Event { run, .. } if **run != *self.run => true,
            RunUpdate::Event { cursor, event, .. } => {
                let step = self.step.number;
                let before = self.last.replace(cursor.clone());
                self.fold(event);
                if self.step.number > step {
                    self.step.first = Some(cursor.clone());
                    self.before_step = before;
                }
                true
            }
            RunUpdate::Back { cursor, .. } => self.back(cursor),
            _ => false,
        };
        is_whole.then(|| self.chunks.drain(..))
    }

    /// Goes back to a place. Returns whether it is in the current step, or nothing is after it.
    fn back(&mut self, cursor: &Cursor) -> bool {
        if !is_after(&self.last, cursor) {
            return true;
        }
        if is_after(&self.before_step, cursor) || !is_after(&self.step.first, cursor) {
            return false;
        }
        self.last = self.before_step.clone();
        self.end.clear();
        self.chunks = self.reset();
        true
    }

    /// Takes back the current step.
    fn reset(&mut self) -> Vec<UiChunk> {
        let prefix = format!("{}.", self.step.message);
        self.calls.retain(|key, _| !key.starts_with(&prefix));
        self.step.reset()
    }

    /// Returns the chunks of an event of the run.
    #[must_use]
    pub fn event(&mut self, event: &RunEvent) -> Drain<'_, UiChunk> {
        self.chunks.clear();
        self.fold(event);
        self.chunks.drain(..)
    }

    fn fold(&mut self, event: &RunEvent) {
        let mut chunks = mem::take(&mut self.chunks);
        // A run that waited goes on, or an invalid answer is repeated.
        self.end.clear();
        match event {
            RunEvent::Text { message_id, text, within, .. } if within.is_empty() => {
                self.step.piece(message_id, Piece::Text, text, &mut chunks);
            }
            RunEvent::Reasoning { message_id, text, within, .. } if within.is_empty() => {
                self.step.piece(message_id, Piece::Reasoning, text, &mut chunks);
            }
            RunEvent::CallStarted { message_id, key, tool, within, .. } => {
                let call = UiCall { tool: tool.clone(), ..UiCall::default() };
                self.calls.insert(key.to_string(), call);
                if within.is_empty() {
                    self.step.open(message_id, &mut chunks);
                    self.step.close_piece(&mut chunks);
                    chunks
                        .push(UiChunk::ToolInputStart { tool_call_id: key.clone(), tool_name: tool.clone() });
                }
            }
            RunEvent::CallArguments { key, piece, within, .. } => {
                self.add_arguments(key, piece);
                if within.is_empty() {
                    chunks.push(UiChunk::ToolInputDelta {
                        tool_call_id: key.clone(),
                        input_text_delta: piece.clone(),
                    });
                }
            }
            RunEvent::Message { message_id, message, within, .. } => {
                self.message(message_id, message, !within.is_empty(), &mut chunks);
            }
            RunEvent::Result { key, result, .. } if !self.calls.contains_key(&**key) => {
                self.early.insert(key.to_string(), (**result).clone());
            }
            RunEvent::Result { key, result, .. } => self.result(key, result, &mut chunks),
            RunEvent::Tool { key: Some(key), event, .. } => self.tool_event(key, event, &mut chunks),
            RunEvent::ModelRetried { within, .. } if within.is_empty() && !self.step.is_complete => {
                chunks = self.reset();
            }
            RunEvent::AnswerBroken { within, .. } if within.is_empty() => self.step.is_complete = true,
            RunEvent::Transferred { from, to, within, .. } if within.is_empty() => {
                chunks.push(UiChunk::DataAgent { data: json!({"from": from, "to": to}) });
            }
            RunEvent::HostedCall { call, .. } => {
                let data = json!({"id": call.id, "name": call.name, "arguments": call.arguments});
                chunks.push(UiChunk::DataHostedCall { data, transient: true });
            }
            RunEvent::Custom { name, data, .. } => {
                let data = json!({"name": name, "data": data});
                chunks.push(UiChunk::DataCustom { data, transient: true });
            }
            RunEvent::Waiting { pending, output, .. } => self.waiting(pending, output, &mut chunks),
            RunEvent::Finished { output, .. } => self.end.push(self.finished(output, reason(&output.finish))),
            RunEvent::Stopped { reason, output, .. } => {
                // Text that no guardrail has seen is gone.
                if !self.step.is_complete && !has_text(output, &self.step.text) {
                    chunks = self.reset();
                }
                chunks.extend(self.give_up());
                self.end.push(stopped(reason));
            }
            _ => {}
        }
        self.chunks = chunks;
    }

    fn add_arguments(&mut self, key: &str, piece: &str) {
        // The name is copied for the first piece only.
        if let Some(call) = self.calls.get_mut(key) {
            call.arguments.push_str(piece);
        } else {
            let call = UiCall { arguments: piece.to_owned(), ..UiCall::default() };
            self.calls.insert(key.to_owned(), call);
        }
    }

    /// Ends the calls without a result, because the run does not go on.
    pub(super) fn give_up(&mut self) -> Vec<UiChunk> {
        let mut chunks = Vec::new();
        for (key, call) in &mut self.calls {
            if !call.is_complete || mem::replace(&mut call.has_result, true) {
                continue;
            }
            call.waits = false;
            let error_text = "the call was given up".to_owned();
            chunks.push(UiChunk::ToolOutputError { tool_call_id: key.as_str().into(), error_text });
        }
        chunks
    }

    /// Returns how many steps the message has so far.
    pub(super) fn steps(&self) -> usize {
        self.step.shown
    }

    /// Returns whether the latest event has ended the run, or lets it wait.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        !self.end.is_empty()
    }

    /// Returns the chunks that end the message.
    #[must_use]
    pub fn finish(&mut self) -> Vec<UiChunk> {
        let mut chunks = Vec::new();
        self.step.close(&mut chunks);
        let end = mem::take(&mut self.end);
        if end.is_empty() {
            let metadata = json!({"run": self.run});
            let finish_reason = "interrupted".to_owned();
            chunks.push(UiChunk::Finish { finish_reason, message_metadata: metadata });
        }
        chunks.extend(end);
        chunks
    }

    fn message(&mut self, id: &str, message: &AssistantMessage, is_inner: bool, chunks: &mut Vec<UiChunk>) {
        let enclosing = enclosing_call(id).filter(|_| is_inner);
        if is_inner && !message.text.is_empty() {
            match &enclosing {
                Some(key) => {
                    self.complete_call(key, chunks);
                    let output = Value::String(message.text.clone());
                    let tool_call_id = key.as_str().into();
                    chunks.push(UiChunk::ToolOutputAvailable { tool_call_id, output, preliminary: true });
                }
                None => self.step.piece(id, Piece::Text, &message.text, chunks),
            }
        } else if !is_inner {
            self.step.open(id, chunks);
            if self.step.text != message.text {
                self.replace(id, message, chunks);
            }
        }
        if !is_inner || enclosing.is_none() {
            self.step.end_message(chunks);
        }
        for (index, call) in message.calls.iter().enumerate() {
            let key = format!("{id}.{index}");
            let known = self.calls.entry(key.clone()).or_default();
            if !known.is_complete {
                known.tool.clone_from(&call.name);
                known.arguments = call.arguments.as_str().to_owned();
                self.complete_call(&key, chunks);
            }
            if let Some(result) = self.early.remove(&key) {
                self.result(&key, &result, chunks);
            }
        }
    }

    /// Writes a message in place of what was shown of it, because a guardrail has replaced it.
    fn replace(&mut self, id: &str, message: &AssistantMessage, chunks: &mut Vec<UiChunk>) {
        chunks.extend(self.reset());
        for (kind, text) in [(Piece::Reasoning, &message.reasoning), (Piece::Text, &message.text)] {
            if !text.is_empty() {
                self.step.piece(id, kind, text, chunks);
            }
        }
        self.step.open(id, chunks);
    }

    /// Shows the arguments of a call, once.
    fn complete_call(&mut self, key: &str, chunks: &mut Vec<UiChunk>) {
        let Some(call) = self.calls.get_mut(key) else { return };
        if mem::replace(&mut call.is_complete, true) {
            return;
        }
        let input = match call.arguments.trim() {
            "" => json!({}),
            text => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
        };
        call.arguments = String::new();
        let tool_name = call.tool.clone();
        chunks.push(UiChunk::ToolInputAvailable { tool_call_id: key.into(), tool_name, input });
    }

    fn tool_event(&mut self, key: &str, event: &ToolEvent, chunks: &mut Vec<UiChunk>) {
        match &event.kind {
            ToolEventKind::Started { .. } => self.approved(key, chunks),
            ToolEventKind::Progress { fraction, message, .. } => {
                let data = json!({"toolCallId": key, "fraction": fraction, "message": &**message});
                chunks.push(UiChunk::DataProgress { id: key.into(), data, transient: true });
            }
            _ => {}
        }
    }

    /// Shows that a call that waited was approved.
    fn approved(&mut self, key: &str, chunks: &mut Vec<UiChunk>) {
        let Some(call) = self.calls.get_mut(key) else { return };
        if mem::replace(&mut call.waits, false) {
            let approval_id = key.into();
            chunks.push(UiChunk::ToolApprovalResponse { approval_id, approved: true, reason: None });
        }
    }
}

fn is_after(place: &Option<Cursor>, cursor: &Cursor) -> bool {
    place.as_ref().is_some_and(|place| place.is_after(cursor))
}

/// Returns the id of the message that shows a run.
pub(super) fn message_id(run: &str) -> String {
    format!("{run}.answer")
}

/// Returns the run that a message shows.
pub(super) fn run_of_message(id: &str) -> Option<&str> {
    id.strip_suffix(".answer")
}

/// Returns the key of the innermost call around a message. `None` inside parallel agents only.
fn enclosing_call(message_id: &str) -> Option<String> {
    let mut path = message_id;
    while let Some((before, _)) = path.rsplit_once('/') {
        let last = before.rsplit('/').next().unwrap_or(before);
        if !last.starts_with('b') {
            return Some(before.to_owned());
        }
        path = before;
    }
    None
}
