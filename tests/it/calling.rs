//! Calls of single tools, for tests of arguments.

use serde_json::Value;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use toolkit_ai::middleware::{PermissionRule, Permissions};
use toolkit_ai::prelude::*;

/// Calls a tool without a dispatcher, and returns the text or the error's message.
pub(super) fn call(tool: &dyn Tool, arguments: &str) -> Result<String, String> {
    let context = ToolContext::new(tool.definition().name.clone());
    let future = pin!(tool.call(arguments, &context));
    let Poll::Ready(outcome) = future.poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("the tool is asynchronous")
    };
    outcome.map(|output| output.to_text().into_owned()).map_err(|error| error.message().to_owned())
}

#[track_caller]
pub(super) fn check(tool: &dyn Tool, arguments: &str, expected: Option<&str>) {
    let outcome = call(tool, arguments);
    assert_eq!(outcome.as_deref().ok(), expected, "{} {arguments}: {outcome:?}", tool.definition().name);
}

#[track_caller]
pub(super) fn check_fits(tool: &dyn Tool, arguments: &str, fits: bool) {
    let outcome = call(tool, arguments);
    assert_eq!(outcome.is_ok(), fits, "{} {arguments}: {outcome:?}", tool.definition().name);
}

pub(super) async fn dispatched(dispatcher: &Dispatcher, arguments: &str) -> ToolResult {
    let name = dispatcher.registry().names().next().expect("one tool").to_owned();
    dispatcher.dispatch([ToolCall::new("1", name, arguments)]).await.remove(0)
}

pub(super) fn dispatcher_of(tool: Arc<dyn Tool>) -> Dispatcher {
    Dispatcher::new(ToolRegistry::from_tools([tool]).expect("one tool")).expect("complete")
}

/// Returns permissions that deny the arguments for which the rule returns `true`.
pub(super) fn denying(denies: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Permissions {
    let deny = PermissionRule::deny("never").when(move |_, arguments| denies(arguments));
    Permissions::new().rule(deny).rule(PermissionRule::allow())
}

/// Calls a tool successfully, and returns the coerced parameters of the last event.
pub(super) async fn reported_coercions(tool: Arc<dyn Tool>, arguments: &str) -> Value {
    let dispatcher = dispatcher_of(tool);
    let mut events = dispatcher.events();
    let result = dispatched(&dispatcher, arguments).await;
    assert!(result.error().is_none(), "{arguments}: {result:?}");
    drop(dispatcher);
    let mut reported = None;
    while let Some(Ok(event)) = events.next().await {
        if event.end().is_some() {
            reported = Some(serde_json::to_value(event).expect("it is JSON")["coerced"].clone());
        }
    }
    reported.expect("the call has ended")
}
