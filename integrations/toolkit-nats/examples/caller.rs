//! A caller: the tools of a fleet in a live registry, called as a model does.
//!
//! `cargo run -p toolkit-nats --all-features --example caller -- nats://127.0.0.1:4222` calls the workers of a running
//! server. Without an address, the example starts a server and a worker for itself.

#![allow(clippy::print_stdout, reason = "the output of the program")]

mod local_server;

use local_server::LocalServer;
use std::error::Error;
use toolkit_ai::prelude::*;
use toolkit_ai::{LiveRegistry, RunContext};
use toolkit_nats::{CallFailure, Fleet, FleetTools, Worker};

/// Add two numbers.
#[tool(idempotent)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut server = None;
    let address = match std::env::args().nth(1) {
        Some(address) => address,
        None => match LocalServer::start() {
            Some(local) => server.insert(local).address.clone(),
            None => return Ok(()),
        },
    };
    let fleet = Fleet::connect(&address).await?;
    let worker = match &server {
        Some(_) => Some(Worker::new(ToolRegistry::from_tools(tools![add])?)?.start(&fleet).await?),
        None => None,
    };

    let tools = FleetTools::join(&fleet).await?;
    let live = LiveRegistry::new(ToolRegistry::new())?;
    let _following = tools.follow(&live)?;
    for definition in live.snapshot().iter_definitions() {
        println!("{}: {}", definition.name, definition.description);
    }

    let run = RunContext::new().on_progress(|progress| println!("{:.0} %", progress.fraction * 100.0));
    let dispatcher = Dispatcher::new(&live)?.with_run(run);
    let call = || ToolCall::new("call_1", "add", r#"{"a": 20, "b": 22}"#);
    println!("{}", dispatcher.dispatch([call()]).await[0].to_text());

    // Without a worker, the tool leaves the registry. A registry that does not follow keeps it, and the call says why.
    let earlier = Dispatcher::new(live.snapshot())?;
    if let Some(worker) = worker {
        worker.drain().await;
        let results = earlier.dispatch([call()]).await;
        println!("{} ({:?})", results[0].to_text(), results[0].error().and_then(CallFailure::from_error));
    }
    Ok(())
}
