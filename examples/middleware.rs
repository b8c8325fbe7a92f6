//! Middleware: a timing closure, callbacks, retries, and deduplication.
//!
//! Run `cargo run --example middleware`.

#![allow(clippy::print_stdout)]

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;
use toolkit_ai::middleware::{Callbacks, Deduplicate, Next, Retry, ToolRequest};
use toolkit_ai::prelude::*;

static ATTEMPTS: AtomicU32 = AtomicU32::new(0);

/// Look up the weather. The connection fails now and then.
#[tool(read_only, retries = 2)]
async fn weather(city: String) -> Result<String, String> {
    match ATTEMPTS.fetch_add(1, Ordering::Relaxed) % 2 {
        0 => Err("the line broke down".to_owned()),
        _ => Ok(format!("{city}: clear")),
    }
}

/// Delete everything.
#[tool(destructive)]
fn clean_up() {}

#[tokio::main]
async fn main() -> Result<(), BuildError> {
    let measure = |request: ToolRequest, next: Next| async move {
        let started = Instant::now();
        let name = request.definition().name.clone();
        let outcome = next.run(request).await;
        println!("{name} took {:?}", started.elapsed());
        outcome
    };
    let callbacks = Callbacks::new()
        .before(|request| {
            let destructive = request.definition().metadata.destructive == Some(true);
            destructive
                .then(|| Err(ToolError::denied(request.definition().name.as_str(), "not in this example")))
        })
        .after(|_, output| Ok(output.with_brief("audited")));
    let dispatcher = Dispatcher::new(ToolRegistry::from_tools(tools![weather, clean_up])?)?
        .with_middleware(measure)
        .with_middleware(callbacks)
        .with_middleware(Deduplicate::new())
        .with_middleware(Retry::new());
    let results = dispatcher
        .dispatch([
            ToolCall::new("call_1", "weather", r#"{"city": "Oslo"}"#),
            ToolCall::new("call_2", "weather", r#"{ "city": "Oslo" }"#),
            ToolCall::new("call_3", "clean_up", "{}"),
        ])
        .await;
    for result in &results {
        println!("{}: {}", result.call_id, result.to_text());
    }
    Ok(())
}
