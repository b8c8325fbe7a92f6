//! The tasks of a caller: they hear replies and announcements, and notice lost workers.

use super::caller_state::CallerState;
use super::catalog::{Absence, Catalog};
use super::fleet_event::FleetEvent;
use super::listings::FETCH;
use super::newcomers::hear;
use super::replies::Reply;
use crate::fleet::Refusals;
use crate::fleet_error::FleetError;
use async_nats::{Client, Subscriber};
use futures_util::StreamExt as _;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use toolkit_core::__private::lock;

/// The time to wait for the first worker, and for all.
const FIRST: Duration = Duration::from_secs(1);
/// The silence after which no further worker is expected.
const QUIET: Duration = Duration::from_millis(100);
const ROUND: Duration = Duration::from_millis(500);
/// The time in which changes of several workers become one.
const DEBOUNCE: Duration = Duration::from_millis(20);

/// Discovers the workers, and starts the tasks that follow them. A missing permission ends it: without a
/// subject, there would be no tools, or lost calls.
pub(super) async fn start(state: &Arc<CallerState>) -> Result<(), FleetError> {
    let fleet = &state.fleet;
    let mut refusals = fleet.refusals(state.replies.inbox());
    let replies = fleet.client.subscribe(state.replies.subject()).await.map_err(FleetError::lost)?;
    let workers = state.settings.workers.as_deref().unwrap_or("*");
    let subject = fleet.subject(format_args!("live.{workers}"));
    let live = fleet.client.subscribe(subject).await.map_err(FleetError::lost)?;
    tokio::spawn(state.stop.clone().run_until_cancelled_owned(listen(state.clone(), replies, live)));
    tokio::select! {
        refusal = refusals.next() => return Err(FleetError::refused(&refusal)),
        discovered = discover(state) => discovered?,
    }
    tokio::spawn(state.stop.clone().run_until_cancelled_owned(tell(state.clone(), refusals)));
    rebuild(state);
    let rebuilding = state.clone();
    tokio::spawn(state.stop.clone().run_until_cancelled_owned(async move {
        loop {
            rebuilding.changed.notified().await;
            sleep(DEBOUNCE).await;
            rebuild(&rebuilding);
        }
    }));
    Ok(())
}

async fn discover(state: &Arc<CallerState>) -> Result<(), FleetError> {
    ask_who(state).await?;
    settle(state).await;
    Ok(())
}

/// Tells of what the server refuses later.
async fn tell(state: Arc<CallerState>, mut refusals: Refusals) {
    loop {
        let reason = refusals.next().await;
        state.emit(FleetEvent::PermissionDenied { reason });
    }
}

/// Hears all that comes, and counts the rounds of listening. One task does both, so that no silence is judged
/// while something that has come is not read.
async fn listen(state: Arc<CallerState>, mut replies: Subscriber, mut live: Subscriber) {
    let client = &state.fleet.client;
    let mut round = pin!(all_read(client));
    loop {
        tokio::select! {
            biased;
            Some(message) = live.next() => {
                if let Ok(announcement) = serde_json::from_slice(&message.payload) {
                    hear(&state, announcement, Some(message.subject.rsplit('.').next().unwrap_or_default()));
                }
            }
            Some(message) = replies.next() => state.replies.receive(message),
            () = &mut round => {
                expire(&state, state.replies.end_round());
                round.set(all_read(client));
            }
        }
    }
}

/// Waits for a round, and until all messages that have come wait to be received: the connection's task reads
/// what the kernel has before it flushes. While there is no connection, it does not flush.
async fn all_read(client: &Client) {
    sleep(ROUND).await;
    // On an error the connection has ended, and nothing more comes.
    let _ = client.flush().await;
}

async fn ask_who(state: &Arc<CallerState>) -> Result<(), FleetError> {
    let fleet = &state.fleet;
    let mut line = state.replies.open(None);
    let asked = fleet.client.publish_with_reply(fleet.subject("who"), line.subject.clone(), "".into()).await;
    asked.map_err(FleetError::lost)?;
    let mut wait = FIRST;
    let started = Instant::now();
    while started.elapsed() < FIRST {
        match timeout(wait, line.next()).await {
            Ok(Reply::Frame(message)) => {
                if let Ok(announcement) = serde_json::from_slice(&message) {
                    hear(state, announcement, None);
                }
                wait = QUIET;
            }
            _ => break,
        }
    }
    Ok(())
}

/// Waits until all announced workers have answered, with their definitions.
async fn settle(state: &CallerState) {
    let settled = async {
        while !lock(&state.members).are_settled() {
            state.changed.notified().await;
        }
    };
    // Workers that answer later are followed, too.
    let _ = timeout(FETCH, settled).await;
}

/// Removes silent workers, and tools that were away for too long.
fn expire(state: &CallerState, round: u64) {
    let lost = lock(&state.members).expire(round);
    for worker in &lost {
        state.emit(FleetEvent::WorkerLeft { worker: worker.to_string(), lost: true });
    }
    if !lost.is_empty() || state.catalog().has_expired(round, absence_in_rounds(state)) {
        state.changed.notify_one();
    }
}

fn absence_in_rounds(state: &CallerState) -> u64 {
    u64::try_from(state.settings.absence.as_millis().div_ceil(ROUND.as_millis())).unwrap_or(u64::MAX)
}

fn rebuild(state: &CallerState) {
    let earlier = state.catalog();
    let catalog = {
        let mut members = lock(&state.members);
        let absence = Absence {
            round: state.replies.round(),
            rounds: absence_in_rounds(state),
            withdrawn: members.take_withdrawn(),
        };
        members.forget_unused();
        let caller = &state.settings.name;
        Catalog::new(&members, &earlier, &absence, |worker, tokens| {
            state.fleet.subject(format_args!("to.{}.{caller}.{tokens}", worker.id)).into()
        })
    };
    let [added, removed, changed] = catalog.changes_since(&earlier);
    let mut new_issues = Vec::new();
    if catalog.issues != earlier.issues {
        new_issues.clone_from(&catalog.issues);
    }
    state.publish(catalog);
    if !(added.is_empty() && removed.is_empty() && changed.is_empty()) {
        state.emit(FleetEvent::ToolsChanged { added, removed, changed });
    }
    if !new_issues.is_empty() {
        state.emit(FleetEvent::Issues(new_issues));
    }
}
