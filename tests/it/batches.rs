//! Batches whose calls are pushed while the response streams.

use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use toolkit_ai::prelude::*;
use toolkit_ai::{CancellationToken, ErrorKind, RunContext, Session};

type Written = Arc<Mutex<Vec<String>>>;

/// Waits, then notes the text.
#[tool(lane = "file", register = false)]
async fn append(file: String, text: String, delay: u64, #[state] written: &Written) -> String {
    sleep(Duration::from_millis(delay)).await;
    written.lock().unwrap().push(format!("{file}{text}"));
    text
}

/// Remembers a value.
#[tool(register = false)]
async fn remember(ctx: &ToolContext, key: String, value: i64, delay: u64) {
    ctx.session().set(key, value);
    sleep(Duration::from_millis(delay)).await;
}

fn dispatcher(written: &Written) -> Dispatcher {
    let registry = ToolRegistry::from_tools(tools![append, remember]).unwrap();
    Dispatcher::new(registry.with_state(written.clone())).unwrap()
}

fn append_call(id: &str, file: &str, delay: u64) -> ToolCall {
    ToolCall::new(id, "append", json!({"file": file, "text": id, "delay": delay}).to_string())
}

#[tokio::test(start_paused = true)]
async fn calls_run_as_soon_as_they_are_pushed() {
    let mut batch = dispatcher(&Written::default()).batch([]);
    let begin = Instant::now();
    batch.push(append_call("slow", "a", 300));
    sleep(Duration::from_millis(100)).await;
    batch.push(append_call("quick", "b", 100));
    let first = batch.next().await.unwrap();
    assert_eq!((first.call_id.as_str(), first.position), ("quick", 1));
    assert_eq!(begin.elapsed(), Duration::from_millis(200));
    assert_eq!(batch.len(), 1);
    let rest = batch.finish().await;
    assert_eq!(rest.iter().map(|result| result.call_id.as_str()).collect::<Vec<_>>(), ["slow"]);
    assert_eq!(begin.elapsed(), Duration::from_millis(300));
}

#[tokio::test(start_paused = true)]
async fn lanes_hold_for_calls_pushed_later() {
    let written = Written::default();
    let mut batch = dispatcher(&written).batch([]);
    batch.push(append_call("1", "a", 200));
    batch.push(append_call("2", "b", 50));
    sleep(Duration::from_millis(100)).await;
    batch.push(append_call("3", "a", 10));
    let ids: Vec<_> = batch.finish().await.into_iter().map(|result| result.call_id).collect();
    assert_eq!(ids, ["1", "2", "3"]);
    assert_eq!(*written.lock().unwrap(), ["b2", "a1", "a3"]);
}

/// Works for as long as it is told.
#[tool(register = false)]
async fn work(milliseconds: u64) -> u64 {
    sleep(Duration::from_millis(milliseconds)).await;
    milliseconds
}

/// Works in short steps, so that the call is often woken before its time limit.
#[tool(register = false, timeout = "40ms")]
async fn step(milliseconds: u64) -> u64 {
    for _ in 0..milliseconds {
        sleep(Duration::from_millis(1)).await;
    }
    milliseconds
}

/// Calls with different limits and starts end in no order.
#[tokio::test(start_paused = true)]
async fn each_call_of_a_batch_times_out_at_its_own_limit() {
    let registry = ToolRegistry::from_tools(tools![work, step]).unwrap();
    let dispatcher = Dispatcher::new(registry).unwrap().with_timeout(Duration::from_millis(100));
    let mut batch = dispatcher.batch([]);
    let mut expected = Vec::new();
    let mut random = 1_u64;
    for position in 0..500 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (tool, limit) = if random >> 63 == 0 { ("work", 100) } else { ("step", 40) };
        // Not the limit itself, at which either may be first.
        let works = match (random >> 33) % 200 {
            works if works == limit => works + 1,
            works => works,
        };
        batch.push(ToolCall::new(position.to_string(), tool, json!({"milliseconds": works}).to_string()));
        expected.push((works > limit).then_some(ErrorKind::TimedOut));
        sleep(Duration::from_millis((random >> 40) % 4)).await;
    }
    let results = batch.finish().await;
    let kinds: Vec<_> = results.iter().map(|result| result.error().map(ToolError::kind)).collect();
    assert_eq!(kinds, expected);
}

#[tokio::test(start_paused = true)]
async fn the_session_changes_at_the_end_in_the_order_of_the_calls() {
    let session = Session::new("1");
    let dispatcher =
        dispatcher(&Written::default()).with_run(RunContext::new().with_session(session.clone()));
    let mut batch = dispatcher.batch([]);
    let call = |id: &str, value: i64, delay: u64| {
        ToolCall::new(id, "remember", json!({"key": "x", "value": value, "delay": delay}).to_string())
    };
    batch.push(call("1", 1, 200));
    batch.push(call("2", 2, 10));
    assert_eq!(batch.next().await.unwrap().position, 1);
    assert_eq!(batch.next().await.unwrap().position, 0);
    assert!(batch.is_empty());
    assert_eq!(session.get("x"), None, "another call may still come");
    batch.push(call("3", 3, 10));
    assert_eq!(batch.finish().await.len(), 1);
    assert_eq!(session.get("x"), Some(json!(3)));
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_cancelled_as_a_whole_or_call_by_call() {
    let mut batch = dispatcher(&Written::default()).batch([]);
    for id in ["1", "2", "3"] {
        batch.push(append_call(id, id, 1_000));
    }
    batch.cancel_call("2");
    assert_eq!(batch.next().await.unwrap().call_id, "2");
    batch.cancel();
    batch.push(append_call("4", "4", 1_000));
    let kinds: Vec<_> =
        batch.finish().await.iter().map(|result| result.error().map(ToolError::kind)).collect();
    assert_eq!(kinds, [Some(ErrorKind::Cancelled); 3]);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_batch_stops_its_calls() {
    let written = Written::default();
    let mut batch = dispatcher(&written).batch([]);
    batch.push(append_call("1", "a", 100));
    drop(batch);
    sleep(Duration::from_secs(1)).await;
    assert!(written.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn every_call_is_announced_before_it_starts() {
    let dispatcher = dispatcher(&Written::default());
    let mut events = dispatcher.events();
    let mut batch = dispatcher.batch([]);
    batch.push(append_call("1", "a", 10));
    batch.push(append_call("2", "b", 10));
    batch.finish().await;
    let mut emitted = Vec::new();
    while emitted.len() < 6 {
        let event = events.next().await.unwrap().unwrap();
        emitted.push((event.call.position, event.name()));
    }
    for position in [0, 1] {
        let of_call: Vec<_> =
            emitted.iter().filter(|(at, _)| *at == position).map(|(_, name)| *name).collect();
        assert_eq!(of_call, ["tool.call", "tool.start", "tool.result"]);
    }
}

#[tokio::test(start_paused = true)]
async fn calls_can_be_cancelled_before_their_push() {
    let token = CancellationToken::new();
    let mut batch = dispatcher(&Written::default()).batch_with([append_call("1", "a", 1_000)], token.clone());
    batch.cancel_call("2");
    batch.push(append_call("2", "b", 1_000));
    assert_eq!(batch.next().await.unwrap().call_id, "2");
    assert!(!token.is_cancelled(), "the token of one call does not cancel the others");
    batch.call_token("1").cancel();
    assert_eq!(batch.next().await.unwrap().error().map(ToolError::kind), Some(ErrorKind::Cancelled));
    assert_eq!(batch.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_results_applies_the_session_changes() {
    let session = Session::new("1");
    let dispatcher =
        dispatcher(&Written::default()).with_run(RunContext::new().with_session(session.clone()));
    let call = |id: &str, value: i64, delay: u64| {
        ToolCall::new(id, "remember", json!({"key": "x", "value": value, "delay": delay}).to_string())
    };
    let mut batch = dispatcher.batch([call("1", 1, 20), call("2", 2, 10)]);
    while let Some(result) = batch.next().await {
        assert_eq!(session.get("x"), None, "{result:?}");
    }
    assert_eq!(session.get("x"), Some(json!(2)), "the later call wins, although it ended first");
    batch.push(call("3", 3, 10));
    assert!(batch.next().await.is_some());
    drop(batch);
    assert_eq!(session.get("x"), Some(json!(3)), "a dropped batch keeps the changes of the results taken");
}

#[tokio::test]
async fn a_lost_task_has_its_result_too() {
    let dispatcher = dispatcher(&Written::default());
    let other = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let batch = runtime.block_on(async { dispatcher.batch([append_call("1", "a", 60_000)]) });
        drop(runtime);
        batch
    });
    let results = tokio::time::timeout(Duration::from_secs(60), other.join().unwrap().finish());
    let results = results.await.expect("no result is missing");
    assert_eq!(results[0].error().map(ToolError::kind), Some(ErrorKind::Cancelled));
}
