//! Workers that come, go and change.

use crate::{add, call, dispatcher, registry, server, until, wait};
use futures_util::{FutureExt as _, StreamExt as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use toolkit_ai::registry::RegistryChange;
use toolkit_ai::{ClosureTool, Dispatcher, LiveRegistry, Tool, ToolCall, ToolRegistry};
use toolkit_nats::{CallFailure, Fleet, FleetEvent, FleetTools, Worker};

fn versioned(text: &'static str) -> ToolRegistry {
    registry([ClosureTool::without_arguments("version", text, move || text).unwrap()])
}

#[tokio::test]
async fn a_registry_follows_workers_that_come_and_go() {
    let Some(fleet) = server::fleet().await else { return };
    let tools = FleetTools::builder(&fleet).absence(Duration::ZERO).join().await.unwrap();
    let live = LiveRegistry::new(ToolRegistry::new()).unwrap();
    let _following = tools.follow(&live).unwrap();
    let mut events = tools.events();
    let worker = Worker::new(registry([add()])).unwrap().start(&fleet).await.unwrap();
    until(|| live.snapshot().contains("add")).await;
    let results =
        Dispatcher::new(&live).unwrap().dispatch([ToolCall::new("1", "add", r#"{"a": 1, "b": 2}"#)]).await;
    assert_eq!(results[0].to_text(), "3");
    worker.drain().await;
    until(|| !live.snapshot().contains("add")).await;
    assert!(matches!(events.next().await, Some(Ok(FleetEvent::WorkerJoined { .. }))));
    assert!(
        matches!(events.next().await, Some(Ok(FleetEvent::ToolsChanged { added, .. })) if added.len() == 1)
    );
    assert!(matches!(events.next().await, Some(Ok(FleetEvent::WorkerLeft { lost: false, .. }))));
}

#[tokio::test]
async fn a_lost_worker_is_noticed() {
    let Some(fleet) = server::fleet().await else { return };
    let worker = Worker::new(registry([add()])).unwrap().start(&fleet).await.unwrap();
    let tools = FleetTools::builder(&fleet).absence(Duration::from_secs(1)).join().await.unwrap();
    let mut events = tools.events();
    let lost = worker.id().to_owned();
    let shown = dispatcher(&tools);
    drop(worker);
    loop {
        if let Some(Ok(FleetEvent::WorkerLeft { worker, lost: true, .. })) = events.next().await {
            assert_eq!(worker, lost);
            break;
        }
    }
    until(|| tools.tools().is_empty()).await;
    let call = ToolCall::new("1", "add", r#"{"a": 1, "b": 2}"#);
    let error = shown.dispatch([call]).await.remove(0).outcome.unwrap_err();
    assert_eq!(CallFailure::from_error(&error), Some(CallFailure::NoWorker));
}

/// The registry and what the model sees stay, whether workers were lost or have left.
#[tokio::test]
async fn tools_stay_while_all_workers_are_away_shortly() {
    let Some(fleet) = server::fleet().await else { return };
    let tools = FleetTools::join(&fleet).await.unwrap();
    let live = LiveRegistry::new(ToolRegistry::new()).unwrap();
    let _following = tools.follow(&live).unwrap();
    let sum = async || {
        let call = ToolCall::new("1", "add", r#"{"a": 1, "b": 2}"#);
        Dispatcher::new(&live).unwrap().dispatch([call]).await.remove(0)
    };
    for is_lost in [true, false] {
        let worker = Worker::new(registry([add()])).unwrap().start(&fleet).await.unwrap();
        // A worker's tools come a moment after it.
        until(|| !tools.workers().is_empty() && live.snapshot().contains("add")).await;
        while sum().await.is_error() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let (_, mut changes) = live.watch();
        if is_lost {
            drop(worker);
        } else {
            worker.drain().await;
        }
        until(|| tools.workers().is_empty()).await;
        // The catalog is remade after a change of workers.
        tokio::time::sleep(Duration::from_millis(200)).await;
        let error = sum().await.outcome.unwrap_err();
        assert_eq!(CallFailure::from_error(&error), Some(CallFailure::NoWorker));
        let expected =
            "Tool `add` was not run: no worker has it now; call it again later, or use another tool";
        assert_eq!(error.message(), expected);
        assert!(changes.next().now_or_never().is_none());
    }
}

#[tokio::test]
async fn calls_go_to_workers_with_the_definition_that_the_model_was_shown() {
    let Some(fleet) = server::fleet().await else { return };
    let old = Worker::new(versioned("old")).unwrap().start(&fleet).await.unwrap();
    let tools = FleetTools::join(&fleet).await.unwrap();
    let live = LiveRegistry::new(ToolRegistry::new()).unwrap();
    let _following = tools.follow(&live).unwrap();
    let shown = dispatcher(&tools);
    let (_, mut changes) = live.watch();
    let _new = Worker::new(versioned("new")).unwrap().start(&fleet).await.unwrap();
    until(|| tools.workers().len() == 2).await;
    for _ in 0..20 {
        assert_eq!(call(&tools, "version", "{}").await.to_text(), "old");
    }
    // After the last old worker, the model sees the new definition, and calls of the old one fail.
    old.drain().await;
    let change = changes.next().await.unwrap().unwrap();
    assert!(matches!(change.change, RegistryChange::Replaced { .. }));
    assert_eq!(call(&tools, "version", "{}").await.to_text(), "new");
    let error = shown.dispatch([ToolCall::new("1", "version", "{}")]).await.remove(0).outcome.unwrap_err();
    assert_eq!(CallFailure::from_error(&error), Some(CallFailure::NoWorker));
}

#[tokio::test]
async fn the_definitions_of_a_worker_follow_its_live_registry() {
    let Some(fleet) = server::fleet().await else { return };
    let live = LiveRegistry::new(registry([add()])).unwrap();
    let _worker = Worker::new(&live).unwrap().start(&fleet).await.unwrap();
    let tools = FleetTools::join(&fleet).await.unwrap();
    live.change(|registry| registry.register(wait())).unwrap();
    until(|| tools.tools().len() == 2).await;
    live.change(|registry| registry.unregister("add").map(drop)).unwrap();
    until(|| tools.tools().iter().all(|tool| tool.definition().name.as_str() == "wait")).await;
}

/// Workers change under load, 20 milliseconds from the server.
#[tokio::test]
async fn workers_that_end_one_after_another_lose_no_call() {
    let Some([near, far]) = server::near_and_far().await else { return };
    let slow = || async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        "done"
    };
    let slow = || ClosureTool::without_arguments("slow", "", slow).unwrap();
    let start = || Worker::new(registry([slow()])).unwrap().start(&far);
    let mut worker = start().await.unwrap();
    let tools = FleetTools::join(&near).await.unwrap();
    let dispatcher = dispatcher(&tools);
    let is_over = Arc::new(AtomicBool::new(false));
    let over = is_over.clone();
    let calls = tokio::spawn(async move {
        let mut results = Vec::new();
        while !over.load(Ordering::Relaxed) {
            let calls = (0..20).map(|n| ToolCall::new(n.to_string(), "slow", "{}"));
            results.extend(dispatcher.dispatch(calls).await);
        }
        results
    });
    for _ in 0..4 {
        let next = start().await.unwrap();
        until(|| tools.workers().contains(&next.id().to_owned())).await;
        worker.drain().await;
        worker = next;
    }
    is_over.store(true, Ordering::Relaxed);
    let results = calls.await.unwrap();
    let failed: Vec<_> = results.iter().filter_map(|result| result.error()).collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert!(results.len() > 100);
}

#[tokio::test]
async fn a_tool_of_the_program_is_not_replaced() {
    let Some(fleet) = server::fleet().await else { return };
    let own = ClosureTool::without_arguments("add", "The program's own.", || "own").unwrap();
    let live = LiveRegistry::new(registry([own])).unwrap();
    let _worker = Worker::new(registry([add(), wait()])).unwrap().start(&fleet).await.unwrap();
    let tools = FleetTools::join(&fleet).await.unwrap();
    let mut events = tools.events();
    let _following = tools.follow(&live).unwrap();
    assert!(
        matches!(events.next().await, Some(Ok(FleetEvent::Refused { tool, .. })) if tool.as_str() == "add")
    );
    assert_eq!(live.snapshot().call("add", "{}").await.unwrap().to_text(), "own");
    assert!(live.snapshot().contains("wait"));
}

#[tokio::test]
async fn the_service_api_shows_each_worker_and_its_counts() {
    let Some(fleet) = server::fleet().await else { return };
    let address = server::address().unwrap();
    let worker = Worker::new(registry([add()])).unwrap().start(&fleet).await.unwrap();
    let tools = FleetTools::join(&fleet).await.unwrap();
    assert!(!call(&tools, "add", r#"{"a": 1, "b": 2}"#).await.is_error());
    let client = async_nats::connect(address).await.unwrap();
    let mut replies = client.subscribe("answers").await.unwrap();
    client.publish_with_reply("$SRV.STATS", "answers", "".into()).await.unwrap();
    let statistics = loop {
        let reply = replies.next().await.unwrap();
        let statistics: async_nats::service::Stats = serde_json::from_slice(&reply.payload).unwrap();
        if worker.id().ends_with(&format!(".{}", statistics.id)) {
            break statistics;
        }
    };
    assert_eq!((statistics.endpoints.len(), statistics.endpoints[0].requests), (1, 1));
    assert_eq!(statistics.endpoints[0].data.as_ref().unwrap()["max_calls"], 256);
}

#[tokio::test]
async fn fleets_with_other_prefixes_are_not_seen() {
    let Some(fleet) = server::fleet().await else { return };
    let _worker = Worker::new(registry([add()])).unwrap().start(&fleet).await.unwrap();
    let other = Fleet::builder(server::address().unwrap()).prefix("elsewhere").connect().await.unwrap();
    assert!(FleetTools::join(&other).await.unwrap().tools().is_empty());
}
