//! The JSON form of events: one flat object.

use super::{CallEnd, EventCall, LogEntry, ToolEvent, ToolEventKind};
use crate::error::{ErrorKind, ToolError};
use serde::{Serialize, Serializer};
use std::time::{Duration, SystemTime};

/// The members of an event. Times are in milliseconds.
#[derive(Serialize)]
struct Flat<'a> {
    #[serde(rename = "type")]
    name: &'static str,
    /// Since the start of 1970.
    timestamp_ms: u64,
    batch: u64,
    position: usize,
    call_id: &'a str,
    tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    invocation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_reason: Option<&'a str>,
    arguments_bytes: usize,
    #[serde(flatten)]
    more: More<'a>,
}

/// The members of some kinds of events.
#[derive(Serialize, Default)]
struct More<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fraction: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approved: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waited_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pause_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    coerced: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    output_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
}

impl Serialize for ToolEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let arguments = match self.kind {
            ToolEventKind::Called => self.call.arguments.as_deref(),
            _ => None,
        };
        let more = More { arguments, ..More::of(&self.kind) };
        Flat::new(self.name(), self.time, &self.call, more).serialize(serializer)
    }
}

impl Serialize for LogEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let more = More { arguments: self.call.arguments.as_deref(), ..More::of_end(&self.end) };
        Flat::new(self.end.status.event_name(), self.time, &self.call, more).serialize(serializer)
    }
}

impl<'a> Flat<'a> {
    fn new(name: &'static str, time: SystemTime, call: &'a EventCall, more: More<'a>) -> Self {
        let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self {
            name,
            timestamp_ms: u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX),
            batch: call.batch,
            position: call.position,
            call_id: call.call_id.as_str(),
            tool: &call.tool,
            invocation_id: call.invocation_id.as_deref(),
            agent_name: call.agent_name.as_deref(),
            call_reason: call.call_reason.as_deref(),
            arguments_bytes: call.arguments_bytes,
            more,
        }
    }
}

impl<'a> More<'a> {
    fn of(kind: &'a ToolEventKind) -> Self {
        let none = Self::default();
        match kind {
            ToolEventKind::Called => none,
            ToolEventKind::Started { attempt } => Self { attempt: Some(*attempt), ..none },
            ToolEventKind::Progress { fraction, message } => {
                Self { fraction: Some(*fraction), message: Some(message), ..none }
            }
            ToolEventKind::Asked { reason } => Self { question: Some(reason), ..none },
            ToolEventKind::Answered { approved, waited } => {
                Self { approved: Some(*approved), waited_ms: Some(milliseconds(*waited)), ..none }
            }
            ToolEventKind::Retried { attempt, error, pause } => Self {
                attempt: Some(*attempt),
                error: Some(error.kind().as_str()),
                message: Some(error.message()),
                pause_ms: Some(milliseconds(*pause)),
                ..none
            },
            ToolEventKind::Ended(end) => Self::of_end(end),
        }
    }

    fn of_end(end: &'a CallEnd) -> Self {
        Self {
            error: end.error.as_ref().map(ToolError::kind).map(ErrorKind::as_str),
            message: end.error.as_ref().map(ToolError::message),
            duration_ms: Some(milliseconds(end.duration)),
            total_ms: Some(milliseconds(end.total)),
            attempts: Some(end.attempts),
            coerced: &end.coerced,
            output_bytes: Some(end.output_bytes),
            output: end.output.as_deref(),
            ..Self::default()
        }
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}
