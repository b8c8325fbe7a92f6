//! One call as the page remembers it.

use crate::text_cut::cut;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use toolkit_core::events::{EventCall, ToolEvent, ToolEventKind, WaitResource};

/// Longer texts of arguments and results are cut, in bytes.
const LONGEST_TEXT: usize = 64 << 10;

/// How many events of a call are kept, beside its first and its last.
const EVENTS_KEPT: usize = 200;

/// The members of an event that tell nothing about contents.
const PLAIN: [&str; 19] = [
    "type",
    "timestamp_ms",
    "attempt",
    "resource",
    "parameter",
    "limit",
    "waited_ms",
    "effect",
    "rule",
    "description",
    "reason",
    "fraction",
    "approved",
    "error",
    "pause_ms",
    "duration_ms",
    "total_ms",
    "attempts",
    "output_bytes",
];

/// The members of an event that its call has already.
const OF_CALL: [&str; 9] = [
    "batch",
    "position",
    "call_id",
    "tool",
    "invocation_id",
    "agent_name",
    "call_reason",
    "arguments_bytes",
    "coerced",
];

#[derive(Debug)]
pub(crate) struct CallRecord {
    pub(crate) number: u64,
    /// The number of the latest change of any call when this one changed.
    pub(crate) changed: u64,
    pub(crate) call: Arc<EventCall>,
    /// About what it holds, in bytes.
    pub(crate) bytes: usize,
    events: Vec<ToolEvent>,
    omitted: usize,
}

/// A part of the time of a call.
struct Span {
    kind: &'static str,
    from: SystemTime,
    to: Option<SystemTime>,
}

impl CallRecord {
    pub(crate) fn new(number: u64, event: &ToolEvent) -> Self {
        let call = event.call.clone();
        Self { number, changed: 0, call, bytes: 0, events: Vec::new(), omitted: 0 }
    }

    /// Adds an event, and returns how many bytes more the record holds.
    pub(crate) fn add(&mut self, event: &ToolEvent) -> usize {
        let is_last = event.end().is_some();
        if self.events.len() > EVENTS_KEPT && !is_last {
            self.omitted += 1;
            return 0;
        }
        let event = shortened(event);
        let bytes = size_of::<ToolEvent>() + text_bytes(&event);
        self.call = event.call.clone();
        self.events.push(event);
        self.bytes += bytes;
        bytes
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.events.last().is_some_and(|event| event.end().is_some())
    }

    /// Returns `waiting`, `approval`, `running`, `pausing` or `queued`, or the status of the end.
    pub(crate) fn state(&self) -> &'static str {
        match self.events.last().and_then(ToolEvent::end) {
            Some(end) => end.status.event_name().trim_start_matches("tool."),
            None => self.spans().last().filter(|span| span.to.is_none()).map_or("queued", |span| span.kind),
        }
    }

    pub(crate) fn started(&self) -> SystemTime {
        self.events.first().map_or(SystemTime::UNIX_EPOCH, |event| event.time)
    }

    /// Returns how long the call waited for other calls and for approval.
    pub(crate) fn waited(&self) -> Duration {
        let mut waited = Duration::ZERO;
        for span in self.spans() {
            if span.kind != "running" {
                waited += since(span.from, span.to.unwrap_or_else(SystemTime::now));
            }
        }
        waited
    }

    /// Returns the running time of the tool, up to now if it runs.
    pub(crate) fn ran(&self) -> Duration {
        if let Some(end) = self.events.last().and_then(ToolEvent::end) {
            return end.duration;
        }
        let mut ran = Duration::ZERO;
        for span in self.spans() {
            if span.kind == "running" {
                ran += since(span.from, span.to.unwrap_or_else(SystemTime::now));
            }
        }
        ran
    }

    fn spans(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for event in &self.events {
            let begun = match &event.kind {
                ToolEventKind::Waiting { .. } => Some("waiting"),
                ToolEventKind::ApprovalRequested { .. } => Some("approval"),
                ToolEventKind::Started { .. } => Some("running"),
                ToolEventKind::Retried { .. } => Some("pausing"),
                ToolEventKind::Admitted { .. }
                | ToolEventKind::ApprovalDecided { .. }
                | ToolEventKind::Ended(_) => None,
                _ => continue,
            };
            if let Some(open) = spans.last_mut().filter(|span| span.to.is_none()) {
                open.to = Some(event.time);
            }
            spans.extend(begun.map(|kind| Span { kind, from: event.time, to: None }));
        }
        spans
    }

    /// Returns the call as a row of a table.
    pub(crate) fn row(&self) -> Value {
        let started = self.started();
        let mut spans = Vec::new();
        for Span { kind, from, to } in self.spans() {
            let to = to.map(|to| milliseconds(since(started, to)));
            spans.push(json!([kind, milliseconds(since(started, from)), to]));
        }
        let mut row = json!({
            "number": self.number,
            "tool": self.call.tool,
            "call_id": self.call.call_id,
            "batch": self.call.batch,
            "position": self.call.position,
            "agent": self.call.agent_name,
            "state": self.state(),
            "started_ms": milliseconds(since(SystemTime::UNIX_EPOCH, started)),
            "waited_ms": milliseconds(self.waited()),
            "ran_ms": milliseconds(self.ran()),
            "spans": spans,
        });
        let waits: Vec<&WaitResource> = self.resources().collect();
        row["waits_for"] = json!(waits.last().map(|resource| in_words(resource)));
        if let Some(end) = self.events.last().and_then(ToolEvent::end) {
            row["total_ms"] = json!(milliseconds(end.total));
            row["attempts"] = json!(end.attempts);
            row["output_bytes"] = json!(end.output_bytes);
            row["error"] = json!(end.error.as_ref().map(|error| format!("{:?}", error.kind())));
        }
        row
    }

    fn resources(&self) -> impl Iterator<Item = &WaitResource> {
        self.events.iter().filter_map(|event| match &event.kind {
            ToolEventKind::Waiting { resource, .. } => Some(resource),
            _ => None,
        })
    }

    /// Returns everything about the call. Contents are left out unless the page shows them.
    pub(crate) fn details(&self, contents: bool) -> Value {
        let mut details = self.row();
        details["invocation_id"] = json!(self.call.invocation_id);
        details["arguments_bytes"] = json!(self.call.arguments_bytes);
        details["omitted"] = json!(self.omitted);
        details["events"] = self.events.iter().map(|event| plain(event, contents)).collect();
        if contents {
            details["call_reason"] = json!(self.call.call_reason);
        }
        details
    }
}

/// Returns an event as JSON, without what belongs to its call.
fn plain(event: &ToolEvent, contents: bool) -> Value {
    let Ok(Value::Object(members)) = serde_json::to_value(event) else { return Value::Null };
    let mut kept = Map::new();
    for (name, value) in members {
        let is_plain = PLAIN.contains(&name.as_str());
        if is_plain || contents && !OF_CALL[..8].contains(&name.as_str()) {
            kept.insert(name, value);
        }
    }
    kept.into()
}

fn in_words(resource: &WaitResource) -> String {
    match resource {
        WaitResource::Lane { parameter, .. } => format!("lane {parameter}"),
        WaitResource::Exclusive => "exclusive tool".to_owned(),
        WaitResource::ToolPermit { limit, .. } => format!("permit of the tool (limit {limit})"),
        WaitResource::DispatcherPermit { limit, .. } => format!("permit of the dispatcher (limit {limit})"),
        _ => "resource".to_owned(),
    }
}

/// Returns the event with its long texts cut.
fn shortened(event: &ToolEvent) -> ToolEvent {
    let mut event = event.clone();
    if event.call.arguments.as_ref().is_some_and(|text| text.len() > LONGEST_TEXT) {
        let mut call = (*event.call).clone();
        call.arguments = call.arguments.as_deref().map(short);
        event.call = Arc::new(call);
    }
    match &mut event.kind {
        ToolEventKind::Started { normal_arguments: Some(text), .. } if text.len() > LONGEST_TEXT => {
            *text = short(text);
        }
        ToolEventKind::RuleDecided(decision) => {
            decision.normal_arguments = decision.normal_arguments.as_deref().map(short);
        }
        ToolEventKind::Ended(end) => {
            end.output = end.output.as_deref().map(short);
            if end.error.as_ref().is_some_and(|error| error.message().len() > LONGEST_TEXT) {
                let message = end.error.as_ref().map(|error| short(error.message()).to_string());
                end.error = end.error.take().map(|error| error.with_message(message.unwrap_or_default()));
            }
        }
        _ => {}
    }
    event
}

fn short(text: &str) -> Arc<str> {
    cut(text, LONGEST_TEXT).into()
}

fn text_bytes(event: &ToolEvent) -> usize {
    let length = |text: &Option<Arc<str>>| text.as_ref().map_or(0, |text| text.len());
    match &event.kind {
        ToolEventKind::Called => {
            size_of::<EventCall>() + event.call.tool.len() + length(&event.call.arguments)
        }
        ToolEventKind::Started { normal_arguments, .. } => length(normal_arguments),
        ToolEventKind::RuleDecided(decision) => {
            decision.description.len() + length(&decision.normal_arguments)
        }
        ToolEventKind::Progress { message, .. } => message.len(),
        ToolEventKind::Ended(end) => {
            length(&end.output) + end.error.as_ref().map_or(0, |error| 2 * error.message().len())
        }
        _ => 0,
    }
}

fn since(from: SystemTime, to: SystemTime) -> Duration {
    to.duration_since(from).unwrap_or_default()
}

fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}
