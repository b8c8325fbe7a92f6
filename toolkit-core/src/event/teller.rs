//! Who tells what happens to one call.

use super::{CallEnd, CallStatus, EventCall, Hub, ToolEvent, ToolEventKind};
use crate::error::ToolError;
use crate::output::ToolOutput;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Tells what happens to one call. Clones tell of the same call; there is none where nobody listens.
#[derive(Clone)]
pub(crate) struct Teller(Arc<Told>);

struct Told {
    hub: Arc<Hub>,
    call: Arc<EventCall>,
    began: Instant,
    /// Locked while an event is told, so that nothing comes after the end.
    so_far: Mutex<SoFar>,
}

#[derive(Default)]
struct SoFar {
    attempts: u32,
    coerced: Vec<String>,
    ended: bool,
}

impl Teller {
    /// Tells that there is a call.
    pub(crate) fn new(hub: Arc<Hub>, call: EventCall) -> Self {
        let (call, began) = (Arc::new(call), Instant::now());
        let teller = Self(Arc::new(Told { hub, call, began, so_far: Mutex::default() }));
        teller.tell(|_| ToolEventKind::Called);
        teller
    }

    fn so_far(&self) -> MutexGuard<'_, SoFar> {
        self.0.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of the call unless it has ended.
    fn tell(&self, kind: impl FnOnce(&mut SoFar) -> ToolEventKind) {
        let mut so_far = self.so_far();
        if !so_far.ended {
            let kind = kind(&mut so_far);
            self.0.hub.tell(ToolEvent { time: SystemTime::now(), call: self.0.call.clone(), kind });
        }
    }

    /// The tool runs.
    pub(crate) fn started(&self) {
        self.tell(|so_far| {
            so_far.attempts += 1;
            so_far.coerced.clear();
            ToolEventKind::Started { attempt: so_far.attempts }
        });
    }

    pub(crate) fn progress(&self, fraction: f64, message: &str) {
        self.tell(|_| ToolEventKind::Progress { fraction, message: message.into() });
    }

    pub(crate) fn asked(&self, reason: &str) {
        self.tell(|_| ToolEventKind::Asked { reason: reason.into() });
    }

    pub(crate) fn answered(&self, approved: bool, waited: Duration) {
        self.tell(|_| ToolEventKind::Answered { approved, waited });
    }

    pub(crate) fn retried(&self, attempt: u32, error: &ToolError, pause: Duration) {
        self.tell(|_| ToolEventKind::Retried { attempt, error: error.clone(), pause });
    }

    /// Remembers that a value was taken otherwise than it was written.
    pub(crate) fn coerced(&self, parameter: &str) {
        self.so_far().coerced.push(parameter.to_owned());
    }

    fn end(&self, outcome: Result<&ToolOutput, &ToolError>, duration: Duration) {
        self.tell(|so_far| {
            so_far.ended = true;
            let error = outcome.err();
            let contents = self.0.hub.tells_contents();
            ToolEventKind::Ended(CallEnd {
                status: CallStatus::of(error),
                error: error.cloned(),
                duration,
                total: self.0.began.elapsed(),
                attempts: so_far.attempts,
                coerced: std::mem::take(&mut so_far.coerced),
                output_bytes: outcome.map_or_else(|error| error.message().len(), ToolOutput::bytes),
                output: outcome.ok().filter(|_| contents).map(|output| output.to_text().into()),
            })
        });
    }
}

/// Sees to it that the end of a call is told, also if the call is dropped.
pub(crate) struct Ending(Teller);

impl Ending {
    pub(crate) fn new(teller: Teller) -> Self {
        Self(teller)
    }

    /// Who tells the rest.
    pub(crate) fn teller(&self) -> &Teller {
        &self.0
    }

    /// Tells what came of the call, and how long the tool ran.
    pub(crate) fn tell(self, outcome: &Result<ToolOutput, ToolError>, duration: Duration) {
        self.0.end(outcome.as_ref(), duration);
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if self.0.so_far().ended {
            return;
        }
        let tool = &self.0.0.call.tool;
        let error = match std::thread::panicking() {
            true => ToolError::panicked(tool, "no message"),
            false => ToolError::cancelled(tool),
        };
        // How long a tool ran that was dropped is not known.
        self.0.end(Err(&error), Duration::ZERO);
    }
}

impl fmt::Debug for Teller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Teller").field(&self.0.call).finish()
    }
}
