//! One call of a caller: which worker gets it, what comes back, and what each silence means.

use super::call_failure::CallFailure;
use super::caller_state::CallerState;
use super::catalog::{Catalog, Destination};
use super::fleet_event::FleetEvent;
use super::members::RemoteWorker;
use super::replies::{Reply, ReplyLine};
use super::sent_messages::SentMessages;
use crate::definitions::ForeignTool;
use crate::frames::{Assembly, AssemblyFault, CallHead, CallOutcome, Frame, LARGE, Refusal, read_json};
use crate::span::MessageSpan;
use crate::subjects::questions;
use async_nats::Subject;
use bytes::Bytes;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use toolkit_core::__private::lock;
use toolkit_core::context::{ToolActions, TraceContext};
use toolkit_core::foreign::clean;
use toolkit_core::redaction::Redactor;
use toolkit_core::{ToolContext, ToolError, ToolOutput};

/// The maximum bytes of a result in JSON, beside the workers' own limit.
pub(super) const RESULT_LIMIT: usize = 64 * 1_024 * 1_024;
const REFUSALS: usize = 9;
/// The maximum number of lost workers of a repeatable call.
const LOSSES: usize = 3;

pub(super) struct OutgoingCall<'a> {
    state: &'a Arc<CallerState>,
    tool: &'a ForeignTool,
    arguments: &'a str,
    context: &'a ToolContext,
    limit: Duration,
    deadline: Instant,
    /// The number by which calls go to the workers in turn.
    number: u64,
    id: String,
}

/// What became of a message.
enum Attempt {
    Ended(Box<CallOutcome>),
    /// This message did not run the tool. Without a refusal, the worker is gone.
    NotRun(Option<Refusal>),
    /// The worker was lost, or its result.
    Lost(&'static str),
    Failed(CallFailure, String),
}

#[derive(Default)]
struct Tries {
    /// The workers that have not run the call.
    passed: Vec<Arc<RemoteWorker>>,
    refusals: usize,
    losses: usize,
    lost: Option<&'static str>,
    /// Whether only workers with a ledger may run the call, which another one may have run.
    needs_ledger: bool,
}

impl<'a> OutgoingCall<'a> {
    pub(super) fn new(
        state: &'a Arc<CallerState>,
        tool: &'a ForeignTool,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> Self {
        let limit = context.time_left().unwrap_or(state.settings.call_timeout);
        let number = state.next_call.fetch_add(1, Ordering::Relaxed);
        let id = (state.settings.call_ids)(context).unwrap_or_else(|| state.call_id(number));
        Self { state, tool, arguments, context, limit, deadline: Instant::now() + limit, number, id }
    }

    pub(super) async fn run(self) -> Result<ToolOutput, ToolError> {
        lock(&self.state.counts).calls += 1;
        let parent = self.context.extension::<TraceContext>().map(|trace| trace.parent.as_str());
        let span = MessageSpan::new("send", "client", &self.tool.remote_name, &self.id, parent);
        // The future is large, and moved several times.
        let outcome = span.clone().around(Box::pin(self.ask_workers())).await;
        match outcome {
            Ok(outcome) => {
                self.act(&outcome.actions);
                let result = match outcome.into_result() {
                    Some(result) => result,
                    None => Err(self.failed(CallFailure::Unknown, "its result cannot be read")),
                };
                if let Err(error) = &result {
                    span.fail(error.kind().as_str());
                }
                result
            }
            Err((failure, reason)) => {
                span.fail(&format!("{failure:?}"));
                lock(&self.state.counts).fail(failure);
                Err(self.failed(failure, &reason))
            }
        }
    }

    async fn ask_workers(&self) -> Result<Box<CallOutcome>, (CallFailure, String)> {
        let mut sent = SentMessages::new(self.state);
        let outcome = self.ask_in_turn(&mut sent).await;
        if !matches!(outcome, Err((CallFailure::Deadline, _))) {
            sent.forget_all();
        }
        outcome
    }

    async fn ask_in_turn(
        &self,
        sent: &mut SentMessages<'_>,
    ) -> Result<Box<CallOutcome>, (CallFailure, String)> {
        let is_repeatable = self.tool.definition.metadata.is_repeatable();
        let mut tries = Tries::default();
        loop {
            let catalog = self.state.catalog();
            let Some(Destination { worker, subject }) = self.next_worker(&catalog, &tries) else {
                return Err(tries.out_of_workers());
            };
            match self.attempt(worker, subject, sent).await {
                Attempt::Ended(outcome) => return Ok(outcome),
                Attempt::Failed(failure, reason) => return Err(tries.lost_or(failure, reason)),
                Attempt::NotRun(refusal) => {
                    sent.forget_latest();
                    tries.refusals +=
                        usize::from(refusal.is_some_and(|refusal| refusal != Refusal::NotServed));
                    tries.passed.push(worker.clone());
                }
                Attempt::Lost(reason) => {
                    // The worker may still run the call. With a ledger, its outcome counts, unless the call
                    // may be repeated.
                    if is_repeatable || !worker.has_ledger {
                        sent.cancel();
                    }
                    tries.lost = Some(reason);
                    tries.losses += 1;
                    if !(is_repeatable || worker.has_ledger) || tries.losses == LOSSES {
                        return Err((CallFailure::Unknown, reason.to_owned()));
                    }
                    tries.needs_ledger = !is_repeatable;
                }
            }
            worker.set_busy(true);
            lock(&self.state.counts).repetitions += 1;
        }
    }

    /// Returns the next worker with this definition, if possible one that is not busy.
    fn next_worker<'c>(&self, catalog: &'c Catalog, tries: &Tries) -> Option<&'c Destination> {
        let routes = catalog.routes(self.tool);
        let count: usize = routes.iter().map(|route| route.len()).sum();
        if tries.refusals == REFUSALS {
            return None;
        }
        let turn = usize::try_from(self.number.checked_rem(count as u64)?).ok()?;
        let workers = routes.iter().flat_map(|route| route.iter());
        let mut busy = None;
        for destination in workers.clone().skip(turn).chain(workers.take(turn)) {
            match &destination.worker {
                worker if !tries.allow(worker) => {}
                worker if worker.is_busy() => drop(busy.get_or_insert(destination)),
                _ => return Some(destination),
            }
        }
        busy
    }

    async fn attempt(
        &self,
        worker: &Arc<RemoteWorker>,
        subject: &Subject,
        sent: &mut SentMessages<'_>,
    ) -> Attempt {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Attempt::Failed(CallFailure::Deadline, CallFailure::late(self.limit));
        }
        let fleet = &self.state.fleet;
        if !fleet.is_connected() {
            return Attempt::Failed(CallFailure::Disconnected, String::new());
        }
        let token = self.state.token();
        let redactor = self.state.redactor(token.as_deref());
        let message = match self.message(worker, left, token) {
            Ok(message) => message,
            Err(reason) => return Attempt::Failed(CallFailure::TooLarge, reason),
        };
        let mut line = self.state.replies.open(Some(worker));
        let reply = line.subject.clone();
        sent.add(worker, &reply);
        match fleet.client.publish_with_reply(subject.clone(), reply, message).await {
            Ok(()) => self.receive(worker, &mut line, &redactor).await,
            Err(_) => Attempt::Failed(CallFailure::Disconnected, String::new()),
        }
    }

    fn message(&self, worker: &RemoteWorker, left: Duration, token: Option<String>) -> Result<Bytes, String> {
        let head = CallHead {
            tool: Cow::Borrowed(&self.tool.remote_name),
            id: Cow::Borrowed(&self.id),
            left_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            run: self.context.invocation_id().map(Cow::Borrowed),
            token: token.map(Cow::Owned),
            trace: self.context.extension::<TraceContext>().cloned(),
            owner: worker.has_ledger.then(|| Cow::Borrowed(self.state.owner.as_str())),
        };
        let message = head.write(self.arguments).map_err(|error| error.to_string())?;
        let limit = self.state.fleet.client.max_payload();
        if message.len() > limit {
            return Err(format!("its message has {} bytes, more than {limit}", message.len()));
        }
        Ok(message)
    }

    /// Reads the replies until the call ends, its deadline passes, or its worker is silent for too long.
    async fn receive(&self, worker: &RemoteWorker, line: &mut ReplyLine, redactor: &Redactor) -> Attempt {
        let mut assembly = Assembly::default();
        let mut has_asked = false;
        loop {
            let Ok(reply) = timeout_at(self.deadline, line.next()).await else {
                return Attempt::Failed(CallFailure::Deadline, CallFailure::late(self.limit));
            };
            let message = match reply {
                Reply::Frame(message) => message,
                Reply::WorkerLost => return Attempt::Lost("its worker was lost"),
                Reply::Silence => {
                    has_asked = true;
                    self.ask_about(worker, line).await;
                    continue;
                }
                // The server answers in order, so this is about a question. The worker may connect again.
                Reply::NoResponders if has_asked => continue,
                Reply::NoResponders => return Attempt::NotRun(None),
            };
            match Frame::read(&message, redactor) {
                Some(Frame::Beat) => {}
                Some(Frame::Progress(fraction, message)) => {
                    self.context.progress(fraction, clean(&message));
                }
                Some(Frame::Event(event)) => self.state.emit(FleetEvent::Call(event)),
                Some(Frame::Refused(refusal)) => return self.refused(refusal),
                Some(Frame::Chunk(number, part)) => {
                    if let Err(fault) = assembly.add(number, part, RESULT_LIMIT) {
                        return unreadable(fault);
                    }
                    self.ask_about(worker, line).await;
                }
                Some(Frame::End(chunks, last)) => {
                    return match assembly.end(chunks, last, RESULT_LIMIT) {
                        Ok(body) => ended(body, redactor).await,
                        Err(fault) => unreadable(fault),
                    };
                }
                None => return Attempt::Lost("its result cannot be read"),
            }
        }
    }

    /// Asks the worker whether it runs the call. It answers behind all that it has sent about the call, so a
    /// no means that the call or its result is lost. If it is sending the result, the next part follows.
    async fn ask_about(&self, worker: &RemoteWorker, line: &ReplyLine) {
        let CallerState { fleet, settings, .. } = &**self.state;
        let subject = fleet.subject(questions(&worker.id, &settings.name));
        // On an error the connection has ended, and the deadline ends the call.
        let _ = fleet.client.publish_with_reply(subject, line.subject.clone(), Bytes::new()).await;
    }

    fn refused(&self, refusal: Refusal) -> Attempt {
        match refusal {
            Refusal::Denied(reason) => Attempt::Failed(CallFailure::Refused, clean(&reason)),
            Refusal::IdTaken => {
                Attempt::Failed(CallFailure::Refused, "its id belongs to another call".to_owned())
            }
            Refusal::ClaimLost => {
                Attempt::Failed(CallFailure::Unknown, "its worker was lost, or has stopped it".to_owned())
            }
            Refusal::NotRunning => Attempt::Lost("its message or its result was lost"),
            Refusal::Stopped => Attempt::Lost("its worker has stopped it"),
            Refusal::Running => Attempt::Failed(CallFailure::Deadline, CallFailure::late(self.limit)),
            refusal => Attempt::NotRun(Some(refusal)),
        }
    }

    /// Requests what the tool has requested on its worker.
    fn act(&self, actions: &ToolActions) {
        let requested = self.context.actions();
        if let Some(agent) = &actions.transfer_to_agent {
            requested.transfer_to_agent(agent.clone());
        }
        if actions.escalate {
            requested.escalate();
        }
        if actions.skip_summarization {
            requested.skip_summarization();
        }
        let session = self.context.session();
        for (key, value) in &actions.state_delta {
            match value {
                Some(value) => session.set(key.clone(), value.clone()),
                None => session.remove(key.clone()),
            }
        }
    }

    fn failed(&self, failure: CallFailure, reason: &str) -> ToolError {
        let metadata = &self.tool.definition.metadata;
        failure.error(self.context.tool_name().as_str(), metadata.is_repeatable(), reason)
    }
}

impl Tries {
    fn allow(&self, worker: &Arc<RemoteWorker>) -> bool {
        let has_passed = self.passed.iter().any(|passed| Arc::ptr_eq(passed, worker));
        !has_passed && (worker.has_ledger || !self.needs_ledger)
    }

    fn out_of_workers(&self) -> (CallFailure, String) {
        let failure = if self.refusals > 0 { CallFailure::Busy } else { CallFailure::NoWorker };
        self.lost_or(failure, String::new())
    }

    /// Returns the failure of the last attempt, unless the tool may have run in an earlier one.
    fn lost_or(&self, failure: CallFailure, reason: String) -> (CallFailure, String) {
        match self.lost {
            Some(reason) if !failure.may_have_run() => (CallFailure::Unknown, reason.to_owned()),
            _ => (failure, reason),
        }
    }
}

async fn ended(body: Bytes, redactor: &Redactor) -> Attempt {
    let outcome = if body.len() > LARGE {
        let redactor = redactor.clone();
        tokio::task::spawn_blocking(move || read_json(&body, &redactor)).await.ok().flatten()
    } else {
        read_json(&body, redactor)
    };
    match outcome {
        Some(outcome) => Attempt::Ended(Box::new(outcome)),
        None => Attempt::Lost("its result cannot be read"),
    }
}

fn unreadable(fault: AssemblyFault) -> Attempt {
    match fault {
        AssemblyFault::Gap => Attempt::Lost("a part of its result was lost"),
        AssemblyFault::TooLong => {
            let error = ToolError::failed(format_args!(
                "its result has more than {RESULT_LIMIT} bytes; ask for less"
            ));
            Attempt::Ended(Box::new(CallOutcome::new(Err(error), ToolActions::default())))
        }
    }
}
