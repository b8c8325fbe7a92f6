//! A call's context and writes, under limits and middleware.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit_ai::middleware::{Callbacks, Middleware, Next, PermissionRule, Permissions, Retry, ToolRequest};
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::Value;
use toolkit_ai::{AdaptedTool, ClosureTool, ErrorKind, RunContext, Session, ToolName};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// Writes a new key with every attempt, and succeeds at the last.
#[tool(register = false, retries = 2, idempotent)]
fn note(#[param(alias = "count")] attempts: usize, context: &ToolContext) -> Result<(), String> {
    let attempt = context.extension::<Arc<Mutex<usize>>>().ok_or("no counter")?;
    let mut attempt = attempt.lock().map_err(|error| error.to_string())?;
    *attempt += 1;
    context.session().set(format!("attempt {attempt}"), true);
    if *attempt < attempts { Err("not yet".to_owned()) } else { Ok(()) }
}

/// Returns the time until the deadline, and the reason of the call.
#[tool(register = false, blocking, timeout = "5s", call_reason)]
fn look(context: &ToolContext) -> String {
    let has_time = context.time_left().is_some_and(|left| left <= Duration::from_secs(5));
    format!("{has_time} {:?}", context.call_reason())
}

/// Waits at its first attempt until the second has begun, and writes then.
#[tool(register = false, blocking, timeout = "400ms", retries = 1, idempotent)]
fn late(context: &ToolContext) -> Result<(), String> {
    let attempts = context.extension::<Arc<Mutex<usize>>>().ok_or("no counter")?;
    let next = |least: usize| {
        while *attempts.lock().unwrap() < least {
            std::thread::sleep(Duration::from_millis(1));
        }
        *attempts.lock().unwrap() += 1;
    };
    let is_first = *attempts.lock().unwrap() == 0;
    if is_first {
        next(0);
        next(2);
        context.session().set("attempt 1", true);
        assert_eq!(context.session().get("attempt 1"), None, "the call has left it behind");
        next(3);
    } else {
        next(1);
        context.session().set("attempt 2", true);
        next(4);
    }
    Ok(())
}

fn dispatcher(session: &Session) -> Dispatcher {
    let run = RunContext::new().with_session(session.clone()).with_extension(Arc::new(Mutex::new(0_usize)));
    let registry = ToolRegistry::from_tools(tools![note, look, late]).expect("no collisions");
    Dispatcher::new(registry).expect("complete").with_run(run)
}

fn keys(session: &Session) -> Vec<usize> {
    (1..5).filter(|attempt| session.get(&format!("attempt {attempt}")).is_some()).collect()
}

#[tokio::test(start_paused = true)]
async fn only_writes_of_the_successful_attempt_are_kept() {
    let session = Session::new("s");
    let dispatcher = dispatcher(&session).with_middleware(Retry::new());
    let results = dispatcher.dispatch([ToolCall::new("1", "note", r#"{"attempts": 3}"#)]).await;
    assert!(!results[0].is_error(), "{:?}", results[0]);
    assert_eq!(keys(&session), [3]);
}

#[tokio::test]
async fn writes_of_an_abandoned_attempt_are_discarded() {
    let session = Session::new("s");
    let dispatcher = dispatcher(&session).with_middleware(Retry::new());
    let results = dispatcher.dispatch([ToolCall::new("1", "late", "{}")]).await;
    assert!(!results[0].is_error(), "{:?}", results[0]);
    assert_eq!(keys(&session), [2]);
}

#[tokio::test(start_paused = true)]
async fn a_replaced_failure_has_no_writes() {
    let session = Session::new("s");
    let answers = Callbacks::new().on_error(|_, _| Ok("never mind".into()));
    let dispatcher = dispatcher(&session).with_middleware(answers);
    let results = dispatcher.dispatch([ToolCall::new("1", "note", r#"{"attempts": 9}"#)]).await;
    assert_eq!(results[0].to_text(), "never mind");
    assert_eq!(keys(&session), [0; 0]);
}

#[tokio::test]
async fn middleware_sees_the_reason_apart_from_the_arguments() {
    let seen = Arc::new(Mutex::new(None));
    let watch = seen.clone();
    let look = Callbacks::new().before(move |request: &mut ToolRequest| {
        let reason = request.context().call_reason().map(str::to_owned);
        *watch.lock().unwrap() = Some((request.arguments().to_owned(), reason));
        None
    });
    let dispatcher = dispatcher(&Session::new("s")).with_middleware(look);
    let results = dispatcher.dispatch([ToolCall::new("1", "look", r#"{"call_reason": "To see"}"#)]).await;
    assert_eq!(results[0].to_text(), r#"true Some("To see")"#);
    assert_eq!(results[0].call_reason.as_deref(), Some("To see"));
    assert_eq!(seen.lock().unwrap().take(), Some(("{}".to_owned(), Some("To see".to_owned()))));
}

#[tokio::test]
async fn rules_see_the_parameter_names_of_a_renamed_tool() {
    let renamed = note::tool();
    let renamed = AdaptedTool::new(renamed).with_name(ToolName::new("write").expect("legal"));
    let many = |_: &toolkit_ai::ToolDefinition, arguments: &Value| arguments["attempts"] == 3;
    let rules =
        Permissions::new().rule(PermissionRule::deny("too many").when(many)).rule(PermissionRule::allow());
    let dispatcher = Dispatcher::new(ToolRegistry::from_tools([renamed]).expect("no collisions"))
        .expect("complete")
        .with_middleware(rules);
    let results = dispatcher.dispatch([ToolCall::new("1", "write", r#"{"count": 3}"#)]).await;
    assert_eq!(results[0].error().map(ToolError::kind), Some(ErrorKind::Denied), "{:?}", results[0]);
}

/// What writes to the session, and what happens then.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Write {
    Outer,
    Inner,
    Tool,
    After,
}

/// Writes to the session before the tool and after its success, and counts calls.
fn writing(before: Write, after: Option<Write>) -> impl Middleware {
    move |request: ToolRequest, next: Next| async move {
        let context = request.context().clone();
        add(&context, before);
        let outcome = next.run(request).await;
        if let Some(after) = after.filter(|_| outcome.is_ok()) {
            add(&context, after);
        }
        outcome
    }
}

/// Adds to the session's list of writes, and writes a key.
fn add(context: &ToolContext, write: Write) {
    let list = context.session().get("writes").and_then(|list| list.as_str().map(str::to_owned));
    context.session().set("writes", format!("{}{write:?} ", list.unwrap_or_default()));
    context.session().set(format!("{write:?}"), true);
}

#[tokio::test(start_paused = true)]
async fn the_tool_and_the_session_see_the_writes_of_middleware_but_not_of_failed_attempts() {
    for failures in 0..3 {
        let left = Arc::new(Mutex::new(failures));
        let tool = ClosureTool::new_with_context("write", "", move |_: Nothing, context: ToolContext| {
            add(&context, Write::Tool);
            let mut left = left.lock().unwrap();
            if *left == 0 {
                return Ok(context
                    .session()
                    .get("writes")
                    .and_then(|writes| writes.as_str().map(str::to_owned))
                    .unwrap_or_default());
            }
            *left -= 1;
            Err(ToolError::failed("not yet").with_retryable(true))
        });
        let tool = tool.unwrap().map_metadata(|metadata| metadata.with_retries(failures));
        for is_blocking in [false, true] {
            let tool = tool.clone().map_metadata(|metadata| metadata.with_blocking(is_blocking));
            let session = Session::new("s");
            let dispatcher = Dispatcher::new(ToolRegistry::from_tools([tool]).unwrap())
                .unwrap()
                .with_run(RunContext::new().with_session(session.clone()))
                .with_middleware(writing(Write::Outer, Some(Write::After)))
                .with_middleware(Retry::new())
                .with_middleware(writing(Write::Inner, None));
            let results = dispatcher.dispatch([ToolCall::new("1", "write", "{}")]).await;
            // Middleware inside of retries writes before each attempt.
            let attempts = if is_blocking { 0 } else { failures };
            let writes = format!("Outer {}Tool ", "Inner ".repeat(attempts as usize + 1));
            assert_eq!(results[0].to_text(), writes, "{failures} {is_blocking}");
            assert_eq!(session.get("writes"), Some(format!("{writes}After ").into()));
            assert!(["Outer", "Inner", "Tool", "After"].iter().all(|key| session.get(key).is_some()));
        }
    }
}

#[tokio::test]
async fn writes_of_middleware_are_lost_if_the_call_fails() {
    let fails = ClosureTool::without_arguments("fails", "", || Err::<(), _>("no luck")).unwrap();
    let session = Session::new("s");
    let dispatcher = Dispatcher::new(ToolRegistry::from_tools([fails]).unwrap())
        .unwrap()
        .with_run(RunContext::new().with_session(session.clone()))
        .with_middleware(writing(Write::Outer, None));
    assert!(dispatcher.dispatch([ToolCall::new("1", "fails", "{}")]).await[0].is_error());
    assert_eq!(session.get("writes"), None);
    // Middleware that answers keeps its own writes.
    let dispatcher = dispatcher.with_middleware(Callbacks::new().before(|request| {
        add(request.context(), Write::Inner);
        Some(Ok("answered".into()))
    }));
    assert!(!dispatcher.dispatch([ToolCall::new("1", "fails", "{}")]).await[0].is_error());
    assert_eq!(session.get("writes"), Some("Outer Inner ".into()));
}
