//! The loop of a worker: it receives calls, announces the worker, and follows the registry.

use super::accepted_call::AcceptedCall;
use super::drain::{Drain, RunningWorker};
use super::offers::{self, Offer, Offers};
use super::seen_messages::SeenMessages;
use super::worker_state::{BEAT, Calls, QUEUE, WorkerState};
use super::{Worker, service_api};
use crate::fleet::Fleet;
use crate::fleet_error::FleetError;
use crate::frames::{Frame, Refusal};
use crate::subjects::Inbound;
use async_nats::{Message, Subject, Subscriber};
use futures_util::stream::{self, AbortHandle, Abortable, BoxStream, SelectAll};
use futures_util::{FutureExt as _, StreamExt as _};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use toolkit_core::__private::lock;
use toolkit_core::CancellationToken;
use toolkit_core::registry::RegistrySource;

/// The time between two ticks, which show how old the received messages are.
const TICK: Duration = Duration::from_millis(250);
/// The time in which the connection reports refusals.
const TOLD: Duration = Duration::from_millis(20);
/// The time in which a server answers.
const ANSWER: Duration = Duration::from_secs(5);

pub(super) async fn start(worker: Worker, fleet: Fleet) -> Result<RunningWorker, FleetError> {
    let state = Arc::new(WorkerState {
        id: format!("{}.{}", worker.name, fleet.unique_id()),
        settings: worker,
        calls: Calls::new(),
        fleet: fleet.clone(),
    });
    let mut refusals = fleet.refusals(&state.id);
    let changes = match state.settings.dispatcher.source() {
        RegistrySource::Live(live) => live.subscribe().map(drop).boxed(),
        _ => stream::pending().boxed(),
    };
    let subject = fleet.subject(format!("to.{}.>", state.id));
    let calls = fleet.client.subscribe(subject).await.map_err(FleetError::lost)?;
    let mut serving = Serving {
        state: state.clone(),
        offers: Offers::new(),
        calls,
        seen: SeenMessages::new(),
        inbox: SelectAll::new(),
        listings: HashMap::new(),
        changes,
        beaten: Instant::now(),
    };
    tokio::select! {
        refusal = refusals.next() => return Err(FleetError::refused(&refusal)),
        begun = serving.begin() => begun?,
    }
    let stop = CancellationToken::new();
    let drained = CancellationToken::new();
    #[cfg(feature = "ledger")]
    crate::ledger::renew_leases(state.settings.ledger.as_ref(), &state.id, drained.clone());
    let task = tokio::spawn(serving.run(stop.clone(), drained.clone()));
    Ok(RunningWorker { state, stop, drained, task })
}

struct Serving {
    state: Arc<WorkerState>,
    offers: Offers,
    /// Calls, cancellations and ticks, in the server's order.
    calls: Subscriber,
    /// The calls that have come. A copy is ignored: its answer would be taken for the first one's.
    seen: SeenMessages,
    inbox: SelectAll<Abortable<Subscriber>>,
    /// The subscriptions to requests for definitions, by version.
    listings: HashMap<String, AbortHandle>,
    changes: BoxStream<'static, ()>,
    beaten: Instant,
}

impl Serving {
    /// Subscribes to all subjects, and announces the worker, until the server has taken all of it.
    async fn begin(&mut self) -> Result<(), FleetError> {
        self.subscribe().await?;
        self.update().await?;
        if !self.reaches_server().await {
            return Err(FleetError::lost("the server does not answer"));
        }
        // Another task reports what the server has refused by now.
        sleep(TOLD).await;
        Ok(())
    }

    async fn subscribe(&mut self) -> Result<(), FleetError> {
        self.listen(self.state.fleet.subject("who"), false).await?;
        #[cfg(feature = "ledger")]
        if self.state.settings.ledger.is_some() {
            self.listen(self.state.fleet.subject("result.*"), true).await?;
        }
        for subject in service_api::subjects(&self.state) {
            self.listen(subject, false).await?;
        }
        Ok(())
    }

    /// Subscribes to a subject. Of a queue group, one worker receives each message.
    async fn listen(&mut self, subject: String, is_in_group: bool) -> Result<AbortHandle, FleetError> {
        let client = &self.state.fleet.client;
        let subscriber = if is_in_group {
            client.queue_subscribe(subject, QUEUE.to_owned()).await
        } else {
            client.subscribe(subject).await
        };
        let (subscriber, handle) = stream::abortable(subscriber.map_err(FleetError::lost)?);
        self.inbox.push(subscriber);
        Ok(handle)
    }

    /// Subscribes to new versions of the tools, and ends the subscriptions to earlier ones.
    async fn update(&mut self) -> Result<(), FleetError> {
        let state = &self.state;
        let current =
            offers::current(&state.settings, &self.offers, |dispatcher| state.with_events(dispatcher));
        let Ok(offers) = current else { return Ok(()) };
        for tokens in offers.keys() {
            if !self.listings.contains_key(tokens) {
                let handle = self.listen(self.state.fleet.subject(format!("tools.{tokens}")), true).await?;
                self.listings.insert(tokens.clone(), handle);
            }
        }
        for (tokens, handle) in &self.listings {
            if !offers.contains_key(tokens) {
                handle.abort();
            }
        }
        self.listings.retain(|tokens, _| offers.contains_key(tokens));
        self.offers = offers;
        self.announce().await;
        Ok(())
    }

    async fn run(mut self, stop: CancellationToken, drained: CancellationToken) {
        let _ticking =
            tokio::spawn(drained.clone().run_until_cancelled_owned(send_ticks(self.state.clone())));
        let _drained = drained.drop_guard();
        let mut drain = Drain::default();
        while !drain.has_ended(&self.state.calls) {
            tokio::select! {
                call = self.calls.next() => match call {
                    Some(call) => self.receive_waiting(call, &mut drain).await,
                    None => break,
                },
                Some(message) = self.inbox.next() => self.receive(message).await,
                () = stop.cancelled(), if !drain.has_begun() => {
                    drain.begin(&self.state);
                    self.announce().await;
                }
                Some(()) = self.changes.next() => drop(self.update().await),
                // Without the server, no tick wakes the loop.
                () = async { sleep(TICK).await }, if drain.has_begun() => {}
            }
        }
        self.state.stop_calls().await;
        // A process that ends before the server has read the last replies may lose them.
        self.reaches_server().await;
    }

    async fn announce(&mut self) {
        let subject = self.state.fleet.subject(format_args!("live.{}", self.state.settings.name));
        self.state.announce(subject.into(), &self.offers).await;
    }

    /// Takes a tick into account. Each second, the worker and its calls show that they live.
    async fn tick(&mut self, message: &Message) {
        if let Ok(sent) = <[u8; 8]>::try_from(&*message.payload) {
            self.state.calls.fresh.store(u64::from_be_bytes(sent), Ordering::Relaxed);
        }
        if self.beaten.elapsed() >= BEAT {
            self.beaten = Instant::now();
            self.announce().await;
            self.state.beat().await;
        }
    }

    /// Waits for a tick: the server has then seen all that the worker sent before.
    async fn reaches_server(&mut self) -> bool {
        let sent = self.state.send_tick().await;
        let arrival = async {
            while self.state.calls.fresh.load(Ordering::Relaxed) < sent {
                match self.calls.next().await {
                    Some(message) => self.receive(message).await,
                    None => return false,
                }
            }
            true
        };
        timeout(ANSWER, arrival).await.unwrap_or(false)
    }

    /// Receives the waiting messages about calls, as far as the budget of the task allows.
    async fn receive_waiting(&mut self, first: Message, drain: &mut Drain) {
        let mut next = Some(first);
        while let Some(message) = next {
            if message.reply.is_some() {
                drain.note_call();
            }
            self.receive(message).await;
            next = self.calls.next().now_or_never().flatten();
        }
    }

    async fn receive(&mut self, message: Message) {
        let state = &self.state;
        let subject = message.subject.clone();
        let Some(inbound) = Inbound::read(&state.fleet.prefix, &subject) else { return };
        match (inbound, message.reply.clone()) {
            (Inbound::Cancel, _) => {
                if let Ok(reply) = std::str::from_utf8(&message.payload)
                    && let Some(call) = lock(&state.calls.running).get(reply)
                {
                    call.cancellation.cancel();
                }
            }
            (Inbound::Ask, Some(reply)) => {
                let running = lock(&state.calls.running).get(reply.as_str()).map(|call| call.asked.clone());
                let answer = match running {
                    Some(asked) => {
                        asked.notify_one();
                        Frame::Beat
                    }
                    None => Frame::Refused(Refusal::NotRunning),
                };
                state.send(reply, &answer).await;
            }
            (Inbound::Tick, _) => self.tick(&message).await,
            (Inbound::Call { caller, version }, Some(reply)) => {
                if self.seen.is_first(&reply) && !lock(&state.calls.running).contains_key(reply.as_str()) {
                    accept(state, self.offers.get(version), caller, reply, message).await;
                }
            }
            (Inbound::Tools { version }, Some(reply)) => {
                if let Some(offer) = self.offers.get(version) {
                    state.send_body(&reply, &offer.listing).await;
                }
            }
            (Inbound::Who, Some(reply)) => state.announce(reply, &self.offers).await,
            (Inbound::Service { verb }, Some(reply)) => {
                let body = service_api::answer(state, &self.offers, verb);
                let _ = state.fleet.client.publish(reply, body).await;
            }
            #[cfg(feature = "ledger")]
            (Inbound::StoredResult { caller }, Some(reply)) => {
                let state = state.clone();
                let caller = caller.to_owned();
                tokio::spawn(async move {
                    super::accepted_call::send_stored(&state, &caller, reply, &message.payload).await;
                });
            }
            (_, None) => {}
        }
    }
}

/// Sends ticks, except while the server is away.
async fn send_ticks(state: Arc<WorkerState>) {
    loop {
        sleep(TICK).await;
        if state.fleet.is_connected() {
            state.send_tick().await;
        }
    }
}

async fn accept(
    state: &Arc<WorkerState>,
    offer: Option<&Arc<Offer>>,
    caller: &str,
    reply: Subject,
    message: Message,
) {
    let calls = &state.calls;
    let Some(offer) = offer else { return state.refuse(reply, &Refusal::NotServed).await };
    if calls.is_draining.load(Ordering::Relaxed) {
        return state.refuse(reply, &Refusal::Draining).await;
    }
    if calls.is_stalled() {
        return state.refuse(reply, &Refusal::Stalled).await;
    }
    let Ok(permit) = state.settings.calls.admit() else { return state.refuse(reply, &Refusal::Full).await };
    let call = AcceptedCall::new(state.clone(), offer.clone(), caller, reply, message.payload, permit);
    // The runtime moves the future of a task several times.
    tokio::spawn(Box::pin(call.run()));
}
