//! The progress and the end of a call as server-sent events.

use super::problem_details::ProblemDetails;
use super::responses::{Outcome, json};
use axum::http::header::HeaderValue;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt};
use serde_json::json as value;
use std::convert::Infallible;
use std::pin::Pin;
use tokio::sync::mpsc::Receiver;
use toolkit_core::context::Progress;

/// A call that has not ended.
struct RunningCall {
    progress: Receiver<Progress>,
    outcome: Pin<Box<dyn Future<Output = Outcome> + Send>>,
}

/// Returns a response with an event `progress` for each report, and then an event `result` or `error`. Dropping its body
/// drops the call.
pub(super) fn event_stream(
    progress: Receiver<Progress>,
    outcome: impl Future<Output = Outcome> + Send + 'static,
) -> Response {
    let running = RunningCall { progress, outcome: Box::pin(outcome) };
    let events = stream::unfold(Some(running), next).flat_map(stream::iter);
    let mut response = Sse::new(events.map(Ok::<_, Infallible>)).keep_alive(KeepAlive::new()).into_response();
    // Proxies such as nginx do not collect the events.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Waits for the next report, or for the end with the reports before it.
async fn next(running: Option<RunningCall>) -> Option<(Vec<Event>, Option<RunningCall>)> {
    let mut running = running?;
    let outcome = tokio::select! {
        biased;
        Some(report) = running.progress.recv() => return Some((vec![of_report(&report)], Some(running))),
        outcome = &mut running.outcome => outcome,
    };
    let mut events = Vec::new();
    while let Ok(report) = running.progress.try_recv() {
        events.push(of_report(&report));
    }
    events.push(match outcome {
        Ok(output) => Event::default().event("result").data(json(&output)),
        Err(error) => Event::default().event("error").data(ProblemDetails::from(&error).json()),
    });
    Some((events, None))
}

fn of_report(report: &Progress) -> Event {
    let data = value!({"fraction": report.fraction, "message": report.message});
    Event::default().event("progress").data(data.to_string())
}
