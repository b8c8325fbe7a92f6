//! Calls whose results come later.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use toolkit_ai::error::Pending;
use toolkit_ai::events::CallStatus;
use toolkit_ai::middleware::{
    Approval, AttemptLimit, Cache, DecidedApprovals, Deduplicate, PermissionRule, Permissions, Retry,
};
use toolkit_ai::{
    ClosureTool, Dispatcher, ErrorKind, RunContext, ToolCall, ToolContext, ToolError, ToolRegistry,
    ToolResult,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// Creates `pay`, which needs approval, and `ask`, which waits for an answer, behind all middleware that
/// repeats, shares or keeps outcomes, and counts runs.
fn dispatcher(rules: Permissions) -> (Dispatcher, Arc<AtomicU32>) {
    let runs = Arc::new(AtomicU32::new(0));
    let paid = runs.clone();
    let asked = runs.clone();
    let pay = ClosureTool::new("pay", "Pays.", move |_: Nothing| {
        paid.fetch_add(1, Ordering::Relaxed);
        "paid"
    });
    let ask = ClosureTool::new("ask", "Asks.", move |_: Nothing| -> Result<(), ToolError> {
        asked.fetch_add(1, Ordering::Relaxed);
        Err(ToolError::question("Which colour?"))
    });
    let harmless =
        |tool: ClosureTool| tool.map_metadata(|metadata| metadata.with_retries(3).with_idempotent(true));
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
async fn a_decided_approval_is_for_its_call() {
    let (dispatcher, runs) = dispatcher(asking());
    assert!(call(&dispatcher, "1", "pay").await.is_error());
    let decided = |approval| {
        let approvals = DecidedApprovals::new().with(&ToolCall::new("1", "pay", "{}"), approval);
        dispatcher.clone().with_run(RunContext::new().with_extension(approvals))
    };
    let refused = call(&decided(Approval::Deny("no".to_owned())), "1", "pay").await;
    assert_eq!(refused.to_text(), "Tool `pay` was denied: no");
    assert_eq!(
        call(&decided(Approval::Approve), "2", "pay").await.error().unwrap().kind(),
        ErrorKind::Pending
    );
    assert_eq!(runs.load(Ordering::Relaxed), 0);
    // An earlier pending outcome is neither cached nor shared.
    assert_eq!(call(&decided(Approval::Approve), "1", "pay").await.to_text(), "paid");
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_question_of_a_tool_is_no_failure() {
    let (dispatcher, runs) = dispatcher(asking());
    let statuses = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = statuses.clone();
    let dispatcher = dispatcher.with_listener(move |event| {
        if let toolkit_ai::events::ToolEventKind::Ended(end) = &event.kind {
            seen.lock().unwrap().push(end.status);
        }
    });
    for times in 1..=3 {
        let result = call(&dispatcher, "1", "ask").await;
        let error = result.error().unwrap();
        // It is neither retried nor counted as an attempt.
        assert_eq!((error.kind(), runs.load(Ordering::Relaxed)), (ErrorKind::Pending, times));
        assert_eq!(error.message(), "The user was asked and has not answered yet: Which colour?");
    }
    assert_eq!(*statuses.lock().unwrap(), [CallStatus::Pending; 3]);
}

fn shop() -> Dispatcher {
    let tool = |name| ClosureTool::new(name, "", |_: BTreeMap<String, Value>| "done").unwrap();
    let rule = PermissionRule::ask("it costs money");
    Dispatcher::new(ToolRegistry::from_tools([tool("pay"), tool("sell")]).unwrap())
        .unwrap()
        .with_middleware(Permissions::new().rule(rule).decide_later())
}

fn calls() -> impl Strategy<Value = ToolCall> {
    let arguments = prop::sample::select(vec!["{}", r#"{"amount": 1}"#, r#"{"amount":1}"#]);
    (prop::sample::select(vec!["1", "2"]), prop::sample::select(vec!["pay", "sell"]), arguments)
        .prop_map(|(id, tool, arguments)| ToolCall::new(id, tool, arguments))
}

#[derive(Debug, Clone, Copy)]
enum Way {
    Direct,
    /// Through an outer dispatcher, which needs approval itself if the value is `true`.
    Nested(bool),
    /// A tool makes the call itself. The tool is called with the same id.
    Within,
}

fn dispatcher_of(way: Way) -> Dispatcher {
    match way {
        Way::Direct => shop(),
        Way::Nested(asks) => {
            let mut registry = ToolRegistry::new();
            registry.register_provider(shop()).unwrap();
            let outer = Dispatcher::new(registry).unwrap();
            let rule = PermissionRule::ask("it is far away");
            if asks { outer.with_middleware(Permissions::new().rule(rule).decide_later()) } else { outer }
        }
        Way::Within => {
            let tool = ClosureTool::new_with_context(
                "delegate",
                "",
                |call: BTreeMap<String, String>, context: ToolContext| async move {
                    let call = ToolCall::new(&*call["id"], &*call["tool"], &*call["arguments"]);
                    let run = context.run().expect("a run").clone();
                    shop().with_run(run).dispatch([call]).await.remove(0).outcome
                },
            );
            let asks = Permissions::new().rule(PermissionRule::ask("it delegates")).decide_later();
            Dispatcher::new(ToolRegistry::from_tools([tool.unwrap()]).unwrap()).unwrap().with_middleware(asks)
        }
    }
}

proptest! {
    #[test]
    fn a_decision_holds_for_the_id_the_tool_and_the_arguments_of_its_call(
        decided in prop::collection::vec(calls(), 0..3),
        call in calls(),
        way in prop::sample::select(vec![Way::Direct, Way::Nested(false), Way::Nested(true), Way::Within]),
    ) {
        let mut approvals = DecidedApprovals::new();
        for decided in &decided {
            approvals = approvals.with(decided, Approval::Approve);
        }
        let is_decided = decided.contains(&call);
        let call = match way {
            Way::Within => {
                let arguments = json!({"id": call.id, "tool": call.name, "arguments": call.arguments});
                let outer = ToolCall::new(call.id, "delegate", arguments.to_string());
                approvals = approvals.with(&outer, Approval::Approve);
                outer
            }
            _ => call,
        };
        let dispatcher = dispatcher_of(way).with_run(RunContext::new().with_extension(approvals));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let results = runtime.block_on(dispatcher.dispatch([call]));
        let expected = (!is_decided).then_some(ErrorKind::Pending);
        prop_assert_eq!(results[0].error().map(ToolError::kind), expected);
    }
}
