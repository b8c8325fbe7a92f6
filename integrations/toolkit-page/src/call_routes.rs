//! The calls: a table, one call, and what changes.

use crate::call_timeline::CallQuery;
use crate::page_answer::{json_answer, refusal, typed};
use crate::served_page::Served;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, StatusCode};
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::watch::Receiver;
use tokio::time::{sleep, timeout};

/// The time in which changes are collected before they are sent.
const PAUSE: Duration = Duration::from_millis(60);

/// The time without a change after which a comment keeps the connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(crate) async fn list(State(served): State<Served>, Query(query): Query<CallQuery>) -> Response {
    json_answer(&served.timeline.rows(&query))
}

pub(crate) async fn show(State(served): State<Served>, Path(number): Path<u64>) -> Response {
    match served.timeline.details(number, served.contents) {
        Some(details) => json_answer(&details),
        None => refusal(StatusCode::NOT_FOUND, "the page does not have this call, or no longer"),
    }
}

struct ChangeStream {
    served: Served,
    changes: Receiver<u64>,
    last: u64,
}

#[derive(serde::Deserialize)]
pub(crate) struct After {
    after: Option<u64>,
}

/// Sends the calls that change, from the last change that the reader has: none is lost over a reconnect
/// that the page still keeps.
pub(crate) async fn changes(
    State(served): State<Served>,
    Query(query): Query<After>,
    headers: HeaderMap,
) -> Response {
    let seen = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    let changes = served.timeline.subscribe();
    let last = seen.or(query.after).unwrap_or_default();
    let events = stream::unfold(ChangeStream { served, changes, last }, |mut stream| async move {
        let event = stream.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(event)), stream))
    });
    typed("text/event-stream", Body::from_stream(events))
}

impl ChangeStream {
    /// Waits for changes, and returns them as an event. A burst becomes one event with the latest states.
    async fn next(&mut self) -> Option<String> {
        let last = self.last;
        match timeout(KEEP_ALIVE, self.changes.wait_for(|change| *change > last)).await {
            Ok(Ok(_)) => {}
            Ok(Err(_)) => return None,
            Err(_) => return Some(":\n\n".to_owned()),
        }
        sleep(PAUSE).await;
        let (rows, change) = self.served.timeline.changes_since(self.last);
        // Dropped calls leave gaps.
        self.last = if change == last { *self.changes.borrow() } else { change };
        Some(format!("id: {}\ndata: {rows}\n\n", self.last))
    }
}
