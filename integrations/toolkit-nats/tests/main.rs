//! Workers and callers with a real server, in one process.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod calls;
mod copies;
mod fleets;
mod ledgers;
#[path = "../../toolkit-agent-stores/tests/postgres/server.rs"]
#[allow(dead_code)]
mod postgres;
mod rules;
mod secured_servers;
mod security;
mod server;
mod silence;
mod spans;

use std::time::Duration;
use toolkit_ai::{ClosureTool, Dispatcher, ToolCall, ToolContext, ToolRegistry, ToolResult};
use toolkit_nats::FleetTools;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Add {
    a: i64,
    b: i64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Nothing {}

pub(crate) fn add() -> ClosureTool {
    ClosureTool::new("add", "Adds.", |Add { a, b }: Add| a + b).unwrap()
}

pub(crate) fn wait() -> ClosureTool {
    let wait = |_: Nothing, context: ToolContext| async move { context.cancelled().await };
    ClosureTool::new_with_context("wait", "Waits.", wait).unwrap()
}

pub(crate) fn registry(tools: impl IntoIterator<Item = ClosureTool>) -> ToolRegistry {
    ToolRegistry::from_tools(tools).unwrap()
}

pub(crate) async fn call(fleet: &FleetTools, tool: &str, arguments: &str) -> ToolResult {
    dispatcher(fleet).dispatch([ToolCall::new("call_1", tool, arguments)]).await.remove(0)
}

pub(crate) fn dispatcher(fleet: &FleetTools) -> Dispatcher {
    Dispatcher::new(fleet.registry().unwrap()).unwrap()
}

/// Waits for a condition, up to a minute.
pub(crate) async fn until(holds: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the condition does not hold after a minute");
}
