//! Tool providers beside the program's tools, and calls passed on singly.

use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit_ai::definition::ProvidedTool;
use toolkit_ai::middleware::{Next, ToolRequest};
use toolkit_ai::name::Separator;
use toolkit_ai::prelude::*;
use toolkit_ai::{
    AdaptedTool, ArgumentTransform, Batch, Dispatcher, ErrorKind, LiveRegistry, RunContext, Session,
    ToolDefinition, ToolFuture, ToolName, ToolProvider,
};

#[derive(Default)]
struct Remote {
    running: Arc<AtomicUsize>,
}

struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl ToolProvider for Remote {
    fn tools(&self) -> Vec<ToolDefinition> {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let tool = |name| ToolDefinition::new(ToolName::new(name).expect("legal"), "Remote.", schema.clone());
        ["echo", "fail", "panic", "panic_later", "wait"].map(tool).into()
    }

    fn handle<'a>(&'a self, call: ToolCall, context: &'a ToolContext) -> ToolFuture<'a> {
        let text = format!("{} {} {}", call.id, call.arguments, context.tool_name());
        self.running.fetch_add(1, Ordering::SeqCst);
        let running = Running(self.running.clone());
        match call.name.as_str() {
            "echo" => ToolFuture::new(async move { Ok(ToolOutput::text(text)) }),
            "fail" => ToolFuture::ready(Err("the line is dead".into())),
            "panic" => panic!("at once"),
            "panic_later" => ToolFuture::new(async { panic!("later") }),
            _ => ToolFuture::new(async move {
                let _running = running;
                std::future::pending().await
            }),
        }
    }
}

/// Adds.
#[tool(register = false)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Waits for ever.
#[tool(register = false)]
async fn forever() {
    std::future::pending::<()>().await;
}

#[tokio::test(start_paused = true)]
async fn the_tools_of_a_provider_stand_beside_all_others() {
    let running = Arc::new(AtomicUsize::new(0));
    let mut registry = ToolRegistry::from_tools(tools![add]).expect("one tool");
    registry.register_provider(Remote { running: running.clone() }).expect("no collisions");
    assert!(registry.register_provider(Remote::default()).is_err(), "the names are taken");
    registry.update_namespace("remote", false, Separator::Dash).expect("legal");
    registry.disable("remote-fail", "the line is dead").expect("it is there");
    let echo = AdaptedTool::from_arc(registry.get("remote-echo").expect("it is there").clone())
        .with_arguments([ArgumentTransform::new("a").with_name("text")])
        .expect("possible");
    registry.replace(echo).expect("it is there");
    let dispatcher = Dispatcher::new(registry).expect("complete").with_timeout(Duration::from_secs(1));
    let calls = [
        ("remote-echo", r#"{"text": "x"}"#),
        ("remote-fail", "{}"),
        ("remote-panic", "{}"),
        ("remote-panic_later", "{}"),
        ("remote-wait", "{}"),
        ("remote-add", r#"{"a": 1, "b": 2}"#),
    ];
    let calls = calls.map(|(name, arguments)| ToolCall::new(format!("id of {name}"), name, arguments));
    let results = dispatcher.dispatch(calls).await;
    assert_eq!(results[0].to_text(), r#"id of remote-echo {"a": "x"} remote-echo"#, "it knows its own names");
    let kinds = results.iter().skip(1).map(|result| result.error().map(ToolError::kind));
    let expected = [ErrorKind::Disabled, ErrorKind::Panicked, ErrorKind::Panicked, ErrorKind::TimedOut];
    assert_eq!(kinds.collect::<Vec<_>>(), expected.map(Some).into_iter().chain([None]).collect::<Vec<_>>());
    assert_eq!(running.load(Ordering::SeqCst), 0, "what was given up is dropped");
}

#[tokio::test]
async fn the_tools_of_a_provider_may_change() {
    let live = LiveRegistry::new(ToolRegistry::new()).expect("complete");
    let refresh = |provider: Remote| {
        let tools = ProvidedTool::all(provider).into_iter().take(live.snapshot().len() + 1);
        live.change(|registry| registry.replace_namespace("far", tools.collect::<Vec<_>>(), Separator::Dot))
    };
    refresh(Remote::default()).expect("possible");
    refresh(Remote::default()).expect("possible");
    assert_eq!(live.snapshot().names().collect::<Vec<_>>(), ["far.echo", "far.fail"]);
    let error = live.snapshot().call("far.fail", "{}").await.expect_err("it fails");
    assert_eq!(error.message(), "Error running tool: the line is dead");
}

#[tokio::test]
async fn a_dispatcher_is_a_provider_with_rules_of_its_own() {
    let inner = Dispatcher::new(ToolRegistry::from_tools(tools![add, forever]).expect("two tools"))
        .expect("complete")
        .with_timeout(Duration::from_millis(5));
    let mut registry = ToolRegistry::new();
    registry.register_provider(inner).expect("no collisions");
    registry.update_namespace("inner", false, Separator::Dash).expect("legal");
    let outer = Dispatcher::new(registry).expect("complete");
    let results = outer
        .dispatch([ToolCall::new("1", "inner-add", r#"{"a": 1}"#), ToolCall::new("2", "inner-forever", "{}")])
        .await;
    assert_eq!(results[0].error().map(ToolError::kind), Some(ErrorKind::InvalidArguments));
    assert_eq!(results[1].error().map(ToolError::kind), Some(ErrorKind::TimedOut));
}

fn only(mut results: Vec<ToolResult>) -> ToolResult {
    results.pop().expect("one result")
}

#[tokio::test]
async fn a_call_that_is_handed_over_runs_at_once_and_always_has_a_result() {
    let dispatcher = Dispatcher::new(ToolRegistry::from_tools(tools![add, forever]).expect("two tools"))
        .expect("complete");
    let added = dispatcher.batch([ToolCall::new("1", "add", r#"{"a": 1, "b": 2}"#)]);
    let unknown = dispatcher.batch([ToolCall::new("2", "sub", "bad")]);
    let mut stopped = dispatcher.batch([ToolCall::new("3", "forever", "{}")]);
    stopped.cancel();
    let [added, unknown, stopped] = [added, unknown, stopped].map(Batch::finish);
    let added = only(added.await);
    let unknown = only(unknown.await);
    let stopped = only(stopped.await);
    assert_eq!((added.to_text().as_ref(), added.call_id.as_str()), ("3", "1"));
    assert_eq!(unknown.error().map(ToolError::kind), Some(ErrorKind::NotFound));
    assert_eq!(stopped.error().map(ToolError::kind), Some(ErrorKind::Cancelled));
}

#[test]
fn a_call_without_a_runtime_has_a_result_too() {
    let dispatcher =
        Dispatcher::new(ToolRegistry::from_tools(tools![add]).expect("one tool")).expect("complete");
    let pending = dispatcher.batch([ToolCall::new("1", "add", r#"{"a": 1, "b": 2}"#)]).finish();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let result = only(runtime.block_on(pending));
    assert_eq!(result.to_text(), "Error running tool: there is no tokio runtime to run it on");
}

/// Remembers a value in the session.
#[tool(register = false)]
fn remember(ctx: &ToolContext, value: i64) -> Option<String> {
    ctx.session().set("value", value);
    ctx.agent_name().map(str::to_owned)
}

#[tokio::test]
async fn a_dispatcher_without_a_run_takes_part_in_the_callers() {
    let inner =
        Dispatcher::new(ToolRegistry::from_tools(tools![remember]).expect("one tool")).expect("complete");
    let mut registry = ToolRegistry::new();
    registry.register_provider(inner).expect("no collisions");
    let session = Session::new("1");
    let run = RunContext::new().with_agent_name("analyst").with_session(session.clone());
    let outer = Dispatcher::new(registry).expect("complete").with_run(run);
    let results = outer.dispatch([ToolCall::new("1", "remember", r#"{"value": 7}"#)]).await;
    assert_eq!(results[0].to_text(), "analyst");
    assert_eq!(
        results[0].actions.state_delta["value"],
        Some(7.into()),
        "the change is that of the outer call"
    );
    assert_eq!(session.get("value"), Some(7.into()));
}

/// A tool that forwards only definition and call.
struct Wrapper(Arc<dyn Tool>);

impl Tool for Wrapper {
    fn definition(&self) -> &ToolDefinition {
        self.0.definition()
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        self.0.call(arguments, context)
    }
}

struct Needed;

/// Writes to a file.
#[tool(lane = "path", register = false)]
fn write(#[param(alias = "file")] path: String, #[state] _needed: &Needed) -> String {
    path
}

#[tokio::test]
async fn a_wrapper_keeps_aliases_lane_and_state_needs() {
    let tool = Wrapper(Arc::new(write::tool()));
    assert_eq!(tool.definition().parameter_named("file"), Some("path"));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let registry = ToolRegistry::from_tools([tool]).expect("one tool");
    let error = Dispatcher::new(registry.clone()).expect_err("the state is missing");
    assert!(error.to_string().contains("Needed"), "{error}");
    let dispatcher = Dispatcher::new(registry.with_state(Needed)).expect("complete").with_middleware(
        move |request: ToolRequest, next: Next| {
            let canonical = request.canonical_arguments().map(str::to_owned);
            log.lock().expect("no panic").push(canonical);
            next.run(request)
        },
    );
    let results = dispatcher.dispatch([ToolCall::new("1", "write", r#"{"file": "a"}"#)]).await;
    assert_eq!(results[0].to_text(), "a");
    assert_eq!(*seen.lock().expect("no panic"), [Some(r#"{"path":"a"}"#.to_owned())]);
}
