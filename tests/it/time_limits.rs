//! Time limits of tools that use up the task's cooperative budget at each poll.

use crate::merged;
use std::time::Duration;
use tokio::task::consume_budget;
use tokio::time::timeout;
use toolkit_ai::middleware::{Approval, Middleware, Next, PermissionRule, Permissions, ToolRequest};
use toolkit_ai::prelude::*;
use toolkit_ai::{
    AdaptedTool, CancellationToken, ClosureTool, ErrorKind, RegistryView, ToolDefinition, ToolFuture,
    ToolMetadata, ToolName, ToolProvider,
};

const LIMIT: Duration = Duration::from_millis(5);

/// Works without end, and leaves other futures of the task no budget.
async fn work() -> &'static str {
    loop {
        consume_budget().await;
    }
}

/// Works.
#[tool(register = false)]
async fn busy() -> &'static str {
    work().await
}

struct Provider;

impl ToolProvider for Provider {
    fn tools(&self) -> Vec<ToolDefinition> {
        let name = ToolName::new("busy").expect("legal");
        vec![ToolDefinition::new(name, "Works.", serde_json::json!({"type": "object"}))]
    }

    fn handle<'a>(&'a self, _: ToolCall, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::new(async { Ok(work().await.into()) })
    }
}

fn of_provider(provider: impl ToolProvider) -> ToolRegistry {
    let mut registry = ToolRegistry::new();
    registry.register_provider(provider).expect("legal");
    registry
}

fn with_metadata(change: impl FnOnce(ToolMetadata) -> ToolMetadata) -> ToolRegistry {
    let tool = ClosureTool::without_arguments("busy", "Works.", work).expect("legal");
    ToolRegistry::from_tools([tool.map_metadata(change)]).expect("one tool")
}

/// Each kind of tool and way of a call.
fn kinds() -> Vec<(&'static str, ToolRegistry)> {
    let function = || ToolRegistry::from_tools(tools![busy]).expect("one tool");
    let nested = Dispatcher::new(function()).expect("complete");
    vec![
        ("function", function()),
        ("closure", with_metadata(|metadata| metadata)),
        ("exclusive", with_metadata(|metadata| metadata.with_exclusive(true))),
        ("limited", with_metadata(|metadata| metadata.with_max_concurrency(1))),
        ("blocking", with_metadata(|metadata| metadata.with_blocking(true))),
        ("adapted", ToolRegistry::from_tools([AdaptedTool::new(busy::tool())]).expect("one tool")),
        ("merged", merged(ToolRegistry::new(), function().with_state(1_u8))),
        ("provider", of_provider(Provider)),
        ("nested", of_provider(nested.clone())),
        ("nested twice", of_provider(Dispatcher::new(of_provider(nested)).expect("complete"))),
    ]
}

fn limited(registry: &ToolRegistry) -> Vec<(&'static str, Dispatcher)> {
    let dispatcher = |registry: ToolRegistry| Dispatcher::new(registry).expect("complete");
    let view = RegistryView::new().map_metadata(|_, metadata| metadata.with_timeout(LIMIT));
    let of_tool = registry.viewed(&view).expect("possible");
    let hour = Duration::from_secs(3600);
    vec![
        ("tool", dispatcher(of_tool)),
        ("dispatcher", dispatcher(registry.clone()).with_timeout(LIMIT)),
        ("registry", dispatcher(registry.clone().with_timeout(LIMIT))),
        ("hard limit", dispatcher(registry.clone()).with_timeout(hour).with_hard_limit(LIMIT)),
    ]
}

fn calls(count: usize) -> impl Iterator<Item = ToolCall> {
    (0..count).map(|at| ToolCall::new(at.to_string(), "busy", "{}"))
}

/// Returns the error kinds of a batch, which must end soon.
async fn errors(dispatcher: &Dispatcher, count: usize, what: &str) -> Vec<ErrorKind> {
    let results = timeout(Duration::from_secs(60), dispatcher.dispatch(calls(count))).await;
    let results = results.unwrap_or_else(|_| panic!("{what}: the limit does not end the call"));
    results.iter().filter_map(|result| Some(result.error()?.kind())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_tool_of_any_kind_ends_at_any_limit() {
    for (kind, registry) in kinds() {
        for (limit, dispatcher) in limited(&registry) {
            let checked = Permissions::new().rule(PermissionRule::allow());
            let passing = |request: ToolRequest, next: Next| async move { next.run(request).await };
            for (middleware, dispatcher) in [
                ("no middleware", dispatcher.clone()),
                ("middleware", dispatcher.clone().with_middleware(checked).with_middleware(passing)),
                ("a maximum", dispatcher.with_max_concurrency(1)),
            ] {
                // The second batch needs the first one's permits.
                for count in [1, 2] {
                    let what = format!("{kind}, limit of the {limit}, {middleware}, {count} calls");
                    let ended = errors(&dispatcher, count, &what).await;
                    assert_eq!(ended, vec![ErrorKind::TimedOut; count], "{what}");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_tool_of_any_kind_can_be_cancelled() {
    for (kind, registry) in kinds() {
        let dispatcher = Dispatcher::new(registry).expect("complete");
        for count in [1, 2] {
            let token = CancellationToken::new();
            let batch = dispatcher.dispatch_with(calls(count), token.clone());
            let cancel = tokio::spawn(async move {
                tokio::time::sleep(LIMIT).await;
                token.cancel();
            });
            let results = timeout(Duration::from_secs(60), batch).await.unwrap_or_else(|_| panic!("{kind}"));
            cancel.await.expect("no panic");
            assert!(
                results.iter().all(|result| result.error().unwrap().kind() == ErrorKind::Cancelled),
                "{kind}"
            );
        }
    }
}

/// Middleware with its own limit beside the tool, in the same task.
struct Beside;

impl Middleware for Beside {
    async fn handle(&self, request: ToolRequest, next: Next) -> Result<ToolOutput, ToolError> {
        tokio::select! {
            biased;
            never = work() => Ok(never.into()),
            outcome = next.run(request) => outcome,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_holds_while_middleware_is_busy_beside_the_tool() {
    let pause =
        || ClosureTool::without_arguments("busy", "Waits.", std::future::pending::<()>).expect("legal");
    let registry = ToolRegistry::from_tools([pause()]).expect("one tool");
    for (limit, dispatcher) in limited(&registry) {
        let dispatcher = dispatcher.with_middleware(Beside);
        assert_eq!(errors(&dispatcher, 2, limit).await, [ErrorKind::TimedOut; 2], "{limit}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_handler_of_approvals_ends_at_the_patience() {
    let registry = with_metadata(|metadata| metadata);
    let permissions = Permissions::new()
        .rule(PermissionRule::ask("it takes long"))
        .with_handler(|_| async {
            work().await;
            Approval::Approve
        })
        .with_patience(LIMIT, Approval::Deny("nobody answers".to_owned()));
    let dispatcher = Dispatcher::new(registry).expect("complete").with_middleware(permissions);
    assert_eq!(errors(&dispatcher, 2, "approval").await, [ErrorKind::Denied; 2]);
}
