//! The loop of a worker: it receives calls, announces the worker, and follows the registry.

use super::accepted_call::AcceptedCall;
use super::drain::RunningWorker;
use super::inbox::Inbox;
use super::offers::{self, Offer, Offers};
use super::worker_state::{BEAT, Calls, QUEUE, WorkerState};
use super::{Worker, service_api};
use crate::fleet::{Fleet, FleetError};
use crate::frames::{Refusal, split_stream};
use crate::locks::lock;
use crate::subjects::Inbound;
use async_nats::{Message, Subject, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};
use toolkit_core::registry::RegistrySource;
use toolkit_core::{CancellationToken, Dispatcher};

/// The time between two ticks, which show how old the received messages are.
const TICK: Duration = Duration::from_millis(250);
/// The number of progress reports and events that wait to be sent, for all calls together.
const OUTBOX: usize = 1_024;

/// Starts a worker.
pub(super) async fn start(worker: Worker, fleet: Fleet) -> Result<RunningWorker, FleetError> {
    let (outbox, mut outgoing) = mpsc::channel::<(Subject, Bytes)>(OUTBOX);
    let state = Arc::new(WorkerState {
        id: fleet.unique_id(),
        settings: worker,
        calls: Calls::new(),
        outbox,
        fleet: fleet.clone(),
    });
    let client = fleet.client.clone();
    tokio::spawn(async move {
        while let Some((reply, frame)) = outgoing.recv().await {
            let _ = client.publish(reply, frame).await;
        }
    });
    let dispatcher = state.dispatcher();
    let changes = match dispatcher.source() {
        RegistrySource::Live(live) => live.subscribe().map(drop).boxed(),
        _ => stream::pending().boxed(),
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
    crate::ledger::renew_leases(state.settings.ledger.as_ref(), &state.id, drained.clone());
    let task = tokio::spawn(serving.run(stop.clone(), drained.clone()));
    Ok(RunningWorker { state, stop, drained, task })
}

async fn subscribe_worker(state: &WorkerState, inbox: &mut Inbox) -> Result<(), FleetError> {
    let fleet = &state.fleet;
    inbox.add(fleet, fleet.subject(format!("to.{}.>", state.id)), None).await?;
    inbox.add(fleet, fleet.subject("who"), None).await?;
    #[cfg(feature = "ledger")]
    if state.settings.ledger.is_some() {
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
    changes: BoxStream<'static, ()>,
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

    async fn run(mut self, stop: CancellationToken, drained: CancellationToken) {
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
                    deadline = Some(Instant::now() + self.state.settings.drain_time);
                    self.begin_drain().await;
                }
                Some(()) = self.changes.next() => drop(self.update().await),
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
        self.state.stop_calls().await;
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

    async fn receive(&mut self, message: Message) {
        let subject = message.subject.clone();
        let state = &self.state;
        let Some(inbound) = Inbound::read(&state.fleet.prefix, &subject) else { return };
        if matches!(inbound, Inbound::Cancel) {
            if let Ok(stream) = std::str::from_utf8(&message.payload)
                && let Some(call) = lock(&state.calls.running).get(stream)
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
                    state.send_body(&reply, &offer.listing).await;
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
    if calls.in_flight.load(Ordering::Relaxed) >= state.settings.max_calls {
        return state.refuse(reply, Refusal::Full).await;
    }
    let Some((stream, message)) = split_stream(&message) else {
        return state.refuse(reply, Refusal::NotServed).await;
    };
    let call = AcceptedCall::new(state.clone(), offer, [caller, stream], reply, message);
    // Boxed, because the runtime moves the future of a task several times.
    tokio::spawn(Box::pin(call.run()));
}

fn is_of_calls(subject: &str) -> bool {
    subject.contains(".call.*.") || subject.contains(".to.")
}
