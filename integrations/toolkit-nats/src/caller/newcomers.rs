//! Workers that have announced themselves: each is asked before it gets calls.

use super::caller_state::CallerState;
use super::fleet_event::FleetEvent;
use super::listings::fetch_all;
use super::replies::Reply;
use crate::frames::Announcement;
use crate::subjects::{NamespaceVersion, name_of_worker, questions};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use toolkit_core::__private::lock;

const ASKED: usize = 4_096;
/// The time in which a worker answers, until the next announcement asks again.
const ANSWER: Duration = Duration::from_secs(2);

/// Takes an announcement into account. `name` is the name in its subject, if any.
pub(super) fn hear(state: &Arc<CallerState>, announcement: Announcement, name: Option<&str>) {
    let Some(own_name) = name_of_worker(&announcement.worker) else { return };
    let is_wanted = state.settings.workers.as_deref().is_none_or(|wanted| wanted == own_name);
    let worker = announcement.worker.clone();
    let is_leaving = announcement.is_leaving;
    // Who may publish on the subject of a name may speak for its workers. An answer to a question has no such
    // subject.
    let may_say_so = name.map_or(!is_leaving, |name| name == own_name);
    if !is_wanted || !may_say_so {
        return;
    }
    let mut members = lock(&state.members);
    if !members.workers.contains_key(&*worker) && !is_leaving {
        if members.newcomers.len() < ASKED && members.newcomers.insert(worker) {
            drop(members);
            tokio::spawn(state.stop.clone().run_until_cancelled_owned(greet(state.clone(), announcement)));
        }
        return;
    }
    members.newcomers.remove(&worker);
    let (is_changed, missing) = members.hear(announcement, state.replies.round());
    drop(members);
    if is_changed {
        state.changed.notify_one();
        if is_leaving {
            state.emit(FleetEvent::WorkerLeft { worker, lost: false });
        }
    }
    if !missing.is_empty() {
        fetch(state, missing);
    }
}

fn fetch(state: &Arc<CallerState>, missing: Vec<NamespaceVersion>) {
    let state = state.clone();
    tokio::spawn(async move { fetch_all(&state, missing).await });
}

/// Asks a worker about a call that it does not run. One that calls reach says so. Anything else is no worker,
/// or the server's permissions keep calls from it.
async fn greet(state: Arc<CallerState>, announcement: Announcement) {
    let mut line = state.replies.open(None);
    let subject = state.fleet.subject(questions(&announcement.worker, &state.settings.name));
    let asked = state.fleet.client.publish_with_reply(subject, line.subject.clone(), Bytes::new()).await;
    let answered = asked.is_ok() && matches!(timeout(ANSWER, line.next()).await, Ok(Reply::Frame(_)));
    let worker = announcement.worker.clone();
    let mut members = lock(&state.members);
    // It may have left meanwhile.
    let is_awaited = members.newcomers.remove(&worker);
    let mut missing = Vec::new();
    if answered && is_awaited {
        (_, missing) = members.hear(announcement, state.replies.round());
    }
    drop(members);
    if answered && is_awaited {
        state.emit(FleetEvent::WorkerJoined { worker });
    }
    state.changed.notify_one();
    fetch(&state, missing);
}
