//! The events and logs of a dispatcher's calls.

use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use tokio::runtime::Builder;
use toolkit_ai::events::{CallStatus, ExecutionLog, LogFilter, ToolEvent, ToolEventKind, ToolEvents};
use toolkit_ai::middleware::{Approval, Callbacks, PermissionRule, Permissions, Retry};
use toolkit_ai::prelude::*;
use toolkit_ai::{ErrorKind, RunContext};

/// Echoes.
#[tool(namespace = "events")]
fn echo(n: i64) -> i64 {
    n
}

/// Sleeps.
#[tool(namespace = "events")]
async fn sleep(ms: u64) -> u64 {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    ms
}

/// Sleeps, but not for long.
#[tool(namespace = "events", timeout = "5ms")]
async fn oversleeps() {
    tokio::time::sleep(Duration::from_secs(60)).await;
}

/// Panics.
#[tool(namespace = "events")]
async fn panics() {
    tokio::task::yield_now().await;
    panic!("ouch");
}

/// Fails, and may be tried again.
#[tool(namespace = "events", retries = 2, idempotent)]
fn flaky(context: &ToolContext) -> Result<(), &'static str> {
    context.progress(0.5, "half");
    Err("no luck")
}

/// Runs alone.
#[tool(namespace = "events", exclusive)]
async fn alone() {
    tokio::task::yield_now().await;
}

/// Blocks its thread.
#[tool(namespace = "events", blocking, timeout = "50ms")]
fn blocks(context: &ToolContext) {
    std::thread::sleep(Duration::from_millis(120));
    context.progress(1.0, "the call was given up");
}

fn dispatcher() -> Dispatcher {
    let tools = tools![echo, sleep, oversleeps, panics, flaky, alone, blocks];
    Dispatcher::new(ToolRegistry::from_tools(tools).expect("no collisions")).expect("no collisions")
}

fn call(id: &str, tool: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, format!("events-{tool}"), arguments)
}

async fn drain(events: &mut ToolEvents) -> Vec<ToolEvent> {
    let mut emitted = Vec::new();
    while let Ok(event) = tokio::time::timeout(Duration::from_millis(1), events.next()).await {
        emitted.push(event.expect("the dispatcher is there").expect("nothing was missed"));
    }
    emitted
}

fn names(events: &[ToolEvent]) -> Vec<&str> {
    events.iter().map(ToolEvent::name).collect()
}

#[tokio::test]
async fn every_outcome_of_a_call_has_its_events() {
    let pauses = Retry::new().with_pauses(Duration::from_millis(1), Duration::from_millis(1));
    let dispatcher = dispatcher().with_middleware(pauses);
    let mut events = dispatcher.events();
    let flaky_ends = [
        "tool.start",
        "tool.progress",
        "tool.retry",
        "tool.start",
        "tool.progress",
        "tool.retry",
        "tool.start",
        "tool.progress",
        "tool.error",
    ];
    let cases: [(&str, &str, &[&str]); 7] = [
        ("echo", r#"{"n": 1}"#, &["tool.start", "tool.result"]),
        ("echo", r#"{"n": "x"}"#, &["tool.start", "tool.error"]),
        ("ecko", "{}", &["tool.error"]),
        ("oversleeps", "{}", &["tool.start", "tool.timeout"]),
        ("panics", "{}", &["tool.start", "tool.error"]),
        ("flaky", "{}", &flaky_ends),
        ("blocks", "{}", &["tool.start", "tool.timeout"]),
    ];
    for (tool, arguments, expected) in cases {
        let batch = [call("call_1", tool, arguments)];
        dispatcher.dispatch(batch).await;
        let emitted = drain(&mut events).await;
        assert_eq!(names(&emitted)[0], "tool.call", "{tool}");
        assert_eq!(names(&emitted)[1..], *expected, "{tool}");
    }
}

#[tokio::test]
async fn an_event_identifies_its_call_and_the_last_event_its_outcome() {
    let run = RunContext::new().with_agent_name("analyst").with_invocation_id("run 7");
    let registry = ToolRegistry::from_tools(tools![echo]).expect("no collisions").with_call_reason(true);
    let dispatcher = Dispatcher::new(registry).expect("no collisions").with_run(run);
    let mut events = dispatcher.events();
    let arguments = r#"{"n": "17", "call_reason": "to see"}"#;
    dispatcher.dispatch([call("a", "nope", "{}"), call("b", "echo", arguments)]).await;

    let emitted = drain(&mut events).await;
    assert_eq!(
        names(&emitted[..2]),
        ["tool.call", "tool.call"],
        "all calls are announced before the first starts"
    );
    let ended = emitted.iter().find(|event| event.end().is_some() && event.call.position == 1);
    let ended = serde_json::to_value(ended.expect("it has ended")).expect("it is JSON");
    assert!(ended["timestamp_ms"].as_u64() > Some(1_600_000_000_000));
    assert!(ended["total_ms"].as_f64() >= ended["duration_ms"].as_f64());
    for (member, expected) in [
        ("type", "tool.result".into()),
        ("tool", "events-echo".into()),
        ("call_id", "b".into()),
        ("position", 1.into()),
        ("batch", serde_json::json!(0)),
        ("invocation_id", "run 7".into()),
        ("agent_name", "analyst".into()),
        ("call_reason", "to see".into()),
        ("arguments_bytes", r#"{"n": "17"}"#.len().into()),
        ("output_bytes", 2.into()),
        ("attempts", 1.into()),
        ("coerced", serde_json::json!(["n"])),
    ] {
        assert_eq!(ended[member], expected, "{member}");
    }
    for absent in ["arguments", "output", "error", "message"] {
        assert_eq!(ended.get(absent), None, "{absent}");
    }
}

#[tokio::test]
async fn contents_are_included_on_demand_only() {
    let dispatcher = dispatcher().with_event_contents(true);
    let mut events = dispatcher.events();
    dispatcher.dispatch([call("1", "echo", r#"{"n": 17}"#)]).await;
    let emitted = drain(&mut events).await;
    assert_eq!(emitted[0].call.arguments.as_deref(), Some(r#"{"n": 17}"#));
    assert_eq!(emitted[2].end().and_then(|end| end.output.as_deref()), Some("17"));
    let json = serde_json::to_value(&emitted[0]).expect("it is JSON");
    assert_eq!((&json["type"], &json["arguments"]), (&"tool.call".into(), &r#"{"n": 17}"#.into()));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[expect(dead_code)]
enum Secret {
    Word { word: String },
    Pin { pin: u16 },
}

/// A type whose own check repeats a wrong value.
#[derive(Debug)]
struct Even(u64);

impl schemars::JsonSchema for Even {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Even".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

impl<'de> serde::Deserialize<'de> for Even {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = text.parse().ok().filter(|number| number % 2 == 0);
        number.map(Self).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not even")))
    }
}

/// Fails in many ways, and each way repeats its arguments.
#[tool(namespace = "events", retries = 1, idempotent)]
fn repeats(
    way: String,
    number: Option<u8>,
    #[param(pattern = "^[0-9]*$", length = ..=3)] digits: Option<String>,
    secret: Option<Secret>,
    even: Option<Even>,
    weights: Option<HashMap<String, f64>>,
) -> Result<String, ToolError> {
    drop((number, digits, secret, even.map(|even| even.0), weights));
    Err(match way.as_str() {
        "plain s3cr3t" => ToolError::failed(&way),
        "own s3cr3t" => ToolError::new(ErrorKind::Failed, &way).with_details(&way).with_stored_details(true),
        "retry s3cr3t" => ToolError::retry(&way),
        "later s3cr3t" => ToolError::question(&way),
        "again s3cr3t" => ToolError::failed(&way).with_retryable(true),
        "panic s3cr3t" => panic!("{way}"),
        _ => return Ok(way),
    })
}

#[tokio::test]
async fn events_without_contents_hold_no_text_of_arguments_or_outputs() {
    let calls = [
        r#"{"way": 1, "number": "s3cr3t"}"#,
        r#"{"way": "", "number": 3333333333}"#,
        r#"{"way": "", "digits": "s3cr3t"}"#,
        r#"{"way": "", "s3cr3t": 1}"#,
        r#"{"way": "", "secret": {"kind": "s3cr3t"}}"#,
        r#"{"way": "", "secret": {"kind": "pin", "pin": "s3cr3t", "s3cr3t": 1}}"#,
        r#"{"way": "", "even": "s3cr3t"}"#,
        r#"{"way": "", "weights": {"s3cr3t": "s3cr3t"}}"#,
        r#"{"way": s3cr3t}"#,
        r#"["s3cr3t"]"#,
        r#""s3cr3t""#,
        r#"{"way": "plain s3cr3t"}"#,
        r#"{"way": "own s3cr3t"}"#,
        r#"{"way": "retry s3cr3t"}"#,
        r#"{"way": "later s3cr3t"}"#,
        r#"{"way": "again s3cr3t"}"#,
        r#"{"way": "panic s3cr3t"}"#,
        r#"{"way": "right s3cr3t"}"#,
    ];
    for contents in [false, true] {
        let registry = ToolRegistry::from_tools(tools![repeats]).expect("no collisions");
        let pauses = Retry::new().with_pauses(Duration::ZERO, Duration::ZERO);
        let log = ExecutionLog::new(calls.len());
        let dispatcher =
            Dispatcher::new(registry).expect("no collisions").with_middleware(pauses).with_log(&log);
        let dispatcher = dispatcher.with_event_contents(contents);
        let mut events = dispatcher.events();
        for arguments in calls {
            dispatcher.dispatch([call("1", "repeats", arguments)]).await;
            for event in drain(&mut events).await {
                let json = serde_json::to_string(&event).expect("it is JSON");
                let text = format!("{event:?} {event:#?} {json}");
                let holds = text.contains("s3cr3t") || text.contains("3333333333");
                let is_first = event.name() == "tool.call";
                assert!(contents && !is_first || holds == contents, "{arguments}: {text}");
            }
        }
        let kept = format!("{:#?}", log.entries(&LogFilter::new()));
        assert_eq!(kept.contains("s3cr3t"), contents, "{kept}");
    }
}

#[tokio::test]
async fn approvals_emit_events() {
    let permissions = Permissions::new()
        .rule(PermissionRule::deny("never").for_tool("events-sleep").unwrap())
        .rule(PermissionRule::ask("is it fine?"))
        .with_handler(|question| async move {
            match question.request.definition().name.as_str() {
                "events-echo" => Approval::Approve,
                _ => Approval::Deny("no".to_owned()),
            }
        });
    let dispatcher = dispatcher().with_middleware(permissions);
    let mut events = dispatcher.events();
    for (tool, expected) in [
        (
            "echo",
            &[
                "tool.call",
                "tool.rule",
                "tool.approval_requested",
                "tool.approval_decided",
                "tool.start",
                "tool.result",
            ][..],
        ),
        (
            "alone",
            &["tool.call", "tool.rule", "tool.approval_requested", "tool.approval_decided", "tool.denied"],
        ),
        ("sleep", &["tool.call", "tool.rule", "tool.denied"]),
    ] {
        let arguments = if tool == "echo" { r#"{"n": 1}"# } else { "{}" };
        dispatcher.dispatch([call("1", tool, arguments)]).await;
        let emitted = drain(&mut events).await;
        assert_eq!(names(&emitted), expected, "{tool}");
        for event in &emitted {
            match &event.kind {
                ToolEventKind::ApprovalRequested { reason, .. } => assert_eq!(&**reason, "is it fine?"),
                ToolEventKind::ApprovalDecided { approved, .. } => assert_eq!(*approved, tool == "echo"),
                _ => {}
            }
        }
    }
}

#[tokio::test]
async fn the_last_event_has_the_text_for_the_model() {
    let last_word = Callbacks::new().on_error(|_, _| Ok("never mind".into()));
    let dispatcher = dispatcher().with_middleware(last_word).with_event_contents(true);
    let mut events = dispatcher.events();
    dispatcher.dispatch([call("1", "panics", "{}")]).await;
    let emitted = drain(&mut events).await;
    let end = emitted.last().and_then(ToolEvent::end).expect("it has ended");
    assert_eq!((end.status, end.output.as_deref()), (CallStatus::Success, Some("never mind")));
}

#[tokio::test]
async fn a_dropped_batch_emits_the_end_of_every_call() {
    let dispatcher = dispatcher();
    let mut events = dispatcher.events();
    let calls = || [call("1", "sleep", r#"{"ms": 60000}"#), call("2", "sleep", r#"{"ms": 60000}"#)];
    for size in 1..=2 {
        let batch = dispatcher.dispatch(calls().into_iter().take(size));
        assert!(tokio::time::timeout(Duration::from_millis(10), batch).await.is_err());
        tokio::time::sleep(Duration::from_millis(10)).await;
        let emitted = drain(&mut events).await;
        let ends: Vec<CallStatus> =
            emitted.iter().filter_map(|event| event.end().map(|end| end.status)).collect();
        assert_eq!(ends, vec![CallStatus::Cancelled; size]);
    }
}

#[tokio::test]
async fn a_slow_stream_reports_its_gap() {
    let dispatcher = dispatcher();
    let mut events = dispatcher.events();
    let calls = (0..3_000).map(|n| call(&n.to_string(), "nope", "{}"));
    dispatcher.dispatch(calls).await;
    let missed = match events.next().await {
        Some(Err(missed)) => missed.0,
        other => panic!("{other:?}"),
    };
    let mut received = 0;
    while let Ok(Some(event)) = tokio::time::timeout(Duration::from_millis(1), events.next()).await {
        assert!(event.is_ok(), "what follows is complete");
        received += 1;
    }
    assert!(missed > 0);
    assert_eq!(missed + received, 6_000);
}

#[tokio::test]
async fn a_listener_belongs_to_its_dispatcher_and_a_stream_to_all_clones() {
    let first = dispatcher();
    let mut clones = first.clone().events();
    let received = Arc::new(Mutex::new(0));
    let counter = received.clone();
    let listened = first.clone().with_listener(move |_| {
        *counter.lock().expect("no panic") += 1;
        panic!("a panic of a listener is ignored");
    });
    let results = listened.dispatch([call("1", "echo", r#"{"n": 1}"#)]).await;
    assert_eq!(results[0].to_text(), "1");
    first.dispatch([call("2", "echo", r#"{"n": 1}"#)]).await;
    assert!(received.lock().is_err() || *received.lock().expect("no panic") == 3);
    assert_eq!(drain(&mut clones).await.len(), 6, "a stream has the events of all clones");
    drop((first, listened));
    assert!(clones.next().await.is_none(), "all dispatchers are dropped");
}

#[tokio::test]
async fn a_log_keeps_the_latest_calls() {
    let log = ExecutionLog::new(3);
    let run = RunContext::new().with_invocation_id("run 1");
    let dispatcher = dispatcher().with_log(&log);
    for n in 0..4 {
        let arguments = format!(r#"{{"n": {n}}}"#);
        dispatcher.dispatch([call(&n.to_string(), "echo", &arguments)]).await;
    }
    let later = SystemTime::now();
    dispatcher.clone().with_run(run).dispatch([call("4", "nope", "{}")]).await;
    dispatcher.dispatch([call("5", "echo", r#"{"n": "5"}"#)]).await;

    assert_eq!((log.len(), log.recorded()), (3, 6));
    let ids = |filter: LogFilter| -> Vec<String> {
        log.entries(&filter).iter().map(|entry| entry.call.call_id.to_string()).collect()
    };
    assert_eq!(ids(LogFilter::new()), ["5", "4", "3"]);
    assert_eq!(ids(LogFilter::new().with_limit(2)), ["5", "4"]);
    assert_eq!(ids(LogFilter::new().with_tool("events-echo").with_limit(1)), ["5"]);
    assert_eq!(ids(LogFilter::new().with_status(CallStatus::Error)), ["4"]);
    assert_eq!(ids(LogFilter::new().with_error(ErrorKind::NotFound)), ["4"]);
    assert_eq!(ids(LogFilter::new().with_error(ErrorKind::Failed)), [""; 0]);
    assert_eq!(ids(LogFilter::new().with_since(later)), ["5", "4"]);
    assert_eq!(ids(LogFilter::new().with_invocation_id("run 1")), ["4"]);
    assert_eq!(ids(LogFilter::new().with_batch(3)), ["3"]);
    assert_eq!(ids(LogFilter::new().with_coercions()), ["5"]);
    log.clear();
    assert!(log.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_log_counts_and_measures() {
    let log = ExecutionLog::new(100);
    let pauses = Retry::new().with_pauses(Duration::ZERO, Duration::ZERO);
    let dispatcher = dispatcher().with_log(&log).with_middleware(pauses);
    let calls = [
        call("1", "echo", r#"{"n": 1}"#),
        call("2", "echo", "{}"),
        call("3", "flaky", "{}"),
        call("4", "oversleeps", "{}"),
        call("5", "nope", "{}"),
    ];
    dispatcher.dispatch(calls).await;
    let all = log.statistics(&LogFilter::new());
    let counted = |error: ErrorKind| all.all.errors.get(&error).copied();
    assert_eq!((all.all.calls, all.all.retried), (5, 1));
    assert_eq!(counted(ErrorKind::NotFound), Some(1));
    assert_eq!(counted(ErrorKind::Panicked), None);
    assert_eq!(all.all.statuses.get(&CallStatus::TimedOut), Some(&1));
    let echo = &all.by_tool["events-echo"];
    assert_eq!((echo.calls, echo.statuses.get(&CallStatus::Success)), (2, Some(&1)));
    assert!(echo.shortest <= echo.median && echo.median <= echo.longest && echo.longest <= echo.total);
    assert_eq!(all.by_tool["events-nope"].total, Duration::ZERO, "it did not run");
    let json = serde_json::to_value(&all).expect("it is JSON");
    assert_eq!(json["by_tool"]["events-oversleeps"]["statuses"], serde_json::json!({"timeout": 1}));
    assert_eq!(json["all"]["errors"]["invalid_arguments"], 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_call_begins_and_ends_once(
        calls in prop::collection::vec(
            (
                prop::sample::select(vec!["echo", "sleep", "oversleeps", "panics", "flaky", "alone", "blocks", "nope", ""]),
                prop::sample::select(vec!["", "{}", "{", r#"{"n": "1"}"#, r#"{"ms": 1}"#]),
                prop::sample::select(vec!["same", "a", "b"]),
            ),
            0..16,
        ),
        threads in prop::bool::ANY,
        planned in prop::bool::ANY,
        cancelled in prop::option::of(prop::sample::select(vec!["all", "same"])),
        streamed in prop::option::of(0_usize..4),
    ) {
        let mut builder = if threads { Builder::new_multi_thread() } else { Builder::new_current_thread() };
        let runtime = builder.worker_threads(2).enable_time().build().expect("a runtime");
        let emitted = Arc::new(Mutex::new(Vec::new()));
        let writer = emitted.clone();
        let mut dispatcher =
            dispatcher().with_listener(move |event| writer.lock().expect("no panic").push(event.clone()));
        if planned {
            let pauses = Retry::new().with_pauses(Duration::from_millis(1), Duration::from_millis(1));
            dispatcher = dispatcher.with_middleware(pauses).with_max_concurrency(2);
        }
        let asked: Vec<ToolCall> = calls.iter().map(|(tool, arguments, id)| call(id, tool, arguments)).collect();
        runtime.block_on(async {
            let mut batch = dispatcher.batch([]);
            match cancelled {
                Some("all") => batch.cancel(),
                Some(id) => batch.cancel_call(id),
                None => {}
            }
            batch.extend(asked.clone());
            match streamed {
                None => drop(batch.finish().await),
                Some(wanted) => {
                    for _ in 0..wanted {
                        batch.next().await;
                    }
                }
            }
        });
        // Dropped calls end here at the latest, and no event follows.
        drop(runtime);
        let emitted = emitted.lock().expect("no panic");
        let first_start = emitted.iter().position(|event| event.name() != "tool.call").unwrap_or(emitted.len());
        prop_assert_eq!(first_start, asked.len(), "all calls are announced before the first starts");
        let mut of_calls = HashMap::<usize, Vec<&ToolEvent>>::new();
        emitted.iter().for_each(|event| of_calls.entry(event.call.position).or_default().push(event));
        prop_assert_eq!(of_calls.len(), asked.len());
        for (position, events) in of_calls {
            prop_assert_eq!(&events[0].call.call_id, &asked[position].id);
            prop_assert!(events.iter().all(|event| Arc::ptr_eq(&event.call, &events[0].call)));
            prop_assert!(events.is_sorted_by_key(|event| event.time));
            let is_end: Vec<bool> = events.iter().map(|event| event.end().is_some()).collect();
            prop_assert_eq!(is_end.iter().filter(|end| **end).count(), 1, "{:?}", events);
            prop_assert!(is_end.ends_with(&[true]), "{:?}", events);
            let mut attempts = 0;
            for event in events {
                match &event.kind {
                    ToolEventKind::Started { attempt, .. } => {
                        attempts += 1;
                        prop_assert_eq!(*attempt, attempts);
                    }
                    ToolEventKind::Retried { attempt, .. } => prop_assert_eq!(*attempt, attempts),
                    ToolEventKind::Ended(end) => prop_assert_eq!(end.attempts, attempts),
                    _ => {}
                }
            }
        }
    }
}
