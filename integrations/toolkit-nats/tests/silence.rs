//! Silent workers and callers, and lost messages.

use crate::postgres::Schema;
use crate::{Nothing, add, call, dispatcher, registry, server, until, wait};
use async_nats::Message;
use futures_util::StreamExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;
use tokio::sync::Notify;
use toolkit_ai::{ClosureTool, Dispatcher, RunContext, ToolCall, ToolRegistry, ToolResult};
use toolkit_nats::{CallFailure, CallLedger, Fleet, FleetTools, RunningWorker, StoredCall, Worker};

/// A tool that counts its runs and waits for a notice.
fn pay(runs: &Arc<AtomicU32>, end: &Arc<Notify>) -> ToolRegistry {
    let (runs, end) = (runs.clone(), end.clone());
    let pay = move |_: Nothing| {
        let run = runs.fetch_add(1, Ordering::Relaxed);
        let end = end.clone();
        async move {
            end.notified().await;
            format!("paid {run}")
        }
    };
    registry([ClosureTool::new("pay", "", pay).unwrap()])
}

async fn with_ledger(fleet: &Fleet, schema: &Schema, tools: ToolRegistry) -> RunningWorker {
    let ledger = CallLedger::connect(&schema.config()).await.unwrap();
    Worker::new(tools).unwrap().with_ledger(ledger).start(fleet).await.unwrap()
}

fn begin(fleet: &FleetTools, tool: &'static str) -> tokio::task::JoinHandle<ToolResult> {
    let dispatcher = dispatcher(fleet).with_run(RunContext::new().with_invocation_id("run 7"));
    tokio::spawn(async move { dispatcher.dispatch([ToolCall::new("call_1", tool, "{}")]).await.remove(0) })
}

fn question_about(call: &Message) -> String {
    let names: Vec<&str> = call.subject.split('.').collect();
    format!("{}.ask", names[..5].join("."))
}

#[tokio::test]
async fn a_stopped_worker_with_a_ledger_ends_its_call_when_it_wakes() {
    let (Some(([near, held], gate)), Some(schema)) = (server::near_and_held().await, Schema::new().await)
    else {
        return;
    };
    let (runs, end) = (Arc::default(), Arc::new(Notify::new()));
    let stopped = with_ledger(&held, &schema, pay(&runs, &end)).await;
    let (client, mut calls) = server::observe(stopped.id()).await;
    let tools = FleetTools::join(&near).await.unwrap();
    let result = begin(&tools, "pay");
    let message = calls.next().await.unwrap();
    until(|| runs.load(Ordering::Relaxed) == 1).await;
    gate.send_replace(false);
    // Another worker takes the call over and waits for its outcome.
    let other = with_ledger(&near, &schema, pay(&runs, &end)).await;
    until(|| other.statistics().in_flight == 1).await;
    gate.send_replace(true);
    // The worker has received everything sent meanwhile.
    client.request(question_about(&message), "".into()).await.unwrap();
    end.notify_one();
    assert_eq!(result.await.unwrap().to_text(), "paid 0");
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    schema.drop().await;
}

#[tokio::test]
async fn the_result_of_a_stopped_worker_without_others_is_fetched() {
    let (Some(([near, held], gate)), Some(schema)) = (server::near_and_held().await, Schema::new().await)
    else {
        return;
    };
    let (runs, end) = (Arc::default(), Arc::new(Notify::new()));
    let stopped = with_ledger(&held, &schema, pay(&runs, &end)).await;
    let (_client, mut calls) = server::observe(stopped.id()).await;
    let tools = FleetTools::join(&near).await.unwrap();
    let result = begin(&tools, "pay");
    calls.next().await.unwrap();
    until(|| runs.load(Ordering::Relaxed) == 1).await;
    gate.send_replace(false);
    // The call is sent again to the worker, which begins nothing that has waited so long. The server has it
    // before anything from the waking worker.
    calls.next().await.unwrap();
    gate.send_replace(true);
    let error = result.await.unwrap().outcome.unwrap_err();
    assert_eq!(CallFailure::from_error(&error), Some(CallFailure::Unknown), "{error}");
    end.notify_one();
    let stored = loop {
        match tools.stored_call("run 7/call_1").await {
            Ok(StoredCall::Running) | Err(_) => tokio::task::yield_now().await,
            Ok(stored) => break stored,
        }
    };
    let StoredCall::Ended(Ok(output)) = stored else { panic!("{stored:?}") };
    assert_eq!((&*output.to_text(), runs.load(Ordering::Relaxed)), ("paid 0", 1));
    schema.drop().await;
}

#[tokio::test]
async fn the_outcome_of_a_run_that_was_stopped_is_unknown() {
    for way in ["cancelled", "timed out", "drained"] {
        let (Some(fleet), Some(schema)) = (server::fleet().await, Schema::new().await) else { return };
        let ledger = CallLedger::connect(&schema.config()).await.unwrap();
        let (runs, end) = (Arc::default(), Arc::new(Notify::new()));
        // The worker's own limit, because callers cancel at a call's deadline.
        let limit = Duration::from_secs(if way == "timed out" { 1 } else { 60 });
        let dispatcher = Dispatcher::new(pay(&runs, &end)).unwrap().with_timeout(limit);
        let worker = Worker::from(dispatcher).with_ledger(ledger);
        let worker = worker.with_drain_time(Duration::ZERO).start(&fleet).await.unwrap();
        let tools = FleetTools::join(&fleet).await.unwrap();
        let result = begin(&tools, "pay");
        let id = "run 7/call_1";
        while tools.stored_call(id).await.unwrap() == StoredCall::NotFound {}
        match way {
            "cancelled" => result.abort(),
            "timed out" => assert!(result.await.unwrap().is_error()),
            _ => {
                worker.drain().await;
                let error = result.await.unwrap().outcome.unwrap_err();
                assert_eq!(CallFailure::from_error(&error), Some(CallFailure::Unknown), "{error}");
            }
        }
        let _other = with_ledger(&fleet, &schema, pay(&runs, &end)).await;
        let stored = loop {
            match tools.stored_call(id).await {
                Ok(StoredCall::Running) | Err(_) => tokio::task::yield_now().await,
                Ok(stored) => break stored,
            }
        };
        assert_eq!(stored, StoredCall::Unknown, "{way}");
        schema.drop().await;
    }
}

/// A synchronous function such as a tool blocks the caller's runtime for longer than a worker may be silent.
#[test]
fn a_caller_that_was_blocked_reads_what_has_arrived() {
    let serving = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let Some(address) = server::address() else { return };
    let prefix = server::new_prefix();
    let connect = || Fleet::builder(address).prefix(&prefix).connect();
    let (runs, end) = (Arc::default(), Arc::new(Notify::new()));
    let worker = serving.block_on(async {
        let worker = Worker::new(pay(&runs, &end)).unwrap();
        worker.start(&connect().await.unwrap()).await.unwrap()
    });
    let calling = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    calling.block_on(async {
        let tools = FleetTools::join(&connect().await.unwrap()).await.unwrap();
        let result = begin(&tools, "pay");
        until(|| runs.load(Ordering::Relaxed) == 1).await;
        end.notify_one();
        thread::sleep(Duration::from_secs(4));
        while worker.statistics().in_flight > 0 {
            thread::yield_now();
        }
        assert_eq!(result.await.unwrap().to_text(), "paid 0");
    });
}

#[tokio::test]
async fn a_call_whose_message_was_lost_is_asked_about_and_sent_again() {
    let Some([near, lossy]) = server::near_and_lossy().await else { return };
    let read = add().map_metadata(|metadata| metadata.with_read_only(true));
    let _worker = Worker::new(registry([read])).unwrap().start(&lossy).await.unwrap();
    let tools = FleetTools::join(&near).await.unwrap();
    assert_eq!(call(&tools, "add", r#"{"a": 1, "b": 2}"#).await.to_text(), "3");
    assert_eq!(tools.statistics().repetitions, 1);
}

#[tokio::test]
async fn a_worker_says_whether_it_runs_a_call() {
    let Some(fleet) = server::fleet().await else { return };
    let worker = Worker::new(registry([wait()])).unwrap().start(&fleet).await.unwrap();
    let (client, mut calls) = server::observe(worker.id()).await;
    let tools = FleetTools::join(&fleet).await.unwrap();
    let running = begin(&tools, "wait");
    let message = calls.next().await.unwrap();
    until(|| worker.statistics().in_flight == 1).await;
    let question = question_about(&message);
    let reply = message.reply.unwrap();
    let mut replies = client.subscribe(reply.clone()).await.unwrap();
    client.publish_with_reply(question.clone(), reply.clone(), "".into()).await.unwrap();
    assert_eq!(replies.next().await.unwrap().payload, "~");
    running.abort();
    until(|| worker.statistics().in_flight == 0).await;
    client.publish_with_reply(question, reply, "".into()).await.unwrap();
    while replies.next().await.unwrap().payload != r#"-"not_running""# {}
}

/// Only the first part of a large result comes unasked, so that little waits at the server for slow callers.
#[tokio::test]
async fn a_part_of_a_result_follows_when_the_caller_asks() {
    let Some(fleet) = server::fleet().await else { return };
    let long = ClosureTool::new("long", "", |_: Nothing| "x".repeat(1 << 20)).unwrap();
    let worker = Worker::new(registry([long])).unwrap().start(&fleet).await.unwrap();
    let (client, mut calls) = server::observe(worker.id()).await;
    let tools = FleetTools::join(&fleet).await.unwrap();
    assert_eq!(call(&tools, "long", "{}").await.to_text().len(), 1 << 20);
    let message = calls.next().await.unwrap();

    // The same call for a caller that asks after a beat behind a part.
    let reply = client.new_inbox();
    let mut frames = client.subscribe(reply.clone()).await.unwrap();
    client.publish_with_reply(message.subject.clone(), reply.clone(), message.payload.clone()).await.unwrap();
    let mut kinds = String::new();
    while !kinds.ends_with('=') {
        let kind = char::from(frames.next().await.unwrap().payload[0]);
        if kind != '~' || kinds.ends_with('+') {
            kinds.push(kind);
        }
        if kinds.ends_with("+~") {
            client.publish_with_reply(question_about(&message), reply.clone(), "".into()).await.unwrap();
        }
    }
    assert_eq!(kinds, "+~+~+~+~=");

    // A call cancelled after its first part waits for no question.
    let reply = client.new_inbox();
    let mut frames = client.subscribe(reply.clone()).await.unwrap();
    client.publish_with_reply(message.subject.clone(), reply.clone(), message.payload.clone()).await.unwrap();
    while !frames.next().await.unwrap().payload.starts_with(b"+") {}
    let cancel = question_about(&message).replace(".ask", ".cancel");
    client.publish(cancel, reply.to_string().into()).await.unwrap();
    // The worker would wait thirty seconds.
    let ended = until(|| worker.statistics().in_flight == 0);
    tokio::time::timeout(Duration::from_secs(15), ended).await.unwrap();
}
