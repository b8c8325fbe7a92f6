//! One call of a tool: from the request to the response.

use super::call_events::event_stream;
use super::http_caller::HttpCaller;
use super::problem_details::ProblemDetails;
use super::published::Api;
use super::responses::{Outcome, response};
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use http::request::Parts;
use http::{Response, StatusCode};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use toolkit_core::context::Progress;
use toolkit_core::{CancellationToken, RunContext, ToolCall, ToolError};
use toolkit_http::server::HttpBody;

/// The maximum progress reports that wait for a slow client. Further ones are dropped.
const MAX_REPORTS: usize = 64;

/// Runs the tool with the published name `name`, and returns the response.
///
/// # Errors
/// The request cannot be read, or too many calls are running.
pub(super) async fn call(
    api: &Api,
    name: &str,
    parts: Parts,
    body: HttpBody,
) -> Result<Response<HttpBody>, ProblemDetails> {
    let body = api.guards.read_body(body).await?;
    if !body.is_empty() && !is_json(&parts.headers) {
        let text = "the body must be JSON, with the header `content-type: application/json`";
        return Err(ProblemDetails::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    let Ok(text) = std::str::from_utf8(&body) else {
        return Err(ProblemDetails::new(StatusCode::BAD_REQUEST, "the body is not UTF-8"));
    };
    let arguments = if text.trim().is_empty() { "{}" } else { text };
    let permit = match api.calls.admit() {
        Ok(permit) => permit,
        Err(busy) => {
            return Err(ProblemDetails::new(StatusCode::SERVICE_UNAVAILABLE, busy.message())
                .with_retry_after(Duration::from_secs(1)));
        }
    };
    let call = ToolCall::new(api.next_call_id(), api.names().unspell(name), arguments);
    let wait = wait(&parts.headers);
    let accepts_events = accepts_events(&parts.headers);
    let run = match api.calls.run_context(RunContext::new(), &HttpCaller::new(parts)) {
        Ok(run) => run,
        Err(error) => return Ok(response(Err(error))),
    };
    if !accepts_events {
        let outcome = dispatch(api, run, call, wait).await;
        drop(permit);
        return Ok(response(outcome));
    }
    let (reports, progress) = mpsc::channel(MAX_REPORTS);
    let reporting_run = run.on_progress(move |report: Progress| drop(reports.try_send(report)));
    let api = api.clone();
    Ok(event_stream(progress, async move {
        let _permit = permit;
        dispatch(&api, reporting_run, call, wait).await
    }))
}

async fn dispatch(api: &Api, run: RunContext, call: ToolCall, wait: Option<Duration>) -> Outcome {
    let tool = call.name.clone();
    let dispatcher = api.dispatcher.clone().with_run(run);
    let running = dispatcher.dispatch_found(call, CancellationToken::new());
    let ended = match wait {
        None => Ok(running.await),
        Some(limit) => timeout(limit, running).await.map_err(|_| ToolError::timed_out(&tool, limit)),
    };
    ended?.0.outcome
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    media_type == "application/json" || media_type.ends_with("+json")
}

fn accepts_events(headers: &HeaderMap) -> bool {
    for value in headers.get_all(ACCEPT) {
        for range in value.to_str().unwrap_or_default().split(',') {
            let media_type = range.split(';').next().unwrap_or_default();
            if media_type.trim().eq_ignore_ascii_case("text/event-stream") {
                return true;
            }
        }
    }
    false
}

/// Returns the seconds that the client waits: the preference `wait` (RFC 7240).
fn wait(headers: &HeaderMap) -> Option<Duration> {
    for header in headers.get_all("prefer") {
        for preference in header.to_str().unwrap_or_default().split([',', ';']) {
            let Some((name, value)) = preference.split_once('=') else { continue };
            if name.trim().eq_ignore_ascii_case("wait")
                && let Ok(seconds) = value.trim().trim_matches('"').parse()
            {
                return Some(Duration::from_secs(seconds));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preference_of_a_request_is_found() {
        let wait =
            |value: &str| wait(&HeaderMap::from_iter([("prefer".parse().unwrap(), value.parse().unwrap())]));
        for text in ["wait=10", "Wait=\"10\"", "respond-async, wait=10", "return=minimal; wait = 10"] {
            assert_eq!(wait(text), Some(Duration::from_secs(10)), "{text}");
        }
        for text in ["wait", "wait=", "wait=-1", "await=10", "respond-async"] {
            assert_eq!(wait(text), None, "{text}");
        }
    }
}
