//! Single calls: results, errors, context, and failures.

use crate::{Nothing, add, call, dispatcher, registry, server, until, wait};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit_ai::{ClosureTool, ErrorKind, RunContext, ToolCall, ToolContext, ToolError, ToolOutput};
use toolkit_nats::{CallFailure, FleetTools, RemoteCaller, TraceContext, Worker};

#[tokio::test]
async fn a_result_and_an_error_arrive_as_the_tool_returned_them() {
    let Some(fleet) = server::fleet().await else { return };
    let output = || {
        let structured = serde_json::json!({"sum": 3});
        Ok::<_, ToolError>(ToolOutput::text("three").with_structured(structured).with_brief("added"))
    };
    let full = ClosureTool::without_arguments("full", "", output).unwrap();
    let retry = || Err::<String, _>(ToolError::retry("another day").with_brief("no"));
    let failing = ClosureTool::without_arguments("failing", "", retry).unwrap();
    let panicking = ClosureTool::without_arguments("panicking", "", || -> i32 { panic!("secret") }).unwrap();
    let _worker =
        Worker::new(registry([add(), full, failing, panicking])).unwrap().start(&fleet).await.unwrap();
    let tools = FleetTools::join(&fleet).await.unwrap();

    assert_eq!(call(&tools, "add", r#"{"a": 1, "b": 2}"#).await.to_text(), "3");
    let result = call(&tools, "full", "{}").await;
    let expected = output().unwrap();
    assert_eq!(result.output(), Some(&expected));
    let error = call(&tools, "failing", "{}").await.outcome.unwrap_err();
    assert_eq!(
        (error.kind(), error.message(), error.brief()),
        (ErrorKind::Retry, "Try again: another day", "no")
    );
    let error = call(&tools, "panicking", "{}").await.outcome.unwrap_err();
    assert_eq!((error.kind(), error.details()), (ErrorKind::Panicked, None));
    let error = call(&tools, "add", r#"{"a": "x", "b": 2}"#).await.outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    assert_eq!(CallFailure::from_error(&error), None);
}

#[tokio::test]
async fn a_call_carries_its_id_its_run_its_trace_and_its_deadline_and_progress_comes_back() {
    let Some(fleet) = server::fleet().await else { return };
    let look = |_: Nothing, context: ToolContext| {
        context.progress(0.5, "half");
        let caller = context.extension::<RemoteCaller>().unwrap();
        let trace = context.extension::<TraceContext>().unwrap();
        let left = context.time_left().unwrap();
        assert!(left <= Duration::from_secs(20) && left > Duration::from_secs(15));
        context.session().set("user:seen", true);
        let id = context.call_id().unwrap().to_string();
        format!("{id} {:?} {:?} {}", caller.run, caller.identity, trace.parent)
    };
    let look = ClosureTool::new_with_context("look", "", look).unwrap();
    let _worker = Worker::new(registry([look])).unwrap().start(&fleet).await.unwrap();
    let tools = FleetTools::join(&fleet).await.unwrap();
    let reports = Arc::new(Mutex::new(Vec::new()));
    let heard = reports.clone();
    let session = toolkit_ai::Session::new("s");
    let run = RunContext::new()
        .with_invocation_id("run 7")
        .with_session(session.clone())
        .with_extension(TraceContext::new("00-1-2-01"))
        .on_progress(move |progress| heard.lock().unwrap().push((progress.fraction, progress.message)));
    let dispatcher = dispatcher(&tools).with_timeout(Duration::from_secs(20)).with_run(run);
    let result = dispatcher.dispatch([ToolCall::new("call_1", "look", "{}")]).await.remove(0);
    assert_eq!(result.to_text(), "run 7/call_1 Some(\"run 7\") None 00-1-2-01");
    assert_eq!(*reports.lock().unwrap(), [(0.5, "half".to_owned())]);
    assert_eq!(session.get("user:seen"), Some(true.into()));
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_on_its_worker() {
    let Some(fleet) = server::fleet().await else { return };
    let worker = Worker::new(registry([wait()])).unwrap().start(&fleet).await.unwrap();
    let tools = FleetTools::join(&fleet).await.unwrap();
    let dispatcher = dispatcher(&tools);
    let running = tokio::spawn(async move { dispatcher.dispatch([ToolCall::new("1", "wait", "{}")]).await });
    until(|| worker.statistics().in_flight == 1).await;
    running.abort();
    until(|| worker.statistics().in_flight == 0).await;
}

#[tokio::test]
async fn a_deadline_ends_the_call_on_both_sides() {
    let Some(fleet) = server::fleet().await else { return };
    let worker = Worker::new(registry([wait()])).unwrap().start(&fleet).await.unwrap();
    let tools = FleetTools::builder(&fleet).call_timeout(Duration::from_millis(300)).join().await.unwrap();
    let error = call(&tools, "wait", "{}").await.outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    until(|| worker.statistics().in_flight == 0).await;
}

#[tokio::test]
async fn results_over_the_limit_of_messages_arrive_in_chunks_and_longer_ones_are_errors() {
    let Some(fleet) = server::fleet().await else { return };
    let big = || ClosureTool::without_arguments("big", "", || "x".repeat(3_000_000)).unwrap();
    let _worker = Worker::new(registry([big()])).unwrap().start(&fleet).await.unwrap();
    let tools = FleetTools::join(&fleet).await.unwrap();
    assert_eq!(call(&tools, "big", "{}").await.to_text().len(), 3_000_000);
    let Some(fleet) = server::fleet().await else { return };
    let worker = Worker::new(registry([big()])).unwrap().with_max_result_bytes(2_000_000);
    let _bounded = worker.start(&fleet).await.unwrap();
    let tools = FleetTools::join(&fleet).await.unwrap();
    let error = call(&tools, "big", "{}").await.outcome.unwrap_err();
    assert!(error.message().ends_with("bytes, more than 2000000; ask for less"), "{error}");
}

#[tokio::test]
async fn arguments_over_the_limit_of_messages_are_refused_before_they_are_sent() {
    let Some(fleet) = server::fleet().await else { return };
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Text {
        text: String,
    }
    let length = ClosureTool::new("length", "", |Text { text }: Text| text.len()).unwrap();
    let _worker = Worker::new(registry([length])).unwrap().start(&fleet).await.unwrap();
    let tools = FleetTools::join(&fleet).await.unwrap();
    let arguments = format!(r#"{{"text": "{}"}}"#, "x".repeat(2_000_000));
    let error = call(&tools, "length", &arguments).await.outcome.unwrap_err();
    assert_eq!(CallFailure::from_error(&error), Some(CallFailure::TooLarge));
}

#[tokio::test]
async fn a_full_worker_refuses_and_the_next_one_gets_the_call() {
    let Some(fleet) = server::fleet().await else { return };
    let start = || Worker::new(registry([wait()])).unwrap().with_max_calls(1).start(&fleet);
    let workers = [start().await.unwrap(), start().await.unwrap(), start().await.unwrap()];
    let tools = FleetTools::join(&fleet).await.unwrap();
    let dispatcher = dispatcher(&tools);
    let mut batch = dispatcher.batch((0..3).map(|n| ToolCall::new(n.to_string(), "wait", "{}")));
    until(|| workers.iter().all(|worker| worker.statistics().in_flight == 1)).await;
    let error = call(&tools, "wait", "{}").await.outcome.unwrap_err();
    assert_eq!(
        (CallFailure::from_error(&error), error.kind()),
        (Some(CallFailure::Busy), ErrorKind::RateLimited)
    );
    assert!(error.is_retryable());
    batch.cancel();
}

#[tokio::test]
async fn the_outcome_of_a_lost_worker_is_unknown_unless_the_call_may_be_repeated() {
    let Some(fleet) = server::fleet().await else { return };
    let runs = Arc::new(AtomicU32::new(0));
    let tool = |name: &str, idempotent: bool, hangs: bool| {
        let runs = runs.clone();
        let run = move |_: Nothing| {
            let run = runs.fetch_add(1, Ordering::Relaxed);
            async move {
                if hangs {
                    std::future::pending::<()>().await;
                }
                run
            }
        };
        let tool = ClosureTool::new(name, "", run).unwrap();
        tool.map_metadata(|metadata| metadata.with_idempotent(idempotent))
    };
    let tools_of = |hangs| registry([tool("pay", false, hangs), tool("read", true, hangs)]);
    let lost = Worker::new(tools_of(true)).unwrap().start(&fleet).await.unwrap();
    let tools = FleetTools::join(&fleet).await.unwrap();
    let calls = dispatcher(&tools);
    let calls = calls.batch([ToolCall::new("1", "pay", "{}"), ToolCall::new("2", "read", "{}")]);
    until(|| lost.statistics().in_flight == 2).await;
    // Another worker has the silent one's definitions.
    drop(lost);
    let _other = Worker::new(tools_of(false)).unwrap().start(&fleet).await.unwrap();
    let results = calls.finish().await;
    let error = results[0].error().unwrap();
    assert_eq!(CallFailure::from_error(error), Some(CallFailure::Unknown));
    assert_eq!(
        error.message(),
        "Tool `pay` may have run: its worker was lost; check its effect before you call it again"
    );
    assert_eq!(results[1].to_text(), "2");
    assert_eq!(runs.load(Ordering::Relaxed), 3);
    assert_eq!(tools.statistics().unknown, 1);
}
