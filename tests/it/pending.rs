//! Calls whose results come later.

use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use toolkit::error::Pending;
use toolkit::events::CallStatus;
use toolkit::middleware::{
    Approval, AttemptLimit, Cache, DecidedApprovals, Deduplicate, PermissionRule, Permissions, Retry,
};
use toolkit::{
    ClosureTool, Dispatcher, ErrorKind, RunContext, ToolCall, ToolError, ToolRegistry, ToolResult,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// Creates a dispatcher with `pay`, which needs approval, and `ask`, which waits for an answer, behind all middleware
/// that repeats, shares or keeps outcomes. Also returns the number of runs of both tools.
fn dispatcher(rules: Permissions) -> (Dispatcher, Arc<AtomicU32>) {
    let runs = Arc::new(AtomicU32::new(0));
    let (paid, asked) = (runs.clone(), runs.clone());
    let pay = ClosureTool::new("pay", "Pays.", move |_: Nothing| {
        paid.fetch_add(1, Ordering::Relaxed);
        "paid"
    });
    let ask = ClosureTool::new("ask", "Asks.", move |_: Nothing| -> Result<(), ToolError> {
        asked.fetch_add(1, Ordering::Relaxed);
        Err(ToolError::question("Which colour?"))
    });
    let harmless =
        |tool: ClosureTool| tool.with_metadata(|metadata| metadata.with_retries(3).with_idempotent(true));
    let tools = ToolRegistry::from_tools([harmless(pay.unwrap()), harmless(ask.unwrap())]).unwrap();
    let dispatcher = Dispatcher::new(tools)
        .unwrap()
        .with_middleware(AttemptLimit::new(1))
        .with_middleware(Cache::new(10).for_tool("*").unwrap())
        .with_middleware(Deduplicate::new())
        .with_middleware(rules)
        .with_middleware(Retry::new());
    (dispatcher, runs)
}

fn asking() -> Permissions {
    Permissions::new()
        .rule(PermissionRule::ask("it costs money").for_tool("pay").unwrap())
        .rule(PermissionRule::allow())
        .decide_later()
}

async fn call(dispatcher: &Dispatcher, id: &str, tool: &str) -> ToolResult {
    dispatcher.dispatch([ToolCall::new(id, tool, "{}")]).await.remove(0)
}

#[tokio::test]
async fn a_call_that_needs_approval_does_not_run() {
    let (dispatcher, runs) = dispatcher(asking());
    for _ in 0..3 {
        let result = call(&dispatcher, "1", "pay").await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ErrorKind::Pending);
        let Some(Pending::Approval { reason, .. }) = error.pending() else { panic!("{error:?}") };
        assert_eq!(reason, "it costs money");
        assert_eq!(error.message(), "Tool `pay` was not run: it waits for approval (it costs money)");
        // What is stored tells the same.
        let stored = serde_json::to_value(&result).unwrap();
        assert_eq!(stored["error"]["pending"], json!({"type": "approval", "reason": "it costs money"}));
        assert_eq!(serde_json::from_value::<ToolResult>(stored).unwrap(), result);
    }
    assert_eq!(runs.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_decided_approval_is_for_the_call_with_its_id() {
    let (dispatcher, runs) = dispatcher(asking());
    assert!(call(&dispatcher, "1", "pay").await.is_error());
    let decided = |approval| {
        let approvals = DecidedApprovals::new().with("1", approval);
        dispatcher.clone().with_run(RunContext::new().with_extension(approvals))
    };
    let refused = call(&decided(Approval::Refused("no".to_owned())), "1", "pay").await;
    assert_eq!(refused.to_text(), "Tool `pay` was denied: no");
    assert_eq!(
        call(&decided(Approval::Granted), "2", "pay").await.error().unwrap().kind(),
        ErrorKind::Pending
    );
    assert_eq!(runs.load(Ordering::Relaxed), 0);
    // An earlier pending outcome of the same call is neither cached nor shared.
    assert_eq!(call(&decided(Approval::Granted), "1", "pay").await.to_text(), "paid");
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_question_of_a_tool_is_no_failure() {
    let (dispatcher, runs) = dispatcher(asking());
    let statuses = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = statuses.clone();
    let dispatcher = dispatcher.with_listener(move |event| {
        if let toolkit::events::ToolEventKind::Ended(end) = &event.kind {
            seen.lock().unwrap().push(end.status);
        }
    });
    for times in 1..=3 {
        let result = call(&dispatcher, "1", "ask").await;
        let error = result.error().unwrap();
        // Neither retried nor counted as an attempt of the model.
        assert_eq!((error.kind(), runs.load(Ordering::Relaxed)), (ErrorKind::Pending, times));
        assert_eq!(error.message(), "The user was asked and has not answered yet: Which colour?");
    }
    assert_eq!(*statuses.lock().unwrap(), [CallStatus::Pending; 3]);
}
