//! Calls that are claimed in a ledger.

use crate::postgres::Schema;
use crate::{Nothing, add, dispatcher, registry, server, until};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use toolkit_ai::context::RunControl;
use toolkit_ai::{CallId, ClosureTool, RunContext, ToolCall, ToolRegistry, ToolResult};
use toolkit_nats::{CallFailure, CallLedger, Fleet, FleetTools, RunningWorker, StoredCall, Worker};

/// A tool that counts its runs and takes time.
fn pay(runs: &Arc<AtomicU32>, time: Duration) -> ToolRegistry {
    let runs = runs.clone();
    let pay = move |_: Nothing| {
        let run = runs.fetch_add(1, Ordering::Relaxed);
        async move {
            tokio::time::sleep(time).await;
            format!("paid {run}")
        }
    };
    registry([ClosureTool::new("pay", "", pay).unwrap()])
}

async fn start(fleet: &Fleet, schema: &Schema, tools: ToolRegistry) -> RunningWorker {
    let ledger = CallLedger::connect(&schema.config()).await.unwrap();
    Worker::new(tools).unwrap().with_ledger(ledger).trust_subjects().start(fleet).await.unwrap()
}

async fn join(fleet: &Fleet) -> FleetTools {
    FleetTools::builder(fleet).name("ada").join().await.unwrap()
}

async fn call(fleet: &FleetTools) -> ToolResult {
    let dispatcher = dispatcher(fleet).with_run(RunContext::new().with_invocation_id("run 7"));
    dispatcher.dispatch([ToolCall::new("call_1", "pay", "{}")]).await.remove(0)
}

#[tokio::test]
async fn a_call_with_one_id_runs_once_and_its_result_can_be_fetched() {
    let (Some(fleet), Some(schema)) = (server::fleet().await, Schema::new().await) else { return };
    let runs = Arc::new(AtomicU32::new(0));
    let worker = start(&fleet, &schema, pay(&runs, Duration::ZERO)).await;
    let tools = join(&fleet).await;
    assert_eq!(tools.stored_call("run 7/call_1").await.unwrap(), StoredCall::NotFound);
    assert_eq!(call(&tools).await.to_text(), "paid 0");
    worker.drain().await;
    // Both come back as other processes.
    let _worker = start(&fleet, &schema, pay(&runs, Duration::ZERO)).await;
    let tools = join(&fleet).await;
    assert_eq!(call(&tools).await.to_text(), "paid 0");
    let StoredCall::Ended(Ok(output)) = tools.stored_call("run 7/call_1").await.unwrap() else {
        panic!("the call has ended");
    };
    assert_eq!((&*output.to_text(), runs.load(Ordering::Relaxed)), ("paid 0", 1));
    schema.drop().await;
}

#[tokio::test]
async fn a_call_that_runs_elsewhere_is_awaited() {
    let (Some(fleet), Some(schema)) = (server::fleet().await, Schema::new().await) else { return };
    let runs = Arc::new(AtomicU32::new(0));
    let _worker = start(&fleet, &schema, pay(&runs, Duration::from_millis(500))).await;
    let tools = join(&fleet).await;
    let other = join(&fleet).await;
    let results = tokio::join!(call(&tools), call(&other));
    assert_eq!((&*results.0.to_text(), &*results.1.to_text()), ("paid 0", "paid 0"));
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    schema.drop().await;
}

#[tokio::test]
async fn a_claim_of_a_lost_worker_is_unknown_and_never_runs_again() {
    let (Some(fleet), Some(schema)) = (server::fleet().await, Schema::new().await) else { return };
    let runs = Arc::new(AtomicU32::new(0));
    let worker = start(&fleet, &schema, pay(&runs, Duration::from_secs(3_600))).await;
    let tools = join(&fleet).await;
    let lost = tools.clone();
    let caller = tokio::spawn(async move { call(&lost).await });
    until(|| runs.load(Ordering::Relaxed) == 1).await;
    assert_eq!(tools.stored_call("run 7/call_1").await.unwrap(), StoredCall::Running);
    caller.abort();
    drop(worker);
    let update = "UPDATE {}.toolkit_calls SET lease = clock_timestamp() - interval '1 second'";
    schema.execute(&update.replace("{}", &schema.name)).await;
    let _worker = start(&fleet, &schema, pay(&runs, Duration::ZERO)).await;
    let tools = join(&fleet).await;
    assert_eq!(tools.stored_call("run 7/call_1").await.unwrap(), StoredCall::Unknown);
    let error = call(&tools).await.outcome.unwrap_err();
    assert_eq!(CallFailure::from_error(&error), Some(CallFailure::Unknown));
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    schema.drop().await;
}

/// They are not stored, and so read anew.
#[tokio::test]
async fn calls_that_may_be_repeated_are_not_claimed() {
    for is_read in [true, false] {
        let (Some(fleet), Some(schema)) = (server::fleet().await, Schema::new().await) else { return };
        let runs = Arc::new(AtomicU32::new(0));
        let count = runs.clone();
        let pay =
            ClosureTool::new("pay", "", move |_: Nothing| count.fetch_add(1, Ordering::Relaxed)).unwrap();
        let pay = pay.map_metadata(|metadata| {
            if is_read { metadata.with_read_only(true) } else { metadata.with_idempotent(true) }
        });
        let _worker = start(&fleet, &schema, registry([pay])).await;
        let tools = join(&fleet).await;
        let texts = [call(&tools).await, call(&tools).await].map(|result| result.to_text().into_owned());
        assert_eq!(texts, ["0", "1"]);
        assert_eq!(tools.stored_call("run 7/call_1").await.unwrap(), StoredCall::NotFound);
        schema.drop().await;
    }
}

#[tokio::test]
async fn an_id_belongs_to_one_call_of_one_caller() {
    let (Some(fleet), Some(schema)) = (server::fleet().await, Schema::new().await) else { return };
    let ledger = CallLedger::connect(&schema.config()).await.unwrap();
    let worker = Worker::new(registry([add()])).unwrap().with_ledger(ledger).trust_subjects();
    let _worker = worker.start(&fleet).await.unwrap();
    let join = |name| FleetTools::builder(&fleet).name(name).call_ids(|_| Some("id".to_owned())).join();
    let ada = join("ada").await.unwrap();
    let eve = join("eve").await.unwrap();
    assert_eq!(crate::call(&ada, "add", r#"{"a": 1, "b": 2}"#).await.to_text(), "3");
    assert_eq!(eve.stored_call("id").await.unwrap(), StoredCall::NotFound);
    assert_eq!(crate::call(&eve, "add", r#"{"a": 1, "b": 3}"#).await.to_text(), "4");
    let error = crate::call(&ada, "add", r#"{"a": 1, "b": 3}"#).await.outcome.unwrap_err();
    assert_eq!(CallFailure::from_error(&error), Some(CallFailure::Refused));
    schema.drop().await;
}

struct Turn(u32);

impl RunControl for Turn {
    fn call_key(&self, _: &CallId) -> Option<String> {
        Some(format!("1.{}.0", self.0))
    }
}

/// An agent's provider uses an id again.
#[tokio::test]
async fn calls_with_one_id_and_different_keys_are_different_calls() {
    let (Some(fleet), Some(schema)) = (server::fleet().await, Schema::new().await) else { return };
    let runs = Arc::new(AtomicU32::new(0));
    let _worker = start(&fleet, &schema, pay(&runs, Duration::ZERO)).await;
    let tools = join(&fleet).await;
    for (turn, expected) in [(1, "paid 0"), (2, "paid 1"), (1, "paid 0")] {
        let run = RunContext::new().with_invocation_id("run 7").with_control(Arc::new(Turn(turn)));
        let dispatcher = dispatcher(&tools).with_run(run);
        let result = dispatcher.dispatch([ToolCall::new("call_1", "pay", "{}")]).await.remove(0);
        assert_eq!(result.to_text(), expected);
    }
    let stored = tools.stored_call("run 7/1.2.0").await.unwrap();
    assert!(matches!(stored, StoredCall::Ended(Ok(output)) if output.to_text() == "paid 1"));
    schema.drop().await;
}

/// Also with the same id, name and arguments, as agents of one program.
#[tokio::test]
async fn an_anonymous_caller_finds_only_its_own_calls() {
    let (Some(fleet), Some(schema)) = (server::fleet().await, Schema::new().await) else { return };
    let ledger = CallLedger::connect(&schema.config()).await.unwrap();
    let runs = Arc::new(AtomicU32::new(0));
    let worker = Worker::new(pay(&runs, Duration::ZERO)).unwrap().with_ledger(ledger);
    let _worker = worker.start(&fleet).await.unwrap();
    let (one, other) = (join(&fleet).await, join(&fleet).await);
    assert_eq!(call(&one).await.to_text(), "paid 0");
    assert_eq!(other.stored_call("run 7/call_1").await.unwrap(), StoredCall::NotFound);
    assert_eq!(call(&other).await.to_text(), "paid 1");
    for (caller, expected) in [(&one, "paid 0"), (&other, "paid 1")] {
        assert_eq!(call(caller).await.to_text(), expected);
        let stored = caller.stored_call("run 7/call_1").await.unwrap();
        assert!(matches!(stored, StoredCall::Ended(Ok(output)) if output.to_text() == expected));
    }
    schema.drop().await;
}
