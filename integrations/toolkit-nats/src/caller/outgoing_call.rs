//! One call of a caller: which worker gets it, what comes back, and what each silence means.

use super::call_failure::CallFailure;
use super::caller_state::CallerState;
use super::catalog::{Catalog, Route};
use super::fleet_event::FleetEvent;
use super::replies::{Reply, ReplyLine};
use crate::TraceContext;
use crate::definitions::ForeignTool;
use crate::frames::{Assembly, AssemblyFault, CallHead, CallOutcome, Frame, Refusal};
use crate::locks::lock;
use crate::span::MessageSpan;
use async_nats::{Message, Request, RequestError, RequestErrorKind};
use bytes::Bytes;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use toolkit_core::context::ToolActions;
use toolkit_core::{ToolContext, ToolError, ToolOutput};
use toolkit_foreign::clean;

/// The maximum size of a result in bytes of JSON. Workers have a limit of their own.
pub(super) const RESULT_LIMIT: usize = 64 * 1_024 * 1_024;
/// The silence after which the worker of a call counts as lost. Workers send a sign of life each second, and begin no call
/// that has waited for two seconds.
const SILENCE: Duration = Duration::from_secs(3);
/// The maximum number of workers that are asked one by one after the queue has given the call to a full one.
const DIRECT: usize = 8;
/// The maximum number of lost workers of a call that may be repeated.
const LOSSES: usize = 3;

pub(super) struct OutgoingCall<'a> {
    state: &'a Arc<CallerState>,
    tool: &'a ForeignTool,
    arguments: &'a str,
    context: &'a ToolContext,
    limit: Duration,
    deadline: Instant,
    id: String,
}

/// Where a call is sent.
struct Target {
    subject: String,
    cancel: String,
    /// The worker, if the call is sent to a certain one.
    worker: Option<Arc<str>>,
    has_ledger: bool,
}

/// What became of a message.
enum Attempt {
    Ended(Box<CallOutcome>),
    /// The tool was not run by this message.
    NotRun {
        worker: Option<String>,
        refusal: Option<Refusal>,
    },
    /// The worker was lost, or its result.
    Lost {
        worker: Option<String>,
        reason: &'static str,
    },
    Failed(CallFailure, String),
}

/// What a call has learned so far.
#[derive(Default)]
struct Tries {
    queues: HashSet<String>,
    refused: HashSet<String>,
    losses: usize,
    lost: Option<&'static str>,
    was_busy: bool,
}

impl<'a> OutgoingCall<'a> {
    pub(super) fn new(
        state: &'a Arc<CallerState>,
        tool: &'a ForeignTool,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> Self {
        let limit = context.time_left().unwrap_or(state.settings.call_timeout);
        let id = (state.settings.call_ids)(context).unwrap_or_else(|| state.new_call_id());
        Self { state, tool, arguments, context, limit, deadline: Instant::now() + limit, id }
    }

    /// Runs the call until a worker has ended it, or until its failure has a name.
    pub(super) async fn run(self) -> Result<ToolOutput, ToolError> {
        lock(&self.state.counts).calls += 1;
        let span = MessageSpan::new("send", "client", &self.tool.remote_name, &self.id, None);
        // Boxed, because the future is large, and moved several times.
        let outcome = span.clone().around(Box::pin(self.ask_workers())).await;
        match outcome {
            Ok(outcome) => {
                self.act(&outcome.actions);
                let lost = || self.failed(CallFailure::Unknown, "its result cannot be read");
                outcome.into_result().unwrap_or_else(|| Err(lost()))
            }
            Err((failure, reason)) => {
                span.fail(&format!("{failure:?}"));
                lock(&self.state.counts).fail(failure);
                Err(self.failed(failure, &reason))
            }
        }
    }

    async fn ask_workers(&self) -> Result<Box<CallOutcome>, (CallFailure, String)> {
        let mut tries = Tries::default();
        loop {
            let catalog = self.state.catalog();
            let Some(target) = self.next_target(&catalog, &mut tries) else {
                return Err(tries.out_of_workers());
            };
            let may_repeat = target.has_ledger || self.tool.definition.metadata.is_repeatable();
            match self.attempt(&target).await {
                Attempt::Ended(outcome) => return Ok(outcome),
                Attempt::Failed(failure, reason) => return Err(tries.lost_or(failure, reason)),
                Attempt::NotRun { worker, refusal } => {
                    tries.was_busy |= refusal.is_some();
                    tries.refused.extend(worker);
                }
                Attempt::Lost { worker, reason } => {
                    tries.lost = Some(reason);
                    tries.losses += 1;
                    if !may_repeat || tries.losses == LOSSES {
                        return Err((CallFailure::Unknown, reason.to_owned()));
                    }
                    tries.refused.extend(worker);
                    // The queue may give the call to another worker.
                    tries.queues.clear();
                }
            }
            lock(&self.state.counts).repetitions += 1;
        }
    }

    /// Returns the next subject: first the queue of each version with this definition, then single workers.
    fn next_target(&self, catalog: &Catalog, tries: &mut Tries) -> Option<Target> {
        let routes = catalog.routes(self.tool);
        let caller = &self.state.settings.name;
        let target = |route: &Route, worker: Option<Arc<str>>| {
            let tokens = &route.tokens;
            let subject = match &worker {
                None => self.state.fleet.subject(format_args!("call.{caller}.{tokens}")),
                Some(worker) => self.state.fleet.subject(format_args!("to.{worker}.{caller}.{tokens}")),
            };
            let cancel = self.state.fleet.subject(format_args!("cancel.{tokens}"));
            Target { subject, cancel, worker, has_ledger: route.has_ledger }
        };
        let is_open = |route: &&Arc<Route>| !tries.queues.contains(&route.tokens);
        // A version with more workers gets more calls.
        let share =
            |route: &&Arc<Route>| self.spread(&route.tokens).saturating_mul(route.workers.len() as u64);
        if let Some(route) = routes.iter().filter(is_open).max_by_key(share) {
            tries.queues.insert(route.tokens.clone());
            return Some(target(route, None));
        }
        // If nobody subscribes to the queues, the workers of the catalog are gone.
        if tries.refused.len() > DIRECT || !tries.was_busy {
            return None;
        }
        let members = lock(&self.state.members);
        let is_free = |worker: &Arc<str>| members.workers.get(worker).is_some_and(|member| !member.is_full);
        let workers = routes.iter().flat_map(|route| route.workers.iter().map(move |worker| (route, worker)));
        let open = workers.filter(|(_, worker)| !tries.refused.contains(&***worker));
        let (route, worker) = open.max_by_key(|(_, worker)| (is_free(worker), self.spread(worker)))?;
        tries.refused.insert(worker.to_string());
        Some(target(route, Some(worker.clone())))
    }

    /// Returns a number for a version or a worker that differs from call to call, so that calls spread over them.
    fn spread(&self, place: &str) -> u64 {
        let bytes = self.id.bytes().chain(place.bytes());
        bytes.fold(0, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 32
    }

    /// Sends the call once, and waits for its end.
    async fn attempt(&self, target: &Target) -> Attempt {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Attempt::Failed(CallFailure::Deadline, CallFailure::late(self.limit));
        }
        let fleet = &self.state.fleet;
        if !fleet.is_connected() {
            return Attempt::Failed(CallFailure::Disconnected, String::new());
        }
        let mut line = self.state.replies.open();
        let message = match self.message(left, &line.subject) {
            Ok(message) => message,
            Err(reason) => return Attempt::Failed(CallFailure::TooLarge, reason),
        };
        let request = Request::new().payload(message).timeout(None);
        let answer = fleet.client.send_request(target.subject.clone(), request);
        let mut guard =
            CancelGuard { state: self.state, target, stream: line.subject.clone(), is_armed: true };
        let attempt = self.receive(answer, &mut line, target).await;
        // A worker that is lost or late may still run the call.
        guard.is_armed = matches!(attempt, Attempt::Lost { .. } | Attempt::Failed(CallFailure::Deadline, _));
        attempt
    }

    fn message(&self, left: Duration, stream: &str) -> Result<Bytes, String> {
        let head = CallHead {
            tool: Cow::Borrowed(&self.tool.remote_name),
            id: Cow::Borrowed(&self.id),
            left_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            run: self.context.invocation_id().map(Cow::Borrowed),
            token: self.state.settings.token.as_ref().and_then(|token| token()).map(Cow::Owned),
            trace: self.context.extension::<TraceContext>().cloned(),
        };
        let message = head.write(stream, self.arguments).map_err(|error| error.to_string())?;
        let limit = self.state.fleet.client.max_payload();
        if message.len() > limit {
            return Err(format!("its message has {} bytes, more than {limit}", message.len()));
        }
        Ok(message)
    }

    /// Reads the replies until the call ends, its deadline passes, or its worker is silent for too long.
    ///
    /// A call that ends at once has one answer. The frames of others arrive on their line.
    async fn receive(
        &self,
        answer: impl Future<Output = Result<Message, RequestError>>,
        line: &mut ReplyLine,
        target: &Target,
    ) -> Attempt {
        tokio::pin!(answer);
        let mut is_answered = false;
        let mut assembly = Assembly::default();
        let mut worker = target.worker.as_ref().map(ToString::to_string);
        let timer = sleep_until(self.deadline.min(Instant::now() + SILENCE));
        tokio::pin!(timer);
        loop {
            let message = tokio::select! {
                biased;
                reply = line.next() => match reply {
                    Reply::Frame(message) => message,
                    Reply::NoResponders => continue,
                },
                answer = &mut answer, if !is_answered => match answer {
                    Ok(message) => {
                        is_answered = true;
                        message.payload
                    }
                    Err(error) if error.kind() == RequestErrorKind::NoResponders => {
                        return Attempt::NotRun { worker, refusal: None };
                    }
                    Err(_) => return Attempt::Failed(CallFailure::Disconnected, String::new()),
                },
                () = &mut timer => {
                    if Instant::now() >= self.deadline {
                        return Attempt::Failed(CallFailure::Deadline, CallFailure::late(self.limit));
                    }
                    return Attempt::Lost { worker, reason: "its worker was lost" };
                }
            };
            // The end of a call with frames is on its line.
            if message.is_empty() {
                continue;
            }
            match Frame::read(&message) {
                Some(Frame::Beat(from)) => worker = Some(from),
                Some(Frame::Progress(fraction, message)) => {
                    self.context.progress(fraction, clean(&message));
                }
                Some(Frame::Event(event)) => self.state.emit(FleetEvent::Call(event)),
                Some(Frame::Refused { worker, refusal }) => return self.refused(worker, refusal),
                Some(Frame::Chunk(number, part)) => {
                    if let Err(fault) = assembly.add(number, part, RESULT_LIMIT) {
                        return unreadable(fault);
                    }
                }
                Some(Frame::End(chunks, last)) => {
                    return match assembly.end(chunks, last, RESULT_LIMIT) {
                        Ok(body) => ended(&body),
                        Err(fault) => unreadable(fault),
                    };
                }
                None => return Attempt::Lost { worker, reason: "its result cannot be read" },
            }
            timer.as_mut().reset(self.deadline.min(Instant::now() + SILENCE));
        }
    }

    fn refused(&self, worker: String, refusal: Refusal) -> Attempt {
        match refusal {
            Refusal::Denied(reason) => Attempt::Failed(CallFailure::Refused, clean(&reason)),
            Refusal::IdTaken => {
                Attempt::Failed(CallFailure::Refused, "its id belongs to another call".to_owned())
            }
            Refusal::ClaimLost => Attempt::Failed(CallFailure::Unknown, "its worker was lost".to_owned()),
            Refusal::Running => Attempt::Failed(CallFailure::Deadline, CallFailure::late(self.limit)),
            refusal => Attempt::NotRun { worker: Some(worker), refusal: Some(refusal) },
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
    /// Returns the failure of a call for which no worker is left.
    fn out_of_workers(&self) -> (CallFailure, String) {
        let failure = if self.was_busy { CallFailure::Busy } else { CallFailure::NoWorker };
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

fn ended(body: &[u8]) -> Attempt {
    match serde_json::from_slice(body) {
        Ok(outcome) => Attempt::Ended(Box::new(outcome)),
        Err(_) => Attempt::Lost { worker: None, reason: "its result cannot be read" },
    }
}

/// The call has ended, but its result has not arrived.
fn unreadable(fault: AssemblyFault) -> Attempt {
    match fault {
        AssemblyFault::Gap => Attempt::Lost { worker: None, reason: "a part of its result was lost" },
        AssemblyFault::TooLong => {
            let error = ToolError::failed(format_args!(
                "its result has more than {RESULT_LIMIT} bytes; ask for less"
            ));
            Attempt::Ended(Box::new(CallOutcome::new(Err(error), ToolActions::default())))
        }
    }
}

/// Cancels the call on its worker when it is dropped: the caller's dispatcher drops a call that is cancelled or timed
/// out.
struct CancelGuard<'a> {
    state: &'a Arc<CallerState>,
    target: &'a Target,
    stream: String,
    is_armed: bool,
}

impl Drop for CancelGuard<'_> {
    fn drop(&mut self) {
        if !self.is_armed {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let client = self.state.fleet.client.clone();
        let subject = self.target.cancel.clone();
        let stream = std::mem::take(&mut self.stream);
        runtime.spawn(async move {
            let _ = client.publish(subject, stream.into()).await;
        });
    }
}
