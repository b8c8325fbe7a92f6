//! A live registry: tools are added, enabled and disabled while calls run.
//!
//! Run `cargo run --example live_registry`.

#![allow(clippy::print_stdout)]

use toolkit_ai::LiveRegistry;
use toolkit_ai::prelude::*;
use toolkit_ai::registry::CheckOutcome;

/// Search the web.
#[tool(tags("network"))]
fn search_web(query: String) -> String {
    format!("3 pages about {query}")
}

/// Delete a file.
#[tool(destructive)]
fn delete_file(path: String) -> String {
    format!("deleted {path}")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let live = LiveRegistry::new(ToolRegistry::from_tools(tools![search_web])?)?;
    live.add_check(|tool, _| match tool.metadata.destructive {
        Some(true) => CheckOutcome::Disable("an operator must enable it first".to_owned()),
        _ => CheckOutcome::Accept,
    });
    let dispatcher = Dispatcher::new(&live)?; // Each batch gets a snapshot of the tools.
    let mut changes = live.subscribe();

    let ask = async move |title: &str| {
        println!("{title}");
        let search = ToolCall::new("1", "search_web", r#"{"query": "crabs"}"#);
        let delete = ToolCall::new("2", "delete_file", r#"{"path": "crabs.txt"}"#);
        for result in dispatcher.dispatch([search, delete]).await {
            match result.outcome {
                Ok(output) => println!("  {}", output.to_text()),
                Err(error) => println!("  {error}"),
            }
        }
    };

    ask("At first:").await;
    live.change(|registry| registry.register(delete_file::tool()))?;
    ask("A tool was registered:").await;
    live.change(|registry| {
        registry.enable("delete_file")?;
        registry.disable("search_web", "no network today")
    })?;
    ask("One was enabled, one disabled:").await;

    drop((ask, live));
    while let Some(event) = changes.next().await {
        let event = event?;
        println!("version {}: `{}`: {:?}", event.version, event.tool, event.change);
    }
    Ok(())
}
