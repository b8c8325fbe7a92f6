//! Tools with progress reports, session state, and hand-over to another agent.
//!
//! Run `cargo run --example progress`.

#![allow(clippy::print_stdout)]

use std::time::Duration;
use toolkit_ai::prelude::*;
use toolkit_ai::{RunContext, Session};

/// Index the documents of a folder.
///
/// :param folder: Which one
#[tool]
async fn index(folder: String, context: &ToolContext) -> String {
    const FILES: u32 = 4;
    for file in 1..=FILES {
        tokio::time::sleep(Duration::from_millis(5)).await;
        context.progress(f64::from(file) / f64::from(FILES), format!("{folder}/{file}.md"));
    }
    let session = context.session();
    let runs = session.get("user:runs").and_then(|runs| runs.as_u64()).unwrap_or(0) + 1;
    session.set("user:runs", runs);
    format!("{FILES} documents, run {runs} for {}", context.agent_name().unwrap_or("an unnamed agent"))
}

/// Ask a person to go on.
#[tool]
fn escalate(context: &ToolContext) -> Result<&'static str, ToolError> {
    if context.session().get("user:runs").is_none() {
        return Err(ToolError::retry("index a folder first, then ask a person"));
    }
    context.actions().transfer_to_agent("person");
    Ok("a person takes over")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = Session::new("session 1");
    let run = RunContext::new()
        .with_agent_name("librarian")
        .with_session(session.clone())
        .on_progress(|progress| println!("  {:>3.0} % {}", progress.fraction * 100.0, progress.message));
    let dispatcher = Dispatcher::new(ToolRegistry::from_tools(tools![index, escalate])?)?.with_run(run);

    for (tool, arguments) in [("escalate", "{}"), ("index", r#"{"folder": "notes"}"#), ("escalate", "{}")] {
        println!("{tool}");
        let results = dispatcher.dispatch([ToolCall::new("1", tool, arguments)]).await;
        println!("  {}", results.iter().map(ToolResult::to_text).collect::<String>());
        if let Some(agent) = ToolResult::merged_actions(&results).transfer_to_agent {
            println!("The next agent: {agent}, in {} with {:?}", session.id(), session.get("user:runs"));
        }
    }
    Ok(())
}
