//! Rate limits, and limits for failed attempts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use toolkit::middleware::{AttemptLimit, RateLimit};
use toolkit::prelude::*;
use toolkit::{CancellationToken, ErrorKind, RunContext};

/// Returns how many milliseconds have passed.
#[tool(namespace = "rate")]
async fn search(#[state] start: Arc<Instant>) -> u128 {
    start.elapsed().as_millis()
}

/// Returns how many milliseconds have passed.
#[tool(namespace = "rate")]
async fn other(#[state] start: Arc<Instant>) -> u128 {
    start.elapsed().as_millis()
}

/// Wants a year of this century.
#[tool(namespace = "rate")]
fn book(year: u32) -> Result<u32, ToolError> {
    if year < 2000 { Err(ToolError::retry("the year must be 2000 or later")) } else { Ok(year) }
}

/// Fails.
#[tool(namespace = "rate")]
fn fails() -> Result<(), &'static str> {
    Err("no luck")
}

fn dispatcher() -> Dispatcher {
    let registry = ToolRegistry::from_tools(tools![search, other, book, fails]).expect("no collisions");
    Dispatcher::new(registry.with_shared_state(Arc::new(Instant::now()))).expect("complete")
}

fn call(tool: &str, arguments: &str) -> ToolCall {
    ToolCall::new(tool, format!("rate-{tool}"), arguments)
}

fn searches(count: usize) -> Vec<ToolCall> {
    vec![call("search", ""); count]
}

fn texts(results: &[ToolResult]) -> Vec<String> {
    results.iter().map(|result| result.to_text().into_owned()).collect()
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn calls_up_to_the_limit_run_at_once_and_others_one_by_one() {
    let limit = RateLimit::new().for_tool("*-search", 2, SECOND).unwrap();
    let dispatcher = dispatcher().with_middleware(limit);
    let mut calls = searches(5);
    calls.push(call("other", ""));
    assert_eq!(texts(&dispatcher.dispatch(calls).await), ["0", "0", "500", "1000", "1500", "0"]);
    // Unused capacity is available again, but never more than the limit.
    sleep(10 * SECOND).await;
    assert_eq!(texts(&dispatcher.clone().dispatch(searches(3)).await), ["11500", "11500", "12000"]);
}

#[tokio::test(start_paused = true)]
async fn the_common_limit_holds_in_addition_to_limits_of_tools() {
    let limit = RateLimit::new().for_all(3, 3 * SECOND).for_tool("*-search", 1, 2 * SECOND).unwrap();
    let dispatcher = dispatcher().with_middleware(limit);
    let calls = [call("search", ""), call("search", ""), call("other", ""), call("other", "")];
    // The second search runs after two seconds and delays no other call.
    let results = texts(&dispatcher.dispatch(calls).await);
    assert_eq!(results[..2], ["0", "2000"]);
    assert!(results[2..].iter().all(|text| text.parse::<u64>().is_ok_and(|at| at <= 2000)), "{results:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_beyond_the_patience_is_refused_with_a_time_to_retry() {
    let limit = RateLimit::new().for_tool("*-search", 1, 10 * SECOND).unwrap().with_patience(15 * SECOND);
    let dispatcher = dispatcher().with_middleware(limit);
    let results = dispatcher.dispatch(searches(4)).await;
    let later = "Tool `rate-search` is called too often; call it again in 20 seconds";
    assert_eq!(texts(&results), ["0", "10000", later, later]);
    assert_eq!(results[2].error().map(ToolError::kind), Some(ErrorKind::RateLimited));
    // Refused calls have not used any capacity.
    sleep(10 * SECOND).await;
    assert_eq!(texts(&dispatcher.dispatch(searches(1)).await), ["20000"]);
    let impatient = RateLimit::new().for_all(1, SECOND).with_patience(Duration::ZERO);
    let results = self::dispatcher().with_middleware(impatient).dispatch(searches(2)).await;
    assert_eq!(texts(&results)[1], "Tool `rate-search` is called too often; call it again in 1 second");
}

#[tokio::test(start_paused = true)]
async fn a_call_waiting_for_its_rate_holds_no_permit() {
    let limit = RateLimit::new().for_tool("*-search", 1, 20 * SECOND).unwrap();
    let dispatcher = dispatcher().with_max_concurrency(1).with_timeout(SECOND).with_middleware(limit);
    let calls = [call("search", ""), call("search", ""), call("other", "")];
    let results = dispatcher.dispatch(calls).await;
    assert_eq!(texts(&results), ["0", "20000", "0"], "nor does its time limit run");
    assert!(results[1].duration < SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_call_waiting_for_its_rate_can_be_cancelled() {
    let limit = RateLimit::new().for_all(1, 20 * SECOND);
    let dispatcher = dispatcher().with_middleware(limit);
    let token = CancellationToken::new();
    let calls = [call("other", ""), call("search", "")];
    let batch = dispatcher.dispatch_with(calls, token.clone());
    let cancel = async {
        sleep(SECOND).await;
        token.cancel();
    };
    let started = Instant::now();
    let (results, ()) = tokio::join!(batch, cancel);
    assert_eq!(texts(&results), ["0", "Tool `rate-search` was cancelled before it finished"]);
    assert_eq!(started.elapsed(), SECOND);
}

#[tokio::test(start_paused = true)]
async fn the_longest_durations_do_not_overflow() {
    let forever = RateLimit::new().for_all(2, Duration::MAX).with_patience(Duration::MAX);
    let dispatcher = dispatcher().with_middleware(forever);
    assert_eq!(texts(&dispatcher.dispatch(searches(2)).await), ["0", "0"]);
    let never = RateLimit::new().for_all(0, Duration::ZERO);
    assert_eq!(texts(&self::dispatcher().with_middleware(never).dispatch(searches(3)).await), ["0"; 3]);
}

const EARLY: &str = r#"{"year": 1999}"#;
const LATE: &str = r#"{"year": 2026}"#;

async fn only(dispatcher: &Dispatcher, call: ToolCall) -> (ErrorKind, String) {
    let results = dispatcher.dispatch([call]).await;
    let error = results[0].error().expect("it fails");
    (error.kind(), error.message().to_owned())
}

#[tokio::test]
async fn the_last_attempt_tells_the_model_to_stop() {
    let dispatcher = dispatcher().with_middleware(AttemptLimit::new(3));
    let again = (ErrorKind::Retry, "Try again: the year must be 2000 or later".to_owned());
    assert_eq!(only(&dispatcher, call("book", EARLY)).await, again);
    // Invalid arguments count as failed attempts, but errors that the model did not cause do not.
    assert_eq!(only(&dispatcher, call("book", "{}")).await.0, ErrorKind::InvalidArguments);
    assert_eq!(only(&dispatcher, call("fails", "")).await.0, ErrorKind::Failed);
    let (kind, text) = only(&dispatcher, call("book", EARLY)).await;
    assert_eq!(kind, ErrorKind::Exhausted);
    assert_eq!(
        text,
        "Tool `rate-book` failed 3 times in a row; stop calling it. Last error: the year must be 2000 or later"
    );
    let (kind, text) = only(&dispatcher, call("book", "{")).await;
    assert_eq!(kind, ErrorKind::Exhausted);
    assert!(text.contains("4 times in a row; stop calling it. Last error: Error parsing JSON"), "{text}");
    // A successful call resets the count.
    assert_eq!(texts(&dispatcher.dispatch([call("book", LATE)]).await), ["2026"]);
    assert_eq!(only(&dispatcher, call("book", EARLY)).await, again);
}

#[tokio::test]
async fn the_calls_of_a_batch_are_one_attempt() {
    let dispatcher = dispatcher().with_middleware(AttemptLimit::new(9).for_tool("rate-b*", 2).unwrap());
    let kinds = |results: &[ToolResult]| -> Vec<ErrorKind> {
        results.iter().filter_map(|result| Some(result.error()?.kind())).collect()
    };
    let batch = || vec![call("book", EARLY); 3];
    assert_eq!(kinds(&dispatcher.dispatch(batch()).await), [ErrorKind::Retry; 3]);
    assert_eq!(kinds(&dispatcher.dispatch(batch()).await), [ErrorKind::Exhausted; 3]);
}

#[tokio::test]
async fn attempts_are_counted_for_each_run() {
    let dispatcher = dispatcher().with_middleware(AttemptLimit::new(2));
    let run = RunContext::new();
    let of_run = dispatcher.clone().with_run(run.clone());
    assert_eq!(only(&of_run, call("book", EARLY)).await.0, ErrorKind::Retry);
    let another = dispatcher.clone().with_run(RunContext::new());
    assert_eq!(only(&another, call("book", EARLY)).await.0, ErrorKind::Retry);
    assert_eq!(only(&dispatcher, call("book", EARLY)).await.0, ErrorKind::Retry);
    assert_eq!(only(&dispatcher.with_run(run), call("book", EARLY)).await.0, ErrorKind::Exhausted);
}

#[tokio::test]
async fn the_last_failed_attempt_keeps_its_violations() {
    let counted = Arc::new(AtomicUsize::new(0));
    let seen = counted.clone();
    let dispatcher =
        dispatcher().with_middleware(AttemptLimit::new(0)).with_failure_text(move |tool, error| {
            seen.fetch_add(error.violations().len(), Ordering::Relaxed);
            format!("{tool}: {:?}", error.kind())
        });
    assert_eq!(only(&dispatcher, call("book", "{}")).await.1, "rate-book: Exhausted");
    assert_eq!(counted.load(Ordering::Relaxed), 1, "the program still knows each fault");
}
