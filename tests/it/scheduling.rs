//! Scheduling: limits, exclusive tools, lanes, the blocking pool, time limits, and cancellation of one call.

use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use toolkit_ai::prelude::*;
use toolkit_ai::{CancellationToken, ErrorKind};

/// A test's own log of running calls, as the state of its tools.
#[derive(Default)]
struct Log {
    lines: Mutex<Vec<String>>,
    inside: Mutex<HashMap<String, usize>>,
    most: Mutex<HashMap<String, usize>>,
    /// How many calls of `deaf` may still end.
    released: Mutex<usize>,
    release: Condvar,
}

impl Log {
    fn release(&self) {
        *self.released.lock().unwrap() += 1;
        self.release.notify_one();
    }

    fn is_released(&self) -> bool {
        let released = self.released.lock().unwrap();
        let limit = Duration::from_secs(60);
        let (mut released, _) =
            self.release.wait_timeout_while(released, limit, |released| *released == 0).unwrap();
        let is_released = *released > 0;
        *released = released.saturating_sub(1);
        is_released
    }

    fn enter(self: &Arc<Self>, what: impl Into<String>) -> Inside {
        let what = what.into();
        let mut inside = self.inside.lock().unwrap();
        let now = inside.entry(what.clone()).or_default();
        *now += 1;
        let mut most = self.most.lock().unwrap();
        let most = most.entry(what.clone()).or_default();
        *most = (*most).max(*now);
        Inside { log: self.clone(), what }
    }

    fn write(&self, line: impl Into<String>) {
        self.lines.lock().unwrap().push(line.into());
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    fn most(&self, what: &str) -> usize {
        self.most.lock().unwrap().get(what).copied().unwrap_or_default()
    }

    fn is_empty(&self) -> bool {
        self.inside.lock().unwrap().values().all(|inside| *inside == 0)
    }
}

struct Inside {
    log: Arc<Log>,
    what: String,
}

impl Drop for Inside {
    fn drop(&mut self) {
        *self.log.inside.lock().unwrap().get_mut(&self.what).unwrap() -= 1;
    }
}

/// Writes to a file.
#[tool(namespace = "jobs", lane = "path")]
async fn write(#[state] log: Arc<Log>, path: String, text: String, ms: u64) -> String {
    let _inside = log.enter(format!("file {path}"));
    sleep(Duration::from_millis(ms)).await;
    log.write(format!("{path} {text}"));
    text
}

/// Deletes a file.
#[tool(namespace = "jobs", lane = "path")]
async fn delete(#[state] log: Arc<Log>, path: String) {
    let _inside = log.enter(format!("file {path}"));
    log.write(format!("{path} deleted"));
}

/// Runs alone.
#[tool(namespace = "jobs", exclusive)]
async fn alone(#[state] log: Arc<Log>, n: u64, ms: u64) -> u64 {
    let _inside = log.enter("alone");
    sleep(Duration::from_millis(ms)).await;
    log.write(format!("alone {n}"));
    n
}

/// Runs with one other.
#[tool(namespace = "jobs", max_concurrency = 2)]
async fn pair(#[state] log: Arc<Log>, ms: u64) {
    let _inside = log.enter("pair");
    sleep(Duration::from_millis(ms)).await;
}

/// Runs with all others.
#[tool(namespace = "jobs")]
async fn any(#[state] log: Arc<Log>, n: u64, ms: u64) -> u64 {
    let _inside = log.enter("any");
    sleep(Duration::from_millis(ms)).await;
    log.write(format!("any {n}"));
    n
}

/// Panics after a while, alone.
#[tool(namespace = "jobs", exclusive)]
async fn breaks(#[state] log: Arc<Log>, ms: u64) {
    let _inside = log.enter("breaks");
    sleep(Duration::from_millis(ms)).await;
    panic!("broken");
}

/// Blocks its thread.
#[tool(namespace = "jobs", blocking, exclusive)]
fn block(#[state] log: Arc<Log>, context: &ToolContext, ms: u64) -> String {
    let _inside = log.enter("block");
    let end = std::time::Instant::now() + Duration::from_millis(ms);
    while std::time::Instant::now() < end && !context.is_cancelled() {
        std::thread::sleep(Duration::from_millis(1));
    }
    format!("{:?}", std::thread::current().id())
}

/// Blocks its thread, and panics.
#[tool(namespace = "jobs", blocking)]
fn block_and_panic() {
    panic!("blocked");
}

/// Waits on a thread of its own.
#[tool(namespace = "jobs", blocking)]
async fn block_async(ms: u64) -> u64 {
    sleep(Duration::from_millis(ms)).await;
    ms
}

/// Blocks its thread until it is released, and does not look whether it is cancelled.
#[tool(namespace = "jobs", blocking, exclusive)]
fn deaf(#[state] log: Arc<Log>) -> bool {
    let _inside = log.enter("deaf");
    let is_released = log.is_released();
    log.write("deaf");
    is_released
}

fn tools(log: &Arc<Log>) -> ToolRegistry {
    let tools = tools![write, delete, alone, pair, any, breaks, block, block_and_panic, block_async, deaf];
    ToolRegistry::from_tools(tools).expect("no collisions").with_shared_state(log.clone())
}

fn setup() -> (Arc<Log>, Dispatcher) {
    let log = Arc::new(Log::default());
    (log.clone(), Dispatcher::new(tools(&log)).expect("complete"))
}

fn call(id: impl ToString, tool: &str, arguments: impl ToString) -> ToolCall {
    ToolCall::new(id.to_string(), format!("jobs-{tool}"), arguments.to_string())
}

fn any_call(n: u64, ms: u64) -> ToolCall {
    call(n, "any", format!(r#"{{"n": {n}, "ms": {ms}}}"#))
}

fn alone_call(n: u64, ms: u64) -> ToolCall {
    call(n, "alone", format!(r#"{{"n": {n}, "ms": {ms}}}"#))
}

fn texts(results: &[ToolResult]) -> Vec<String> {
    results.iter().map(|result| result.to_text().into_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn no_more_calls_run_than_the_dispatcher_allows() {
    let (log, dispatcher) = setup();
    let dispatcher = dispatcher.with_max_concurrency(3);
    let started = Instant::now();
    let clone = dispatcher.clone();
    let (one, other) = tokio::join!(
        dispatcher.dispatch((0..10).map(|n| any_call(n, 100))),
        clone.dispatch((0..2).map(|n| any_call(n, 100))),
    );
    assert_eq!((one.len(), other.len()), (10, 2));
    assert_eq!(log.most("any"), 3, "a clone has the same limit, not one of its own");
    assert_eq!(started.elapsed().as_millis() / 100, 4);
    let one_only = dispatcher.with_max_concurrency(0).dispatch([any_call(1, 1), any_call(2, 1)]).await;
    assert_eq!(texts(&one_only), ["1", "2"], "a limit of nothing is a limit of one");
}

#[tokio::test(start_paused = true)]
async fn a_limited_tool_does_not_hold_up_others() {
    let (log, dispatcher) = setup();
    let started = Instant::now();
    let mut calls: Vec<ToolCall> = (0..6).map(|id| call(id, "pair", r#"{"ms": 100}"#)).collect();
    calls.extend((0..6).map(|n| any_call(n, 100)));
    let results = dispatcher.dispatch(calls).await;
    assert!(results.iter().all(|result| !result.is_error()));
    assert_eq!((log.most("pair"), log.most("any")), (2, 6));
    assert_eq!(started.elapsed().as_millis() / 100, 3);
}

#[tokio::test(start_paused = true)]
async fn an_exclusive_tool_waits_for_itself_only() {
    let (log, dispatcher) = setup();
    let started = Instant::now();
    let calls = [alone_call(1, 300), alone_call(2, 200), any_call(3, 100), alone_call(4, 100)];
    dispatcher.dispatch(calls).await;
    assert_eq!(log.lines(), ["any 3", "alone 1", "alone 2", "alone 4"]);
    assert_eq!(log.most("alone"), 1);
    assert_eq!(started.elapsed().as_millis() / 100, 6);
}

#[tokio::test(start_paused = true)]
async fn calls_in_a_lane_keep_their_order_and_other_calls_run_concurrently() {
    let (log, dispatcher) = setup();
    let write = |id: u32, path: &str, ms: u64| {
        call(id, "write", format!(r#"{{"path": "{path}", "text": "{id}", "ms": {ms}}}"#))
    };
    let started = Instant::now();
    let calls = [
        write(1, "a", 300),
        write(2, "a", 100),
        write(3, "b", 50),
        // The same lane, from another tool, with its value in another form.
        call(4, "delete", r#"{"path": "\u0061"}"#),
        write(5, "a", 1),
    ];
    let results = dispatcher.dispatch(calls).await;
    assert_eq!(
        texts(&results),
        ["1", "2", "3", "", "5"].map(|text| if text.is_empty() { "done" } else { text })
    );
    assert_eq!(log.lines(), ["b 3", "a 1", "a 2", "a deleted", "a 5"]);
    assert_eq!(log.most("file a"), 1);
    assert_eq!(started.elapsed().as_millis() / 100, 4);
}

#[tokio::test(start_paused = true)]
async fn batches_take_turns() {
    let (log, dispatcher) = setup();
    let dispatcher = dispatcher.with_max_concurrency(1);
    let long = dispatcher.dispatch((0..50).map(|n| any_call(n, 10)));
    let short = async {
        sleep(Duration::from_millis(5)).await;
        dispatcher.dispatch([any_call(100, 10), any_call(101, 10)]).await
    };
    tokio::join!(long, short);
    let lines = log.lines();
    let place = |line: &str| lines.iter().position(|other| other == line).expect("it ran");
    assert_eq!(lines.len(), 52);
    assert!(place("any 100") <= 2 && place("any 101") <= 4, "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_counts_from_the_moment_the_tool_runs() {
    let (_, dispatcher) = setup();
    let dispatcher = dispatcher.with_timeout(Duration::from_millis(150));
    let results = dispatcher.dispatch((0..5).map(|n| alone_call(n, 100))).await;
    assert_eq!(texts(&results), ["0", "1", "2", "3", "4"]);
    let late = dispatcher.dispatch([alone_call(0, 200), alone_call(1, 100)]).await;
    assert_eq!(texts(&late), ["Tool `jobs-alone` timed out after 0.15s", "1"]);
}

#[tokio::test(start_paused = true)]
async fn zero_maximum_and_missing_time_limits_differ() {
    let hour = 3_600_000;
    let run = async |tool: Option<Duration>, dispatch: Option<Duration>, hard: Option<Duration>| {
        let log = Arc::new(Log::default());
        let tool = any::tool().map_metadata(|metadata| match tool {
            Some(limit) => metadata.with_timeout(limit),
            None => metadata,
        });
        let registry = ToolRegistry::from_tools([tool]).expect("one tool");
        let registry = registry.with_shared_state(log).with_timeout(Duration::from_secs(9));
        let mut dispatcher = Dispatcher::new(registry).expect("complete");
        if let Some(limit) = dispatch {
            dispatcher = dispatcher.with_timeout(limit);
        }
        if let Some(limit) = hard {
            dispatcher = dispatcher.with_hard_limit(limit);
        }
        texts(&dispatcher.dispatch([any_call(7, hour)]).await).remove(0)
    };
    let zero = Some(Duration::ZERO);
    let none = Some(Duration::MAX);
    assert_eq!(run(None, None, None).await, "Tool `jobs-any` timed out after 9s");
    assert_eq!(run(zero, None, None).await, "Tool `jobs-any` timed out after 0s");
    assert_eq!(run(None, zero, None).await, "Tool `jobs-any` timed out after 0s");
    assert_eq!(run(none, zero, None).await, "7");
    assert_eq!(run(None, none, None).await, "7");
    assert_eq!(run(none, None, Some(Duration::from_secs(60))).await, "Tool `jobs-any` timed out after 60s");
    /// Takes its time.
    #[tool(namespace = "jobs", timeout = "none")]
    async fn patient() {}
    assert_eq!(patient::tool().definition().metadata.timeout, none);
}

#[tokio::test(start_paused = true)]
async fn one_call_can_be_cancelled_while_it_runs_or_waits() {
    let (log, dispatcher) = setup();
    let mut batch = dispatcher.batch([]);
    batch.cancel_call("0");
    batch.extend((0..5).map(|n| alone_call(n, 100)));
    let all = batch.cancellation_token();
    let tokens = ["1", "3"].map(|id| batch.call_token(id));
    let cancel = async {
        sleep(Duration::from_millis(50)).await;
        // The first call runs, and the third waits.
        tokens.iter().for_each(CancellationToken::cancel);
    };
    let (results, ()) = tokio::join!(batch.finish(), cancel);
    let cancelled = "Tool `jobs-alone` was cancelled before it finished";
    assert_eq!(texts(&results), [cancelled, cancelled, "2", cancelled, "4"]);
    assert_eq!(results[3].duration, Duration::ZERO);
    assert_eq!(log.lines(), ["alone 2", "alone 4"]);
    assert!(log.is_empty() && !all.is_cancelled());
    let again = dispatcher.dispatch([alone_call(9, 1)]).await;
    assert_eq!(texts(&again), ["9"]);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_batch_leaves_every_queue() {
    let (log, dispatcher) = setup();
    let calls = || (0..4).map(|n| alone_call(n, 100));
    assert!(tokio::time::timeout(Duration::from_millis(150), dispatcher.dispatch(calls())).await.is_err());
    let mut stream = dispatcher.batch(calls());
    assert_eq!(stream.next().await.map(|result| result.position), Some(0));
    drop(stream);
    let results = dispatcher.dispatch([alone_call(9, 1)]).await;
    assert_eq!(texts(&results), ["9"]);
    assert!(log.is_empty());
}

#[tokio::test]
async fn blocking_tools_do_not_block_the_runtime() {
    let (log, dispatcher) = setup();
    let here = format!("{:?}", std::thread::current().id());
    let calls = [
        call(1, "block", r#"{"ms": 60}"#),
        call(2, "block_and_panic", "{}"),
        call(3, "block_async", r#"{"ms": 5}"#),
        call(4, "block", "{}"),
        call(5, "deaf", "{}"),
    ];
    let batch = dispatcher.dispatch(calls);
    let beside = async {
        sleep(Duration::from_millis(20)).await;
        log.release();
    };
    let (results, ()) = tokio::join!(batch, beside);
    assert_eq!(results[4].to_text(), "true", "the only worker thread was blocked");
    let texts = texts(&results);
    assert_ne!(texts[0], here);
    assert_eq!(texts[1..3], ["Tool `jobs-block_and_panic` panicked", "5"]);
    assert!(texts[3].contains("missing"), "{}", texts[3]);
    assert!(results[0].duration >= Duration::from_millis(60));
    let one = dispatcher.dispatch([call(1, "block_and_panic", "{}")]).await;
    assert_eq!(one[0].error().map(ToolError::kind), Some(ErrorKind::Panicked));
}

#[tokio::test]
async fn an_abandoned_blocking_call_is_reported_and_runs_to_its_end() {
    let (log, dispatcher) = setup();
    let dispatcher = dispatcher.with_timeout(Duration::from_millis(20));
    let deaf = || call(1, "deaf", "{}");
    let results = dispatcher.dispatch([deaf()]).await;
    assert_eq!(log.lines(), [""; 0]);
    let text = "Tool `jobs-deaf` timed out after 0.02s; it cannot be stopped and may still finish";
    assert_eq!(texts(&results), [text]);
    assert_eq!(results[0].error().map(ToolError::kind), Some(ErrorKind::TimedOut));
    // The next call waits for the thread, and then its own time starts.
    log.release();
    let next = dispatcher.dispatch([deaf()]).await;
    assert_eq!(texts(&next), [text]);
    assert_eq!(log.lines(), ["deaf"]);
    assert_eq!(log.most("deaf"), 1);
    log.release();
    let polite = dispatcher.dispatch([call(1, "block", r#"{"ms": 60000}"#)]).await;
    assert_eq!(polite[0].error().map(ToolError::kind), Some(ErrorKind::TimedOut));
    for _ in 0..500 {
        if log.is_empty() {
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("the context of an abandoned blocking call was not cancelled");
}

#[test]
fn a_blocking_tool_without_a_runtime_is_an_error_of_its_call() {
    let (_, dispatcher) = setup();
    let mut future = std::pin::pin!(dispatcher.dispatch([call(1, "block", r#"{"ms": 1}"#)]));
    let waker = std::task::Waker::noop();
    let std::task::Poll::Ready(results) = future.as_mut().poll(&mut std::task::Context::from_waker(waker))
    else {
        panic!("it waits for a thread, but there is no runtime");
    };
    assert_eq!(texts(&results), ["Error running tool: a blocking tool needs a tokio runtime"]);
}

#[test]
fn one_dispatcher_serves_many_tasks() {
    let (log, dispatcher) = setup();
    let dispatcher = Arc::new(dispatcher.with_max_concurrency(4));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    let done = Arc::new(AtomicUsize::new(0));
    runtime.block_on(async {
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let dispatcher = dispatcher.clone();
                let done = done.clone();
                tokio::spawn(async move {
                    for _ in 0..10 {
                        let batch = [alone_call(1, 0), any_call(2, 1), call(3, "pair", r#"{"ms": 1}"#)];
                        let results = dispatcher.dispatch(batch).await;
                        done.fetch_add(
                            results.iter().filter(|result| !result.is_error()).count(),
                            Ordering::SeqCst,
                        );
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(done.load(Ordering::SeqCst), 240);
    assert!(log.most("alone") == 1 && log.most("pair") <= 2 && log.most("any") <= 4);
}

/// A random call: tool, milliseconds, and file.
fn random_call() -> impl Strategy<Value = (&'static str, u64, &'static str)> {
    let tools =
        vec!["write", "delete", "alone", "pair", "any", "breaks", "block", "block_async", "nope", "broken"];
    (prop::sample::select(tools), 0_u64..20, prop::sample::select(vec!["a", "b"]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_call_has_its_result_and_every_permit_comes_back(
        batches in prop::collection::vec(prop::collection::vec(random_call(), 0..10), 1..4),
        limit in prop::option::of(1_usize..4),
        timeout in prop::option::of(0_u64..15),
        cancel in prop::collection::vec((0_usize..10, 0_u64..20), 0..4),
        drop_first_after in prop::option::of(0_u64..20),
        threads in prop::bool::ANY,
    ) {
        let (log, mut dispatcher) = setup();
        if let Some(limit) = limit {
            dispatcher = dispatcher.with_max_concurrency(limit);
        }
        if let Some(ms) = timeout {
            dispatcher = dispatcher.with_timeout(Duration::from_millis(ms));
        }
        let mut builder = if threads {
            tokio::runtime::Builder::new_multi_thread()
        } else {
            tokio::runtime::Builder::new_current_thread()
        };
        // Time is paused, unless a blocking thread needs it.
        let blocks = batches.iter().flatten().any(|(tool, ..)| tool.starts_with("block"));
        let runtime = builder.worker_threads(2).enable_time().start_paused(!threads && !blocks).build().unwrap();
        let (results, order) = runtime.block_on(async {
            let mut running = Vec::new();
            for (number, batch) in batches.iter().enumerate() {
                let calls: Vec<ToolCall> = batch.iter().enumerate().map(|(id, (tool, ms, path))| {
                    let text = format!("{number}/{id}");
                    let arguments = match *tool {
                        "broken" => "{".to_owned(),
                        "write" => format!(r#"{{"path": "{path}", "text": "{text}", "ms": {ms}}}"#),
                        "delete" => format!(r#"{{"path": "{path}"}}"#),
                        "alone" | "any" => format!(r#"{{"n": {}, "ms": {ms}}}"#, number * 100 + id),
                        _ => format!(r#"{{"ms": {ms}}}"#),
                    };
                    call(id, tool, arguments)
                }).collect();
                let count = calls.len();
                let mut batch = dispatcher.batch(calls);
                let cancelled: Vec<_> =
                    cancel.iter().map(|(id, after)| (batch.call_token(id.to_string()), *after)).collect();
                running.push((count, tokio::spawn(batch.finish())));
                tokio::spawn(async move {
                    for (token, after) in cancelled {
                        sleep(Duration::from_millis(after)).await;
                        token.cancel();
                    }
                });
            }
            if let Some(after) = drop_first_after {
                let (_, first) = running.remove(0);
                sleep(Duration::from_millis(after)).await;
                first.abort();
                drop(first.await);
            }
            let mut results = Vec::new();
            for (count, batch) in running {
                results.push((count, batch.await.unwrap()));
            }
            // A lost permit would hang this.
            let order = log.lines();
            let last = dispatcher.dispatch(
                [alone_call(1, 0), call(2, "breaks", r#"{"ms": 0}"#), call(3, "pair", r#"{"ms": 0}"#),
                 call(4, "write", r#"{"path": "a", "text": "end", "ms": 0}"#), call(5, "block", r#"{"ms": 0}"#)],
            );
            let last = tokio::time::timeout(Duration::from_secs(20), last).await;
            assert_eq!(last.expect("a permit was lost").len(), 5);
            (results, order)
        });
        drop(runtime);
        for (count, results) in &results {
            prop_assert_eq!(results.len(), *count);
            for (position, result) in results.iter().enumerate() {
                prop_assert_eq!(result.position, position);
                prop_assert_eq!(result.call_id.as_str(), position.to_string());
            }
        }
        prop_assert!(log.is_empty());
        for what in ["alone", "breaks", "block", "file a", "file b"] {
            prop_assert!(log.most(what) <= 1, "{} overlaps", what);
        }
        prop_assert!(log.most("pair") <= 2);
        prop_assert!(limit.is_none_or(|limit| log.most("any") <= limit));
        // A lane's calls ran in the batch's order.
        let mut last: HashMap<(String, String), usize> = HashMap::new();
        for line in &order {
            let (kind, what) = line.split_once(' ').unwrap_or((line, ""));
            let Some((batch, id)) = (match kind {
                "a" | "b" => what.split_once('/').map(|(batch, id)| (batch.to_owned(), id.parse::<usize>().unwrap())),
                "alone" => what.parse::<usize>().ok().map(|n| ((n / 100).to_string(), n % 100)),
                _ => None,
            }) else { continue };
            let before = last.insert((kind.to_owned(), batch), id);
            prop_assert!(before.is_none_or(|before| before < id), "{:?}", order);
        }
    }
}
