//! Every call has one result: without runtime or threads, with reporting listeners, under any middleware.

use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use toolkit_ai::events::{ToolEvent, ToolEventKind};
use toolkit_ai::middleware::{BoxMiddleware, Deduplicate, Middleware, Retry};
use toolkit_ai::prelude::*;
use toolkit_ai::{ErrorKind, RunContext, Session};

#[derive(Clone, Default)]
struct Runs(Arc<AtomicUsize>);

/// Fails until the given run.
#[tool(register = false, retries = 3, idempotent)]
async fn flaky(#[state] runs: &Runs, until: usize) -> Result<usize, ToolError> {
    let run = runs.0.fetch_add(1, Ordering::SeqCst) + 1;
    tokio::time::sleep(Duration::from_millis(5)).await;
    if run < until { Err(ToolError::failed(format!("run {run}"))) } else { Ok(run) }
}

/// Writes, one after another for each key.
#[tool(register = false, lane = "key")]
fn write(context: &ToolContext, key: String, value: u64) -> u64 {
    context.session().set("last", value);
    context.progress(0.5, key);
    value
}

/// Waits in a lane.
#[tool(register = false, lane = "key")]
async fn wait(key: u64) -> u64 {
    std::future::pending::<()>().await;
    key
}

/// Waits for one of few permits.
#[tool(register = false, max_concurrency = 1)]
async fn narrow() {
    std::future::pending::<()>().await;
}

/// Blocks a thread.
#[tool(register = false, blocking)]
fn block(ms: u64) -> u64 {
    std::thread::sleep(Duration::from_millis(ms));
    ms
}

fn dispatcher(runs: &Runs) -> Dispatcher {
    let registry = ToolRegistry::from_tools(tools![flaky, write, wait, narrow, block]).unwrap();
    Dispatcher::new(registry.with_state(runs.clone())).unwrap()
}

fn call(tool: &str, arguments: impl ToString) -> ToolCall {
    ToolCall::new("1", tool, arguments.to_string())
}

pub(crate) fn without_runtime<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
    }
}

#[test]
fn calls_without_a_runtime_run_in_their_order() {
    let session = Session::new("1");
    let (sender, events) = mpsc::channel();
    let dispatcher = dispatcher(&Runs::default())
        .with_run(RunContext::new().with_session(session.clone()))
        .with_max_concurrency(1)
        .with_listener(move |event| sender.send((event.call.position, event.name())).unwrap());
    let calls = (0..3).map(|n| call("write", format!(r#"{{"key": "a", "value": {n}}}"#)));
    let results = without_runtime(dispatcher.dispatch(calls.chain([call("nope", "{}"), call("write", "{")])));
    assert_eq!(results.iter().map(|result| result.position).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert_eq!(results.iter().map(|result| result.to_text()).take(3).collect::<Vec<_>>(), ["0", "1", "2"]);
    assert_eq!(session.get("last"), Some(2.into()));
    let emitted: Vec<(usize, &str)> = events.try_iter().collect();
    assert!(
        emitted[..5].iter().all(|(_, name)| *name == "tool.call"),
        "all are announced first: {emitted:?}"
    );
    assert_eq!(emitted.iter().filter(|(_, name)| *name == "tool.result").count(), 3);
}

#[test]
fn a_listener_may_report_progress_of_its_own_call() {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let emitted = Arc::new(Mutex::new(Vec::new()));
        let context = Arc::new(Mutex::new(None::<ToolContext>));
        let listened = emitted.clone();
        let known = context.clone();
        let listener = move |event: &ToolEvent| {
            listened.lock().unwrap().push(event.name());
            if !matches!(event.kind, ToolEventKind::Progress { .. })
                && let Some(context) = known.lock().unwrap().clone()
            {
                context.progress(0.9, "from the listener");
            }
        };
        let known = context.clone();
        let dispatcher = dispatcher(&Runs::default()).with_listener(listener).with_middleware(
            move |request: toolkit_ai::middleware::ToolRequest, next: toolkit_ai::middleware::Next| {
                *known.lock().unwrap() = Some(request.context().clone());
                next.run(request)
            },
        );
        let results = runtime.block_on(dispatcher.dispatch([call("write", r#"{"key": "a", "value": 1}"#)]));
        let emitted = emitted.lock().unwrap().clone();
        done.send((results.len(), emitted)).unwrap();
    });
    let (results, emitted) = ended.recv_timeout(Duration::from_secs(20)).expect("no deadlock");
    assert_eq!(results, 1);
    assert_eq!(emitted, ["tool.call", "tool.start", "tool.progress", "tool.progress", "tool.result"]);
}

#[test]
fn limits_hold_while_a_call_waits_for_a_thread() {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).max_blocking_threads(1).enable_all().build().unwrap();
    let dispatcher = dispatcher(&Runs::default()).with_timeout(Duration::from_millis(50));
    let begun = mpsc::channel::<()>();
    let release = mpsc::channel::<()>();
    runtime.spawn_blocking(move || {
        begun.0.send(()).unwrap();
        release.1.recv_timeout(Duration::from_secs(20))
    });
    begun.1.recv().unwrap();
    let started = Instant::now();
    let results = runtime.block_on(dispatcher.dispatch([call("block", r#"{"ms": 1}"#), call("block", "{}")]));
    assert!(started.elapsed() < Duration::from_secs(10));
    let text = "Tool `block` timed out after 0.05s; no thread was free to run it";
    assert_eq!(results.iter().map(|result| result.to_text()).collect::<Vec<_>>(), [text; 2]);
    let mut batch = runtime.block_on(async { dispatcher.batch([call("block", r#"{"ms": 1}"#)]) });
    batch.cancel();
    let results = runtime.block_on(batch.finish());
    assert_eq!(results[0].error().map(ToolError::kind), Some(ErrorKind::Cancelled));
    release.0.send(()).unwrap();
    assert_eq!(runtime.block_on(dispatcher.dispatch([call("block", r#"{"ms": 1}"#)]))[0].to_text(), "1");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn retry_and_deduplicate_may_be_added_in_any_order(
        retry_outside in any::<bool>(),
        duplicates in 1_usize..4,
        until in 1_usize..6,
    ) {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_time().start_paused(true).build().unwrap();
        let runs = Runs::default();
        let retry = Retry::new().with_pauses(Duration::from_millis(3), Duration::from_millis(3)).boxed();
        let mut order: Vec<BoxMiddleware> = vec![retry, Deduplicate::new().boxed()];
        if !retry_outside {
            order.reverse();
        }
        let dispatcher = order.into_iter().fold(dispatcher(&runs), Dispatcher::with_middleware);
        let calls = vec![call("flaky", format!(r#"{{"until": {until}}}"#)); duplicates];
        let results = runtime.block_on(dispatcher.dispatch(calls));
        prop_assert_eq!(results.len(), duplicates);
        prop_assert!(results.iter().all(|result| result.is_error() == (until > 4)), "{:?}", results);
        prop_assert_eq!(runs.0.load(Ordering::SeqCst), until.min(4));
    }
}

/// The numbers in a batch's debug form.
fn held(batch: &toolkit_ai::Batch) -> Vec<(String, usize)> {
    let text = format!("{batch:?}").replace("Batch { ", "").replace(" }", "");
    let numbers = text.split(", ").filter_map(|field| field.split_once(": "));
    numbers.map(|(name, number)| (name.to_owned(), number.parse().unwrap())).collect()
}

#[tokio::test]
async fn an_open_batch_keeps_no_finished_tasks() {
    let dispatcher = dispatcher(&Runs::default()).with_run(RunContext::new());
    let mut batch = dispatcher.batch([]);
    for n in 0..5_000 {
        let arguments = format!(r#"{{"key": "{n}", "value": {n}}}"#);
        batch.push(ToolCall::new(format!("call {n}"), "write", arguments));
        assert!(batch.next().await.is_some_and(|result| !result.is_error()));
    }
    for (name, number) in held(&batch) {
        if !matches!(name.as_str(), "pushed" | "taken") {
            assert!(number <= 200, "{name}: {number}");
        }
    }
    let token = batch.call_token("later");
    token.cancel();
    batch.push(ToolCall::new("later", "write", r#"{"key": "a", "value": 1}"#));
    assert_eq!(batch.next().await.unwrap().error().map(ToolError::kind), Some(ErrorKind::Cancelled));
}

#[test]
fn many_waiting_calls_end_with_their_runtime() {
    for tool in ["wait", "narrow"] {
        for size in [20_000, 1] {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
            let runtime = runtime.unwrap();
            let dispatcher = dispatcher(&Runs::default());
            let mut batches: Vec<toolkit_ai::Batch> = runtime.block_on(async {
                let arguments = if tool == "wait" { r#"{"key": 1}"# } else { "{}" };
                let batch = |_| dispatcher.batch(vec![call(tool, arguments); size]);
                (0..20_000 / size).map(batch).collect()
            });
            runtime.block_on(async { tokio::time::sleep(Duration::from_millis(300)).await });
            runtime.shutdown_timeout(Duration::from_secs(40));
            let mut ended = 0;
            for batch in batches.drain(..) {
                ended += without_runtime(batch.finish()).len();
            }
            assert_eq!(ended, 20_000);
        }
    }
}
