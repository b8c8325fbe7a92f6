//! The progress and the end of a call as server-sent events.

use super::problem_details::ProblemDetails;
use super::responses::{Outcome, json};
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use http::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use serde_json::json as value;
use std::convert::Infallible;
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::mpsc::Receiver;
use tokio::time::sleep;
use toolkit_core::context::Progress;
use toolkit_http::server::HttpBody;

/// The time without an event after which a comment keeps the connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

struct RunningCall {
    progress: Receiver<Progress>,
    outcome: Pin<Box<dyn Future<Output = Outcome> + Send>>,
}

/// Returns a response with events `progress`, and last an event `result` or `error`. Dropping its body drops
/// the call.
pub(super) fn event_stream(
    progress: Receiver<Progress>,
    outcome: impl Future<Output = Outcome> + Send + 'static,
) -> Response<HttpBody> {
    let running = RunningCall { progress, outcome: Box::pin(outcome) };
    let events = stream::unfold(Some(running), next).map(|events| Ok::<_, Infallible>(Bytes::from(events)));
    let mut response = Response::new(HttpBody::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Keeps proxies such as nginx from collecting the events.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// Waits for the next report, the time of a comment, or the end with the reports before it.
async fn next(running: Option<RunningCall>) -> Option<(String, Option<RunningCall>)> {
    let mut running = running?;
    let outcome = tokio::select! {
        biased;
        Some(report) = running.progress.recv() => return Some((of_report(&report), Some(running))),
        outcome = &mut running.outcome => outcome,
        () = sleep(KEEP_ALIVE) => return Some((":\n\n".to_owned(), Some(running))),
    };
    let mut events = String::new();
    while let Ok(report) = running.progress.try_recv() {
        events.push_str(&of_report(&report));
    }
    events.push_str(&match outcome {
        Ok(output) => event("result", &json(&output)),
        Err(error) => event("error", &ProblemDetails::from(&error).json()),
    });
    Some((events, None))
}

fn of_report(report: &Progress) -> String {
    event("progress", &value!({"fraction": report.fraction, "message": report.message}).to_string())
}

/// Returns an event with JSON, which may have several lines.
fn event(name: &str, json: &str) -> String {
    let mut event = format!("event: {name}\n");
    for line in json.split(['\n', '\r']) {
        event.push_str("data: ");
        event.push_str(line);
        event.push('\n');
    }
    event.push('\n');
    event
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;
    use tokio::time::Instant;
    use toolkit_core::ToolOutput;

    #[test]
    fn each_line_of_the_json_is_a_line_of_the_event() {
        assert_eq!(
            event("result", "{\n  \"a\": 1\n}"),
            "event: result\ndata: {\ndata:   \"a\": 1\ndata: }\n\n"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn comments_are_sent_until_the_call_ends() {
        let start = Instant::now();
        let (reports, progress) = mpsc::channel(1);
        let outcome = async move {
            sleep(Duration::from_secs(40)).await;
            drop(reports);
            Ok(ToolOutput::text("done"))
        };
        let parts = event_stream(progress, outcome).into_body().into_stream();
        let parts: Vec<_> = parts.map(|part| (start.elapsed().as_secs(), part.unwrap())).collect().await;
        let result = "event: result\ndata: \"done\"\n\n";
        assert_eq!(parts, [(15, ":\n\n".into()), (30, ":\n\n".into()), (40, Bytes::from(result))]);
    }
}
