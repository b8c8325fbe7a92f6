//! The emitter of one call's events, and the guard that emits the last event.

use super::{CallEnd, CallStatus, EventBus, EventCall, ToolEvent, ToolEventKind};
use crate::error::ToolError;
use crate::guard::lock;
use crate::output::ToolOutput;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

/// Emits the events of one call, also through its clones. A call without listeners has no emitter.
#[derive(Clone)]
pub(crate) struct EventEmitter(Arc<EmitterState>);

struct EmitterState {
    bus: Arc<EventBus>,
    call: Arc<EventCall>,
    queued_at: Instant,

    progress: Mutex<CallProgress>,
}

#[derive(Default)]
struct CallProgress {
    attempts: u32,
    coerced: Vec<String>,
    /// Whether the last event was emitted. Later ones are dropped.
    ended: bool,
    /// Whether the listeners are being called. Events emitted meanwhile wait in the queue.
    is_emitting: bool,
    queue: VecDeque<ToolEvent>,
}

impl EventEmitter {
    fn call_progress(&self) -> MutexGuard<'_, CallProgress> {
        lock(&self.0.progress)
    }

    /// Emits an event of a call that has not ended.
    fn emit_locked<'a>(&'a self, mut progress: MutexGuard<'a, CallProgress>, kind: ToolEventKind) {
        let event = ToolEvent { time: SystemTime::now(), call: self.0.call.clone(), kind };
        if progress.is_emitting {
            progress.queue.push_back(event);
            return;
        }
        progress.is_emitting = true;
        let mut next = Some(event);
        while let Some(event) = next {
            drop(progress);
            self.0.bus.emit(event);
            progress = self.call_progress();
            next = progress.queue.pop_front();
        }
        progress.is_emitting = false;
    }

    pub(crate) fn includes_contents(&self) -> bool {
        self.0.bus.includes_contents()
    }

    pub(crate) fn started(&self, normal_arguments: Option<Arc<str>>) {
        let mut progress = self.call_progress();
        if progress.ended {
            return;
        }
        progress.attempts += 1;
        progress.coerced.clear();
        let attempt = progress.attempts;
        self.emit_locked(progress, ToolEventKind::Started { attempt, normal_arguments });
    }

    pub(crate) fn emit(&self, kind: ToolEventKind) {
        let progress = self.call_progress();
        if !progress.ended {
            self.emit_locked(progress, kind);
        }
    }

    pub(crate) fn retried(&self, attempt: u32, error: &ToolError, pause: Duration) {
        let error = self.shown(error);
        self.emit(ToolEventKind::Retried { attempt, error, pause });
    }

    /// Returns the error of an event, without texts that may repeat contents unless events include these.
    fn shown(&self, error: &ToolError) -> ToolError {
        if self.0.bus.includes_contents() { error.clone() } else { error.without_contents() }
    }

    pub(crate) fn coerced(&self, parameter: &str) {
        let coerced = &mut self.call_progress().coerced;
        if coerced.iter().all(|known| known != parameter) {
            coerced.push(parameter.to_owned());
        }
    }

    fn end(&self, outcome: Result<&ToolOutput, &ToolError>, duration: Duration) {
        let mut progress = self.call_progress();
        if progress.ended {
            return;
        }
        progress.ended = true;
        let error = outcome.err();
        let mut end = CallEnd {
            status: CallStatus::from_error(error),
            error: error.map(|error| self.shown(error)),
            duration,
            total: self.0.queued_at.elapsed(),
            attempts: progress.attempts,
            coerced: std::mem::take(&mut progress.coerced),
            output_bytes: match outcome {
                Ok(output) => output.bytes(),
                Err(error) => error.message().len(),
            },
            output: None,
        };
        if let Ok(output) = outcome
            && self.0.bus.includes_contents()
        {
            end.output = Some(output.to_text().into());
        }
        self.emit_locked(progress, ToolEventKind::Ended(end));
    }
}

/// Emits the last event of a call, even if the call is dropped before it ends.
pub(crate) struct CallGuard(EventEmitter);

impl CallGuard {
    pub(crate) fn new(bus: Arc<EventBus>, call: EventCall) -> Self {
        let call = Arc::new(call);
        let queued_at = Instant::now();
        let emitter =
            EventEmitter(Arc::new(EmitterState { bus, call, queued_at, progress: Mutex::default() }));
        emitter.emit(ToolEventKind::Called);
        Self(emitter)
    }

    pub(crate) fn emitter(&self) -> &EventEmitter {
        &self.0
    }

    pub(crate) fn end(self, outcome: &Result<ToolOutput, ToolError>, duration: Duration) {
        self.0.end(outcome.as_ref(), duration);
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        if self.0.call_progress().ended {
            return;
        }
        let tool = &self.0.0.call.tool;
        let error = if std::thread::panicking() {
            ToolError::panicked(tool, "no message")
        } else {
            ToolError::cancelled(tool)
        };
        // The running time of a dropped call is unknown.
        self.0.end(Err(&error), Duration::ZERO);
    }
}

impl_debug!(EventEmitter, |this| call: this.0.call);
