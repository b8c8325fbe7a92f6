//! Middleware between calls and tools.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use toolkit_ai::middleware::{
    Approval, Callbacks, Deduplicate, Middleware, Next, Permission, PermissionRule, Permissions, Retry,
    ToolRequest,
};
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::{Value, json};
use toolkit_ai::{CancellationToken, ErrorKind, ToolTag};

type Outcome = Result<ToolOutput, ToolError>;

/// A log of calls, and the next outcomes of flaky tools.
#[derive(Default)]
struct Script {
    log: Mutex<Vec<String>>,
    next: Mutex<VecDeque<Outcome>>,
}

impl Script {
    fn log(&self, line: impl Into<String>) {
        self.log.lock().unwrap().push(line.into());
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }

    fn next(&self, outcomes: impl IntoIterator<Item = Outcome>) {
        self.next.lock().unwrap().extend(outcomes);
    }

    fn play(&self) -> Outcome {
        self.log("ran");
        self.next.lock().unwrap().pop_front().unwrap_or_else(|| Ok("fine".into()))
    }
}

/// Doubles.
#[tool(namespace = "mw", read_only)]
fn double(#[state] script: &Script, #[param(alias = "number")] n: i64) -> i64 {
    script.log(format!("double {n}"));
    2 * n
}

/// Fails now and then, and does no harm.
#[tool(namespace = "mw", retries = 3, idempotent)]
async fn flaky(#[state] script: Arc<Script>) -> Outcome {
    script.play()
}

/// Fails now and then, and does harm.
#[tool(namespace = "mw", retries = 3, tags("privileged"))]
async fn harmful(#[state] script: Arc<Script>) -> Outcome {
    script.play()
}

/// Counts up, one after another.
#[tool(namespace = "mw", exclusive, idempotent = false)]
async fn count(#[state] script: Arc<Script>) -> usize {
    sleep(Duration::from_millis(10)).await;
    script.log("count");
    script.log.lock().unwrap().len()
}

/// Waits.
#[tool(namespace = "mw", lane = "key", destructive)]
async fn wait(#[state] script: Arc<Script>, key: String, ms: u64) -> String {
    script.log(format!("begin {key}"));
    sleep(Duration::from_millis(ms)).await;
    script.log(format!("end {key}"));
    key
}

fn setup() -> (Arc<Script>, Dispatcher) {
    let script = Arc::new(Script::default());
    let registry =
        ToolRegistry::from_tools(tools![double, flaky, harmful, count, wait]).expect("no collisions");
    (script.clone(), Dispatcher::new(registry.with_shared_state(script)).expect("complete"))
}

fn call(id: &str, tool: &str, arguments: impl ToString) -> ToolCall {
    ToolCall::new(id, format!("mw-{tool}"), arguments.to_string())
}

fn texts(results: &[ToolResult]) -> Vec<String> {
    results.iter().map(|result| result.to_text().into_owned()).collect()
}

async fn only(dispatcher: &Dispatcher, call: ToolCall) -> String {
    texts(&dispatcher.dispatch([call]).await).remove(0)
}

/// Logs when it is entered and left.
struct Named(&'static str, Arc<Script>);

impl Middleware for Named {
    async fn handle(&self, request: ToolRequest, next: Next) -> Outcome {
        self.1.log(format!("into {}", self.0));
        let outcome = next.run(request).await;
        self.1.log(format!("out of {}", self.0));
        outcome
    }
}

#[tokio::test]
async fn the_first_middleware_is_the_outermost() {
    let (script, dispatcher) = setup();
    let dispatcher =
        dispatcher.with_middleware(Named("a", script.clone())).with_middleware(Named("b", script.clone()));
    assert_eq!(only(&dispatcher, call("1", "double", r#"{"n": 4}"#)).await, "8");
    assert_eq!(script.taken(), ["into a", "into b", "double 4", "out of b", "out of a"]);
    // Calls of unknown tools reach no middleware.
    assert!(only(&dispatcher, call("1", "doubel", "{}")).await.contains("did you mean `mw-double`"));
    assert_eq!(script.taken(), [""; 0]);
}

#[tokio::test]
async fn a_closure_may_change_arguments_and_results() {
    let (script, dispatcher) = setup();
    let dispatcher = dispatcher.with_middleware(|request: ToolRequest, next: Next| async move {
        assert_eq!(request.call_id().map(ToString::to_string), Some("call".to_owned()));
        let mut arguments = request.arguments_value()?.clone();
        arguments["n"] = json!(arguments["n"].as_i64().unwrap_or(0) + 1);
        let output = next.run(request.with_arguments(arguments)).await?;
        Ok(ToolOutput::text(format!("<{}>", output.to_text())))
    });
    assert_eq!(only(&dispatcher, call("call", "double", r#"{"n": 4}"#)).await, "<10>");
    // Also arguments under an alias or in a JSON string.
    assert_eq!(only(&dispatcher, call("call", "double", r#""{\"number\": 1}""#)).await, "<4>");
    let refused = only(&dispatcher, call("call", "double", "{")).await;
    assert!(refused.starts_with("Error parsing JSON arguments: "), "{refused}");
    assert_eq!(script.taken(), ["double 5", "double 2"]);
}

#[tokio::test]
async fn every_call_has_its_result_under_any_middleware() {
    let (script, dispatcher) = setup();
    let dispatcher = dispatcher.with_middleware(|request: ToolRequest, next: Next| async move {
        match request.call_id().map_or("", |id| id.as_str()) {
            "panics" => panic!("no"),
            "panics later" => {
                tokio::task::yield_now().await;
                panic!("no");
            }
            "waits" => std::future::pending().await,
            "twice" => {
                next.clone().run(request.clone()).await?;
                next.run(request).await
            }
            _ => next.run(request).await,
        }
    });
    let ids = ["panics", "panics later", "waits", "twice", "plain"];
    let token = CancellationToken::new();
    let batch = dispatcher.dispatch_with(ids.map(|id| call(id, "double", r#"{"n": 1}"#)), token.clone());
    let cancel = async {
        sleep(Duration::from_millis(20)).await;
        token.cancel();
    };
    let (results, ()) = tokio::join!(batch, cancel);
    let panicked = "Tool `mw-double` panicked";
    let cancelled = "Tool `mw-double` was cancelled before it finished";
    assert_eq!(texts(&results), [panicked, panicked, cancelled, "2", "2"]);
    assert_eq!(script.taken().len(), 3);
    assert_eq!(only(&dispatcher, call("panics", "double", "{}")).await, panicked);
}

#[tokio::test(start_paused = true)]
async fn a_call_waiting_in_middleware_delays_only_its_lane() {
    let (script, dispatcher) = setup();
    let dispatcher = dispatcher.with_max_concurrency(1).with_timeout(Duration::from_secs(1)).with_middleware(
        |request: ToolRequest, next: Next| async move {
            if request.position() == 0 {
                sleep(Duration::from_secs(60)).await;
            }
            next.run(request).await
        },
    );
    let key = |id, key: &str| call(id, "wait", json!({"key": key, "ms": 10}));
    let results = dispatcher.dispatch([key("1", "a"), key("2", "b"), key("3", "a"), key("4", "b")]).await;
    assert_eq!(texts(&results), ["a", "b", "a", "b"]);
    let order = ["begin b", "end b", "begin b", "end b", "begin a", "end a", "begin a", "end a"];
    assert_eq!(script.taken(), order);
    assert!(results[0].duration < Duration::from_secs(1), "only the tool's own time counts");
}

#[tokio::test]
async fn callbacks_run_in_order_until_one_answers() {
    let (script, dispatcher) = setup();
    let log = |line: &'static str| {
        let script = script.clone();
        move || script.log(line)
    };
    let first = log("first");
    let second = log("second");
    let after = log("after");
    let later = log("later");
    let error = log("error");
    let callbacks = Callbacks::new()
        .after(move |_, output| {
            after();
            Ok(output)
        })
        .after_async(move |request, output| {
            later();
            async move {
                match request.arguments() {
                    r#"{"n": 13}"# => Err(ToolError::failed("unlucky")),
                    _ => Ok(ToolOutput::text(format!("{} audited", output.to_text()))),
                }
            }
        })
        .on_error(move |request, failure| {
            error();
            match request.arguments() {
                "{}" => Ok(ToolOutput::text("nothing to double")),
                _ => Err(failure.with_message("it did not work")),
            }
        })
        .before_async(move |request| {
            first();
            async move {
                match request.arguments() {
                    r#"{"n": 0}"# => ControlFlow::Break(Ok(ToolOutput::text("0"))),
                    _ => ControlFlow::Continue(request),
                }
            }
        })
        .before(move |request| {
            second();
            match request.arguments() {
                r#"{"n": 1}"# => Some(Err(ToolError::denied("mw-double", "too easy"))),
                r#"{"n": 2}"# => {
                    request.set_arguments(json!({"n": 20}));
                    None
                }
                _ => None,
            }
        });
    let dispatcher = dispatcher.with_middleware(callbacks);
    for (arguments, text, log) in [
        (r#"{"n": 5}"#, "10 audited", "first second double 5 after later"),
        (r#"{"n": 0}"#, "0", "first"),
        (r#"{"n": 1}"#, "Tool `mw-double` was denied: too easy", "first second"),
        (r#"{"n": 2}"#, "40 audited", "first second double 20 after later"),
        (r#"{"n": 13}"#, "Error running tool: unlucky", "first second double 13 after later"),
        ("{}", "nothing to double", "first second error"),
        (r#"{"n": "x"}"#, "it did not work", "first second error"),
    ] {
        assert_eq!(only(&dispatcher, call("1", "double", arguments)).await, text);
        assert_eq!(script.taken().join(" "), log, "{arguments}");
    }
}

#[tokio::test(start_paused = true)]
async fn idempotent_calls_are_retried() {
    let (script, dispatcher) = setup();
    let dispatcher = dispatcher.with_middleware(Retry::new());
    let fail = |text: &str| Err(ToolError::failed(text));
    script.next([fail("one"), fail("two")]);
    let started = Instant::now();
    assert_eq!(only(&dispatcher, call("1", "flaky", "{}")).await, "fine");
    assert_eq!(script.taken().len(), 3);
    assert!(started.elapsed() > Duration::ZERO && started.elapsed() < Duration::from_secs(1));

    script.next([fail("one"), fail("two"), fail("two"), fail("two")]);
    let results = dispatcher.dispatch([call("1", "flaky", "{}")]).await;
    let error = results[0].error().expect("it failed four times");
    assert_eq!(error.earlier_attempts().len(), 3);
    assert_eq!(error.message(), "Error running tool: two (attempt 4)\n- attempt 1: Error running tool: one");
    assert_eq!(script.taken().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn other_calls_are_retried_only_after_a_retryable_error() {
    let (script, dispatcher) = setup();
    let dispatcher = dispatcher.with_middleware(Retry::new());
    script.next([Err(ToolError::failed("no"))]);
    assert_eq!(only(&dispatcher, call("1", "harmful", "{}")).await, "Error running tool: no");
    assert_eq!(script.taken().len(), 1);
    script.next([Err(ToolError::failed("busy").with_retryable(true)), Err(ToolError::failed("no"))]);
    let text = only(&dispatcher, call("1", "harmful", "{}")).await;
    assert_eq!(text, "Error running tool: no (attempt 2)\n- attempt 1: Error running tool: busy");
    assert_eq!(script.taken().len(), 2);
    // Invalid arguments are not retried, and without retries there is one attempt.
    assert!(only(&dispatcher, call("1", "flaky", r#"{"x": 1}"#)).await.starts_with("Error validating"));
    assert!(only(&dispatcher, call("1", "double", "{}")).await.starts_with("Error validating"));
}

#[test]
fn identical_calls_of_a_batch_run_once() {
    for workers in [1, 4] {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap();
        let (script, dispatcher) = setup();
        let dispatcher = dispatcher.with_middleware(Deduplicate::new());
        let wait = |id, arguments: &str| call(id, "wait", arguments);
        let calls = || {
            [
                wait("1", r#"{"key": "a", "ms": 5}"#),
                wait("2", r#"{"ms": 5, "key": "\u0061"}"#),
                wait("3", r#"{"key": "b", "ms": 5}"#),
                call("4", "count", "{}"),
                call("5", "count", "{}"),
                call("6", "double", "{}"),
                call("7", "double", ""),
            ]
        };
        for _ in 0..2 {
            let results = runtime.block_on(dispatcher.dispatch(calls()));
            assert_eq!(texts(&results)[..3], ["a", "a", "b"]);
            let warned: Vec<bool> = results
                .iter()
                .map(|result| match &result.outcome {
                    Ok(output) => output.message() == Deduplicate::WARNING,
                    Err(error) => error.message().ends_with(Deduplicate::WARNING),
                })
                .collect();
            assert_eq!(warned, [false, true, false, false, false, false, false]);
            let log = script.taken();
            assert_eq!(
                log.iter().filter(|line| *line == "begin a").count(),
                1,
                "another batch runs it again"
            );
            assert_eq!(log.iter().filter(|line| *line == "count").count(), 2);
        }
    }
}

/// Takes an integer as it is.
#[tool(register = false, coerce = false)]
fn exact(n: i64) -> i64 {
    n
}

#[tokio::test]
async fn a_refused_call_does_not_answer_a_duplicate_that_is_written_well() {
    let registry = ToolRegistry::from_tools(tools![exact]).unwrap();
    let dispatcher = Dispatcher::new(registry).unwrap().with_middleware(Deduplicate::new());
    for [first, second] in [["5.0", "5"], ["5", "5.0"]] {
        let results = [first, second].map(|n| ToolCall::new(n, "exact", format!("{{\"n\": {n}}}")));
        let results = dispatcher.dispatch(results).await;
        let right = results.iter().find(|result| result.call_id == "5").unwrap();
        assert_eq!(right.to_text().lines().next(), Some("5"), "after {first}");
    }
}

#[tokio::test]
async fn null_is_another_call_than_absence_if_the_schema_takes_null() {
    let schema = json!({"type": "object", "properties": {
        "note": {"type": ["string", "null"]}, "any": {}, "count": {"type": "integer"},
    }});
    let patch =
        toolkit_ai::DynamicTool::new("patch", "Patches.", schema, |changes: Value| changes.to_string());
    let optional =
        toolkit_ai::ClosureTool::new("optional", "Takes or not.", |it: Optional| format!("{it:?}"));
    let mut registry = ToolRegistry::from_tools([patch.unwrap()]).unwrap();
    registry.register(optional.unwrap()).unwrap();
    registry.register(optional_any::tool()).unwrap();
    let dispatcher = Dispatcher::new(registry).unwrap().with_middleware(Deduplicate::new());
    for (tool, arguments, runs) in [
        ("patch", ["{}", r#"{"note": null}"#], 2),
        ("patch", ["{}", r#"{"any": null}"#], 2),
        // It is refused, so it must not answer the other one.
        ("patch", [r#"{"count": null}"#, "{}"], 2),
        ("patch", [r#"{"note": null}"#, r#"{ "note":null }"#], 1),
        ("optional", ["{}", r#"{"a": null}"#], 1),
        ("optional_any", ["{}", r#"{"a": null}"#], 2),
    ] {
        let calls = arguments.map(|arguments| ToolCall::new(arguments, tool, arguments));
        let results = dispatcher.dispatch(calls).await;
        let warned = results.iter().filter(|result| match &result.outcome {
            Ok(output) => output.message() == Deduplicate::WARNING,
            Err(error) => error.message().ends_with(Deduplicate::WARNING),
        });
        assert_eq!(2 - warned.count(), runs, "{tool} {arguments:?}: {:?}", texts(&results));
    }
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code)]
struct Optional {
    a: Option<i64>,
}

/// Takes anything or nothing.
#[tool(register = false)]
fn optional_any(a: Option<Value>) -> String {
    format!("{a:?}")
}

#[tokio::test(start_paused = true)]
async fn a_dispatcher_retries_calls_unless_a_middleware_does() {
    struct Custom(bool);

    impl Middleware for Custom {
        async fn handle(&self, request: ToolRequest, next: Next) -> Outcome {
            next.run(request).await
        }

        fn retries(&self) -> bool {
            self.0
        }
    }

    let (script, dispatcher) = setup();
    for (middleware, attempts) in [
        (None, 4),
        (Some(Custom(false).boxed()), 4),
        (Some(Custom(true).boxed().boxed()), 1),
        (Some(Retry::new().boxed()), 4),
    ] {
        let dispatcher = middleware.into_iter().fold(dispatcher.clone(), Dispatcher::with_middleware);
        script.next((0..4).map(|_| Err(ToolError::failed("no"))));
        assert_eq!(dispatcher.dispatch([call("1", "flaky", "{}")]).await.len(), 1);
        assert_eq!(script.taken().len(), attempts);
        script.next.lock().unwrap().clear();
        assert_eq!(dispatcher.warnings(), []);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_does_not_answer_its_duplicate() {
    let (script, dispatcher) = setup();
    let dispatcher = dispatcher.with_middleware(Deduplicate::new());
    let wait = |id| call(id, "wait", r#"{"key": "a", "ms": 100}"#);
    let mut batch = dispatcher.batch([wait("1"), wait("2")]);
    let first = batch.call_token("1");
    let cancel = async {
        sleep(Duration::from_millis(50)).await;
        first.cancel();
    };
    let (results, ()) = tokio::join!(batch.finish(), cancel);
    assert_eq!(texts(&results), ["Tool `mw-wait` was cancelled before it finished", "a"]);
    assert_eq!(script.taken(), ["begin a", "begin a", "end a"]);
}

#[tokio::test(start_paused = true)]
async fn the_first_applicable_rule_decides() {
    let (script, dispatcher) = setup();
    let asked = script.clone();
    let permissions = Permissions::new()
        .rule(PermissionRule::deny("privileged").for_tag(ToolTag::Privileged))
        .rule(
            PermissionRule::deny("too large")
                .for_tool("*double")
                .unwrap()
                .when(|_, arguments| arguments["n"].as_i64().is_none_or(|n| n >= 100)),
        )
        .rule(
            PermissionRule::deny("forbidden key")
                .for_tool("*wait")
                .unwrap()
                .when(|_, arguments| arguments["key"] == "forbidden"),
        )
        .rule(PermissionRule::allow().for_tag(ToolTag::ReadOnly))
        .rule(PermissionRule::ask("it destroys").for_tag(ToolTag::Destructive))
        .with_patience(Duration::from_secs(30), Approval::Deny("the user did not answer".to_owned()))
        .with_handler(move |question| {
            let script = asked.clone();
            async move {
                script.log(format!("asked: {}, {}", question.reason, question.arguments["key"]));
                match question.arguments["key"].as_str() {
                    Some("yes") => Approval::Approve,
                    Some("other") => Approval::Change(json!({"key": "changed", "ms": 1})),
                    Some("trick") => Approval::Change(json!({"key": "forbidden", "ms": 1})),
                    Some("later") => std::future::pending().await,
                    _ => Approval::Deny("the user said no".to_owned()),
                }
            }
        });
    let definition = double::tool().definition().clone();
    assert_eq!(permissions.decide(&definition, &json!({"n": 1})), &Permission::Allow);
    let dispatcher = dispatcher.with_max_concurrency(1).with_middleware(permissions);
    let wait = |key: &str| call("1", "wait", json!({"key": key, "ms": 1}));
    let denied = |tool: &str, reason: &str| format!("Tool `mw-{tool}` was denied: {reason}");
    for (call, text, log) in [
        (call("1", "double", r#"{"n": 4}"#), "8".to_owned(), "double 4"),
        (call("1", "double", r#"{"n": 100}"#), denied("double", "too large"), ""),
        (call("1", "double", r#"{"number": 100}"#), denied("double", "too large"), ""),
        (call("1", "double", r#""{\"n\": 100}""#), denied("double", "too large"), ""),
        (call("1", "harmful", "{}"), denied("harmful", "privileged"), ""),
        (call("1", "count", "{}"), denied("count", "no rule allows it"), ""),
        (wait("yes"), "yes".to_owned(), r#"asked: it destroys, "yes"|begin yes|end yes"#),
        (wait("other"), "changed".to_owned(), r#"asked: it destroys, "other"|begin changed|end changed"#),
        (wait("trick"), denied("wait", "forbidden key"), r#"asked: it destroys, "trick""#),
        (wait("no"), denied("wait", "the user said no"), r#"asked: it destroys, "no""#),
        (wait("later"), denied("wait", "the user did not answer"), r#"asked: it destroys, "later""#),
    ] {
        let results = dispatcher.dispatch([call]).await;
        assert_eq!(results[0].to_text(), text);
        if text.contains("denied") {
            assert_eq!(results[0].error().map(ToolError::kind), Some(ErrorKind::Denied));
            assert_eq!(results[0].duration, Duration::ZERO);
        }
        assert_eq!(script.taken().join("|"), log);
    }
    let both = dispatcher.dispatch([wait("later"), call("2", "double", r#"{"n": 1}"#)]).await;
    assert_eq!(texts(&both)[1], "2", "who waits for a person holds no place");
}

#[tokio::test]
async fn without_a_handler_approvals_are_refused() {
    let (_, dispatcher) = setup();
    let asks = Permissions::new().otherwise(Permission::Ask("always".to_owned()));
    let unanswered = "Tool `mw-double` was denied: approvals have no handler in this program";
    assert_eq!(only(&dispatcher.with_middleware(asks), call("1", "double", r#"{"n": 1}"#)).await, unanswered);
    let value: Value = json!(null);
    let rule = PermissionRule::allow().for_tool("mw-double").unwrap().for_tag("network");
    let permissions = Permissions::new().rule(rule);
    let decided = permissions.decide(double::tool().definition(), &value).clone();
    assert!(matches!(decided, Permission::Deny(_)), "all conditions must be met");
}

#[test]
fn a_rule_that_overrules_a_stricter_one_is_found() {
    let tool =
        |tags: &[&str]| double::tool().map_metadata(|metadata| metadata.with_tags(tags)).definition().clone();
    let both = tool(&["privileged", "network"]);
    let one = tool(&["network"]);
    let allow = || PermissionRule::allow().for_tag(ToolTag::Network);
    let deny = || PermissionRule::deny("privileged tools are not allowed").for_tag(ToolTag::Privileged);
    let ask = || PermissionRule::ask("it may cost").for_tag(ToolTag::Network);
    for (rules, expected) in [
        (vec![allow(), deny()], true),
        (vec![ask(), deny()], true),
        (vec![allow(), ask()], true),
        (vec![deny(), allow()], false),
        // Exceptions may come first, and the rule for all others last.
        (vec![PermissionRule::allow().for_tool("mw-double").unwrap(), deny()], false),
        (vec![allow().when(|_, _| true), deny()], false),
        (vec![allow(), PermissionRule::deny("nothing else")], false),
        // An exception for some calls is no reason to put other rules into this order.
        (vec![allow().when(|_, _| true), allow(), deny()], true),
    ] {
        let permissions = rules.into_iter().fold(Permissions::new(), Permissions::rule);
        let overruled = permissions.overruled([&both]);
        assert_eq!(!overruled.is_empty(), expected, "{permissions:?}");
    }
    let trap = Permissions::new().rule(allow()).rule(deny());
    assert!(trap.overruled([&one]).is_empty(), "only one of the rules is for it");
}
