//! Rate limits, and limits for failed attempts.

use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};
use toolkit_ai::middleware::{AttemptLimit, RateLimit};
use toolkit_ai::prelude::*;
use toolkit_ai::{Batch, CancellationToken, ClosureTool, ErrorKind, RunContext};

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
async fn clones_of_a_limit_share_it() {
    let limit = RateLimit::new().for_all(1, SECOND);
    let [first, second] = [0, 1].map(|_| dispatcher().with_middleware(limit.clone()));
    let started = Instant::now();
    assert_eq!(texts(&first.dispatch(searches(1)).await), ["0"]);
    assert!(!second.dispatch(searches(1)).await[0].is_error());
    assert_eq!(started.elapsed(), SECOND);
}

#[tokio::test(start_paused = true)]
async fn calls_up_to_the_limit_run_at_once_and_others_one_by_one() {
    let limit = RateLimit::new().for_tool("*-search", 2, SECOND).unwrap();
    let dispatcher = dispatcher().with_middleware(limit);
    let mut calls = searches(5);
    calls.push(call("other", ""));
    assert_eq!(texts(&dispatcher.dispatch(calls).await), ["0", "0", "500", "1000", "1500", "0"]);
    // Unused capacity returns, but never beyond the limit.
    sleep(10 * SECOND).await;
    assert_eq!(texts(&dispatcher.clone().dispatch(searches(3)).await), ["11500", "11500", "12000"]);
}

#[tokio::test(start_paused = true)]
async fn the_common_limit_holds_in_addition_to_limits_of_tools() {
    let limit = RateLimit::new().for_all(3, 3 * SECOND).for_tool("*-search", 1, 2 * SECOND).unwrap();
    let dispatcher = dispatcher().with_middleware(limit);
    let calls = [call("search", ""), call("search", ""), call("other", ""), call("other", "")];
    // The second search runs after two seconds and delays nothing.
    assert_eq!(texts(&dispatcher.dispatch(calls).await), ["0", "2000", "0", "0"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_the_limit_of_its_tool_delays_no_other_tool() {
    let limit = RateLimit::new().for_all(10, SECOND).for_tool("*-search", 1, 20 * SECOND).unwrap();
    let dispatcher = dispatcher().with_middleware(limit);
    let mut batch = dispatcher.batch(searches(2));
    sleep(Duration::from_millis(1)).await;
    batch.push(call("other", ""));
    assert_eq!(texts(&batch.finish().await), ["0", "20000", "1"]);
}

#[tokio::test(start_paused = true)]
async fn the_patience_covers_both_limits() {
    let limit = RateLimit::new().for_all(1, 8 * SECOND).for_tool("*-search", 1, 10 * SECOND).unwrap();
    let dispatcher = dispatcher().with_middleware(limit.with_patience(15 * SECOND));
    let mut batch = dispatcher.batch(searches(2));
    sleep(9 * SECOND).await;
    // This call takes the time from 9 to 17, so the second search would wait for 17 seconds.
    batch.push(call("other", ""));
    let later = "Tool `rate-search` is called too often; call it again in 7 seconds";
    assert_eq!(texts(&batch.finish().await), ["0", later, "9000"]);
}

/// Returns the times in milliseconds at which calls may run, under a rate of `calls` in each `time`.
fn scheduled(mut asked: Vec<u64>, rate: Option<(u32, u64)>) -> Vec<u64> {
    asked.sort_unstable();
    let Some((calls, time)) = rate else { return asked };
    let each = time / u64::from(calls);
    let mut used = 0;
    asked
        .into_iter()
        .map(|asked| {
            let start = asked.max((used + each).saturating_sub(time));
            used = used.max(start) + each;
            start
        })
        .collect()
}

fn rate() -> impl Strategy<Value = Option<(u32, u64)>> {
    proptest::option::of(
        (1_u32..5, 1_u64..60).prop_map(|(calls, time)| (calls, u64::from(calls) * time * 10)),
    )
}

proptest! {
    #[test]
    fn a_call_runs_at_the_first_time_that_both_limits_allow(
        all in rate(),
        of_tools in [rate(), rate()],
        calls in proptest::collection::vec((any::<bool>(), 0_u64..400), 1..12),
    ) {
        let period = Duration::from_millis;
        let mut limit = RateLimit::new().with_patience(Duration::MAX);
        if let Some((calls, time)) = all {
            limit = limit.for_all(calls, period(time));
        }
        for (rate, tool) in of_tools.iter().zip(["rate-other", "rate-search"]) {
            if let Some((calls, time)) = *rate {
                limit = limit.for_tool(tool, calls, period(time)).unwrap();
            }
        }
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let mut ran = runtime.block_on(async {
            let dispatcher = dispatcher().with_middleware(limit);
            let mut batch = dispatcher.batch([]);
            let mut pushed: Vec<_> = calls.clone();
            pushed.sort_by_key(|(_, at)| *at);
            let mut now = 0;
            for (is_search, at) in pushed {
                sleep(period(at - now)).await;
                now = at;
                batch.push(call(if is_search { "search" } else { "other" }, ""));
            }
            texts(&batch.finish().await).iter().map(|text| text.parse().unwrap()).collect::<Vec<u64>>()
        });
        ran.sort_unstable();
        let of_tool = |tool: usize| {
            let asked = calls.iter().filter(|(is_search, _)| usize::from(*is_search) == tool).map(|(_, at)| *at);
            scheduled(asked.collect(), of_tools[tool])
        };
        prop_assert_eq!(ran, scheduled([of_tool(0), of_tool(1)].concat(), all));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_beyond_the_patience_is_refused_with_a_time_to_retry() {
    let limit = RateLimit::new().for_tool("*-search", 1, 10 * SECOND).unwrap().with_patience(15 * SECOND);
    let dispatcher = dispatcher().with_middleware(limit);
    let results = dispatcher.dispatch(searches(4)).await;
    let later = "Tool `rate-search` is called too often; call it again in 20 seconds";
    assert_eq!(texts(&results), ["0", "10000", later, later]);
    assert_eq!(results[2].error().map(ToolError::kind), Some(ErrorKind::RateLimited));
    // Refused calls use no capacity.
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

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct At {
    at: usize,
}

thread_local! {
    /// The outcomes for which the calls of a test wait.
    static TURNS: RefCell<Vec<Option<oneshot::Receiver<bool>>>> = const { RefCell::new(Vec::new()) };
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
    // Invalid arguments count as failed, but not errors that the model did not cause.
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

/// The calls of random batches count as they end.
#[test]
fn overlapping_batches_count_once_each() {
    proptest!(|(ended in proptest::collection::vec((0_usize..3, any::<bool>()), 1..12))| {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let wait = ClosureTool::new("wait", "Waits for its outcome.", |at: At| async move {
                let outcome = TURNS.with(|turns| turns.borrow_mut()[at.at].take()).unwrap();
                if outcome.await.unwrap() { Ok(()) } else { Err(ToolError::retry("failed")) }
            });
            let registry = ToolRegistry::from_tools([wait.unwrap()]).unwrap();
            let dispatcher = Dispatcher::new(registry).unwrap().with_middleware(AttemptLimit::new(3));
            let mut batches: Vec<Batch> = (0..3).map(|_| dispatcher.batch([])).collect();
            let (senders, receivers): (Vec<_>, Vec<_>) = ended.iter().map(|_| oneshot::channel()).unzip();
            TURNS.with(|turns| *turns.borrow_mut() = receivers.into_iter().map(Some).collect());
            for (at, (batch, _)) in ended.iter().enumerate() {
                batches[*batch].push(ToolCall::new(at.to_string(), "wait", format!(r#"{{"at": {at}}}"#)));
            }
            let mut failed = BTreeSet::new();
            for ((batch, succeeds), sender) in ended.iter().zip(senders) {
                sender.send(*succeeds).unwrap();
                let result = batches[*batch].next().await.unwrap();
                if *succeeds {
                    failed.clear();
                    prop_assert!(!result.is_error());
                } else {
                    failed.insert(*batch);
                    let kind = if failed.len() >= 3 { ErrorKind::Exhausted } else { ErrorKind::Retry };
                    prop_assert_eq!(result.error().unwrap().kind(), kind);
                }
            }
            Ok(())
        })?;
    });
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
