//! Batches: exactly one result for each call, in order.

use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use toolkit_ai::prelude::*;
use toolkit_ai::{CancellationToken, ClosureTool, ErrorKind};

/// Echoes.
#[tool(namespace = "batch")]
fn echo(n: i64) -> i64 {
    n
}

/// Sleeps.
#[tool(namespace = "batch")]
async fn sleep(ms: u64) -> u64 {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    ms
}

/// Panics.
#[tool(namespace = "batch")]
fn panics(message: String) {
    panic!("{message}");
}

/// Panics after it has waited.
#[tool(namespace = "batch")]
async fn panics_later() {
    tokio::task::yield_now().await;
    panic!("later");
}

/// Fails.
#[tool(namespace = "batch")]
fn fails() -> Result<(), &'static str> {
    Err("no luck")
}

/// Waits until it is cancelled, and counts it.
#[tool(namespace = "batch")]
async fn waits() {
    struct Dropped;
    impl Drop for Dropped {
        fn drop(&mut self) {
            STOPPED.fetch_add(1, Ordering::SeqCst);
        }
    }
    let _dropped = Dropped;
    std::future::pending::<()>().await;
}

static STOPPED: AtomicUsize = AtomicUsize::new(0);

/// Returns the tool name and the call id of the context.
#[tool(namespace = "batch")]
fn whoami(context: &ToolContext) -> String {
    format!("{} {:?}", context.tool_name(), context.call_id().map(ToString::to_string))
}

fn dispatcher() -> Dispatcher {
    let tools = tools![echo, sleep, panics, panics_later, fails, waits, whoami];
    Dispatcher::new(ToolRegistry::from_tools(tools).expect("no collisions")).expect("no collisions")
}

fn call(id: &str, tool: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, format!("batch-{tool}"), arguments)
}

fn text(result: &ToolResult) -> String {
    match &result.outcome {
        Ok(output) => output.to_text().into_owned(),
        Err(error) => error.message().to_owned(),
    }
}

#[tokio::test]
async fn results_come_in_the_order_of_the_calls() {
    let calls = [
        call("1", "sleep", r#"{"ms": 30}"#),
        call("2", "echo", r#"{"n": 2}"#),
        call("3", "ecko", "{}"),
        call("4", "echo", "{"),
        call("5", "echo", r#"{"n": "x"}"#),
        call("6", "fails", "{}"),
        call("7", "panics", r#"{"message": "ouch"}"#),
        call("8", "panics_later", ""),
        call("2", "echo", r#"{"n": 9}"#),
    ];
    let results = dispatcher().dispatch(calls).await;
    let ids: Vec<&str> = results.iter().map(|result| result.call_id.as_str()).collect();
    assert_eq!(ids, ["1", "2", "3", "4", "5", "6", "7", "8", "2"]);
    let positions: Vec<usize> = results.iter().map(|result| result.position).collect();
    assert_eq!(positions, (0..9).collect::<Vec<_>>());
    let texts: Vec<String> = results.iter().map(text).collect();
    assert_eq!(
        texts,
        [
            "30",
            "2",
            "Tool `batch-ecko` not found; did you mean `batch-echo`?",
            "Error parsing JSON arguments: EOF while parsing an object at line 1 column 1; write the object up to its end; the arguments must be one JSON object",
            "Error validating JSON arguments: `n`: expected integer, got string \"x\"",
            "Error running tool: no luck",
            "Tool `batch-panics` panicked",
            "Tool `batch-panics_later` panicked",
            "9",
        ]
    );
    assert!(results[0].duration >= Duration::from_millis(30), "{:?}", results[0].duration);
}

#[tokio::test]
async fn a_batch_of_one_call_behaves_like_any_batch() {
    for (tool, kind) in [
        ("nope", ErrorKind::NotFound),
        ("panics", ErrorKind::InvalidArguments),
        ("panics_later", ErrorKind::Panicked),
        ("fails", ErrorKind::Failed),
    ] {
        let results = dispatcher().dispatch([call("1", tool, "")]).await;
        let kinds: Vec<ErrorKind> =
            results.iter().filter_map(|result| Some(result.outcome.as_ref().err()?.kind())).collect();
        assert_eq!(kinds, [kind]);
    }
    assert_eq!(dispatcher().dispatch([]).await, []);
}

#[tokio::test(start_paused = true)]
async fn calls_run_at_the_same_time() {
    let calls = (0..50).map(|n| call(&n.to_string(), "sleep", r#"{"ms": 100}"#));
    let started = tokio::time::Instant::now();
    let results = dispatcher().dispatch(calls).await;
    assert_eq!(results.len(), 50);
    assert_eq!(started.elapsed(), Duration::from_millis(100));
}

#[tokio::test]
async fn a_batch_gives_results_in_the_order_of_completion() {
    let calls = [
        call("slow", "sleep", r#"{"ms": 200}"#),
        call("fast", "echo", r#"{"n": 1}"#),
        call("none", "nope", ""),
    ];
    let mut stream = dispatcher().batch(calls);
    assert_eq!(stream.len(), 3);
    let mut order = Vec::new();
    while let Some(result) = stream.next().await {
        order.push((result.position, result.call_id.to_string()));
    }
    assert_eq!(order.last(), Some(&(0, "slow".to_owned())));
    assert_eq!(order.len(), 3);
    assert!(stream.is_empty());
}

#[tokio::test]
async fn the_context_knows_tool_and_call() {
    let results = dispatcher().dispatch([call("call_7", "whoami", "{}")]).await;
    assert_eq!(text(&results[0]), r#"batch-whoami Some("call_7")"#);
    let output = dispatcher().registry().call("batch-whoami", "{}").await.expect("it returns");
    assert_eq!(output.to_text(), "batch-whoami None");
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_of_the_tool_takes_precedence() {
    let limited = sleep::tool().with_timeout(Duration::from_secs(5));
    let cases = [
        // The limits of tool, dispatcher and registry, the hard limit, and the one that applies.
        (Some(5), Some(7), Some(9), None, "5s"),
        (None, Some(7), Some(9), None, "7s"),
        (None, None, Some(9), None, "9s"),
        (Some(5), Some(7), None, Some(2), "2s"),
        (None, None, None, Some(3), "3s"),
    ];
    for (tool, dispatch, registry, hard, expected) in cases {
        let tool = if tool.is_some() { limited.clone() } else { sleep::tool() };
        let mut tools = ToolRegistry::from_tools([tool]).expect("one tool");
        if let Some(seconds) = registry {
            tools = tools.with_timeout(Duration::from_secs(seconds));
        }
        let mut dispatcher = Dispatcher::new(tools).expect("no collisions");
        if let Some(seconds) = dispatch {
            dispatcher = dispatcher.with_timeout(Duration::from_secs(seconds));
        }
        if let Some(seconds) = hard {
            dispatcher = dispatcher.with_hard_limit(Duration::from_secs(seconds));
        }
        let sleepers = [call("1", "sleep", r#"{"ms": 60000}"#), call("2", "sleep", r#"{"ms": 1}"#)];
        let results = dispatcher.dispatch(sleepers).await;
        assert_eq!(text(&results[0]), format!("Tool `batch-sleep` timed out after {expected}"));
        assert_eq!(results[0].outcome.as_ref().expect_err("it is too slow").kind(), ErrorKind::TimedOut);
        assert_eq!(text(&results[1]), "1");
    }
}

#[tokio::test]
async fn a_cancelled_batch_still_has_every_result() {
    let token = CancellationToken::new();
    let calls =
        [call("1", "echo", r#"{"n": 1}"#), call("2", "waits", "{}"), call("3", "sleep", r#"{"ms": 60000}"#)];
    let dispatcher = dispatcher();
    let batch = dispatcher.dispatch_with(calls, token.clone());
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        token.cancel();
    };
    let (results, ()) = tokio::join!(batch, cancel);
    let texts: Vec<String> = results.iter().map(text).collect();
    assert_eq!(
        texts,
        [
            "1",
            "Tool `batch-waits` was cancelled before it finished",
            "Tool `batch-sleep` was cancelled before it finished"
        ]
    );
    let after = dispatcher.dispatch_with([call("4", "echo", r#"{"n": 1}"#)], token).await;
    assert_eq!(after[0].outcome.as_ref().expect_err("it is cancelled").kind(), ErrorKind::Cancelled);
}

#[tokio::test]
async fn dropping_a_batch_stops_its_calls() {
    let before = STOPPED.load(Ordering::SeqCst);
    let calls: Vec<ToolCall> = (0..5).map(|n| call(&n.to_string(), "waits", "{}")).collect();
    let dispatcher = dispatcher();
    let batch = tokio::time::timeout(Duration::from_millis(50), dispatcher.dispatch(calls)).await;
    assert!(batch.is_err(), "nothing ends by itself");
    for _ in 0..100 {
        if STOPPED.load(Ordering::SeqCst) - before >= 5 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("some calls still run");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_call_has_exactly_one_result(
        calls in prop::collection::vec(
            (
                prop::sample::select(vec!["echo", "sleep", "panics", "panics_later", "fails", "nope", "", "whoami"]),
                prop::sample::select(vec!["", "{}", "{", "null", "[]", r#"{"n": 1}"#, r#"{"ms": 1}"#, r#"{"message": "x"}"#, "\u{0}", "{\"n\": 1, \"n\": 2}"]),
                prop::sample::select(vec!["same", "a", "b", ""]),
            ),
            0..24,
        ),
        threads in prop::bool::ANY,
        cancel in prop::bool::ANY,
    ) {
        let mut builder = if threads {
            tokio::runtime::Builder::new_multi_thread()
        } else {
            tokio::runtime::Builder::new_current_thread()
        };
        let runtime = builder.worker_threads(2).enable_time().build().expect("a runtime");
        let asked: Vec<ToolCall> = calls.iter().map(|(tool, arguments, id)| call(id, tool, arguments)).collect();
        let token = CancellationToken::new();
        if cancel {
            token.cancel();
        }
        let results = runtime.block_on(dispatcher().dispatch_with(asked.clone(), token));
        let positions: HashSet<usize> = results.iter().map(|result| result.position).collect();
        prop_assert_eq!(results.len(), asked.len());
        prop_assert_eq!(positions.len(), asked.len());
        for (result, asked) in results.iter().zip(&asked) {
            prop_assert_eq!(&result.call_id, &asked.id);
            prop_assert_eq!(&result.name, &asked.name);
        }
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("bomb");
        }
    }
}

/// Holds a bomb while it waits.
#[tool(namespace = "bombs", timeout = "20ms")]
async fn waits_with_bomb() {
    let _bomb = Bomb;
    tokio::time::sleep(Duration::from_secs(60)).await;
}

/// Throws a bomb.
#[tool(namespace = "bombs")]
fn throws_bomb() {
    std::panic::panic_any(Bomb);
}

/// Has a time limit.
#[tool(namespace = "bombs", timeout = "20ms")]
async fn yields() -> u8 {
    tokio::task::yield_now().await;
    1
}

fn bombs() -> Dispatcher {
    let tools = tools![waits_with_bomb, throws_bomb, yields];
    Dispatcher::new(ToolRegistry::from_tools(tools).expect("no collisions")).expect("no collisions")
}

#[tokio::test]
async fn panics_in_destructors_are_contained() {
    let waits = ToolCall::new("1", "bombs-waits_with_bomb", "");
    let throws = ToolCall::new("2", "bombs-throws_bomb", "");
    let kinds = |results: &[ToolResult]| -> Vec<ErrorKind> {
        results.iter().map(|result| result.outcome.as_ref().expect_err("it fails").kind()).collect()
    };
    let one = bombs().dispatch([waits.clone()]).await;
    let other = bombs().dispatch([throws.clone()]).await;
    assert_eq!((kinds(&one), kinds(&other)), (vec![ErrorKind::TimedOut], vec![ErrorKind::Panicked]));
    let both = bombs().dispatch([waits, throws]).await;
    assert_eq!(kinds(&both), [ErrorKind::TimedOut, ErrorKind::Panicked]);
}

#[test]
fn a_runtime_without_a_timer_is_reported() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let limited = ToolCall::new("1", "bombs-yields", "");
    for calls in [vec![limited.clone()], vec![limited.clone(), limited]] {
        let results = runtime.block_on(bombs().dispatch(calls));
        for result in results {
            let error = result.outcome.expect_err("there is no timer");
            assert_eq!(error.kind(), ErrorKind::Panicked);
            assert!(error.details().is_some_and(|text| text.contains("timers are disabled")), "{error:#}");
        }
    }
    let blocking = ClosureTool::without_arguments("blocking", "", || 1).expect("a legal name");
    let blocking = blocking.map_metadata(|metadata| metadata.with_blocking(true));
    let dispatcher =
        Dispatcher::new(ToolRegistry::from_tools([blocking]).expect("one tool")).expect("complete");
    let call = || ToolCall::new("1", "blocking", "{}");
    assert!(!runtime.block_on(dispatcher.dispatch([call()]))[0].is_error(), "there is no limit");
    let results = runtime.block_on(dispatcher.with_timeout(Duration::from_secs(1)).dispatch([call()]));
    let error = results[0].error().expect("there is no timer");
    assert_eq!(error.kind(), ErrorKind::Panicked);
    assert!(error.details().is_some_and(|text| text.contains("timers are disabled")), "{error:#}");
}
