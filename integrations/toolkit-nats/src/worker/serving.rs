//! The loop of a worker: it receives calls, announces the worker, and follows the registry.

use super::accepted_call::AcceptedCall;
use super::drain::RunningWorker;
use super::inbox::Inbox;
use super::offers::{self, Offer, Offers};
use super::service_api;
use super::statistics::Counters;
use super::{Verify, Worker};
use crate::fleet::{Fleet, FleetError};
use crate::frames::{Announcement, Frame, Refusal, frames_of};
use crate::locks::lock;
use crate::subjects::Inbound;
use async_nats::{Message, Subject, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};
use tokio::time::{MissedTickBehavior, interval};
use toolkit_core::event::{ToolEvent, ToolEventKind};
use toolkit_core::registry::{RegistryEvents, RegistrySource};
use toolkit_core::{CancellationToken, Dispatcher};

/// The time between two announcements, and between two beats of a running call.
const BEAT: Duration = Duration::from_secs(1);
/// The time between two ticks, which show how old the received messages are.
const TICK: Duration = Duration::from_millis(250);
/// The maximum age of a call when it begins. It is shorter than the silence after which a caller gives up.
const MAX_AGE: Duration = Duration::from_secs(2);
/// The number of progress reports and events that wait to be sent, for all calls together.
const OUTBOX: usize = 1_024;
/// The queue group of the workers.
const QUEUE: &str = "workers";

/// What a running call can be stopped with.
pub(super) struct RunningCall {
    pub(super) cancellation: CancellationToken,
    pub(super) started: Instant,
    /// Whether frames of the call have taken the way through the outbox, so that its end must, too.
    pub(super) has_streamed: bool,
}

/// The state of a worker, shared by its tasks.
pub(super) struct WorkerState {
    pub(super) fleet: Fleet,
    pub(super) id: String,
    pub(super) max_calls: usize,
    pub(super) max_result_bytes: usize,
    pub(super) verify: Option<Verify>,
    pub(super) trusts_subjects: bool,
    #[cfg(feature = "ledger")]
    pub(super) ledger: Option<crate::ledger::CallLedger>,
    pub(super) calls: Calls,
    pub(super) outbox: mpsc::Sender<(Subject, Bytes)>,
}

/// The calls of a worker, and its health.
pub(super) struct Calls {
    pub(super) started: Instant,
    /// The running calls, by their reply subjects.
    pub(super) running: Mutex<HashMap<String, RunningCall>>,
    pub(super) in_flight: AtomicUsize,
    pub(super) counters: Counters,
    pub(super) is_draining: AtomicBool,
    /// Notified at the end of each call.
    pub(super) ended: Notify,
    /// The time after the start at which the latest tick was sent that has come back, in milliseconds.
    fresh: AtomicU64,
}

impl Calls {
    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns whether a message that is received now may be too old to begin: the worker was stopped, or its connection
    /// hangs. The server keeps the order of messages, so a message is no older than the last tick before it.
    fn is_stalled(&self) -> bool {
        let age = self.now().saturating_sub(self.fresh.load(Ordering::Relaxed));
        u128::from(age) > MAX_AGE.as_millis()
    }
}

impl WorkerState {
    pub(super) async fn send(&self, reply: Subject, frame: &Frame) {
        // An error means that the connection has ended. The caller notices the silence.
        let _ = self.fleet.client.publish(reply, frame.write()).await;
    }

    /// Sends a body in frames that the server accepts.
    pub(super) async fn send_body(&self, reply: &Subject, body: &Bytes, through_outbox: bool) {
        for frame in frames_of(body, self.fleet.client.max_payload()) {
            if through_outbox {
                let _ = self.outbox.send((reply.clone(), frame.write())).await;
            } else {
                self.send(reply.clone(), &frame).await;
            }
        }
    }

    pub(super) async fn refuse(&self, reply: Subject, refusal: Refusal) {
        let counters = &self.calls.counters;
        let counter =
            if refusal == Refusal::Full { &counters.refused_full } else { &counters.refused_otherwise };
        counter.fetch_add(1, Ordering::Relaxed);
        self.send(reply, &Frame::Refused { worker: self.id.clone(), refusal }).await;
    }

    /// Sends a frame of a running call without waiting. If the outbox is full, the frame is dropped.
    pub(super) fn stream(&self, reply: &str, frame: &Frame) {
        if let Some(call) = lock(&self.calls.running).get_mut(reply) {
            call.has_streamed = true;
            let _ = self.outbox.try_send((reply.into(), frame.write()));
        }
    }

    pub(super) fn announcement(&self, offers: &Offers) -> Announcement {
        #[cfg(feature = "ledger")]
        let has_ledger = self.ledger.is_some();
        #[cfg(not(feature = "ledger"))]
        let has_ledger = false;
        Announcement {
            worker: self.id.clone(),
            versions: offers.values().map(|offer| offer.version.clone()).collect(),
            has_ledger,
            is_full: self.calls.in_flight.load(Ordering::Relaxed) >= self.max_calls,
            is_leaving: self.calls.is_draining.load(Ordering::Relaxed),
        }
    }

    async fn announce(&self, subject: Subject, offers: &Offers) {
        let body = serde_json::to_vec(&self.announcement(offers)).unwrap_or_default();
        let _ = self.fleet.client.publish(subject, body.into()).await;
    }

    /// Tells the callers of all calls that have run for some time that their worker lives.
    async fn beat(&self) {
        let is_old = |call: &RunningCall| call.started.elapsed() > BEAT / 4;
        let running: Vec<String> = {
            let running = lock(&self.calls.running);
            running.iter().filter(|(_, call)| is_old(call)).map(|(reply, _)| reply.clone()).collect()
        };
        for reply in running {
            self.send(reply.into(), &Frame::Beat(self.id.clone())).await;
        }
    }

    fn listen(self: &Arc<Self>, dispatcher: Dispatcher) -> Dispatcher {
        let state = Arc::downgrade(self);
        dispatcher.with_listener(move |event: &ToolEvent| {
            let is_known = match &event.kind {
                // The caller's dispatcher emits these, and progress takes a way of its own.
                ToolEventKind::Called | ToolEventKind::Ended(_) | ToolEventKind::Progress { .. } => true,
                ToolEventKind::Started { attempt, .. } => *attempt == 1,
                _ => false,
            };
            if is_known {
                return;
            }
            if let (Some(state), Some(reply)) = (state.upgrade(), &event.call.invocation_id) {
                state.stream(reply, &Frame::Event(Box::new(event.clone())));
            }
        })
    }
}

/// Starts a worker.
pub(super) async fn start(worker: Worker, fleet: Fleet) -> Result<RunningWorker, FleetError> {
    let (outbox, mut outgoing) = mpsc::channel::<(Subject, Bytes)>(OUTBOX);
    let state = Arc::new(WorkerState {
        id: fleet.unique_id(),
        max_calls: worker.max_calls,
        max_result_bytes: worker.max_result_bytes,
        verify: worker.verify,
        trusts_subjects: worker.trusts_subjects,
        #[cfg(feature = "ledger")]
        ledger: worker.ledger,
        calls: Calls {
            started: Instant::now(),
            running: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            counters: Counters::default(),
            is_draining: AtomicBool::new(false),
            ended: Notify::new(),
            fresh: AtomicU64::new(0),
        },
        outbox,
        fleet: fleet.clone(),
    });
    let client = fleet.client.clone();
    tokio::spawn(async move {
        while let Some((reply, frame)) = outgoing.recv().await {
            let _ = client.publish(reply, frame).await;
        }
    });
    let dispatcher = state.listen(worker.dispatcher);
    let changes = match dispatcher.source() {
        RegistrySource::Live(live) => Some(live.subscribe()),
        _ => None,
    };
    let mut inbox = Inbox::default();
    subscribe_worker(&state, &mut inbox).await?;
    let ticks = fleet.client.subscribe(fleet.subject(format!("tick.{}", state.id))).await;
    let ticks = ticks.map_err(FleetError::lost)?;
    let mut serving =
        Serving { state: state.clone(), dispatcher, offers: Offers::new(), inbox, ticks, changes };
    serving.update().await?;
    fleet.client.flush().await.map_err(FleetError::lost)?;
    let (stop, drained) = (CancellationToken::new(), CancellationToken::new());
    #[cfg(feature = "ledger")]
    crate::ledger::renew_leases(state.ledger.as_ref(), &state.id, drained.clone());
    let task = tokio::spawn(serving.run(stop.clone(), drained.clone(), worker.drain_time));
    Ok(RunningWorker { state, stop, drained, task })
}

async fn subscribe_worker(state: &WorkerState, inbox: &mut Inbox) -> Result<(), FleetError> {
    let fleet = &state.fleet;
    inbox.add(fleet, fleet.subject(format!("to.{}.>", state.id)), None).await?;
    inbox.add(fleet, fleet.subject("who"), None).await?;
    #[cfg(feature = "ledger")]
    if state.ledger.is_some() {
        inbox.add(fleet, fleet.subject("result.*"), Some(QUEUE)).await?;
    }
    for subject in service_api::subjects(state) {
        inbox.add(fleet, subject, None).await?;
    }
    Ok(())
}

/// The parts of the loop of a worker.
struct Serving {
    state: Arc<WorkerState>,
    dispatcher: Dispatcher,
    offers: Offers,
    inbox: Inbox,
    ticks: Subscriber,
    changes: Option<RegistryEvents>,
}

impl Serving {
    /// Offers the current tools: subscribes to new versions, and ends the subscriptions of those that are gone.
    async fn update(&mut self) -> Result<(), FleetError> {
        // A registry with a fault keeps its earlier offers.
        let Ok(offers) = offers::current(&self.dispatcher, &self.offers) else { return Ok(()) };
        let fleet = self.state.fleet.clone();
        for tokens in offers.keys().filter(|tokens| !self.offers.contains_key(*tokens)) {
            self.inbox.add(&fleet, fleet.subject(format!("cancel.{tokens}")), None).await?;
            self.inbox.add(&fleet, fleet.subject(format!("tools.{tokens}")), Some(QUEUE)).await?;
            self.inbox.add(&fleet, fleet.subject(format!("call.*.{tokens}")), Some(QUEUE)).await?;
        }
        let gone: Vec<String> =
            self.offers.keys().filter(|tokens| !offers.contains_key(*tokens)).cloned().collect();
        // The offers that are gone still answer cancellations of their running calls.
        let is_gone = |subject: &str| {
            !subject.contains(".cancel.") && gone.iter().any(|tokens| subject.ends_with(tokens.as_str()))
        };
        if !gone.is_empty() {
            self.inbox.drain(is_gone).await;
        }
        self.offers = offers;
        self.state.announce(fleet.subject("live").into(), &self.offers).await;
        Ok(())
    }

    async fn run(mut self, stop: CancellationToken, drained: CancellationToken, drain_time: Duration) {
        let _drained = drained.drop_guard();
        let mut beats = interval(BEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut ticking = interval(TICK);
        ticking.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut deadline = None;
        loop {
            if deadline.is_some_and(|deadline| self.has_drained(deadline)) {
                break;
            }
            // The order counts: a tick is read after all messages that the server has sent before it.
            tokio::select! {
                biased;
                message = self.inbox.next() => match message {
                    Some(message) => self.receive(message).await,
                    None => break,
                },
                Some(tick) = self.ticks.next() => self.tick(&tick),
                () = stop.cancelled(), if deadline.is_none() => {
                    deadline = Some(Instant::now() + drain_time);
                    self.begin_drain().await;
                }
                change = next_change(&mut self.changes) => {
                    self.changes = change;
                    let _ = self.update().await;
                }
                // While the server is away, nothing is announced: the messages would only wait for it.
                _ = beats.tick(), if self.state.fleet.is_connected() => {
                    self.state.announce(self.state.fleet.subject("live").into(), &self.offers).await;
                    self.state.beat().await;
                }
                _ = ticking.tick(), if self.state.fleet.is_connected() => {
                    let subject = self.state.fleet.subject(format!("tick.{}", self.state.id));
                    let now = self.state.calls.now().to_be_bytes();
                    let _ = self.state.fleet.client.publish(subject, now.to_vec().into()).await;
                }
                () = self.state.calls.ended.notified(), if deadline.is_some() => {}
                () = tokio::time::sleep(BEAT), if deadline.is_some() || !self.state.fleet.is_connected() => {}
            }
        }
        self.stop_calls().await;
    }

    fn tick(&self, tick: &Message) {
        if let Ok(sent) = <[u8; 8]>::try_from(&*tick.payload) {
            self.state.calls.fresh.store(u64::from_be_bytes(sent), Ordering::Relaxed);
        }
    }

    async fn begin_drain(&mut self) {
        self.state.calls.is_draining.store(true, Ordering::Relaxed);
        self.state.announce(self.state.fleet.subject("live").into(), &self.offers).await;
        self.inbox.drain(is_of_calls).await;
    }

    fn has_drained(&self, deadline: Instant) -> bool {
        let is_idle = self.state.calls.in_flight.load(Ordering::Relaxed) == 0;
        (is_idle && !self.inbox.has(is_of_calls)) || Instant::now() > deadline
    }

    /// Cancels the calls that have not ended in time, and sends what waits to be sent.
    async fn stop_calls(&self) {
        lock(&self.state.calls.running).values().for_each(|call| call.cancellation.cancel());
        let ended = async {
            while self.state.calls.in_flight.load(Ordering::Relaxed) > 0 {
                self.state.calls.ended.notified().await;
            }
            while self.state.outbox.capacity() < self.state.outbox.max_capacity() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let _ = self.state.fleet.client.flush().await;
        };
        // A synchronous tool cannot be interrupted.
        let _ = tokio::time::timeout(BEAT, ended).await;
    }

    async fn receive(&mut self, message: Message) {
        let subject = message.subject.clone();
        let state = &self.state;
        let Some(inbound) = Inbound::read(&state.fleet.prefix, &subject) else { return };
        if matches!(inbound, Inbound::Cancel) {
            if let Ok(reply) = std::str::from_utf8(&message.payload)
                && let Some(call) = lock(&state.calls.running).get(reply)
            {
                call.cancellation.cancel();
            }
            return;
        }
        let Some(reply) = message.reply.clone() else { return };
        match inbound {
            Inbound::Call { caller, version } => {
                let offer = self.offers.get(version).cloned();
                accept(state, offer, caller, reply, message.payload).await;
            }
            Inbound::Tools { version } => {
                if let Some(offer) = self.offers.get(version) {
                    state.send_body(&reply, &offer.listing, false).await;
                }
            }
            Inbound::Who => state.announce(reply, &self.offers).await,
            Inbound::Service { verb } => {
                let body = service_api::answer(state, &self.offers, verb);
                let _ = state.fleet.client.publish(reply, body).await;
            }
            #[cfg(feature = "ledger")]
            Inbound::StoredResult { caller } => {
                let (state, caller) = (state.clone(), caller.to_owned());
                tokio::spawn(async move {
                    super::accepted_call::send_stored(&state, &caller, reply, &message.payload).await;
                });
            }
            #[cfg(not(feature = "ledger"))]
            Inbound::StoredResult { .. } => {}
            Inbound::Cancel => {}
        }
    }
}

/// Starts a call, or refuses it at once.
async fn accept(
    state: &Arc<WorkerState>,
    offer: Option<Arc<Offer>>,
    caller: &str,
    reply: Subject,
    message: Bytes,
) {
    let calls = &state.calls;
    let Some(offer) = offer else { return state.refuse(reply, Refusal::NotServed).await };
    if calls.is_draining.load(Ordering::Relaxed) {
        return state.refuse(reply, Refusal::Draining).await;
    }
    if calls.is_stalled() {
        return state.refuse(reply, Refusal::Stalled).await;
    }
    // Only the loop of the worker adds, so the limit holds.
    if calls.in_flight.load(Ordering::Relaxed) >= state.max_calls {
        return state.refuse(reply, Refusal::Full).await;
    }
    let call = AcceptedCall::new(state.clone(), offer, caller, reply, message);
    tokio::spawn(call.run());
}

fn is_of_calls(subject: &str) -> bool {
    subject.contains(".call.*.") || subject.contains(".to.")
}

/// Waits for the next change of the registry, and returns the stream of changes. A fixed registry never changes.
async fn next_change(changes: &mut Option<RegistryEvents>) -> Option<RegistryEvents> {
    match changes {
        Some(events) => match events.next().await {
            Some(_) => changes.take(),
            None => {
                *changes = None;
                std::future::pending().await
            }
        },
        None => std::future::pending().await,
    }
}
