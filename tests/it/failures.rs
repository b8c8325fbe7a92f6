//! Failures: messages, details, and requests for another call.

use crate::merged;
use std::sync::{Arc, Mutex};
use toolkit_ai::events::{CallStatus, ToolEventKind};
use toolkit_ai::prelude::*;
use toolkit_ai::{ClosureTool, ErrorKind};

/// Wants a date of this century.
#[tool(register = false)]
fn book(year: u32) -> Result<u32, ToolError> {
    if year < 2000 { Err(ToolError::retry("the year must be 2000 or later")) } else { Ok(year) }
}

/// Fails far down.
#[tool(register = false)]
fn fetch() -> Result<(), Unreachable> {
    fetch_with("10.0.0.7:5432 refused the password hunter2")
}

fn fetch_with(cause: &str) -> Result<(), Unreachable> {
    Err(Unreachable(std::io::Error::other(cause)))
}

/// Panics over an error.
#[tool(register = false)]
async fn panics() {
    tokio::task::yield_now().await;
    fetch_with("the password is hunter2").unwrap();
}

/// Fails with its causes in the alternate form.
#[tool(register = false)]
fn chain() -> Result<(), Chain> {
    Err(Chain)
}

/// An error with causes in the form `{:#}`, like `anyhow`.
#[derive(Debug)]
struct Chain;

impl std::fmt::Display for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if f.alternate() { "no connection: the password is hunter2" } else { "no connection" })
    }
}

#[derive(Debug)]
struct Unreachable(std::io::Error);

impl std::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the database cannot be reached")
    }
}

impl std::error::Error for Unreachable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

fn dispatcher() -> Dispatcher {
    Dispatcher::new(ToolRegistry::from_tools(tools![book, fetch, panics]).unwrap()).unwrap()
}

async fn texts(dispatcher: &Dispatcher) -> Vec<String> {
    let calls = [("book", r#"{"year": 1999}"#), ("fetch", ""), ("panics", ""), ("bok", "")];
    let calls = calls.map(|(tool, arguments)| ToolCall::new(tool, tool, arguments));
    let results = dispatcher.dispatch(calls).await;
    results.iter().map(|result| result.to_text().into_owned()).collect()
}

#[tokio::test]
async fn messages_carry_hints_and_no_causes() {
    assert_eq!(
        texts(&dispatcher()).await,
        [
            "Try again: the year must be 2000 or later",
            "Error running tool: the database cannot be reached",
            "Tool `panics` panicked",
            "Tool `bok` not found; did you mean `book`?",
        ]
    );
    let results = dispatcher().dispatch([ToolCall::new("1", "book", r#"{"year": 1}"#)]).await;
    assert_eq!(results[0].error().map(ToolError::kind), Some(ErrorKind::Retry));
}

#[tokio::test]
async fn details_carry_causes() {
    let results = dispatcher().dispatch([ToolCall::new("1", "fetch", "")]).await;
    let details = results[0].error().and_then(ToolError::details).unwrap();
    assert!(details.ends_with("refused the password hunter2"), "{details}");
}

#[tokio::test]
async fn debug_output_is_hidden_from_the_model() {
    let plain = |_: Nothing| fetch_with("the password is hunter2");
    let boxed = |_: Nothing| -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Err(Unreachable(std::io::Error::other("the password is hunter2")).into())
    };
    let tools =
        [ClosureTool::new("plain", "", plain).unwrap(), ClosureTool::new("boxed", "", boxed).unwrap()];
    let registry = merged(
        ToolRegistry::from_tools(tools).unwrap(),
        ToolRegistry::from_tools(tools![panics, chain]).unwrap(),
    );
    let dispatcher = Dispatcher::new(registry).unwrap();
    for (tool, text) in [
        ("chain", "Error running tool: no connection"),
        ("plain", "Error running tool: the database cannot be reached"),
        ("boxed", "Error running tool: the database cannot be reached"),
        ("panics", "Tool `panics` panicked"),
    ] {
        let results = dispatcher.dispatch([ToolCall::new("1", tool, "{}")]).await;
        let error = results[0].error().unwrap();
        assert_eq!((error.message(), error.to_string().as_str()), (text, text));
        assert!(!error.brief().contains("hunter2"));
        assert!(error.details().is_some_and(|details| details.contains("hunter2")), "{error:#}");
    }
}

#[tokio::test]
async fn the_program_can_replace_the_message() {
    let kinds = dispatcher().with_failure_text(|tool, error| format!("{tool}: {:?}", error.kind()));
    assert_eq!(texts(&kinds).await, ["book: Retry", "fetch: Failed", "panics: Panicked", "bok: NotFound"]);
    let open = dispatcher().with_failure_text(|_, error| format!("{error:#}"));
    assert!(texts(&open).await[1].contains("hunter2"));
    let ill = dispatcher().with_failure_text(|_, _| panic!("no words"));
    assert_eq!(texts(&ill).await, texts(&dispatcher()).await);
}

#[test]
fn a_call_that_cannot_run_ends_like_any_failed_call() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for has_runtime in [false, true] {
        let ends = Arc::new(Mutex::new(Vec::new()));
        let seen = ends.clone();
        let dispatcher = dispatcher()
            .with_failure_text(|tool, error| format!("{tool}: {:?}", error.kind()))
            .with_listener(move |event| {
                if let ToolEventKind::Ended(end) = &event.kind {
                    seen.lock().unwrap().push(end.status);
                }
            });
        let ending = has_runtime.then(runtime);
        let batch = {
            let _inside = ending.as_ref().map(tokio::runtime::Runtime::enter);
            dispatcher.batch([ToolCall::new("1", "fetch", "{}")])
        };
        // The runtime ends before the call runs.
        drop(ending);
        let results = runtime().block_on(batch.finish());
        let (kind, status) = if has_runtime {
            (ErrorKind::Cancelled, CallStatus::Cancelled)
        } else {
            (ErrorKind::Failed, CallStatus::Error)
        };
        assert_eq!(results[0].to_text(), format!("fetch: {kind:?}"));
        assert_eq!(*ends.lock().unwrap(), [status]);
    }
}

#[test]
fn a_failed_main_prints_the_message_of_an_error() {
    let shown = |error: &dyn std::error::Error| assert_eq!(format!("{error:?}"), error.to_string());
    let book = ToolRegistry::from_tools(tools![book, book]).unwrap_err();
    assert!(book.to_string().contains("registered twice"));
    shown(&book);
    shown(&ToolError::failed("the disk is full"));
    shown(&toolkit_ai::name::check_name("a b").unwrap_err());
    shown(&ApiFormat::OpenAiChat.parse_calls(&serde_json::json!({})).unwrap_err());
}

#[tokio::test]
async fn a_list_of_tools_is_a_source_of_tools_and_keeps_its_problems() {
    let dispatcher = Dispatcher::new(tools![book]).unwrap();
    assert_eq!(dispatcher.call("book", r#"{"year": 2026}"#).await.unwrap().to_text(), "2026");
    assert_eq!(dispatcher.call("look", "{}").await.unwrap_err().kind(), ErrorKind::NotFound);
    let error = Dispatcher::new(vec![book::tool(), book::tool()]).unwrap_err();
    assert!(error.to_string().contains("registered twice"), "{error}");
}
