//! Truncation of results that are too long for the model.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use toolkit_ai::output::{DirectorySink, FullOutput, Truncation, TruncationStrategy};
use toolkit_ai::prelude::*;
use toolkit_ai::{CancellationToken, ClosureTool, RunContext, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// Reads a lot.
#[tool(register = false)]
fn read(#[param(default = 1_000)] length: usize) -> String {
    "x".repeat(length)
}

/// Reads a lot, and knows it.
#[tool(register = false, max_result_size = 40)]
fn read_little() -> Vec<u8> {
    vec![1; 1_000]
}

/// Fails with many words.
#[tool(register = false)]
async fn fails() -> Result<(), String> {
    tokio::task::yield_now().await;
    Err("y".repeat(1_000))
}

fn dispatcher(truncation: Truncation) -> Dispatcher {
    let registry = ToolRegistry::from_tools(tools![read, read_little, fails]).unwrap();
    Dispatcher::new(registry).unwrap().with_truncation(truncation)
}

async fn lengths(dispatcher: &Dispatcher) -> Vec<usize> {
    let calls = ["read", "read_little", "fails"].map(|tool| ToolCall::new(tool, tool, "{}"));
    let results = dispatcher.dispatch(calls).await;
    results.iter().map(|result| result.to_text().chars().count()).collect()
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("toolkit-truncation-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

#[tokio::test]
async fn the_limit_of_a_tool_takes_precedence_over_the_dispatcher() {
    assert_eq!(lengths(&dispatcher(Truncation::default())).await, [1_000, 40, 1_020]);
    assert_eq!(lengths(&dispatcher(Truncation::new(100))).await, [100, 40, 100]);
}

#[tokio::test]
async fn an_error_stays_an_error_and_begins_as_before() {
    let dispatcher = dispatcher(Truncation::new(60).with_strategy(TruncationStrategy::Head));
    let results = dispatcher.dispatch([ToolCall::new("1", "fails", "")]).await;
    let message = results[0].error().unwrap().message();
    assert!(message.starts_with("Error running tool: yyy"), "{message}");
    assert!(message.ends_with("\n... (truncated 990 chars) ..."), "{message}");
}

#[tokio::test]
async fn direct_calls_of_the_program_are_never_truncated() {
    let registry = ToolRegistry::from_tools(tools![read_little]).unwrap();
    assert_eq!(registry.call("read_little", "{}").await.unwrap().to_text().len(), 2_001);
}

#[tokio::test]
async fn the_full_text_is_at_the_path_in_the_note() {
    let folder = folder("where");
    let dispatcher = dispatcher(Truncation::new(400).with_sink(DirectorySink::new(&folder)));
    let results = dispatcher.dispatch([ToolCall::new("1", "read", "{}")]).await;
    let text = results[0].to_text();
    let (_, rest) = text.split_once("full output: ").expect("the note has a path");
    let (path, _) = rest.split_once(") ...").expect("the words end");
    assert!(path.ends_with(".txt"), "{path}");
    assert_eq!(fs::read_to_string(path).unwrap(), "x".repeat(1_000));
    fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn the_directory_stays_within_its_limits() {
    let folder = folder("limits");
    let long = |bytes| ToolCall::new("1", "read", format!(r#"{{"length": {bytes}}}"#));
    let count = || fs::read_dir(&folder).unwrap().count();

    let sized = dispatcher(Truncation::new(400).with_sink(DirectorySink::new(&folder).with_max_bytes(2_500)));
    for _ in 0..5 {
        sized.dispatch([long(1_000)]).await;
    }
    assert_eq!(count(), 2);
    let results = sized.dispatch([long(3_000)]).await;
    assert!(results[0].to_text().contains("the full output could not be kept"));
    assert_eq!(count(), 2);

    fs::write(folder.join("notes.txt"), "not written by the sink").unwrap();
    let aged = DirectorySink::new(&folder).with_max_age(Duration::from_millis(20));
    std::thread::sleep(Duration::from_millis(60));
    dispatcher(Truncation::new(400).with_sink(aged)).dispatch([long(1_000)]).await;
    assert_eq!(count(), 2, "the new file and the file that the sink did not write");
    assert!(folder.join("notes.txt").exists());
    fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn a_call_that_has_succeeded_keeps_its_output_and_writes_if_it_is_cancelled_at_a_slow_sink() {
    let tool = ClosureTool::new_with_context("note", "", |_: Nothing, context: ToolContext| {
        context.session().set("noted", true);
        "x".repeat(1_000)
    });
    for count in [1, 2] {
        let token = CancellationToken::new();
        let entered = token.clone();
        let truncation = Truncation::new(100).with_sink(move |_: FullOutput| {
            entered.cancel();
            std::future::pending()
        });
        let session = Session::new("s");
        let dispatcher = Dispatcher::new(ToolRegistry::from_tools([tool.as_ref().unwrap().clone()]).unwrap())
            .unwrap()
            .with_run(RunContext::new().with_session(session.clone()))
            .with_truncation(truncation);
        let calls = (0..count).map(|at| ToolCall::new(at.to_string(), "note", "{}"));
        // Of several calls, the second may begin after the cancellation.
        for result in dispatcher.dispatch_with(calls, token).await.iter().take(1) {
            let text = result.to_text();
            assert!(!result.is_error(), "{text}");
            assert!(text.len() <= 100 && text.contains("the full output could not be kept"), "{text}");
            assert_eq!(result.actions.state_delta.get("noted"), Some(&Some(true.into())));
        }
        assert_eq!(session.get("noted"), Some(true.into()));
    }
}
